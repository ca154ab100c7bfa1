# SPDX-License-Identifier: MIT
"""How well kernel time, mapped to cycles, fits the application's own readings of the counter."""
import bisect

from lib import *

TRIPS = 20000
TURNS = 3

need_kernel_side()
need_app_side()


def percentile(values, p):
    return values[min(len(values) - 1, int(p / 100 * len(values)))]


class Recording:
    """Calls [U0, U1] and system calls [K0, K1] by thread, the map, the loop's own readings."""

    def __init__(self, top):
        trace, readings = top + "/trace", top + "/readings"
        output(MAGNET, "record", "-q", "-o", trace, "--", program("pingpong"), "-n", TRIPS, "-p",
            readings)
        self.clock = json.loads(output(MAGNET, "report", "--json", trace))["clock"]
        with open(readings) as f:
            self.readings = [tuple(map(int, line.split())) for line in f]
        self.calls, self.enters, self.exits = {}, {}, {}
        self.ns, self.cycles = [], []
        with subprocess.Popen([MAGNET, "show", "--tsv", trace], text=True,
                              stdout=subprocess.PIPE) as p:
            head = p.stdout.readline().rstrip("\n").split("\t")
            at = {name: i for i, name in enumerate(head)}
            for line in p.stdout:
                self.take(line.rstrip("\n").split("\t"), at)
        if p.returncode != 0:
            sys.exit("magnet show failed")

    def take(self, row, at):
        event, tid, cycles = row[at["event"]], row[at["tid"]], int(row[at["cycles"]])
        if event.startswith("magnet:"):
            f = dict(x.split("=", 1) for x in row[at["fields"]].split())
            if event in ("magnet:send", "magnet:recv"):
                self.calls.setdefault(tid, []).append((int(f["enter"]), int(f["exit"])))
            return
        if event not in ("sys_enter", "sys_exit"):
            return
        self.ns.append(int(row[at["time_ns"]]))
        self.cycles.append(cycles)
        call = row[at["fields"]].split("call=", 1)[1].split()[0]
        if call in ("sendto", "recvfrom"):
            into = self.enters if event == "sys_enter" else self.exits
            into.setdefault(tid, []).append(cycles)

    def nesting(self):
        """K0 - U0 and U1 - K1 of every call; a thread's n-th call is its n-th system call."""
        before, after, unmatched = [], [], 0
        for tid, calls in self.calls.items():
            enters, exits = self.enters.get(tid, []), self.exits.get(tid, [])
            if not len(calls) == len(enters) == len(exits):
                unmatched += len(calls)
                continue
            for (u0, u1), k0, k1 in zip(sorted(calls), enters, exits):
                before.append(k0 - u0)
                after.append(u1 - k1)
        return sorted(before), sorted(after), unmatched

    def held_out(self):
        """
        The map against readings it was not made from: (map's error, half-width of the reading). The
        map is taken between neighbouring kernel events, as `show` prints them.
        """
        pairs = sorted(set(zip(self.ns, self.cycles)))
        ns = [p[0] for p in pairs]
        for before, clock, after in self.readings:
            i = bisect.bisect_right(ns, clock)
            if i == 0 or i == len(ns) or ns[i] == ns[i - 1]:
                continue
            (x0, y0), (x1, y1) = pairs[i - 1], pairs[i]
            mapped = y0 + (y1 - y0) * (clock - x0) / (x1 - x0)
            yield mapped - (before + after) / 2, (after - before) / 2


def distribution(text, values, hz):
    if not values:
        return (text,) + ("-",) * 6
    return (text, f"{len(values):,}") + tuple(
        f"{v:,.0f} ({v / hz * 1e9:,.0f})" for v in
        (values[0], percentile(values, 1), percentile(values, 50), percentile(values, 99),
         values[-1]))


begin("The kernel's clock mapped to cycles, against the counter as the program itself reads it.",
      f"magnet record -q -o DIR -- pingpong -n {TRIPS} -p FILE", "magnet show --tsv DIR")
columns = ("", "n", "min", "p1", "p50", "p99", "max")
for turn in rounds(50, at_least=TURNS, at_most=TURNS):
    with Place() as top:
        r = Recording(top)
    hz = (r.cycles[-1] - r.cycles[0]) / (r.ns[-1] - r.ns[0]) * 1e9
    bound = r.clock["max_error_ns"]
    bound_cycles = bound * hz / 1e9
    before, after, unmatched = r.nesting()
    outside = sum(v < -bound_cycles for v in before + after)
    errors = list(r.held_out())
    half = sorted(h for _, h in errors)
    # a wide reading was interrupted, and says that much less
    narrow = [(e, h) for e, h in errors if h <= percentile(half, 50) * 1.1]
    size = sorted(abs(e) for e, _ in narrow)
    # a reading contradicts the bound if no instant within it does not
    contradict = sum(abs(e) > h + bound_cycles for e, h in errors)
    table(f"recording {turn + 1}: cycles (ns), counter {hz / 1e9:.6f} GHz, stated bound "
          f"{bound_cycles:.0f} cycles ({bound:.1f} ns)", columns, [
              distribution("plausible: K0 - U0", before, hz),
              distribution("plausible: U1 - K1", after, hz),
              distribution("accuracy: |map - reading|", size, hz),
              distribution("  half-width of these readings", sorted(h for _, h in narrow), hz)])
    print(f"  nesting beyond the bound: {outside} of {len(before) + len(after):,}"
          + (f", {unmatched} calls not matched" if unmatched else "")
          + f"; readings that contradict the bound: {contradict} of {len(errors):,}")
how_to_read("""
K0 - U0 and U1 - K1 are a check of plausibility and not of accuracy: a system call begins after the
wrapper read the counter, so no difference may be below minus the stated bound, but how long the way
into the kernel takes nobody knows beforehand.
|map - reading| is one of accuracy, of the map alone: the program read counter, CLOCK_MONOTONIC,
counter at other instants than those the map was made from. Only the narrow readings are counted,
and each knows its instant to within its half-width. That the kernel's stamps are CLOCK_MONOTONIC at
the event is not tested by it.
""")
