# SPDX-License-Identifier: MIT
"""
Full frames are dropped, by their number. At the peer's ingress each is sent again once by TCP, the
trace says which bytes, and the bytes behind it wait for it at the receiver (head of line). On the own
egress TCP knows at once: it sends them again, and that is no retransmission.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from arrivals import Arrivals
from fixture import *

DROP = sys.argv[1]
TRANSFER = os.path.join(os.path.dirname(__file__), "..", "programs", "transfer.py")
PORT = 5105


def drop_at(ns, where, section):
    """Anew, so that it counts from 0."""
    run("tc", "-n", ns, "qdisc", "del", "dev", ns, "clsact", check=False)
    run("tc", "-n", ns, "qdisc", "add", "dev", ns, "clsact")
    p = run("tc", "-n", ns, "filter", "add", "dev", ns, where, "bpf", "da", "obj", DROP, "sec",
            section, check=False)
    if p.returncode != 0:
        skip("tc cannot load a BPF program: " + p.stderr.strip())


def recorded(net, drop, size, step):
    script = (f"nsenter --net=/run/netns/{net.b} {PYTHON} {TRANSFER} server {net.B} {PORT} & "
              f"nsenter --net=/run/netns/{net.a} {PYTHON} {TRANSFER} client {net.B} {PORT} {size} "
              f"{step}; wait")

    def once():
        drop_at(*drop)
        return Recording("sh", "-c", script)

    if drop[1] == "ingress":
        return undisturbed(once)
    for _ in range(5 * SLOWER):  # some segments never reach the device: that is meant to be
        rec = once()
        report = rec.report()
        again = sum(f["retransmits"] or 0 for f in report["flows"] if f["direction"] == "tx")
        # nor does TCP take an acknowledgement that a busy machine delays for a loss
        if not report["loss"]["kernel"] and not again \
                and all(f["coverage"] in (1, None) for f in report["flows"]):
            return rec
        print(f"some segments were not seen, or {again} sent again: once more")
        rec.__exit__()
    sys.exit("events were lost in each of 5 recordings")


def facts(rec, size):
    said = {("client" if "sent" in j else "server"): j["tcp_info"]
            for j in map(json.loads, rec.p.stdout.splitlines())}
    report = rec.report()
    tx, rx = flow(report, "tx", PORT, bytes=size), flow(report, "rx", PORT, bytes=size)
    check(tx["coverage"] == 1 and rx["coverage"] == 1, "every byte has every boundary")
    check(tx["closure_error_cycles"] == rx["closure_error_cycles"] == 0, "all closes to 0")
    for f, layer in ((tx, "device"), (rx, "ip")):
        of = next(l for l in f["layers"] if l["name"] == layer)
        check(of["bytes"] == size, "each byte counts once in its layer")
    for f in (tx, rx):
        for s in f["residence"]:
            check(s["bytes"] == size - f["ambiguous_bytes"],
                  f"{s['stage']} has all bytes but {f['ambiguous_bytes']} ambiguous ones")
    check(rx["modulation"]["bytes"] == size, "from call to call every byte is followed")
    return said["client"], tx, rx


def repeated(f, layer):
    return next(l for l in f["layers"] if l["name"] == layer)["repeated_bytes"]


def lost_on_the_way(section, dropped, size, step):
    """`dropped`: how many are, at least. Returns whether the report tells means."""
    print(f"-- {section} at the peer's ingress, {size} bytes in calls of {step}")
    with Network(gso_max_segs=1) as net:
        with recorded(net, (net.b, "ingress", section), size, step) as rec:
            said, tx, rx = facts(rec, size)
            again = said["total_retrans"]
            check(again >= dropped, f"{again} segments were sent again, {dropped} were dropped")
            check(tx["retransmits"] == again, "the trace has each")
            check(tx["retransmitted_bytes"] == said["bytes_retrans"] == repeated(tx, "tcp"),
                  f"and all their {said['bytes_retrans']} bytes")
            check(tx["resent_bytes"] == 0, "nothing was dropped on the way out")
            check(said["bytes_sent"] - said["bytes_retrans"] == size == said["bytes_acked"] - 2,
                  "which is what TCP says, that counts SYN and FIN as acknowledged")
            check(repeated(tx, "device") == repeated(tx, "tcp"), "the device had them again")
            check(tx["ambiguous_bytes"] == 0, "the first copies had left: their times are known")

            events = list(rec.events())
            sent_again = {(int(e["offset"]), int(e["length"])): int(e["time_ns"]) for e in events
                          if e["event"] == "tcp_retransmit" and e["flow"] == tx["id"]
                          and e["length"] != "0"}  # a FIN alone
            a = Arrivals(events, rx)
            check(all(o in a.processed for o, _ in sent_again), "what was sent again arrived")
            twice = sum(map(a.length, a.ambiguous))
            check(twice >= dropped * 430, f"{twice} bytes came twice")
            check(twice == rx["ambiguous_bytes"], "those are the ambiguous bytes")
            check(rx["transit_ambiguous_bytes"] >= rx["ambiguous_bytes"] > 0, "their way is not known")

            # head of line: what came behind a hole is readable only when the hole is filled
            behind = 0
            filled = [(o, a.processed[o]) for o, _ in sent_again]
            for offset, at in a.processed.items():
                ready = a.readable[offset]
                for hole, filled_at in filled:
                    if hole < offset and at < filled_at:
                        behind += 1
                        if ready < filled_at:
                            check(False, f"byte {offset} waits for byte {hole}")
            check(behind > 0, f"{behind} ranges came behind a hole and waited until it was filled")
            waited = next(s for s in rx["residence"] if s["stage"] == "in_order")
            if rx["withheld"]:
                check(rx["withheld"] == "uncertainty" and waited["mean_ns"] is None,
                      "the machine disturbed the clock's readings: no means are told")
            else:
                near(waited["mean_ns"], a.mean_in_order_ns(), 0.001, "the report's mean of that wait, ns")
            check("retransmitted" in rec.text(), "the text says so")
            return not rx["withheld"]


def dropped_at_home(section, dropped, size, step):
    print(f"-- {section} on the own egress, {size} bytes in calls of {step}")
    with Network(gso_max_segs=1) as net:
        with recorded(net, (net.a, "egress", section), size, step) as rec:
            said, tx, rx = facts(rec, size)
            check(said["total_retrans"] == tx["retransmits"] == 0, "TCP retransmits nothing")
            check(tx["retransmitted_bytes"] == 0, "nor do the events")
            inflated = said["bytes_sent"] - said["bytes_retrans"] - size
            check(tx["resent_bytes"] == inflated >= dropped,
                  f"{inflated} bytes were sent again, as TCP's counters are inflated by")
            check(tx["ambiguous_bytes"] == tx["resent_bytes"] == repeated(tx, "tcp"), "known by IP")
            check(repeated(tx, "device") == 0, "the device had them once")
            check(rx["ambiguous_bytes"] == 0, "they came once")
            check("which TCP does not count" in rec.text(), "the text says so")


need_kernel_side()
need_program("tc")
check(os.path.exists(DROP), f"{DROP} is built")
LESS = min(SLOWER, 5)
scenes = (("tc", 1_500_000 // LESS // 1448 // 50, 1_500_000 // LESS, 10000), ("tc/5", 1, 100_000, 1448),
          ("tc/77", 1, 300_000, 3333))
told = sum(lost_on_the_way(*scene) for scene in scenes)
for _ in range(5):
    told = told or lost_on_the_way(*scenes[1])
check(told, "a recording's means are told")
dropped_at_home("tc/5", 1, 100_000, 20000)
dropped_at_home("tc/every13", 10, 400_000 // LESS, 7000)
