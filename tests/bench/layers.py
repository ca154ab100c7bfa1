# SPDX-License-Identifier: MIT
"""Cost of each layer of the kernel side, per request and response."""
from observers import *

SIZE, TRIPS = 64, 5000
SECONDS = float(os.environ.get("MAGNET_BENCH_SECONDS", 60))
USUAL = ["syscall", "socket", "tcp", "ip", "device", "sched"]
CHOICES = {"default": (), "light": ("--layers", "light"),
           "light, TCP only": ("--layers", "light", "--protocol", "tcp"),
           "none": ("--layers", "none")}
CHOICES |= {f"default without {x}": ("--layers", ",".join(y for y in USUAL if y != x)) for x in USUAL}
CHOICES |= {f"default and {x}": ("--layers", "+" + x) for x in ("netfilter", "gro", "switch")}


class Layers(Tracer):
    def __init__(self, pid, name):
        super().__init__(pid)
        self.name, self.options = name, CHOICES[name]


need_kernel_side()
begin("What each layer costs a request and response over TCP on loopback.",
      f"pingpong -s {SIZE} -c {WATCHED} -S {WATCHED}",
      "magnet-kernel-tracer -o DIR --pid PID [--layers LIST] [--protocol tcp]")
series, events = {"bare": []}, {}
with Talker(*before_others(WATCHED, program("pingpong"), "-g", "-s", SIZE, "-c", WATCHED, "-S", WATCHED, "-n", TRIPS),
            first_line=False) as talker:
    talker.ask()
    names = ["bare", *CHOICES]
    for n in rounds(SECONDS):
        for name in in_turn(n, names):
            with Bare() if name == "bare" else Layers(talker.pid, name) as observer:
                series.setdefault(name, []).append(float(talker.ask()[0]))
            if name != "bare":
                events[name] = (observer.done["events"] - observer.ready["events"]) / TRIPS
bare, default = series["bare"], series["default"]
table(f"one CPU: {SIZE} bytes there and back on loopback, {len(bare)} turns of {TRIPS} round trips",
      ("layers", "ns a round trip", "ratio to bare", "ns less than default", "events a trip"),
      [(name, Figure(series[name]).text(0), Figure(ratios(series[name], bare)).text(),
        Figure(differences(default, series[name])).text(0) if name not in ("bare", "default") else "",
        f"{events[name]:.1f}" if name in events else "") for name in names])
how_to_read("""
Both ends run on one CPU, so that a round trip pays for all events of both. What a layer costs is what
the round trip is quicker without it; the layers share work, so that these do not add up.
""")
