# SPDX-License-Identifier: MIT
"""
Where the kernel encrypts, TCP's bytes are not the program's: the report says so, counts the calls, and
makes no figure of how long bytes took; also of connections that were so before the recording.
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PROGRAM = os.path.join(os.path.dirname(__file__), "..", "programs", "ktls.py")
PORT, PLAIN, CALLS, SIZE = 5290, 1000, 20, 3000
RECORD = 5 + 8 + 16  # what TLS 1.2 with AES-GCM adds to each: header, nonce, tag


def is_unmapped(flows, text):
    check(flows and all(f["unmapped"] == "ktls" for f in flows), f"{len(flows)} flows carry kernel TLS")
    check(all(f["coverage"] is None for f in flows), "none has a byte's times")
    check("TCP carries records of kernel TLS" in text and "M n/a" in text, "the text says why")


def from_the_beginning():
    with Recording(PYTHON, PROGRAM, PORT, PLAIN, CALLS, SIZE) as rec:
        said, report = json.loads(rec.p.stdout), rec.report()
        is_unmapped([f for f in report["flows"] if str(PORT) in f["local"] + f["remote"]], rec.text())
        tx, rx = flow(report, "tx", PORT), flow(report, "rx", PORT)
        carried = PLAIN + CALLS * (SIZE + RECORD)
        check(tx["bytes"] == carried and rx["bytes"] == carried, f"TCP carried {carried} bytes")
        check(tx["call_n"] == CALLS + 1, f"of {CALLS + 1} calls")
        check(rx["call_n"] == said["plain"] + said["tls"],
              f"which {said['plain'] + said['tls']} calls received")
        calls = {c["name"]: c for c in report["calls"] if c["flow_kind"] == "tcp"}
        for name in ("send", "recv"):
            check(calls[name]["bytes"] == PLAIN + CALLS * SIZE + 1,
                  f"the program's bytes by {name}(): {calls[name]['bytes']}")


need_kernel_side()
p = subprocess.run([PYTHON, PROGRAM, str(PORT), "1", "1", "1"], capture_output=True, text=True, timeout=60)
if p.returncode == 77:
    print(p.stderr.strip())
    sys.exit(0)
from_the_beginning()
