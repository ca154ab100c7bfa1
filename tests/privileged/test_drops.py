# SPDX-License-Identifier: MIT
"""Packets the kernel throws away: each is told, with its reason, at its layer, as often as counted."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from topology import Topology

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "programs"))
import dropping as d

PROGRAM = os.path.join(HERE, "..", "programs", "dropping.py")
# kind: (local port of the flow, direction, how its reason begins, layer, counter without its "6")
EXPECTED = {
    "rcvbuf": (d.RCVBUF + 100, "rx", ("SOCKET_RCVBUFF",), "socket", "b:Udp{}RcvbufErrors"),
    "queue": (d.QUEUE, "tx", ("QDISC_",), "qdisc", "qdisc drops"),
    "rule": (d.RULE + 100, "rx", ("NETFILTER_DROP",), "netfilter", "rule"),
    "closed": (d.CLOSED, "tx", ("NO_SOCKET",), "udp", "b:Udp{}NoPorts"),
    "closed_here": (d.CLOSED_HERE, "tx", ("NO_SOCKET",), "udp", "a:Udp{}NoPorts"),
    "ttl": (d.TTL, "tx", ("IP_INHDR",), "ip", "m:Ip{}InHdrErrors"),
    "checksum": (d.CHECKSUM + 100, "rx", ("UDP_CSUM",), "udp", "b:Udp{}InCsumErrors"),
    "closed_tcp": (d.CLOSED_TCP, "tx", ("NO_SOCKET",), "tcp", "b:TcpOutRsts"),
}


def rule_in(t, ns):
    """False if there is nft to make it with."""
    if not shutil.which("nft"):
        return False
    run(*t.inside(ns, "nft", f"add table inet t; add chain inet t i {{ type filter hook input "
                  f"priority 0; }}; add rule inet t i udp dport {d.RULE + 100} counter drop"))
    return True


def rule_counted(t, ns):
    said = json.loads(run(*t.inside(ns, "nft", "-j", "list", "table", "inet", "t")).stdout)
    return next(e["counter"]["packets"] for o in said["nftables"] if "rule" in o
                for e in o["rule"]["expr"] if "counter" in e)


def one_run(t, v6, top):
    with open(f"{top}/spec", "w") as f:
        json.dump({"a": t.a, "b": t.b, "m": t.m, "v6": v6, "devices": {t.a: [t.a]},
                   "address": {e: t.address(getattr(t, e), v6) for e in "ab"}}, f)
    with Recording(PYTHON, PROGRAM, f"{top}/spec", options=("--kernel-only",)) as rec:
        report, text = rec.report(), rec.text()
        if report["loss"]["kernel"]:
            return None
        return json.loads(rec.p.stdout), report, text


def wrong(said, report, ruled, v6):
    """(kind, what is unequal) of each."""
    for kind, (port, direction, reasons, layer, counter) in EXPECTED.items():
        if kind == "rule" and not ruled:
            continue
        counted = ruled[0] if kind == "rule" else said[kind][counter.format("6" if v6 else "")]
        flows = [f for f in report["flows"] if f["direction"] == direction
                 and (f["local"] or "").endswith(f":{port}")]
        drops = [x for f in flows for x in f["drops"]]
        told = sum(x["segments"] for x in drops)
        if told != counted or not counted:
            yield kind, f"{told} are told, {counted} counted: {drops}"
        elif not all(x["reason"].startswith(reasons) for x in drops):
            yield kind, f"the reasons are {[x['reason'] for x in drops]}"
        elif not all(x["layer"] == layer for x in drops):
            yield kind, f"layers and places are {[(x['layer'], x['location']) for x in drops]}"
        else:
            print(f"ok: {kind}: {counted} dropped at {layer}: {drops[0]['reason']} in "
                  f"{drops[0]['location']}")


def dropped(v6, tries=5):
    with Topology("routed") as t, tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        can_rule, before = rule_in(t, t.b), 0
        if not can_rule:
            print("nft is not installed: no rule of netfilter's is tested")
        for last in reversed(range(tries)):
            found = one_run(t, v6, top)
            ruled = can_rule and (rule_counted(t, t.b) - before,)
            before += ruled[0] if ruled else 0
            bad = list(wrong(*found[:2], ruled, v6)) if found else ["events were lost"]
            if not bad:
                break
            # no tracing program may have run where the supervisor's tasks are current
            print(f"{bad}: {'once more' if last else 'FAILED'}")
        check(not bad, f"IPv{6 if v6 else 4}: every drop is told, as counted, where it was")
        check("dropped:" in found[2], "the text tells of drops, too")


need_kernel_side()
need_program("tc")
for six in (False, True):
    dropped(six)
