# SPDX-License-Identifier: MIT
"""magnet-kernel-tracer by itself, and a program to watch that does what it is told."""
import ctypes
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile

from fixture import MAGNET, PYTHON, SLOWER, check, run, skip, stop

TRACER = os.path.join(os.environ.get("MAGNET_BUILD", ""), "kernel-tracer", "magnet-kernel-tracer")


class Tracer:
    """Recording from `ready()` on; gone at the end."""

    def __init__(self, directory, *options, **kw):
        self.dir = directory
        self.ours, theirs = socket.socketpair()
        with theirs:
            self.p = subprocess.Popen(
                [TRACER, "-o", directory, "--control-fd", str(theirs.fileno()), *map(str, options)],
                pass_fds=[theirs.fileno()], stderr=subprocess.PIPE, text=True, **kw)
        self.lines = self.ours.makefile("r")
        self.pid = self.p.pid

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        stop(self.p)
        self.lines.close()
        self.ours.close()
        self.p.stderr.close()

    def hear(self):
        self.ours.settimeout(60 * SLOWER)
        return json.loads(self.lines.readline() or '{"gone": true}')

    def ready(self):
        said = self.hear()
        if not said.get("ready"):
            sys.exit(f"the tracer does not begin: {said} {self.p.stderr.read()}")
        return self

    def end(self, ask=True):
        """Returns the tracer's messages at its end, requested or not."""
        if ask:
            self.ours.shutdown(socket.SHUT_WR)
        said = self.hear()
        self.p.wait(60 * SLOWER)
        return said

    def halt(self):
        """Stops it, so that its files stay as they are until go_on()."""
        self.p.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def go_on(self):
        self.p.send_signal(signal.SIGCONT)

    def kill(self):
        self.p.kill()
        self.p.wait(60 * SLOWER)


class Talker:
    """A process with a TCP connection to itself: each ask(N) makes N round trips over loopback."""

    PROGRAM = """
import socket, sys
l = socket.create_server(("127.0.0.1", 0))
a = socket.create_connection(l.getsockname())
b, _ = l.accept()
size = int(sys.argv[1])
a.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
b.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
print("open", flush=True)
for line in sys.stdin:
    for _ in range(int(line)):
        a.sendall(b"x" * size)
        b.recv(size)
        b.sendall(b"y" * size)
        a.recv(size)
    print("done", flush=True)
"""

    def __init__(self, size=100):
        self.p = subprocess.Popen([PYTHON, "-c", self.PROGRAM, str(size)], text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.p.stdout.readline()
        self.pid = self.p.pid

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        stop(self.p)
        self.p.stdin.close()
        self.p.stdout.close()

    def begin(self, trips):
        self.p.stdin.write(f"{trips}\n")
        self.p.stdin.flush()

    def ask(self, trips):
        self.begin(trips)
        return self.p.stdout.readline().strip() == "done"

    def leave(self):
        self.p.stdin.close()
        self.p.wait(30)


# ---- reading ----

def events(directory, *names):
    """
    By plain babeltrace2: (name, time, fields as text) of every event, or of those of these names, which is
    quicker; fatal if it does not open.
    """
    wanted = re.compile(rf"\[(\d+)\] [^{{]*?({'|'.join(names) or '[^ ]+'}): \{{ (.*)").match
    # as many warnings as there were losses: a pipe that nobody reads meanwhile may be full
    with tempfile.TemporaryFile("w+") as said, \
            subprocess.Popen(["babeltrace2", "--clock-cycles", "--names=payload", directory],
                             stdout=subprocess.PIPE, stderr=said, text=True) as p:
        for line in p.stdout:
            m = wanted(line)
            if m:
                yield m[2], int(m[1]), m[3]
        p.wait()
        said.seek(0)
        why = said.read()
    if p.returncode != 0:
        sys.exit(f"babeltrace2 does not read {directory}: {why[-1000:]}")


def counts(directory):
    """How many events of each name."""
    n = {}
    for name, *_ in events(directory):
        n[name] = n.get(name, 0) + 1
    return n


def opens(directory):
    """Why plain babeltrace2 does not read it; "" if it does."""
    p = run("babeltrace2", directory, "-o", "dummy", check=False)
    return "" if p.returncode == 0 else p.stderr[-1000:] or "exit status"


def report(*directories):
    return json.loads(run(MAGNET, "report", "--json", *directories).stdout)


# ---- what a process has in the kernel ----

BPF_PROG_GET_FD_BY_ID, BPF_LINK_GET_FD_BY_ID = 13, 30
SYS_BPF = {"x86_64": 321, "aarch64": 280}[os.uname().machine]


def bpf_ids(pid):
    """Ids of the BPF programs and links a process holds."""
    ids = set()
    try:
        for fd in os.listdir(f"/proc/{pid}/fdinfo"):
            with open(f"/proc/{pid}/fdinfo/{fd}") as f:
                for kind, number in re.findall(r"^(prog_id|link_id):\t(\d+)", f.read(), re.M):
                    ids.add((kind, int(number)))
    except OSError:
        pass
    return ids


def in_kernel(ids):
    """Those of the programs and links that are still there."""
    libc = ctypes.CDLL(None, use_errno=True)
    left = set()
    for kind, number in ids:
        attr = (ctypes.c_uint32 * 32)(number)
        command = BPF_PROG_GET_FD_BY_ID if kind == "prog_id" else BPF_LINK_GET_FD_BY_ID
        fd = libc.syscall(SYS_BPF, command, ctypes.byref(attr), 128)
        if fd >= 0:
            os.close(fd)
            left.add((kind, number))
    return left


def tracer_of(recorder):
    """The kernel tracer that magnet record runs."""
    with open(f"/proc/{recorder}/task/{recorder}/children") as f:
        for child in f.read().split():
            with open(f"/proc/{child}/comm") as comm:
                if comm.read().startswith("magnet-kernel"):
                    return child
    return check(False, "magnet record has a kernel tracer")
