# SPDX-License-Identifier: MIT
"""Sockets a program has not made itself, but inherited: known for what they are at their first use."""
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
