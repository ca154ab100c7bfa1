# SPDX-License-Identifier: MIT
"""
Requests that nobody answers: the report has how many there were, and for how long they waited, by the
client's own clock; its first screen says so, whichever end is recorded, and also where no request was answered.
So it says what comes before a request: its slow arrival, and slow and failed attempts to connect.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

# Every fifth request gets no reply: its client waits 0.3 s and connects anew. Prints the sum of these waits in ns.
ASKS = """
import os, select, socket, sys, time
all_of_them, every = int(sys.argv[1]), int(sys.argv[2])
listener = socket.create_server(("127.0.0.1", 0))
if os.fork() == 0:
    n = 0
    while n < all_of_them:
        s = listener.accept()[0]
        while s.recv(100):
            n += 1
            if n % every:
                s.sendall(bytes(50))
        s.close()
    os._exit(0)
s, waited = None, 0
for n in range(1, all_of_them + 1):
    s = s or socket.create_connection(listener.getsockname())
    s.sendall(bytes(100))
    began = time.monotonic_ns()
    if select.select([s], [], [], 0.3)[0]:
        s.recv(100)
        continue
    s.close()
    s = None
    waited += time.monotonic_ns() - began
if s:
    s.close()
os.wait()
print(waited)
"""


def asked(all_of_them, every):
    with Recording(PYTHON, "-c", ASKS, all_of_them, every) as rec:
        return rec.report(), rec.text(), int(rec.p.stdout)


def some():
    report, text, waited = asked(30, 5)
    for role in "client", "server":
        g = next(g for g in report["exchanges"] if g["role"] == role)
        check((g["answered"], g["unanswered"], g["unanswered_ns"]["n"]) == (24, 6, 6), f"{role}: 6 of 30 had no reply")
        near(g["unanswered_total_ns"], waited, 0.02, f"ns waited in all, {role}, by the client's clock")
        near(g["unanswered_ns"]["max"], waited / 6, 0.1, f"ns of the longest, {role}")
    first = text.split("Answer: ")[1].splitlines()[1]
    check("6 requests of python3 to port" in first and "got no reply: they waited 1.8" in first,
          f"the answer begins with them: {first}")


def all_without():
    report, text, waited = asked(2, 1)
    check(all(g["answered"] == 0 for g in report["exchanges"]), "no request is answered")
    check("Answer: 2 requests of python3 to port" in text and "got no reply: they waited 60" in text,
          "that is the answer: " + text[:600])


def none_without():
    _, text, _ = asked(30, 1000)
    check("got no reply" not in text, "nothing is said where all are answered")


def without_states():
    """Where it is not recorded when connections begin and end, there are no such times, nor zeros."""
    with Recording(PYTHON, "-c", ASKS, 10, 5, options=("--app-only",)) as rec:
        report, text = rec.report(), rec.text()
    check(report["connects"] is None, f"attempts to connect: {report['connects']}")
    check(all(g["unanswered_ns"] is None and g["unanswered_total_ns"] is None for g in report["exchanges"]) and
          "got no reply" not in text, "waits of requests without a reply")


def still_open():
    """The recording ends before the connection does."""
    script = ("import socket, time\nl = socket.create_server(('127.0.0.1', 0))\n"
              "print(flush=True); input(); c = socket.create_connection(l.getsockname()); s = l.accept()[0]\n"
              "c.sendall(b'x'); s.recv(9); s.sendall(b'y'); c.recv(9)\n"
              "c.sendall(b'z'); s.recv(9); time.sleep(20)\n")
    with subprocess.Popen([PYTHON, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p, \
            tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        p.stdout.readline()
        rec = subprocess.Popen([MAGNET, "record", "-o", top + "/t", "--pid", str(p.pid), "--duration", "2s"],
                               stderr=subprocess.PIPE, text=True)
        rec.stderr.readline()  # it has begun
        p.stdin.write("\n")
        p.stdin.flush()
        rec.communicate(timeout=60)
        p.kill()
        rows = [line.split("\t") for line in run(MAGNET, "show", "--facts", "exchange", top + "/t").stdout.splitlines()]
    names = [n.partition(":")[0] for n in rows[0]]
    found = [dict(zip(names, r)) for r in rows[1:] if r[names.index("answer")] == "unanswered"]
    check(len(found) == 2 and all(e["open"] == "1" and 0.5e9 < float(e["waited_ns"]) < 2.5e9 for e in found),
          f"it waited until the end: {[(e['open'], e['waited_ns']) for e in found]}")


# Each request comes in two halves. Prints the sum of the pauses between them in ns.
HALVES = """
import socket, sys, time
for _ in range(500):
    try:
        s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        break
    except ConnectionRefusedError:
        time.sleep(0.02)
