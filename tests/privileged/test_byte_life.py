# SPDX-License-Identifier: MIT
"""
The whole life of bytes (magnet show --bytes) of a transfer in which every 50th frame is dropped on its
way in: the ranges are the bytes asked for, each once; each row is an event of the trace, at its time;
no event about these bytes is missing; and what was dropped, sent again and acknowledged is there.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

DROP = sys.argv[1]
TRANSFER = os.path.join(os.path.dirname(__file__), "..", "programs", "transfer.py")
PORT, BYTES, SIZE = 5133, 300_000, 10_000
FROM, TO = 1234, 290_001
# rows that are no event of their own, or are told by the counter only
DERIVED = {"call", "return", "sys_enter", "sys_exit", "woken", "runs", "acknowledged"}
WAY = ["call", "sys_enter", "tcp_send", "ip_out", "ip_post", "dev_queue", "dev_xmit", "dev_recv", "ip_in",
       "tcp_recv", "tcp_ready", "sock_copy", "return"]


def life(rec, flow, *options, check=True):
    return run(MAGNET, "show", rec.dir, "--flow", flow, *options, check=check)


def rows(rec, flow, *options):
    return list(csv.DictReader(life(rec, flow, "--tsv", *options).stdout.splitlines(),
                               delimiter="\t", quoting=csv.QUOTE_NONE))


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
              f"{SIZE}; wait")
    with undisturbed(lambda: Recording("sh", "-c", script)) as rec:
        report = rec.report()
        tx, rx = flow(report, "tx", PORT, bytes=BYTES), flow(report, "rx", PORT, bytes=BYTES)
        told = rows(rec, tx["id"], "--bytes", f"{FROM}-{TO - 1}")
        check(told == rows(rec, rx["id"], "--bytes", f"{FROM}+{TO - FROM}"),
              "it is the same from either end")

        atoms = {}
        for r in told:
            atoms.setdefault((int(r["offset"]), int(r["length"])), []).append(r)
        at = FROM
        for offset, length in sorted(atoms):
            check(offset == at, f"{offset} follows") if offset != at else None
            at += length
        check(at == TO, f"{len(atoms)} ranges are the bytes {FROM} to {TO - 1}, each once")

        events, there = list(rec.events()), {}
        for e in events:
            if e["flow"] in (tx["id"], rx["id"]) and e["fields"].get("via", "own") == "own":
                there.setdefault((e["event"], e["time_ns"], e["cycles"], e["flow"]), []).append(e)
        found = sum((r["what"], r["time_ns"], r["cycles"], r["flow"]) in there for r in told
                    if r["what"] not in DERIVED)
        check(found == sum(r["what"] not in DERIVED for r in told) and found > 1000,
              f"all {found} events told of are in the trace, at the same time")
        by_row = {(r["what"], r["time_ns"], r["flow"], int(r["offset"])) for r in told}
        missing = 0
        for e in events:
            if e["flow"] not in (tx["id"], rx["id"]) or e["length"] in ("", "0") \
                    or e["event"].startswith("magnet:"):
                continue
            begin, end = int(e["offset"]), int(e["offset"]) + int(e["length"])
            missing += sum((e["event"], e["time_ns"], e["flow"], offset) not in by_row
                           for offset, length in atoms if begin <= offset and offset + length <= end)
        check(missing == 0, "and none about these bytes is missing")

        for (offset, length), life_of in atoms.items():
            times = [int(r["cycles"]) for r in life_of]
            if times != sorted(times) or int(life_of[0]["since_first_ns"]):
                check(False, f"byte {offset}: rows are in order of time")
            for r, before in zip(life_of[1:], life_of):
                since = int(r["since_last_ns"])
                if abs(since - (int(r["since_first_ns"]) - int(before["since_first_ns"]))) > 1:
                    check(False, f"byte {offset}: {since} ns is no difference")
            way = [w for w in WAY if w not in [r["what"] for r in life_of]]
            if way or not any(r["what"] == "acknowledged" for r in life_of):
                check(False, f"byte {offset} has no {way}, or no acknowledgement")
        check(True, "each byte has every layer at both ends, and its acknowledgement, in order")

        # the kernel refuses it while the first copy is still in a queue (EBUSY)
        sent_again = {o for (o, n), l in atoms.items()
                      if any(r["what"] == "tcp_retransmit" and not r["note"].startswith("not sent") for r in l)}
        twice = {o for (o, n), l in atoms.items()
                 if any(r["what"] == "ip_out" and r["note"] == "again" for r in l)}
        check(sent_again and sent_again == twice, f"{len(twice)} ranges were sent again, and passed again")
        dropped = {o for (o, n), l in atoms.items() if any(r["what"] == "drop" for r in l)}
        if hooked(rec, "drop"):
            check(dropped <= sent_again and dropped, f"{len(dropped)} of them are known to be dropped")
        offset = min(sent_again)
        text = life(rec, tx["id"], "--byte", str(offset)).stdout
        check("SENT AGAIN by TCP" in text and f"bytes {offset} to {offset} (1)" in text,
              "people are told so")
        check(f"send() called" in text and "recv() returns" in text, "and who wrote and read it")
        check("more (fewer bytes" in life(rec, tx["id"], "--bytes", "0-299999").stdout, "many are cut off")

        for wrong, status, why in ((["--byte", "300000"], 1, "nothing was recorded of these bytes"),
                                   (["--bytes", "9-1"], 2, "it takes a range of bytes"),
                                   (["--byte", "x"], 2, "it takes a byte's number")):
            p = life(rec, tx["id"], *wrong, check=False)
            check(p.returncode == status and why in p.stderr, f"{wrong}: {p.stderr.strip()}")
        p = run(MAGNET, "show", rec.dir, "--byte", "1", check=False)
        check(p.returncode == 2 and "give --flow" in p.stderr, p.stderr.strip())
        p = life(rec, "1/tx", "--byte", "1", check=False)
        check(p.returncode == 1 and "there is no flow 1/tx" in p.stderr, p.stderr.strip())

        # a flow's own report: its calls only, and its other end
        p = json.loads(run(MAGNET, "report", "--json", rec.dir, "--flow", rx["id"]).stdout)
        check([f["id"] for f in p["flows"]] == [rx["id"]], "the report of one flow has that flow")
        calls = p["flows"][0]["calls"]
        check({c["name"] for c in calls} == {"recv"} and sum(c["bytes"] for c in calls) == BYTES,
              f"and its calls: {calls[0]['n']} that received {BYTES} bytes")
        text = rec.text("--flow", tx["id"])
        check("Calls on this flow" in text and f"The other end is flow {rx['id']}" in text,
              "in the text too, with the other end")
        check("recv" not in text, "and none of others")
