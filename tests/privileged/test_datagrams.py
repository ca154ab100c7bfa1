# SPDX-License-Identifier: MIT
"""
Which datagram is which: messages that carry their numbers, and a program that says what it sent and
received. Whatever a call is said to have got, is what it got; what cannot be told is counted, and little.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PROGRAM = [PYTHON, os.path.join(os.path.dirname(__file__), "..", "programs", "numbered.py")]
LOST = 75  # the exit status of the program if it waited for a datagram that had no room in an input queue
INTERNET = "plain,cork,segment,large,several,full,odd,many,shared,late,waits,passed"


class Numbered(Recording):
    """A recording of the program, with the program's own output."""

    def __init__(self, *args, inside=(), options=()):
        super().__init__(*inside, *PROGRAM, *args, options=options, ok=None)
        if self.p.returncode == LOST:  # what floods those queues is no business of this test
            print(f"another program's packets took the room of this one's: {self.p.stderr[-300:]}")
            self.__exit__()
            raise Spoiled(1)
        check(self.p.returncode == 0, f"the program ends: {self.p.stderr[-3000:]}")
        self.said = json.loads(self.p.stdout.strip().splitlines()[-1])
        self.the_report = self.report()
        self.flows = {f["id"]: f for f in self.the_report["flows"]}
        self.rows = {}
        for e in self.events():
            self.rows.setdefault(e["flow"], []).append(e)

    def received(self, sock):
        """Returns what each receive of a socket got: (sender, its first byte there)."""
        for e in self.rows.get(f"ino:{sock}/rx", ()):
            if e["event"] == "sock_received" and int(e["fields"]["ret"]) >= 0 \
                    and not int(e["fields"]["flags"], 16) & 2:
                yield e, e["fields"].get("from")


def places(said):
    """Returns, for each number, its sender and its first byte in the sender's stream."""
    where = {}
    for sock, what in said.items():
        at = 0
        for number, size, *_ in what["sent"]:
            where[number] = f"ino:{sock}/tx@{at}", size
            at += size
    return where


def check_messages(rec, sock, what, name):
    """Each receive's pairing against the number it carried."""
    where = places({s: w for s, w in rec.said.items() if not w.get("stream")})
    rows = list(rec.received(sock))
    check(len(rows) == len(what["received"]), f"{name}: {len(rows)} receives of {sock}")
    wrong = unmatched = 0
    for (row, source), (number, size, *_) in zip(rows, what["received"]):
        check(int(row["fields"]["ret"]) == size, f"{size} bytes") if int(row["fields"]["ret"]) != size else 0
        if size < 8:
            continue
        unmatched += source is None
        wrong += source is not None and source != where[number][0]
        if source is not None and source != where[number][0]:
            print(f"number {number}: {where[number]}, not {source}")
    check(wrong == 0, f"{name}: none of {len(rows)} of socket {sock} is taken for another")
    check(unmatched <= 0.1 * len(rows) + 1, f"{name}: {unmatched} of {len(rows)} are not matched")


def check_stream(rec, sock, name):
    """A stream's bytes are the peer's, offset for offset."""
    copies = [e for e in rec.rows.get(f"ino:{sock}/rx", ()) if e["event"] == "sock_copy" and e["offset"]]
    wrong = sum(e["fields"]["from"].split("@")[1] != e["offset"] for e in copies if "from" in e["fields"])
    matched = sum("from" in e["fields"] for e in copies)
    got = sum(int(e["length"]) for e in copies)
    check(wrong == 0, f"{name}: none of {len(copies)} copies is of other bytes than the peer's")
    check(matched >= 0.9 * len(copies), f"{name}: {matched} of {len(copies)} copies are matched")
    check(got == sum(size for _, size, *_ in rec.said[sock]["received"]), f"{name}: {got} bytes copied")


def check_flows(rec, name, coverage=0.9):
    """Bars close, and nearly all bytes have them."""
    for sock, what in rec.said.items():
        for direction, key in (("tx", "sent"), ("rx", "received")):
            if not what[key]:
                continue
            f = rec.flows[f"ino:{sock}/{direction}"]
            check(f["closure_error_cycles"] == 0, f"{name}: {f['id']} closes")
            check(f["coverage"] >= coverage, f"{name}: {f['id']} coverage {f['coverage']:.3f}")


def check_all(rec, name):
    for sock, what in rec.said.items():
        if what.get("stream"):
            check_stream(rec, sock, name)
        elif what["received"] and not what.get("unordered"):
            check_messages(rec, sock, what, name)
    check_flows(rec, name)


def loopback():
    with Numbered(INTERNET, "", "", "127.0.0.1") as rec:
        check_all(rec, "loopback")


def veth():
    with Network() as net:
        for address in (net.B, net.B6):
            with Numbered(INTERNET, net.a, net.b, address) as rec:
                check_all(rec, "veth " + address)


def unix():
    with Numbered("unix_stream,unix_dgram,early") as rec:
        check_all(rec, "unix")


def at_once():
    """Senders and readers that do not wait for each other."""
    with Numbered("busy,crowd") as rec:
        check_all(rec, "at once")


