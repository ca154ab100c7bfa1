# SPDX-License-Identifier: MIT
"""
A program that interrupts itself is skipped by the kernel, which counts it in the program alone: each
must be told in the trace, by program, with an interval. The kernel's own numbers are read beside.
"""
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from tracer import *

own_network()  # starts over: nothing is made before
TOP = scratch()
# Timers of paced connections send and deliver, and make sockets readable, on top of a thread that
# does nothing but make a UNIX socket readable: all on one CPU.
NOISE = """
import os, socket, sys, threading, time
os.sched_setaffinity(0, [max(os.sched_getaffinity(0))])
l = socket.create_server(("127.0.0.1", 0))
pairs = []
for _ in range(12):
    a = socket.create_connection(l.getsockname())
    a.setsockopt(socket.SOL_SOCKET, 47, 20000000)  # SO_MAX_PACING_RATE
    pairs.append((a, l.accept()[0]))
sys.stdin.readline()
def send(s):
    end = time.monotonic() + 2
    while time.monotonic() < end:
        s.sendall(b"x" * 3000)
    s.shutdown(socket.SHUT_WR)
def receive(s):
    while s.recv(2000):
        pass
def fill(s):
    end = time.monotonic() + 2
    with open(sys.argv[1], "rb") as f:
        while time.monotonic() < end:
            os.sendfile(s.fileno(), f.fileno(), 0, 1 << 20)
    s.shutdown(socket.SHUT_WR)
def empty(s):
    while s.recv(1 << 20):
        pass
unix = socket.socketpair()
threads = [threading.Thread(target=fill, args=(unix[0],)), threading.Thread(target=empty, args=(unix[1],))]
threads += [threading.Thread(target=send, args=(a,)) for a, _ in pairs]
threads += [threading.Thread(target=receive, args=(b,)) for _, b in pairs]
[t.start() for t in threads]
[t.join() for t in threads]
print("done", flush=True)
sys.stdin.readline()
"""


def kernel_counts(pid):
    """Misses of each program the process holds, by its id."""
    misses = {}
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            with open(f"/proc/{pid}/fdinfo/{fd}") as f:
                text = f.read()
        except OSError:
            continue
        m = re.search(r"prog_id:\t(\d+)", text), re.search(r"recursion_misses:\t(\d+)", text)
        if all(m):
            misses[m[0][1]] = int(m[1][1])
    return sum(misses.values())


def once(n):
    d = f"{TOP}/{n}"
    with open(TOP + "/zeros", "wb") as f:
        f.truncate(1 << 20)
    with subprocess.Popen([PYTHON, "-c", NOISE, f.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as p, Tracer(d, "--pid", p.pid).ready() as t:
        p.stdin.write("go\n")
        p.stdin.flush()
        p.stdout.readline()
        run(TRACER, "ctl", "--pid", t.pid, "set", "layers=none")
        by_kernel = kernel_counts(t.pid)
        said = t.end()
        p.stdin.close()
    gaps = [g for g in report(d)["loss"]["gaps"]
            if g["producer"] not in ("ring", "too many connections") and g["reason"] != "layer_off"]
    return by_kernel, gaps, said


need_kernel_side()
need_program("babeltrace2")
try:
    for n in range(4):
        by_kernel, gaps, said = once(n)
        by_trace = sum(g["count"] for g in gaps)
        print(f"skipped by the kernel's count {by_kernel}, by the trace {by_trace} in {len(gaps)} events")
        if by_kernel == by_trace and by_kernel:
            break
        # programs that stay attached may be skipped after the kernel's number was read
    check(by_kernel == by_trace, f"all {by_kernel} skipped runs are told")
    check(said["skipped"] >= by_trace, "and counted by the tracer")
    check(all(g["from_ns"] < g["to_ns"] for g in gaps), "each in an interval")
    check(all(len(g["layers"]) == 1 for g in gaps), "each touches the layer of its program only")
    if not by_trace:
        skip("nothing was skipped in any run here")
finally:
    shutil.rmtree(TOP)
