# SPDX-License-Identifier: MIT
"""Computes a receiver's bytes from a trace's events, independently of the report."""
import bisect


class Arrivals:
    """
    A receiver's bytes as the events tell: when each came first, again, was processed and readable;
    by ranges cut where any segment begins or ends.
    """

    def __init__(self, events, rx):
        seen = [(e["event"], int(e["offset"]), int(e["offset"]) + int(e["length"]), int(e["time_ns"]))
                for e in events if e["flow"] == rx["id"] and e["length"] not in ("", "0")
                and e["fields"].get("via", "own") == "own"]
        self.cuts = sorted({x for event, a, b, _ in seen if event in ("dev_recv", "tcp_recv")
                            for x in (a, b)})
        self.first, self.at_ip, self.processed, self.again, ready = {}, {}, {}, {}, []
        times = {"dev_recv": self.first, "ip_in": self.at_ip, "tcp_recv": self.processed}
        for event, a, b, at in seen:
            if event == "tcp_ready":
                ready.append((b, at))
            for cut in self.within(a, b):
                if event == "dev_recv" and cut in self.first:
                    self.again.setdefault(cut, at)
                if event in times:
                    times[event].setdefault(cut, at)
        self.readable = {cut: next(t for until, t in ready if until >= cut + self.length(cut))
                         for cut in self.first}
        self.ambiguous = {cut for cut, t in self.again.items() if t < self.readable[cut]}

    def mean_in_order_ns(self):
        """How long the bytes waited for those before, on average, by what came once."""
        of = [cut for cut in self.processed if cut not in self.ambiguous]
        return (sum(self.length(c) * (self.readable[c] - self.processed[c]) for c in of)
                / sum(map(self.length, of)))

    def mean_overtaking_ns(self):
        """How long the bytes waited until the last of those before them had reached IP, on average."""
        last = waits = 0
        for cut in self.cuts[:-1]:
            last = max(last, self.at_ip[cut])
            waits += self.length(cut) * (last - self.at_ip[cut])
        return waits / self.cuts[-1]

    def within(self, a, b):
        return self.cuts[bisect.bisect_left(self.cuts, a):bisect.bisect_left(self.cuts, b)]

    def length(self, cut):
        return self.cuts[bisect.bisect(self.cuts, cut)] - cut