paused = 0
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for _ in range(30):
    s.sendall(bytes(100))
    began = time.monotonic_ns()
    time.sleep(0.02)
    paused += time.monotonic_ns() - began
    s.sendall(bytes(100))
    s.recv(50)
print(paused)
"""
READS = """
import socket, sys
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as l:
    s = l.accept()[0]
while s.recv(200):
    s.recv(200)
    s.sendall(bytes(50))
"""
PORT = 5489


def in_halves():
    """A server's times begin with a request's last byte: that the first came long before is said, too."""
    with subprocess.Popen([PYTHON, "-c", HALVES, str(PORT)], stdout=subprocess.PIPE, text=True) as client:
        with Recording(PYTHON, "-c", READS, PORT) as rec:
            report, text = rec.report(), rec.text()
        paused = int(client.stdout.read())
    g = next(g for g in report["exchanges"] if g["role"] == "server")
    near(g["in_requests_ns"], paused, 0.02, "ns from requests' first byte to their last, by the client's clock")
    first = text.split("Answer: ")[1].splitlines()[1]
    check("requests took 20" in first and "to arrive" in first, f"the answer says so: {first}")


# Four attempts to connect to a host that is silent, given up after 0.25 s, then one to a server that answers.
# Prints the sum of the times of all five in ns.
SILENT = """
import os, select, socket, time
took = 0
for host in ["10.99.0.2"] * 4 + ["127.0.0.1"]:
    s = socket.socket()
    if host == "127.0.0.1":
        listener = socket.create_server((host, 7)) # before the clock runs
    began = time.monotonic_ns()
    s.setblocking(False)
    s.connect_ex((host, 7))
    select.select([], [s], [], 0.25)
    took += time.monotonic_ns() - began
    if host != "127.0.0.1":
        s.close()
s.setblocking(True)
a = listener.accept()[0]
for _ in range(5):
    s.sendall(b"x")
    a.recv(9)
    a.sendall(b"y")
    s.recv(9)
print(took)
"""
NETWORK = ("ip link set lo up && ip link add m0 type veth peer name m1 && ip addr add 10.99.0.1/24 dev m0 && "
           "ip link set m0 up && ip link set m1 up && ip neigh add 10.99.0.2 lladdr 02:00:00:00:00:02 dev m0 && "
           'exec "$@"')


def attempts_to_connect():
    with Recording("unshare", "-n", "sh", "-c", NETWORK, "sh", PYTHON, "-c", SILENT) as rec:
        report, text, took = rec.report(), rec.text(), int(rec.p.stdout)
    c = report["connects"]
    check((c["n"], c["failed"], c["open"]) == (5, 4, 0), f"4 of 5 attempts failed: {c}")
    near(c["total_ns"], took, 0.02, "ns of all attempts, by the program's clock")
    first = text.split("Answer: ")[1].splitlines()[1]
    check("5 attempts to connect took 1" in first and "4 failed" in text, f"the answer begins with them: {first}")


need_kernel_side()
for scene in some, all_without, none_without, without_states, still_open, in_halves, attempts_to_connect:
    print("---", scene.__name__, flush=True)
    patiently(scene)
