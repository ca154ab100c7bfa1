# SPDX-License-Identifier: MIT
"""
Each part of a recording begins with every socket that is open: more of them than are read at once, and each
once, with its ends and with what it has carried until then.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from tracer import *

own_network()  # starts over: nothing is made before
PAIRS, DATAGRAMS, LOCAL = 400, 300, 150
# connection n has carried n + 1 bytes to its server
HOLDER = f"""
import socket, sys, time
sys.stdin.readline()
l = socket.create_server(("127.0.0.1", 0), backlog=64)
keep, ports = [], []
for n in range({PAIRS}):
    a = socket.create_connection(l.getsockname())
    b = l.accept()[0]
    a.sendall(bytes(n + 1))
    b.recv(1000)
    keep += [a, b]
    ports.append(a.getsockname()[1])
for n in range({DATAGRAMS}):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect(("127.0.0.1", 9))
    keep.append(s)
for n in range({LOCAL}):
    keep += socket.socketpair()
print(*ports, flush=True)
end = time.monotonic() + 60
x, y = socket.socketpair()
while time.monotonic() < end:
    x.send(b"x")
    y.recv(1)
    time.sleep(0.02)
"""
TOP = scratch()


def parts(d):
    return sorted(name for name in os.listdir(d) if name.isdigit())


def number(fields, name):
    return int(re.search(rf"\b{name} = (0x)?([0-9A-Fa-f]+)", fields)[2], 16 if f"{name} = 0x" in fields else 10)


def told(d):
    """The fields of each kind of announcement; all have the time of the first."""
    found, first = {}, {}
    for name, time_, fields in events(d):
        name = name.split(":")[-1]
        if first.setdefault(name, time_) == time_:
            found.setdefault(name, []).append(fields)
    return found


need_kernel_side()
directory = TOP + "/t"
with subprocess.Popen([PYTHON, "-c", HOLDER], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as p:
    try:
        with Tracer(directory, "--pid", p.pid, "--rotate", "1s").ready() as t:
            p.stdin.write("\n")
            p.stdin.flush()
            ports = [int(x) for x in p.stdout.readline().split()]
            before, end = len(parts(directory)), time.monotonic() + 60
            while len(parts(directory)) < before + 2 and time.monotonic() < end:
                time.sleep(0.1)
            t.end()
    finally:
        p.kill()
names = parts(directory)[before:]
check(len(names) >= 2, f"{len(names)} parts that began when all were open")
for part in names:
    found = told(f"{directory}/{part}")
    opened, states = found["sock_open"], found["sock_state"]
    sockets = [number(f, "sock") for f in opened]
    check(len(set(sockets)) == len(sockets) == 2 * PAIRS, f"{part}: {len(opened)} connections' ends, each once")
    by_port = {number(f, "lport"): number(f, "sock") for f in states}
    acked = {number(f, "sock"): number(f, "bytes_acked") for f in opened}
    # TCP counts the opener's SYN as a byte
    wrong = [n for n, port in enumerate(ports) if acked[by_port[port]] - (n + 1) not in (0, 1)]
    check(not wrong, f"each with the bytes it has sent, but for {wrong}")
    others = [number(f, "sock") for f in found["sock_new"]]
    # and the pair that the program made last
    check(len(set(others)) == len(others) == DATAGRAMS + 2 * LOCAL + 2, f"{len(others)} other sockets, each once")
    check(len(found["sock_addr"]) == 2 * PAIRS + DATAGRAMS, f"{len(found['sock_addr'])} pairs of addresses")
