# SPDX-License-Identifier: MIT
"""
Every 50th full frame is dropped at the peer's ingress: each is sent again once, the trace says which
bytes, and the bytes behind it wait for it at the receiver (head of line).
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

DROP = sys.argv[1]
TRANSFER = os.path.join(os.path.dirname(__file__), "..", "programs", "transfer.py")
PORT, BYTES = 5105, 1_500_000 // min(SLOWER, 5)

need_kernel_side()
check(os.path.exists(DROP), f"{DROP} is built")
with Network(gso_max_segs=1) as net:
    run("tc", "-n", net.b, "qdisc", "add", "dev", net.b, "clsact")
    p = run("tc", "-n", net.b, "filter", "add", "dev", net.b, "ingress", "bpf", "da", "obj", DROP,
            "sec", "tc", check=False)
    if p.returncode != 0:
        skip("tc cannot load a BPF program: " + p.stderr.strip())
    script = (f"nsenter --net=/run/netns/{net.b} {PYTHON} {TRANSFER} server {net.B} {PORT} & "
              f"nsenter --net=/run/netns/{net.a} {PYTHON} {TRANSFER} client {net.B} {PORT} {BYTES} "
              "10000; wait")
    with undisturbed(lambda: Recording("sh", "-c", script)) as rec:
        said = {("client" if "sent" in j else "server"): j["tcp_info"]
                for j in map(json.loads, rec.p.stdout.splitlines())}
        report = rec.report()
        tx, rx = flow(report, "tx", PORT, bytes=BYTES), flow(report, "rx", PORT, bytes=BYTES)
        again = said["client"]["total_retrans"]
        check(again >= BYTES // 1448 // 50, f"{again} segments were sent again")
        check(tx["retransmits"] == again, "the trace has each")
        layer = {l["name"]: l for l in tx["layers"]}
        check(layer["tcp"]["repeated_bytes"] == said["client"]["bytes_retrans"],
              f"{said['client']['bytes_retrans']} bytes of them passed TCP twice")
        check(layer["device"]["repeated_bytes"] == layer["tcp"]["repeated_bytes"],
              "and the device")
        check(layer["tcp"]["bytes"] == BYTES, "each byte counts once in its layer")
        check(tx["coverage"] == 1 and rx["coverage"] == 1, "every byte has every boundary")
        check(tx["closure_error_cycles"] == rx["closure_error_cycles"] == 0, "all closes to 0")

        events = list(rec.events())
        sent_again = {(e["offset"], e["length"]) for e in events
                      if e["event"] == "tcp_retransmit" and e["flow"] == tx["id"]}
        arrived_once = {}
        for e in events:
            if e["event"] == "ip_in" and e["flow"] == rx["id"] and int(e["length"]):
                key = (e["offset"], e["length"])
                arrived_once[key] = arrived_once.get(key, 0) + 1
        check(all(arrived_once.get(k) for k in sent_again), "what was sent again arrived")

        # head of line: what came behind a hole is readable only when the hole is filled
        arrived, readable = {}, []  # segments by their offset; how far, and when
        for e in events:
            if e["flow"] == rx["id"] and e["length"] not in ("", "0"):
                offset, length, at = int(e["offset"]), int(e["length"]), int(e["time_ns"])
                if e["event"] == "tcp_recv":
                    arrived.setdefault(offset, (at, offset + length))
                elif e["event"] == "tcp_ready":
                    readable.append((offset + length, at))
        filled = [(int(offset), arrived[int(offset)][0]) for offset, _ in sent_again]
        behind = byte_ns = 0
        for offset, (at, end) in arrived.items():
            ready = next(t for until, t in readable if until >= end)
            byte_ns += (end - offset) * (ready - at)
            for hole, filled_at in filled:
                if hole < offset and at < filled_at:
                    behind += 1
                    if ready < filled_at:
                        check(False, f"byte {offset} waits for byte {hole}")
        check(behind > 0, f"{behind} segments came behind a hole and waited until it was filled")
        waited = next(s for s in rx["residence"] if s["stage"] == "in_order")
        near(waited["mean_ns"], byte_ns / BYTES, 0.001, "the report's mean of that wait, ns")
