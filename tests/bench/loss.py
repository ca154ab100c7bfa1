# SPDX-License-Identifier: MIT
"""Events lost at a fixed rate, and whether the trace says so itself."""
from observers import *

RATE = 500_000  # events a second
LONG = os.environ.get("MAGNET_BENCH_LONG") == "1"
SECONDS = 60 if LONG else 10
SHORT_SECONDS = 2
WARM_UP = 200  # round trips pingpong makes beforehand

need_kernel_side()
need_program("babeltrace2")


def pingpong(*options):
    # both ends on one CPU: all events go into one ring, which is the harder case
    return (program("pingpong"), "-g", "-c", WATCHED, "-S", WATCHED, *options)


class Run:
    """The traced loop and what came of it."""

    def __init__(self, rate, seconds, *options, kind=Tracer):
        pace = ("-r", f"{rate:.0f}") if rate else ()
        self.observer = kind()
        self.observer.options = options
        with Talker(*pingpong("-t", seconds, *pace), first_line=False) as talker:
            self.observer.pid = talker.pid
            with self.observer as t:
                talker.p.stdin.write("\n")
                talker.p.stdin.flush()
                _, trips, elapsed = map(float, talker.hear(seconds + 60))
                t.end()
                self.read(t.top + "/trace")
        self.done = t.done
        self.trips, self.seconds = trips, elapsed / 1e9
        self.happened = self.done["events"] + self.done["lost"]
        self.cpu = t.cpu_s / self.seconds

    def read(self, trace):
        """By plain babeltrace2: events, `lost` events and their sum, and its own count."""
        self.events = self.gaps = self.told = self.discarded = self.bad_gaps = 0
        p = start("babeltrace2", "--names=payload", trace, stdout=subprocess.PIPE,
                  stderr=subprocess.PIPE)
        try:
            for line in p.stdout:
                self.events += 1
                if b" lost: " in line:
                    gap = {k: int(v) for k, v in
                           re.findall(rb"(count|from_ns|to_ns) = (\d+)", line)}
                    self.gaps += 1
                    self.told += gap[b"count"]
                    self.bad_gaps += gap[b"from_ns"] >= gap[b"to_ns"]
            said = p.stderr.read().decode(errors="replace")
        finally:
            stop(p)
        if p.returncode != 0:
            sys.exit("babeltrace2 does not read the trace: " + said[-500:])
        self.discarded = sum(map(int, re.findall(r"[Dd]iscarded (\d+) events?", said)))

    def row(self, text):
        return (text, f"{self.happened / self.seconds:,.0f}", f"{self.done['events']:,}",
                f"{self.done['lost']:,}", f"{100 * self.done['lost'] / self.happened:.3f}",
                f"{self.cpu * 100:.1f}")

    def check(self, text):
        def verdict(ok):
            return "equal" if ok else "DIFFERENT"
        return (text, f"{self.gaps:,}", f"{self.told:,}", verdict(self.told == self.done["lost"]),
                verdict(self.events == self.done["events"]), f"{self.discarded:,}",
                str(self.bad_gaps))


def events_of_a_trip():
    with Talker(*pingpong("-n", 5000), first_line=False) as talker, Tracer(talker.pid) as t:
        talker.ask()
    return (t.done["events"] - t.ready["events"]) / (5000 + WARM_UP)


begin("Events lost at a fixed rate: a request and response over TCP on loopback, both ends on one "
      "CPU.", f"pingpong -c {WATCHED} -S {WATCHED} -t {SECONDS} -r TRIPS-A-SECOND",
      "magnet-kernel-tracer -o DIR --pid PID [--buffer 64K]", "babeltrace2 DIR")
wait_for_others()
each = events_of_a_trip()
RUNS = [("as asked, default buffer", Run(RATE / each, SECONDS)),
        ("as fast as it goes, default buffer", Run(0, SHORT_SECONDS)),
        ("as asked, --buffer 64K", Run(RATE / each, SHORT_SECONDS, "--buffer", "64K")),
        ("as fast as it goes, --buffer 64K", Run(0, SHORT_SECONDS, "--buffer", "64K"))]
if OTHER_TRACER:
    RUNS += [("other build: as asked", Run(RATE / each, SECONDS, kind=OtherTracer)),
             ("other build: as fast as it goes", Run(0, SHORT_SECONDS, kind=OtherTracer))]
table(f"{SECONDS} s, the others {SHORT_SECONDS} s; about {each:.0f} events a round trip; asked for "
      f"{RATE:,} events a second",
      ("", "events a second", "recorded", "lost", "% lost", "tracer: % of a CPU"),
      [r.row(text) for text, r in RUNS])
table("does the trace tell its losses?",
      ("", "gaps", "sum of `lost` events", "against the tracer's count", "events against its count",
       "babeltrace2's own count", "gaps of no length"), [r.check(text) for text, r in RUNS])
how_to_read("""
"events a second" counts recorded and lost ones; recorded ones include the tracer's own. The trace
carries a `lost` event wherever events are missing, with their number; their sum must be what the
tracer counted, or a loss went untold. babeltrace2's own count comes from the packets' discarded
counters, which tell of full rings only, in whole packets. MAGNET_BENCH_LONG=1 runs the first row
for 60 s.
""")
