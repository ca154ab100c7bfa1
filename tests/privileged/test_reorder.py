# SPDX-License-Identifier: MIT
"""
Segments that overtake each other, and some that come twice, on a way that a program of ours is: each
byte has the time of its first arrival, and waits until those before it are there. At an end that has
shut its sending side TCP has no event of its own: what IP saw tells how long bytes waited.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from arrivals import Arrivals
from fixture import *
from together import agree

HERE = os.path.join(os.path.dirname(__file__), "..", "programs")
A, B = "10.79.0.1", "10.79.0.2"
PORT = 5280


class Way:
    """Two namespaces, and the program between them."""

    def __init__(self, *how):
        self.tag, self.how = f"mg{os.getpid()}", how
        self.a, self.b = self.tag + "a", self.tag + "b"

    def __enter__(self):
        for ns in (self.a, self.b):
            if run("ip", "netns", "add", ns, check=False).returncode:
                skip("no network namespace can be made")
        self.p = subprocess.Popen([PYTHON, HERE + "/reorder.py", self.a, A, self.b, B,
                                   *map(str, self.how)], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        if self.p.stdout.readline() != "ready\n":
            self.__exit__()
            skip("no TUN device can be made")
        return self

    def delivered(self):
        """[(sequence number, bytes, [ns])]"""
        return json.loads(self.p.communicate(timeout=30)[0])

    def __exit__(self, *unused):
        stop(self.p)
        for ns in (self.a, self.b):
            run("ip", "netns", "del", ns, check=False)


def once(every, delay_ms, twice, size, step, server="server", client="client"):
    with Way(every, delay_ms, twice) as way:
        enter = "nsenter --net=/run/netns/"
        transfer = f"{PYTHON} {HERE}/transfer.py"
        rec = Recording("sh", "-c", f"{enter}{way.b} {transfer} {server} {B} {PORT} & "
                        f"{enter}{way.a} {transfer} {client} {B} {PORT} {size} {step}; wait")
        return rec, way.delivered()


def reordered(every, delay_ms, twice, size, step):
    print(f"-- every {every}th {delay_ms} ms late, every {twice}th twice; {size} bytes by {step}")
    for _ in range(6 * SLOWER):
        rec, delivered = once(every, delay_ms, twice, size, step)
        report = rec.report()
        tx, rx = flow(report, "tx", PORT, bytes=size), flow(report, "rx", PORT, bytes=size)
        again = next(l for l in rx["layers"] if l["name"] == "device")["repeated_bytes"]
        # what is late may come when the connection has ended, and is nobody's
        ended = min(int(e["time_ns"]) for e in rec.events() if e["event"] == "sock_state"
                    and e["flow"].split("/")[0] == rx["id"].split("/")[0]
                    and e["fields"]["now"] in ("time_wait", "close"))
        sum_of = sum(n for _, n, times in delivered for t in times if t < ended) - size
        # with a large error of the clocks the times of so short a transfer are not shown
        if tx["coverage"] == rx["coverage"] == 1 and again == sum_of and not rx["withheld"]:
            break
        print(f"some segments were not seen ({again}, {sum_of}): once more")
        rec.__exit__()
    with rec:
        events = list(rec.events())
        a = Arrivals(events, rx)
        check(rx["closure_error_cycles"] == 0, "all closes to 0")
        check(again == sum_of, f"{again} bytes came more than once, {sum_of} were delivered so")
        # when each came first
        first = {}
        for e in events:
            if e["event"] == "dev_recv" and e["flow"] == rx["id"] and e["length"] not in ("", "0"):
                first.setdefault((int(e["fields"]["seq"]), int(e["length"])), int(e["time_ns"]))
        late = [abs(first[seq, n] - times[0]) for seq, n, times in delivered if times[0] < ended]
        check(len(late) > size / 1500 and sorted(late)[len(late) // 2] < 2e6 * SLOWER,
              f"{len(late)} segments arrived when they were delivered: half within {sorted(late)[len(late) // 2]} ns")
        twice_bytes = sum(map(a.length, a.ambiguous))
        check(rx["ambiguous_bytes"] == twice_bytes, f"{twice_bytes} bytes came again before they were readable")
        waited = next(s for s in rx["residence"] if s["stage"] == "in_order")
        near(waited["mean_ns"], a.mean_in_order_ns(), 0.001, "the mean wait for bytes before, ns")
        if not every:
            check(waited["mean_ns"] == 0, "nothing came early: nothing waited")
        if every:
            early = [cut for cut, ns in a.waits().items() if ns > 0]
            check(0 < len(early) < len(a.first), f"{len(early)} of {len(a.first)} ranges came early")
            before = overtaking = 0  # when all before it had been processed
            for cut in sorted(a.processed):
                overtaking += a.processed[cut] < before
                if a.readable[cut] < before:
                    check(False, f"byte {cut} waits for those before it")
                before = max(before, a.processed[cut])
            check(overtaking > 0, f"{overtaking} ranges came before others, and waited for them")
        for f, whole in ((tx, size - tx["ambiguous_bytes"]), (rx, size - rx["ambiguous_bytes"])):
            check(all(s["bytes"] == whole for s in f["residence"]), f"{f['direction']}: bars of {whole} bytes")
        agree(report)
        check(rx["modulation"]["bytes"] == size, "from call to call all are followed")


def half_closed(every, delay_ms, size, step):
    print(f"-- every {every}th {delay_ms} ms late, the receiver has shut its sending side")
    for _ in range(6 * SLOWER):
        rec, _ = once(every, delay_ms, 0, size, step, "half", "after")
        report = rec.report()
        rx = flow(report, "rx", PORT, bytes=size)
        events = list(rec.events())
        a = Arrivals(events, rx)
        if rx["coverage"] == 1 and not a.ambiguous:
            break
        print("some segments were not seen, or came twice: once more")
        rec.__exit__()
    with rec:
        check(not a.processed, "TCP has no event of its own")
        bar = {s["stage"]: s["mean_ns"] for s in rx["residence"]}
        order, rest = a.mean_in_order_ns(), sum(
            a.length(c) * (a.readable[c] - a.at_ip[c]) for c in a.first) / size
        near(bar["in_order"], order, 0.001, "the mean wait for bytes before, ns")
        near(bar["in_order"] + bar["ip_to_tcp"], rest, 0.001, "and from IP until they are readable, ns")
        check(bar["in_order"] > bar["ip_to_tcp"], f"which was little besides: {bar['ip_to_tcp']:.0f} ns")
        check(rx["undivided_bytes"] == 0 and rx["closure_error_cycles"] == 0, "all closes to 0")
        check("in order (head of line)" in rec.text(), "the text says so")


need_kernel_side()
reordered(37, 4, 0, 300_000, 5000)
reordered(50, 9, 7, 200_000, 1448)
reordered(0, 0, 5, 200_000, 20000)
half_closed(37, 9, 300_000, 5000)
