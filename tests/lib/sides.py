# SPDX-License-Identifier: MIT
"""The processes of a `magnet record` that runs, and whether one is still there."""
import os
import sys
import time


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(p) for p in f.read().split()]


def recorder(record, comm):
    """The process of this name among record's children, once COMMAND runs beside it."""
    for _ in range(3000):
        found = {}
        for p in children(record.pid):
            try:
                with open(f"/proc/{p}/comm") as f:
                    found.setdefault(f.read().strip(), p)
            except OSError:
                pass
        command = next((n for n in found if n.startswith("python")), None)
        if len(found) > 1 and command and (comm in found or comm == "COMMAND"):
            return found[command if comm == "COMMAND" else comm]
        time.sleep(0.01)
    sys.exit(f"magnet record has no {comm}")


def is_gone(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def wait_until_gone(pids):
    for _ in range(1000):
        if all(map(is_gone, pids)):
            return
        time.sleep(0.02)
    sys.exit(f"still there after 20 s: {[p for p in pids if not is_gone(p)]}")
