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
        self.segments = sorted(at for event, _, _, at in seen if event == "tcp_recv")
        self.readable = {cut: next(t for until, t in ready if until >= cut + self.length(cut))
                         for cut in self.first}
        self.ambiguous = {cut for cut, t in self.again.items() if t < self.readable[cut]}

    def waits(self):
        """
        {cut: ns}: how long bytes that came once waited until the last of those before them had reached
        IP. If one of these came twice, TCP's last segment before they were readable filled the hole.
        """
        waits, last, ready = {}, 0, None
        for cut in sorted(self.first):
            if self.readable[cut] != ready:
                ready, twice = self.readable[cut], False
            if cut in self.ambiguous:
                twice = True
            elif not twice:
                last = max(last, self.at_ip[cut])
                waits[cut] = last - self.at_ip[cut]
            else:
                filled = self.segments[bisect.bisect(self.segments, ready) - 1]
                waits[cut] = filled - self.at_ip[cut] if self.processed[cut] < filled else 0
        return waits

    def mean_in_order_ns(self):
        """How long the bytes waited for those before, on average, by what came once."""
        waits = self.waits()
        return sum(self.length(c) * ns for c, ns in waits.items()) / sum(map(self.length, waits))

    def within(self, a, b):
        return self.cuts[bisect.bisect_left(self.cuts, a):bisect.bisect_left(self.cuts, b)]

    def length(self, cut):
        return self.cuts[bisect.bisect(self.cuts, cut)] - cut