def stage(f, name):
    return next((s for s in f["residence"] if s["stage"] == name), {"mean_ns": 0})["mean_ns"]


def absent():
    """How long messages lay in the socket, as the program saw it: from about the send to the receive."""
    with Numbered("late") as rec:
        (sender, out), = ((s, w) for s, w in rec.said.items() if w["sent"])
        (reader, back), = ((s, w) for s, w in rec.said.items() if w["received"])
        least = sum(r[2] - s[3] for s, r in zip(out["sent"], back["received"])) / len(out["sent"])
        most = sum(r[3] - s[2] for s, r in zip(out["sent"], back["received"])) / len(out["sent"])
        f = rec.flows[f"ino:{reader}/rx"]
        check(f["coverage"] >= 0.9, f"coverage {f['coverage']}")
        lay = stage(f, "reader_absent")
        check(f["coverage"] < 1 or least <= lay <= most, f"{least} ns <= {lay} <= {most}: they lay there")


def woken():
    """A reader that waits is woken: nothing lies there while it is absent."""
    with Numbered("waits") as rec:
        (reader, _), = ((s, w) for s, w in rec.said.items() if w["received"])
        f = rec.flows[f"ino:{reader}/rx"]
        check(stage(f, "reader_absent") < stage(f, "wake") + stage(f, "run_queue"),
              "the reader was being woken, not absent")
        check(f["modulation"]["M"] is not None and f["peer"], "its sender is known")


def two_readers():
    """Two threads at one socket: what is told is right, or nothing is told."""
    with Numbered("readers") as rec:
        (reader, what), = ((s, w) for s, w in rec.said.items() if w["received"])
        where = places(rec.said)
        sent = {source for source, _ in where.values()}
        sources = [source for _, source in rec.received(reader) if source]
        check(len(sources) == len(set(sources)), "no datagram was got twice")
        check(set(sources) <= sent, "all that are told were sent")
        print(f"{len(sources)} of {len(what['received'])} told")


def dropped():
    """Dropped datagrams are told, and are no gap in what was read."""
    with Numbered("full") as rec:
        (reader, what), = ((s, w) for s, w in rec.said.items() if w["received"])
        (_, out), = ((s, w) for s, w in rec.said.items() if w["sent"])
        f = rec.flows[f"ino:{reader}/rx"]
        lost = len(out["sent"]) - len(what["received"])
        told = sum(d["segments"] for d in f["drops"])
        check(lost > 100 and told <= lost, f"{told} of {lost} drops are told")
        check(f["coverage"] >= 0.95 and f["bytes"] == sum(r[1] for r in what["received"]),
              f"what was read is all there: coverage {f['coverage']}")
        check(told < lost or "packets a call" not in run(MAGNET, "report", rec.dir).stdout,
              "calls are compared with the datagrams that they could read")


def queued():
    """A token bucket lets frames pass (MTU + 14) * 8 / rate apart: so long each waits for the one before."""
    rate, frame = 10e6, 1500 + 14
    with Network(rate="10mbit", burst=str(2 * frame)) as net, \
            Numbered("paced", net.a, net.b, net.B) as rec:
        (sender, out), = ((s, w) for s, w in rec.said.items() if w["sent"])
        f = rec.flows[f"ino:{sender}/tx"]
        spacing = frame * 8 / rate * 1e9
        times = [int(e["time_ns"]) for e in rec.rows[f"ino:{sender}/tx"]
                 if e["event"] == "dev_xmit" and e["fields"]["via"] == "own"]
        entered = [int(e["time_ns"]) for e in rec.rows[f"ino:{sender}/tx"]
                   if e["event"] == "dev_queue" and e["fields"]["via"] == "own"]
        check(f["coverage"] >= 0.9, f"coverage {f['coverage']}")
        # the k-th leaves when the bucket has filled k - 1 times; what was sent meanwhile waits for it
        expected = [max(0, times[0] + (k - 1) * spacing - entered[k]) for k in range(2, len(entered))]
        mean = sum(expected) / (len(expected) + 2)
        near(stage(f, "qdisc"), mean, 0.05, "mean wait in the queue, ns")


def cut():
    """Datagrams cut by the bucket wait in it as segments and are followed to their reader."""
    with Network(rate="20mbit", burst="3000") as net, Numbered("cut", net.a, net.b, net.B) as rec:
        check_all(rec, "cut in the queue")
        (sender, _), = ((s, w) for s, w in rec.said.items() if w["sent"])
        layers = {l["name"]: l["n"] for l in rec.flows[f"ino:{sender}/tx"]["layers"]}
        check(layers["queue"] < layers["device"], f"units, cut on the way: {layers}")


need_kernel_side()
need_program("nsenter", "sysctl")
with Recording("true") as rec:
    if not hooked(rec, "sock_received"):
        skip("this kernel does not tell of messages received (Linux 6.4 and newer do)")
for test in (loopback, veth, unix, at_once, two_readers, dropped):
    patiently(test)
for test in (absent, woken, queued, cut):
    patiently(test)
