# SPDX-License-Identifier: MIT
"""
Data sent before their connection was accepted have waited since it was queued: a pre-fork server whose
workers are busy, over UNIX streams, UNIX packets and TCP; clients that are gone when they are accepted; a
send that goes on after accept(); pairs of sockets, which need none. Each wait against the program's clock.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PROGRAM = os.path.join(os.path.dirname(__file__), "..", "programs", "listen_queue.py")
MESSAGE = 200
SLACK_NS = 20_000  # between the program's clock and the counter, converted


class Message:
    """When it was sent and read, by the program's clock: it was queued and copied in between."""

    def __init__(self, kind, sender, offset, sent):
        self.kind, self.sender, self.offset, self.sent = kind, sender, offset, sent

    def was_read(self, reader, begun, before, after):
        self.reader, self.least, self.most = reader, max(0, before - self.sent), after - begun


def messages(lines):
    sent = {(line[2], line[3]): Message(*line[1:]) for line in lines if line[0] == "sent"}
    for _, reader, sender, offset, *times in (line for line in lines if line[0] == "read"):
        sent[sender, offset].was_read(reader, *times)
    return list(sent.values())


def received(report, m):
    """The flow it was read from."""
    if m.kind == "tcp":
        return next(f for f in report["flows"] if f["direction"] == "rx" and f["remote"]
                    and f["remote"].endswith(f":{m.sender}"))
    return next(f for f in report["flows"] if f["id"] == f"ino:{m.reader}/rx")


def by_byte(rec, f, m):
    """
    ns from the first sight of it at the receiver to the return of the call that read it, by `show
    --bytes`; None if either is missing. The sender's call is shown, too, and may return later.
    """
    p = run(MAGNET, "show", rec.dir, "--tsv", "--flow", f["id"], "--bytes", f"{m.offset}+{MESSAGE}")
    rows = list(csv.DictReader(p.stdout.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    came = [int(r["time_ns"]) for r in rows if r["what"] == ("dev_recv" if m.kind == "tcp" else "sock_ready")]
    read = [int(r["time_ns"]) for r in rows if r["what"] == "return" and r["flow"] == f["id"]]
    return read[0] - came[0] if len(came) == len(read) == 1 else None


def check_waits(rec, report, kind, sent):
    flows = {}
    for m in sent:
        flows.setdefault(received(report, m)["id"], []).append(m)
    for f in (f for f in report["flows"] if f["id"] in flows):
        of = flows[f["id"]]
        least, most = (sum(getattr(m, k) for m in of) / len(of) for k in ("least", "most"))
        took = f["residence_total_ns"]
        check(f["coverage"] == 1 and f["closure_error_cycles"] == 0, f"{kind}: all of {f['id']}'s bytes")
        check(least - SLACK_NS <= took <= most + SLACK_NS,
              f"{kind}: {took / 1e6:.3f} ms, by the program {least / 1e6:.3f} to {most / 1e6:.3f}")
        alone = [by_byte(rec, f, m) for m in of]
        for m, ns in zip(of, alone):
            check(ns is not None and m.least - SLACK_NS <= ns <= m.most + SLACK_NS,
                  f"{kind}: show --bytes {m.offset}+{MESSAGE}: {(ns or 0) / 1e6:.3f} ms")
        # show converts by the rate at that moment, the report by the rate of the whole recording
        check(abs(sum(alone) / len(of) - took) <= 2 + took * 1e-6, f"{kind}: their mean is the report's")


def check_blocked(report, ends):
    """The bytes that were there before accept() and those that came after it are all read."""
    for ino, way in zip(ends, ("tx", "rx")):
        f = next(f for f in report["flows"] if f["id"] == f"ino:{ino}/{way}")
        check(f["coverage"] == 1 and f["closure_error_cycles"] == 0,
              f"a send that goes on after accept(): {way}: all of {f['bytes']} bytes")


def waits():
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top, \
            undisturbed(lambda: Recording(PYTHON, PROGRAM, tempfile.mkdtemp(dir=top))) as rec:
        report, told = rec.report(), json.loads(rec.p.stdout)
        found = messages(told["lines"])
        for kind in sorted({m.kind for m in found}):
            check_waits(rec, report, kind, [m for m in found if m.kind == kind])
        check_blocked(report, told["blocked"])
        queue = [m for m in found if m.kind in ("stream", "seqpacket", "tcp")]
        check(len(queue) == 18, "all clients of the servers were answered")


need_kernel_side()
patiently(waits)
