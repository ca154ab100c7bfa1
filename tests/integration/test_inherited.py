# SPDX-License-Identifier: MIT
"""
Kinds of descriptors that libmagnet.so has not seen opened: sockets inherited are known at their first
use, those that ended behind its back are no sockets, and what a child closes its parent still has.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

CHILD = "import os; os.write(1, os.read(0, 9)); os.write(1, os.read(0, 9))"
PARENT = f"""
import socket, subprocess, sys
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
pairs = [socket.socketpair(), (client, listener.accept()[0])]
for ours, its in pairs:
    child = subprocess.Popen([sys.executable, "-c", {CHILD!r}], stdin=its, stdout=its)
    ours.send(b"first")
    assert ours.recv(9) == b"first"
    ours.send(b"second")
    assert ours.recv(9) == b"second"
    assert child.wait() == 0
"""

own_network()
with Recording(PYTHON, "-c", PARENT, options=("--app-only",)) as rec:
    calls = {(c["name"], c["flow_kind"]): c["n"] for c in rec.report()["calls"]}
    for kind in ("unix_stream", "tcp"):
        check(calls.get(("read", kind)) == calls.get(("write", kind)) == 2,
              f"both reads and writes of a child on its inherited {kind} socket are there")

# its child starts by vfork() and closes, in its parent's memory, all but 0, 1 and 2
FORGETS_NOTHING = """
import socket, subprocess
a, b = socket.socketpair()
assert subprocess.run(["true"]).returncode == 0
a.close()
b.close()
"""
# freopen() closes within the C library, and then finds nothing to open
STALE = """
import ctypes, os, socket
a, b = socket.socketpair()
libc = ctypes.CDLL(None, use_errno=True)
libc.fdopen.restype = ctypes.c_void_p
libc.freopen.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p]
assert libc.freopen(b"/nonexistent", b"r", libc.fdopen(a.fileno(), b"r")) == 0
assert libc.send(a.fileno(), b"x", 1, 0) == -1 and ctypes.get_errno() == 9
assert libc.write(a.fileno(), b"x", 1) == -1 and ctypes.get_errno() == 9
WRITE = {"x86_64": 1, "aarch64": 64}[os.uname().machine]
assert libc.syscall(WRITE, a.fileno(), b"x", 1) == -1 and ctypes.get_errno() == 9
a.detach()
"""


def calls(program):
    with Recording(PYTHON, "-c", program, options=("--app-only",)) as rec:
        return {c["name"]: c["n"] for c in rec.report()["calls"]}


check(calls(FORGETS_NOTHING).get("close") == 2, "a parent's sockets are sockets after a vfork()")
counts = calls(STALE)
check(not {"send", "write"} & set(counts), f"calls on what is no socket any more are none {counts}")
