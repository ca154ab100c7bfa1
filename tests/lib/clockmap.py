# SPDX-License-Identifier: MIT
"""The map from CLOCK_MONOTONIC to cycles as docs/method.md has it, by the readings in a trace."""
import bisect

CLOSEST_NS = 40_000_000  # a point nearer to the one before is of no use, and left out


class ClockMap:
    def __init__(self, events):
        self.ns, self.cycles = [], []
        for e in events:
            if e["event"] != "clock_sync":
                continue
            ns = int(e["fields"]["mono_ns"])
            if len(self.ns) < 2 or ns - self.ns[-1] >= CLOSEST_NS:
                self.ns.append(ns)
                self.cycles.append(int(e["fields"]["cycles"]))

    def between(self):
        """The intervals between the points, ns."""
        return [b - a for a, b in zip(self.ns, self.ns[1:])]

    def covers(self, ns):
        return self.ns[0] <= ns <= self.ns[-1]

    def __call__(self, ns):
        i = min(max(bisect.bisect_right(self.ns, ns) - 1, 0), len(self.ns) - 2)
        x, y = self.ns[i], self.cycles[i]
        return y + (self.cycles[i + 1] - y) * (ns - x) / (self.ns[i + 1] - x)


class InsideBpf:
    """Parses bpf_counter's output: `widths` by CPU, and rows (cpu, counter, ns, counter)."""

    def __init__(self, lines):
        self.widths, self.rows = {}, []
        for line in lines:
            row = tuple(map(int, line.split()))
            if len(row) == 2:
                self.widths[row[0]] = row[1]
            else:
                self.rows.append(row)
