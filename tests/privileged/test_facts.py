# SPDX-License-Identifier: MIT
"""
The output of `magnet show --facts` sums up to the report of the same recording: a TCP transfer
with every 50th frame dropped, datagrams, UNIX sockets and marks.
"""
import collections
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fact_table import facts
from fixture import *

DROP = sys.argv[1]
PROGRAMS = os.path.join(os.path.dirname(__file__), "..", "programs")
TRANSFER = os.path.join(PROGRAMS, "transfer.py")
PORT, BYTES = 5107, 1_500_000
OTHERS = """
import socket
a, b = socket.socketpair()
for i in range(30):
    a.send(b"u" * (i + 1))
    b.recv(100)
r, s = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for i in range(2))
r.bind(("127.0.0.1", 0))
for i in range(40):
    s.sendto(b"d" * (i * 10), r.getsockname())
    r.recv(1000)
"""
# of datagrams the report has another word
SAME_STAGE = {"ip_to_socket": "ip_to_tcp"}


def by(rows, key):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


def total(rows, column):
    return sum(row[column] or 0 for row in rows)


def equal(pairs, what):
    """`pairs` gives what the facts sum up to, what the report says, and of what."""
    pairs = list(pairs)
    wrong = [p for p in pairs if p[0] != p[1]]
    check(pairs and not wrong, f"{what}: {len(pairs)} sums are the report's {wrong[:3]}")


def close(pairs, what):
    pairs = list(pairs)
    wrong = [p for p in pairs if abs(p[0] - p[1]) > 1 + 1e-6 * abs(p[1])]
    check(pairs and not wrong, f"{what}: {len(pairs)} means are the report's {wrong[:3]}")


def check_packets(rec, report):
    rows = by(facts(rec, "packet"), lambda p: (p["flow"], p["layer"]))

    def sums():
        for f in report["flows"]:
            for layer in f["layers"]:
                all = rows.pop((f["id"], layer["name"]), [])
                # an empty datagram is a new one
                fresh = [p for p in all if p["fresh"] or not p["payload"]]
                where = f["id"], layer["name"]
                yield len(fresh), layer["n"], (*where, "n")
                yield total(fresh, "payload"), layer["bytes"], (*where, "bytes")
                yield len(all) - len(fresh), layer["repeated_n"], (*where, "repeated_n")
                yield (total(all, "payload") - total(all, "fresh"), layer["repeated_bytes"],
                       (*where, "repeated_bytes"))
                if layer["frames"] is not None:
                    yield total(all, "packets"), layer["frames"], (*where, "frames")
                if layer["wire_bytes"] is not None:
                    yield total(all, "wire"), layer["wire_bytes"], (*where, "wire_bytes")
    equal(sums(), "packets at each layer")
    told = {f["id"] for f in report["flows"]}
    check(not [k for k in rows if k[0] in told], "no flow has packets at a layer that the report lacks")


def check_ranges(rec, report):
    ranges = facts(rec, "range")
    rows = by(ranges, lambda r: r["flow"])
    followed = {f: [r for r in rows[f] if r["outcome"] == "followed"] for f in rows}

    def counts():
        for f in report["flows"]:
            if f["coverage"] is None:
                continue
            complete = [r for r in rows[f["id"]] if r["outcome"] != "incomplete"]
            yield total(complete, "length"), f["complete_bytes"], f["id"]
            # those that have no times at all are made up at the end, of what the report counts
            yield (total(rows[f["id"]], "length") - total(complete, "length") <= f["incomplete_bytes"],
                   True, f["id"])
    equal(counts(), "bytes of the ranges")

    def means():
        for f in report["flows"]:
            all = followed.get(f["id"], [])
            bytes = total(all, "length")
            for stage in f["residence"] or []:
                name = f"stage_{SAME_STAGE.get(stage['stage'], stage['stage'])}_ns"
                if stage["n"] and stage["mean_ns"] is not None:
                    yield (sum((r[name] or 0) * r["length"] for r in all) / bytes, stage["mean_ns"],
                           (f["id"], stage["stage"]))
            if all and f["residence_total_ns"] is not None:
                yield (sum(r["total_ns"] * r["length"] for r in all) / bytes,
                       f["residence_total_ns"], f["id"])
    close(means(), "mean time in each stage, by bytes")
    closed = [abs(sum(r[c] or 0 for c in r if c.startswith("stage_")) - r["total_ns"])
              for f in followed.values() for r in f]
    check(max(closed) <= 0.05 * 15, f"the stages of each of {len(closed)} ranges sum to its total")
    held = [(sum(r[c] for c in r if c.startswith("held_")), r["stage_send_buffer_ns"])
            for f in followed.values() for r in f if r["why"] and r["stage_send_buffer_ns"] is not None]
    check(held and max(abs(a - b) for a, b in held) <= 0.05 * 10,
          f"what held {len(held)} ranges in the send buffer sums to that stage")
    overlaps = []
    for f, all in rows.items():
        all.sort(key=lambda r: r["offset"])
        overlaps += [f for a, b in zip(all, all[1:]) if a["offset"] + a["length"] > b["offset"]]
    check(not overlaps, f"no byte is in two ranges {overlaps[:3]}")


