# SPDX-License-Identifier: MIT
"""
Calls of 32-bit programs have other numbers and arguments: they are not taken for others, and that
they are not recorded is told; what they send is followed below the system call.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

need_kernel_side()
PROGRAM = sys.argv[1]
if run(PROGRAM, check=False).returncode:
    skip("this kernel runs no 32-bit programs")


def seen(*options):
    with Recording(PROGRAM, options=("-q", "--kernel-only", *options)) as rec:
        of_32bit, others, sent = map(int, rec.p.stdout.split())
        pid = {e["pid"] for e in rec.events() if e["event"] == "task_exit"}
        calls = [e["fields"]["call"] for e in rec.events() if e["event"] == "sys_enter" and e["pid"] in pid]
        gaps = [g for g in rec.report()["loss"]["gaps"] if g["producer"] == "calls of 32-bit programs"]
        at_device = max((unit["bytes"] for f in rec.report()["flows"] if f["direction"] == "tx"
                         for unit in f["layers"] if unit["name"] == "device"), default=0)
        return of_32bit, others, sent, calls, gaps, at_device, rec.text()


for _ in range(5):
    of_32bit, others, sent, calls, gaps, at_device, text = seen()
    if sum(g["count"] for g in gaps) == of_32bit and "sendto" in calls:
        break
check(not {"writev", "close"} & set(calls), f"{calls} are the calls of the others")
check(calls.count("sendto") == others, f"{others} of them sent")
check(sum(g["count"] for g in gaps) == of_32bit, f"{of_32bit} calls of 32-bit programs are told")
check(all(g["layers"] == ["syscall"] for g in gaps), "what they are missed by is the system call")
check("calls of 32-bit programs" in text, "in words too")
# on some machines no tracing program runs while certain tasks are current
check(0.9 * sent <= at_device <= sent, f"{at_device} bytes at the device of the {sent} that were sent")

for _ in range(5):
    of_32bit, _, _, calls, gaps, *_ = seen("--layers", "socket,tcp,ip,device")
    if sum(g["count"] for g in gaps) == of_32bit:
        break
check(not calls and sum(g["count"] for g in gaps) == of_32bit, "they are told without the layer syscall, too")
