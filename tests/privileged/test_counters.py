# SPDX-License-Identifier: MIT
"""
Byte lineage against the bytes themselves: two threads write numbered words into one connection with
a small send buffer, so that calls block half-way and interleave. Every range the correlator claims
for a call must hold exactly the bytes that call wrote.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PROGRAM = sys.argv[1]
# more than sequence numbers can count takes its time
LONG = "5120" if os.environ.get("MAGNET_TEST_LONG") else "256"
MEGABYTES = int(os.environ.get("MAGNET_TEST_MEGABYTES", LONG))
PORT = 5101

need_kernel_side()
top = scratch()
stream = top + "/stream"
receiver = subprocess.Popen([PROGRAM, "receive", str(PORT), stream])
try:
    with Recording(PROGRAM, "send", "127.0.0.1", PORT, MEGABYTES) as rec:
        check(receiver.wait(60) == 0, "the stream was received")
        said = {}  # what each thread's calls wrote, in order
        for line in rec.p.stdout.splitlines():
            tid, thread, first, size = map(int, line.split())
            said.setdefault(tid, []).append((thread, first, size))
        calls = split = 0
        position = dict.fromkeys(said, 0)
        claims = []
        for e in rec.events():
            if e["event"] != "magnet:send":
                continue
            tid = int(e["tid"])
            thread, byte, size = said[tid][position[tid]]
            position[tid] += 1
            calls += 1
            ranges = e["fields"].get("ranges", f"{e['offset']}+{e['length']}")
            pieces = [tuple(map(int, r.split("+"))) for r in ranges.split(",")]
            split += len(pieces) > 1
            if sum(n for _, n in pieces) != size:
                check(False, f"call {calls} claims {pieces}, it wrote {size} bytes")
            for offset, n in pieces:
                claims.append(f"{offset} {n} {thread} {byte}")
                byte += n
        check(calls == sum(map(len, said.values())), f"all {calls} calls were seen")
        check(split > 0, f"{split} of them were interleaved with the other thread's")
        p = run(PROGRAM, "verify", stream, input="\n".join(claims), check=False)
        check(p.returncode == 0 and int(p.stdout) == MEGABYTES << 20,
              f"{len(claims)} claimed ranges hold what was written: {p.stdout.strip()} bytes")

        report = rec.report()
        tx = flow(report, "tx", PORT)
        check(lost(report) == 0, "nothing was lost")
        check(tx["closure_error_cycles"] == 0, "every complete atom closes to 0 cycles")
        check(tx["bytes"] == MEGABYTES << 20, "the flow has all bytes")
        check(tx["coverage"] > 0.999, f"coverage {tx['coverage']}")
        check(report["state_sum_mismatches"] == 0, "every call's states sum to its total")
finally:
    stop(receiver)
    shutil.rmtree(top)