def check_calls(rec, report):
    rows = by(facts(rec, "call"), lambda c: (c["function"], c["seen_by"] == "kernel", c["kind"]))

    def sums():
        for c in report["calls"]:
            where = c["name"], c["kernel_only"], c["flow_kind"]
            all = rows.pop(where, [])
            yield len(all), c["n"], (*where, "n")
            yield sum(f["result"] < 0 for f in all), c["failed"], (*where, "failed")
            yield total(all, "bytes"), c["bytes"], (*where, "bytes")
            yield sum(f["seen_by"] == "both" for f in all), c["joined"], (*where, "joined")
            complete = [f for f in all if f["complete"]]
            yield len(complete), c["complete"], (*where, "complete")
            if c["blocked_n"] is not None:
                yield (sum(bool(f["blocked_times"]) for f in complete), c["blocked_n"],
                       (*where, "blocked_n"))
    equal(sums(), "calls")
    check(not rows, f"no call is in the facts alone {list(rows)[:3]}")


def check_others(rec, report):
    waits = facts(rec, "wait")
    # one whose end was not recorded has no wakeup latency
    woken = [w for w in waits if w["woken_ns"] and w["end_ns"]]
    equal([(len(woken), report["scheduler"]["wakeup_ns"]["n"], "wakeups")], "waits")
    close([(sum(w["end_ns"] - w["woken_ns"] for w in woken) / len(woken),
            report["scheduler"]["wakeup_ns"]["mean"], "wakeup_ns")], "waits")
    again = by(facts(rec, "retransmit"), lambda r: r["flow"])
    equal([(sum(r["segments"] for r in again[f["id"]] if r["result"] >= 0), f["retransmits"], f["id"])
           for f in report["flows"] if f["proto"] == "tcp" and f["direction"] == "tx"], "retransmits")
    check(sum(map(len, again.values())) > 0, "segments were sent again")
    drops = by(facts(rec, "drop"), lambda d: d["flow"])
    equal([(total(drops[f["id"]], "segments"), sum(d["segments"] for d in f["drops"]), f["id"])
           for f in report["flows"]], "drops")
    flows = {f["flow"]: f for f in facts(rec, "flow")}
    same = (("bytes", "bytes"), ("followed", "complete_bytes"), ("kind", "proto"), ("peer", "peer"),
            ("incomplete", "incomplete_bytes"), ("retransmits", "retransmits"), ("pid", "pid"))
    equal([(flows[f["id"]][a], f[b], (f["id"], a)) for f in report["flows"] for a, b in same
           if a != "retransmits" or (f["proto"], f["direction"]) == ("tcp", "tx")], "flows")
    check(len(facts(rec, "loss")) == len(report["loss"]["gaps"]), "losses are the report's gaps")
    states = by(facts(rec, "state"), lambda s: s["flow"])
    for f in report["flows"]:
        if f["direction"] == "tx" and f["tcp"] and f["tcp"].get("srtt_us"):
            seen = [s["srtt_us"] for s in states[f["id"]] if s["srtt_us"] is not None]
            check(abs(sum(seen) / len(seen) - f["tcp"]["srtt_us"]["mean"]) < 1e-3 * max(seen),
                  f"{len(seen)} round-trip times have the report's mean")


