# SPDX-License-Identifier: MIT
"""
family.py GATE COMMAND...: runs COMMAND once GATE/go is there, and ends when it and all that descends
from it have ended, daemons too. SIGTERM ends them all, and so does a COMMAND that fails. So a
recording of it holds whole lives only.
"""
import ctypes
import os
import signal
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
gate, command = sys.argv[1], sys.argv[2:]


def descendants():
    """All that are there now; one that has lost its parent is a child of ours."""
    children = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            parent = int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue
        children.setdefault(parent, []).append(int(pid))
    found = children.get(os.getpid(), [])
    for pid in found:
        found.extend(children.get(pid, []))
    return found


def end_all(*unused):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for pid in descendants():
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    signal.signal(signal.SIGTERM, end_all)
    signal.setitimer(signal.ITIMER_REAL, 0.2)  # what has been forked meanwhile


signal.signal(signal.SIGTERM, end_all)
signal.signal(signal.SIGALRM, end_all)
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
with open(gate + "/pid.new", "w") as f:
    f.write(str(os.getpid()))
os.rename(gate + "/pid.new", gate + "/pid")
while not os.path.exists(gate + "/go"):
    time.sleep(0.02)
child = os.posix_spawnp(command[0], command, os.environ,
                        setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])
status = 1
while True:
    try:
        pid, ended = os.wait()
    except ChildProcessError:
        break
    if pid == child:
        status = os.waitstatus_to_exitcode(ended)
        if status:
            end_all()
sys.exit(status if status >= 0 else 128 - status)
