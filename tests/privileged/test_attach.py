# SPDX-License-Identifier: MIT
"""
--pid and --all: a process that runs already, with connections opened before the recording. Their
byte offsets must be the connection's own, not the recording's.
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PORT, STEP = 5106, 1000
# one end only receives, the other only sends: each must be found by what it does
RECEIVER = f"""
import socket
l = socket.create_server(("127.0.0.1", {PORT}))
s, _ = l.accept()
while s.recv({STEP}):
    pass
"""
SENDER = f"""
import socket, time
s = socket.create_connection(("127.0.0.1", {PORT}))
while True:
    s.sendall(b"x" * {STEP})
    time.sleep(0.002)
"""


def attach(what, *args):
    top = tempfile.mkdtemp(prefix="magnet-test-")
    try:
        run(MAGNET, "record", "-q", "-o", top + "/t", "--duration", str(1 + SLOWER // 5), *args)
        report = json.loads(run(MAGNET, "report", "--json", top + "/t").stdout)
        check(lost(report) == 0, f"{what}: nothing was lost")
        return report
    finally:
        shutil.rmtree(top)


def sound(f, what):
    check(f["offsets"] == "from_connection", f"{what}: offsets are the connection's")
    check(f["bytes"] > 100 * STEP // SLOWER, f"{what}: bytes until {f['bytes']}")
    check(f["complete_bytes"] > 100 * STEP // SLOWER and f["complete_bytes"] % STEP == 0,
          f"{what}: {f['complete_bytes']} of them were recorded completely")
    check(f["coverage"] is not None, f"{what}: coverage is told: {f['coverage']}")
    check(f["kernel_only_bytes"] > 0, f"{what}: by calls without an application event")
    check(f["closure_error_cycles"] == 0, f"{what}: closes to 0")


ONE_ACCEPT = f"""
import socket, sys
l = socket.create_server(("127.0.0.1", {PORT}))
c = socket.create_connection(l.getsockname())
s, _ = l.accept()
c.sendall(b"x" * int(sys.argv[1]))
print(len(s.recv(1000)), flush=True)
"""


def ports_are_given_back():
    """A port on which a recorded program listened may be another's later, who is not recorded."""
    top = tempfile.mkdtemp(prefix="magnet-test-")
    try:
        p = subprocess.Popen([MAGNET, "record", "-q", "-o", top + "/t", "--", "sh", "-c",
                              '"$@"; read line', "sh", PYTHON, "-c", ONE_ACCEPT, "100"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        p.stdout.readline()
        run(PYTHON, "-c", ONE_ACCEPT, "777")
        p.communicate("\n", timeout=30)
        report = json.loads(run(MAGNET, "report", "--json", top + "/t").stdout)
        check({f["bytes"] for f in report["flows"]} == {100}, "only its own connection is recorded")
    finally:
        shutil.rmtree(top)


need_kernel_side()
ports_are_given_back()
receiver = subprocess.Popen([PYTHON, "-c", RECEIVER])
time.sleep(0.3 * SLOWER)
sender = subprocess.Popen([PYTHON, "-c", SENDER])
try:
    time.sleep(0.7 * SLOWER)
    report = attach("--pid of the sender", "--pid", sender.pid)
    sound(flow(report, "tx", PORT), "sender")
    check(all(f["pid"] == sender.pid for f in report["flows"]), "nobody else is recorded")
    report = attach("--pid of the receiver", "--pid", receiver.pid)
    sound(flow(report, "rx", PORT), "receiver")
    report = attach("--all", "--all")
    sound(flow(report, "tx", PORT), "sender")
    sound(flow(report, "rx", PORT), "receiver")
finally:
    stop(sender)
    stop(receiver)