def check_acks(rec, report):
    flows = {f["flow"]: f for f in facts(rec, "flow")}
    acks = by(facts(rec, "ack"), lambda a: a["flow"])
    tcp = [f for f in report["flows"] if f["proto"] == "tcp" and f["bytes"]]
    equal([(total(acks[f["id"]], "length"), f["bytes"], f["id"]) for f in tcp], "acknowledged bytes")
    equal([(acks[f["id"]][-1]["offset"], min(flows[f["id"]]["acknowledged"], f["bytes"]), f["id"])
           for f in tcp if f["direction"] == "tx"], "the last acknowledgements")
    late = [a for f in tcp for a in acks[f["id"]] if f["direction"] == "tx"
            and not a["device_ns"] <= a["ip_ns"] <= (a["tcp_ns"] or a["ip_ns"])]
    check(not late, f"each passes device, IP and TCP in this order {late[:3]}")
    sends = [[a["ip_ns"] for a in acks[f["id"]]] for f in tcp if f["direction"] == "rx"]
    check(sends and all(t == sorted(t) for t in sends), "and leaves in order of what it acknowledges")


need_kernel_side()
with Network(gso_max_segs=1) as net:
    run("tc", "-n", net.b, "qdisc", "add", "dev", net.b, "clsact")
    p = run("tc", "-n", net.b, "filter", "add", "dev", net.b, "ingress", "bpf", "da", "obj", DROP,
            "sec", "tc", check=False)
    if p.returncode != 0:
        skip("tc cannot load a BPF program: " + p.stderr.strip())
    script = (f"nsenter --net=/run/netns/{net.b} {PYTHON} {TRANSFER} server {net.B} {PORT} & "
              f"nsenter --net=/run/netns/{net.a} {PYTHON} {TRANSFER} client {net.B} {PORT} {BYTES} "
              f"10000; wait; ip link set lo up; {PYTHON} -c '{OTHERS}'")
    with undisturbed(lambda: Recording("sh", "-c", script, options=["--level", "full"])) as rec:
        report = rec.report()
        check_packets(rec, report)
        check_ranges(rec, report)
        check_calls(rec, report)
        check_others(rec, report)
        check_acks(rec, report)
        tx = flow(report, "tx", PORT, bytes=BYTES)
        one = facts(rec, "range", "--flow", tx["id"])
        check(one and {r["flow"] for r in one} == {tx["id"]}, "--flow leaves those of one flow")
        check(not facts(rec, "mark", "--flow", tx["id"]), "a flow without such facts is no error")
        for args, why in ((("wait", "--flow", tx["id"]), "not about flows"),
                          (("range", "--flow", "1/tx"), "no flow 1/tx"), (("rangs",), "rangs")):
            p = run(MAGNET, "show", rec.dir, "--facts", *args, check=False)
            check(p.returncode != 0 and why in p.stderr and p.stderr.count("\n") == 1,
                  f"--facts {' '.join(args)} is refused in a line: {p.stderr.strip()}")
    # without the hooks of the device nothing is said of it, not even 0
    with Recording("sh", "-c", f"ip link set lo up; {PYTHON} -c '{OTHERS}'",
                   options=["--layers", "syscall,socket,ip"]) as rec:
        ranges = [r for r in facts(rec, "range") if r["outcome"] == "followed"]
        check(ranges and all(r["stage_driver_ns"] is None and r["stage_device_to_ip_ns"] is None
                             for r in ranges), f"{len(ranges)} ranges have no time at the device")
        calls = [c for c in facts(rec, "call") if c["seen_by"] == "both"]
        check(calls and all(c["state_blocked_ns"] is None for c in calls),
              "calls have no time blocked without the scheduler")
        check({f["dropped"] for f in facts(rec, "flow")} <= {0, None}, "flows have no drops")
