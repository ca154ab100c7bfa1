# SPDX-License-Identifier: MIT
"""
Programs in a namespace of processes know other numbers of themselves than the kernel: their calls are
joined with the kernel's all the same, also those of threads and children.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PROGRAM = """
import os, socket, threading, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
s.connect(s.getsockname())
def send(n):
    for i in range(n):
        s.send(b"x"); s.recv(9)
    time.sleep(0.5)
t = threading.Thread(target=send, args=(20,))
t.start()
child = os.fork()
send(10)
if not child:
    os._exit(0)
t.join()
os.waitpid(child, 0)
assert os.getpid() < 20
"""

# The program itself sends 5 times; 10 and 20 times children that it forks in a namespace it has made.
NESTED = """
import ctypes, os, socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
s.connect(s.getsockname())
def send(n):
    for i in range(n):
        s.send(b"x"); s.recv(9)
    time.sleep(0.5)
assert ctypes.CDLL(None).unshare(0x20000000) == 0
child = os.fork()
if not child:
    assert os.getpid() == 1
    if not os.fork():
        send(20)
        os._exit(0)
    send(10)
    os.wait()
    os._exit(0)
send(5)
os.waitpid(child, 0)
"""
# Sends 5 times itself. The other arguments are a way to call setns(), and namespaces to enter one after another, in
# each of which it forks children that send 10, 20 and so on times; "made" is one that it makes.
ENTERS = """
import ctypes, os, socket, sys, time
libc = ctypes.CDLL(None)
NEWPID, NUMBER = 0x20000000, {"x86_64": 308, "aarch64": 268}[os.uname().machine]
def send(n):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    s.connect(s.getsockname())
    for i in range(n):
        s.send(b"x"); s.recv(9)
    time.sleep(1.5)
children = []
def fork(n):
    children.append(os.fork())
    if not children[-1]:
        send(n)
        os._exit(0)
    time.sleep(0.3)
n = 0
for path in sys.argv[2:]:
    if path == "made":
        assert libc.unshare(NEWPID) == 0
    else:
        fd = os.open(path, os.O_RDONLY)
        assert {"kind": lambda: libc.setns(fd, NEWPID), "any": lambda: libc.setns(fd, 0),
                "raw": lambda: libc.syscall(NUMBER, fd, NEWPID)}[sys.argv[1]]() == 0
    for i in range(1 if sys.argv[3:] else 2):
        n += 10
        fork(n)
send(5)
for child in children: # in any order: the first of a namespace ends as the last one
    os.wait()
"""
# Number 1 sends 5 times, number 2, which ends at once, 3 times.
BRIEF = """
import os, socket, time
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
for i in range(5):
    a.send(b"x"); b.recv(9)
time.sleep(0.3)
child = os.fork()
if not child:
    assert os.getpid() == 2
    for i in range(3):
        a.send(b"x")
    os._exit(0)
os.waitpid(child, 0)
time.sleep(0.3)
"""


def sends(rec):
    """{(process, thread): number} by the application side, and by the kernel side."""
    ours, kernels = {}, {}
    for e in rec.events():
        key = e["pid"], e["tid"]
        if e["event"] == "magnet:send":
            ours[key] = ours.get(key, 0) + 1
        elif e["event"] == "sys_enter" and e["fields"]["call"] == "sendto":
            kernels[key] = kernels.get(key, 0) + 1
    return ours, kernels


need_kernel_side()
for how in (("--mount-proc",), ()):
    command = ("unshare", "--pid", "--fork", *how, PYTHON, "-c", PROGRAM)
    if run(*command, check=False).returncode:
        skip("no namespaces can be made")
    with Recording(*command) as rec:
        ours, kernels = sends(rec)
        check(sorted(ours.values()) == [10, 10, 20], f"{how}: sends of two processes and a thread")
        check(ours == kernels, f"each by whom the kernel names {ours} {kernels}")
        calls = [c for c in rec.report()["calls"] if c["name"] in ("send", "sendto")]
        check([c["n"] for c in calls] == [40] and calls[0]["overhead_ns"]["p50"],
              "and each call is one, with its system call")

for how in ((), ("unshare", "--pid", "--fork")):
    with Recording(*how, PYTHON, "-c", NESTED) as rec:
        ours, kernels = sends(rec)
        check(sorted(ours.values()) == [5, 10, 20] and ours == kernels,
              f"{how}: children in a namespace their parent has made have the kernel's numbers {ours} {kernels}")
        check("keep the process numbers" not in rec.p.stderr, "and nothing else is told")

class Namespace:
    """A namespace of processes with two in it. `path` names it."""

    def __enter__(self):
        self.p = subprocess.Popen(["unshare", "--pid", "--fork", "sh", "-c", "sleep 60 & echo there; wait"],
                                  stdout=subprocess.PIPE, text=True)
        self.p.stdout.readline()
        self.first = int(run("pgrep", "-P", self.p.pid).stdout)
        self.path = f"/proc/{self.first}/ns/pid"
        return self

    def __exit__(self, *unused):
        os.kill(self.first, signal.SIGKILL)  # and with it all others there
        self.p.wait()
        self.p.stdout.close()


with Namespace() as a, Namespace() as b:
    for how, path in (("kind", a.path), ("any", a.path), ("raw", a.path), ("kind", "made")):
        with Recording(PYTHON, "-c", ENTERS, how, path) as rec:
            ours, kernels = sends(rec)
            check(sorted(ours.values()) == [5, 10, 20] and ours == kernels,
                  f"{how}: children in a namespace that was {'made' if path == 'made' else 'entered'} have the "
                  f"kernel's numbers {ours} {kernels}")
            check("keep the process numbers" not in rec.p.stderr, "and nothing else is told")
    # entering another kind of namespace changes nothing for children
    with Recording(PYTHON, "-c", ENTERS, "any", f"/proc/{os.getpid()}/ns/net") as rec:
        ours, kernels = sends(rec)
        check(sorted(ours.values()) == [5, 10, 20] and ours == kernels, f"of another kind: {ours} {kernels}")
with Namespace() as a, Namespace() as b:
    # two children with one number in two namespaces: which is the second one, its number does not say
    with Recording(PYTHON, "-c", ENTERS, "kind", a.path, b.path) as rec:
        ours, kernels = sends(rec)
        right = {key: n for key, n in ours.items() if kernels.get(key) == n}
        check(sum(ours.values()) == 35 and sorted(right.values()) in ([5, 10], [5, 10, 20]) and
              (20 in right.values() or "application calls keep the process numbers" in rec.p.stderr),
              f"those with equal numbers are not taken for each other {ours} {kernels}: {rec.p.stderr}")

# others have a number 2 that lives
others = subprocess.Popen(["unshare", "--pid", "--fork", "sh", "-c", "sleep 60 & echo there; wait"],
                          stdout=subprocess.PIPE, text=True)
others.stdout.readline()
with Recording("unshare", "--pid", "--fork", PYTHON, "-c", BRIEF) as rec:
    ours, kernels = sends(rec)
    right = {key: n for key, n in ours.items() if key in kernels}
    inner = ours.get(("2", "2"), 0)
    check(sum(ours.values()) == 8 and sum(right.values()) + inner == 8,
          f"what has ended before it was found is nobody else's {ours} {kernels}")
    check(not inner or "3 application calls keep the process numbers" in rec.p.stderr, "but told: " + rec.p.stderr)
for pid in run("pgrep", "-P", str(others.pid)).stdout.split():
    os.kill(int(pid), signal.SIGKILL)
others.wait()
