# SPDX-License-Identifier: MIT
"""
Network namespaces that come and go while they are recorded: each has its IP hooks, and none lives
longer for them, with the devices in it.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

NS = f"mgns{os.getpid()}"
EXCHANGE = os.path.join(os.path.dirname(__file__), "..", "programs", "exchange.py")
SCRIPT = f"""
for round in 1 2 3; do
    ip netns add {NS} && ip -n {NS} link set lo up || exit 77
    ip link add {NS}a type veth peer name {NS}b netns {NS} || exit 77
    nsenter --net=/run/netns/{NS} sh -c 'sleep 0.3; exec {PYTHON} {EXCHANGE} 50'
    ip netns del {NS}
    for try in $(seq 100); do # the kernel takes it away in the background
        ip link show {NS}a >/dev/null 2>&1 || break
        sleep 0.2
    done
    ip link del {NS}a 2>/dev/null && echo "round $round: its devices are still there"
done
exit 0
"""

need_kernel_side()
with Recording("sh", "-c", SCRIPT, ok=None) as rec:
    if rec.p.returncode == 77:
        skip("no network namespace can be made: " + rec.p.stderr.strip())
    check(rec.p.stdout.count("still there") == 0, "deleted namespaces end: " + rec.p.stdout)
    report = rec.report()
    if lost(report) == 0:
        check(len(report["flows"]) == 12 and all(f["coverage"] == 1 for f in report["flows"]),
              "the bytes in each were seen at every layer")
