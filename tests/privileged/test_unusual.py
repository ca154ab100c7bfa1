# SPDX-License-Identifier: MIT
"""
Connections that are not as usual: data in the SYN have their place, refused calls are told with the gap
until the retry, and where TCP's bytes are not the program's (MPTCP, TLS in the kernel) that is said.
"""
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

UNUSUAL = os.path.join(os.path.dirname(__file__), "..", "programs", "unusual.py")
PORT = 5220


def recorded(way, good=lambda report: not report["loss"]["kernel"]):
    for _ in range(5 * SLOWER):
        rec = Recording(PYTHON, UNUSUAL, way, PORT, ok=None)
        if rec.p.returncode == SKIP:
            rec.__exit__()
            return None
        check(rec.p.returncode == 0, f"{way} runs")
        if good(rec.report()):
            return rec
        print("some bytes lack a boundary: once more")
        rec.__exit__()
    sys.exit("never complete")


def claims(rec, flow_id):
    return [[int(e["offset"]), int(e["length"])] for e in rec.events("--flow", flow_id)
            if e["event"].startswith("magnet:send") and e["length"] not in ("", "0")]


def fast_open():
    def good(report):
        return all(f["coverage"] == 1 for f in report["flows"] if f["direction"] == "tx")

    with recorded("fastopen", good) as rec:
        report = rec.report()
        flows = [f for f in report["flows"] if f["remote"].endswith(f":{PORT}") and f["direction"] == "tx"]
        flows.sort(key=lambda f: f["bytes"])
        for f, said in zip(flows, json.loads(rec.p.stdout)):
            first = said[0][1]
            check(claims(rec, f["id"]) == said, f"{first} bytes in or with the SYN, then others: {said}")
            check(f["bytes"] == sum(n for _, n in said), "all are the stream's")
            syn = [e for e in rec.events("--flow", f["id"]) if e["event"] == "ip_out"
                   and int(e["fields"]["tcp_flags"], 16) & 2]
            check(len(syn) == 1 and int(syn[0]["length"]) > 0 and syn[0]["offset"] == "0",
                  f"{syn[0]['length']} of them with the SYN")
            peer = next(g for g in report["flows"] if g["id"] == f["peer"])
            check(peer["bytes"] == f["bytes"], "the other end has as many, in the same places")
            check(peer["incomplete_bytes"] >= int(syn[0]["length"]),
                  "those of the SYN, which had no socket, are told as incomplete there")


def refused():
    with recorded("refused") as rec:
        said = json.loads(rec.p.stdout)
        gaps = [g for name, g in said if name == "gap"]
        f = flow(rec.report(), "tx", PORT)
        check(claims(rec, f["id"]) == [c for c in said if c[0] != "gap"], "each call's bytes, in part or whole")
        check(f["refused_calls"] == 5 * len(gaps), f"{f['refused_calls']} calls were refused")
        # from the first refusal to the copying: within what the program's clock says around both
        told = f["retry_gap_ns"]["mean"] * 1e-9 * len(gaps)
        least, most = (sum(g[i] for g in gaps) for i in (0, 1))
        check(least <= told <= most,
              f"bytes went again after {told:.6f} s in all, the program counts {least:.6f} to {most:.6f}")
        check("as the send buffer was full" in rec.text(), "the text says so")


def not_mapped(way, expected):
    rec = recorded(way)
    if not rec:
        print(f"no {way} on this kernel")
        return
    with rec:
        flows = [f for f in rec.report()["flows"] if str(PORT) in f["local"] + f["remote"]]
        said = {f["unmapped"] for f in flows}
        check(said == expected, f"{way}: {said}")
        check(all(f["coverage"] is None for f in flows), f"{way}: no coverage of what cannot be covered")
        check(all(f["modulation"]["M"] is None for f in flows), f"{way}: no M")
        check("not available" in rec.text() and "mapped" in rec.text(), f"{way}: the text says why")


need_kernel_side()
refused()
try:
    with open("/proc/sys/net/ipv4/tcp_fastopen", "w") as f:
        f.write(str(0x207))
except OSError as e:
    print(f"data in the SYN cannot be allowed: {e}")
else:
    fast_open()
try:
    socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).close()
except OSError as e:
    print(f"no MPTCP on this kernel: {e}")
else:
    not_mapped("mptcp", {"mptcp"})
not_mapped("ktls", {"ktls"})
