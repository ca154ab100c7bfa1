# SPDX-License-Identifier: MIT
"""
Every 50th full frame is dropped: congestion states change, each from where the last change led, and
into recovery as often as the kernel counts.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from tcp_info import netstat

DROP = sys.argv[1]
TRANSFER = os.path.join(os.path.dirname(__file__), "..", "programs", "transfer.py")
PORT, BYTES = 5106, 1_500_000


def counters(net):
    return netstat(run(*net.inside(net.a, "cat", "/proc/net/netstat")).stdout)


def record(net, script):
    global counted
    before = counters(net)
    rec = Recording("sh", "-c", script, options=["--level", "full"])
    after = counters(net)
    counted = {k: after[k] - before[k] for k in after}
    return rec


need_kernel_side()
counted = {}
with Network(gso_max_segs=1) as net:
    run("tc", "-n", net.b, "qdisc", "add", "dev", net.b, "clsact")
    p = run("tc", "-n", net.b, "filter", "add", "dev", net.b, "ingress", "bpf", "da", "obj", DROP,
            "sec", "tc", check=False)
    if p.returncode != 0:
        skip("tc cannot load a BPF program: " + p.stderr.strip())
    script = (f"nsenter --net=/run/netns/{net.b} {PYTHON} {TRANSFER} server {net.B} {PORT} & "
              f"nsenter --net=/run/netns/{net.a} {PYTHON} {TRANSFER} client {net.B} {PORT} {BYTES} "
              "10000; wait")
    with undisturbed(lambda: record(net, script)) as rec:
        changes = {}
        for e in rec.events():
            if e["event"] == "tcp_cong":
                changes.setdefault(e["flow"], []).append((e["fields"]["old"], e["fields"]["now"]))
        tx = flow(rec.report(), "tx", PORT, bytes=BYTES)
        ours = changes.pop(tx["id"])
        follow = all(a[1] == b[0] for a, b in zip(ours, ours[1:]))
        check(follow and ours[0][0] == "open", f"{len(ours)} changes, each from the last: {ours}")
        recoveries = sum(now == "recovery" for _, now in ours)
        expected = counted["TCPSackRecovery"] + counted["TCPRenoRecovery"]
        check(recoveries == expected > 0, f"{recoveries} recoveries, the kernel counts {expected}")
        timeouts = sum(e["event"] == "tcp_timeout" for e in rec.events())
        check(timeouts == counted["TCPTimeouts"], f"{timeouts} timeouts, likewise")
        lost = [int(e["fields"]["lost"]) for e in rec.events()
                if e["event"] == "tcp_more" and e["flow"] == tx["id"]]
        # a tail loss probe sends again what is not held for lost
        others = timeouts + recoveries + counted["TCPLossProbes"]
        check(lost == sorted(lost) and lost[-1] >= tx["retransmits"] - others,
              f"{lost[-1]} segments were held for lost, {tx['retransmits']} sent again")
        check(tx["tcp"]["recoveries"] == recoveries and tx["tcp"]["timeouts"] == timeouts,
              "the report has the sums")
