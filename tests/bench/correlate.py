# SPDX-License-Identifier: MIT
"""Time and memory of `magnet report` beside babeltrace2 reading the same trace."""
from lib import *

TRIPS = 26000  # more than a million events
TIME = duration(34)

need_kernel_side()
need_app_side()
need_program("babeltrace2")


def record(trace, trips):
    output(MAGNET, "record", "-q", "-o", trace, "--", program("pingpong"), "-n", trips, "-c",
           WATCHED, "-S", WATCHED)
    with open(trace + "/session.json") as f:
        session = json.load(f)
    lost = session["kernel_side"]["lost"] + session["app"]["discarded"]
    if lost:
        print(f"(while recording {trips} round trips {lost} events were lost)")


def events(trace):
    report = json.loads(output(MAGNET, "report", "--json", trace))
    return report["events"]["app"] + report["events"]["kernel"]


def files(trace):
    return [os.path.join(d, f) for d, _, fs in os.walk(trace) for f in fs]


def size_mib(trace):
    return sum(map(os.path.getsize, files(trace))) / 2**20


def by(reader):
    """A report by one of magnet's two readers."""
    return lambda t: ("env", f"MAGNET_READER={reader}", MAGNET, "report", t)


# a shell would only be in the way of measuring; output goes to /dev/null in any case
WAYS = {"magnet report, direct": by("direct"),
        "magnet report, babeltrace2": by("babeltrace2"),
        "babeltrace2, magnet's sink": lambda t: (
            "babeltrace2", f"--plugin-path={BUILD}/correlate", t, "--component=sink.magnet.report"),
        "babeltrace2 -o dummy": lambda t: ("babeltrace2", t, "-o", "dummy"),
        "babeltrace2, text": lambda t: ("babeltrace2", t),
        "magnet show --tsv": lambda t: (MAGNET, "show", "--tsv", t),
        "magnet show --facts packet": lambda t: (MAGNET, "show", "--facts", "packet", t),
        "cat": lambda t: ("cat", *files(t))}
if OTHER:
    WAYS.update({"other build: report, direct": lambda t: (
                     "env", "MAGNET_READER=direct", OTHER + "/cli/magnet", "report", t),
                 "other build: show --tsv": lambda t: (OTHER + "/cli/magnet", "show", "--tsv", t),
                 "other build: show --facts packet": lambda t: (
                     OTHER + "/cli/magnet", "show", "--facts", "packet", t)})
# these take long: in one turn of so many
SELDOM = {"magnet show --tsv": 3, "other build: show --tsv": 3, "babeltrace2, text": 3,
          "magnet show --facts packet": 3, "other build: show --facts packet": 3}
# what is run on the longer trace too
LONGER = ("magnet report, direct", "magnet report, babeltrace2", "babeltrace2 -o dummy",
          "babeltrace2, text")


def cost(name, trace):
    return Cost(*WAYS[name](trace), ok=None, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


begin("Time and memory to correlate a recorded trace, beside plain babeltrace2 on the same trace.",
      f"magnet record -o DIR -- pingpong -n {TRIPS}", "[MAGNET_READER=babeltrace2] magnet report DIR",
      "babeltrace2 DIR -o dummy", "babeltrace2 DIR >/dev/null")
with Place() as top:
    small, large = top + "/small", top + "/large"
    record(small, TRIPS)
    record(large, 2 * TRIPS)
    count = events(small)
    facts = output(MAGNET, "show", "--facts", "packet", small).count("\n") - 1
    costs = {n: [] for n in WAYS}
    for turn in rounds(TIME):
        for name in in_turn(turn, WAYS):
            if turn % SELDOM.get(name, 1) == 0:
                costs[name].append(cost(name, small))
    longer = {n: cost(n, large) for n in LONGER}
    sizes = size_mib(small), size_mib(large)

dummy = [c.seconds for c in costs["babeltrace2 -o dummy"]]
rows, failed = [], []
for name, values in costs.items():
    if any(c.status for c in values):
        failed.append(name)
        continue
    seconds = Figure([c.seconds for c in values])
    result(f"reader, M events/s: {name}", [count / c.seconds / 1e6 for c in values])
    if "--facts" in name:
        result(f"reader, M rows/s: {name}", [facts / c.seconds / 1e6 for c in values])
    twice = longer.get(name)
    rows.append((name, str(len(values)), seconds.text(2), f"{count / seconds.median / 1e6:.2f}",
                 Figure(ratios([c.seconds for c in values], dummy[::SELDOM.get(name, 1)])).text(),
                 Figure([c.peak_mib for c in values]).text(1),
                 f"{twice.peak_mib:.1f}" if twice else "",
                 f"{twice.seconds / seconds.median:.2f}" if twice else ""))
table(f"{count:,} events ({sizes[0]:.0f} MiB); twice: {sizes[1]:.0f} MiB",
      ("", "turns", "s", "M events/s", "ratio to dummy", "peak MiB", "twice: peak MiB",
       "twice: ratio of time"), rows)
faster = ratios([c.cpu_s for c in costs["magnet report, babeltrace2"]],
                [c.cpu_s for c in costs["magnet report, direct"]])
print(f"  magnet show --facts packet prints {facts:,} rows")
print(f"  the direct reader is {Figure(faster).text(1)} times as fast as through babeltrace2 (CPU time)")
if failed:
    print("  fails here: " + ", ".join(failed))
how_to_read("""
`-o dummy` decodes every event and throws it away: what babeltrace2 itself costs whoever reads
through it. By default magnet's own traces are read directly. "twice" is a trace twice as long, recorded the same way: its memory must not be more,
its time twice as much. `cat` is the price of the bytes alone.
""")
