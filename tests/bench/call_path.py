# SPDX-License-Identifier: MIT
"""
Cost that libmagnet.so adds to a call: no socket, no session, traced; beside LTTng-UST and peers.

  call_path.py [null|unix|tcp]...    those kinds of call only, without the peers
"""
import re

from observers import *
from lttng import LttngSession

CALLS = 4000  # a turn of some milliseconds
SECONDS = duration(20)  # of turns, for all kinds together
GENERATIONS = 3
KINDS = {"null": "write(), /dev/null", "unix": "write(), UNIX socket", "tcp": "send(), TCP"}

need_app_side()


class Variants:
    """One program a variant, all there at once and timed in turns: A and B are neighbours."""

    def __init__(self):
        self.talkers = {}
        self.traces = []
        self.session = None
        self.lost = 0

    def begin(self, kind, top):
        home = top + "/home"  # no session daemon of the user's is asked
        os.makedirs(home, exist_ok=True)
        calls = before_others(WATCHED, program("calls"), kind)
        preload = {"LTTNG_HOME": home}
        self.add("bare", calls)
        self.add("wrapper", calls, env={"LD_PRELOAD": program("libnaive.so")})
        self.add("read", calls, env={"LD_PRELOAD": program("libnaive-stamped.so")})
        self.add("threads", calls, env={"LD_PRELOAD": "liblttng-ust.so.1", **preload})
        self.add("idle", calls, env={"LD_PRELOAD": LIBMAGNET, **preload})
        self.record("traced", f"{top}/{kind}-traced", calls)
        if OTHER:
            self.record("traced_other", f"{top}/{kind}-other", calls, OTHER + "/cli/magnet")
        self.session = LttngSession()
        self.add("lttng", calls, env={"LD_PRELOAD": LIBMAGNET, **self.session.env})
        if OTHER:
            self.add("lttng_other", calls, env={"LD_PRELOAD": OTHER + "/preload/libmagnet.so",
                                                **self.session.env})
        for name in ("plain", "stamped"):
            self.add(name, before_others(WATCHED, program("calls-" + name), kind),
                     env=self.session.env)

    def add(self, name, command, **kw):
        self.talkers[name] = Talker(*command, **kw)

    def record(self, name, trace, command, magnet=MAGNET):
        self.traces.append(trace)
        self.add(name, (magnet, "record", "--app-only", "-q", "-o", trace, "--") + command)

    def turn(self, n):
        """ns a call of each."""
        return {v: float(self.talkers[v].ask(CALLS)[0]) for v in in_turn(n, self.talkers)}

    def close(self):
        for t in self.talkers.values():
            t.close()
        if self.session:
            self.session.end()
            p = run("babeltrace2", self.session.trace, "-o", "dummy", check=False)
            self.lost += sum(map(int, re.findall(r"Tracer discarded (\d+) event", p.stderr)))
            self.session.__exit__()
        for trace in self.traces:
            try:
                with open(trace + "/session.json") as f:
                    self.lost += json.load(f)["app"]["discarded"]
            except (OSError, TypeError, KeyError):
                self.lost = None
                return


def measure(kind, seconds):
    """Several generations of processes: where one's memory happens to lie is worth some ns."""
    series, lost = {}, 0
    for _ in range(GENERATIONS):
        with Place() as top:
            v = Variants()
            try:
                v.begin(kind, top)
                v.turn(0)  # first touches
                for n in rounds(seconds / GENERATIONS):
                    for name, ns in v.turn(n).items():
                        series.setdefault(name, []).append(ns)
            finally:
                v.close()
        lost = None if lost is None or v.lost is None else lost + v.lost
    return series, lost


TEXT = {"wrapper": "a wrapper that only calls on",
        "read": "the same, and two counter readings",
        "threads": "liblttng-ust.so loaded, its threads idle",
        "idle": "libmagnet.so, no session",
        "plain": "one plain LTTng-UST event, session",
        "stamped": "the same, and two counter readings",
        "lttng": "libmagnet.so, LTTng session",
        "traced": "libmagnet.so, magnet record"}
if OTHER:
    TEXT.update({"lttng_other": "other build, LTTng session",
                 "traced_other": "other build, magnet record"})

def show(kind, series, lost):
    bare = Figure(series["bare"])
    added = {name: differences(series[name], series["bare"]) for name in TEXT}
    rows = [("bare call", bare.text(1), "", "1", "")]
    for name, text in TEXT.items():
        rows.append((text, Figure(series[name]).text(1), Figure(added[name]).text(1),
                     Figure(ratios(series[name], series["bare"])).text(),
                     Figure(ratios(added[name], added["plain"])).text()))
    table(f"{KINDS[kind]}, 1 byte: {bare.n} turns of {CALLS} calls",
          ("", "ns a call", "ns above bare", "ratio to bare", "added : plain event's"), rows)
    beyond = Figure(differences(series["idle"], series["threads"]))
    if kind == "null":
        beyond_traced = Figure(differences(series["traced"], series["threads"]))
        print(f"  not a socket: beyond the idle threads {beyond.text(1)} ns without a session, "
              f"{beyond_traced.text(1)} ns with one (not recorded)")
    else:
        print(f"  no session: beyond the idle threads {beyond.text(1)} ns")
        result(f"call, {kind}: bare", series["bare"])
        for name in added:
            result(f"call, {kind}: {name}", added[name])
            result(f"call : plain event, {kind}: {name}", ratios(added[name], added["plain"]))
        for name in [n for n in TEXT if n.startswith(("lttng", "traced"))]:
            event = Figure(ratios(added[name], added["plain"]))
            stamped = Figure(ratios(added[name], added["stamped"]))
            print(f"  {TEXT[name]}: recorded call : plain event = {event.text()}; : that and two "
                  f"counter readings = {stamped.text()}")
        print(f"  events discarded: {'not known' if lost is None else lost}")


# ---- what a user would take instead -----------------------------------------------------------

# program, arguments, calls in a turn: these are slower by powers of ten
PEERS = [("strace", ("-f", "-e", "trace=write,sendto"), 1024),
         ("perf", ("trace", "-e", "write,sendto"), 512),
         ("ltrace", ("-e", "write+send"), 256)]


def bpftrace_turn(bare):
    """Counting the call; attached only for this turn, since it slows every program down."""
    text = ("tracepoint:syscalls:sys_enter_write, tracepoint:syscalls:sys_enter_sendto "
            f"/pid == {bare.pid}/ {{ @ = count(); }} "
            "interval:ms:100 { printf(\"tick\\n\"); }")
    p = start(*with_tracefs("bpftrace", "-B", "none", "-e", text), stdout=subprocess.PIPE,
              stderr=subprocess.DEVNULL, bufsize=0)
    try:
        for _ in range(2):
            wait_for_line(p.stdout, "tick")
        return float(bare.ask(CALLS)[0])
    finally:
        stop(p)
        p.stdout.close()


def peer_turn(command, kind, calls):
    command = with_tracefs(*command, "-o", "/dev/null", program("calls"), kind)
    with Talker(*on_cpu(WATCHED, *command), stderr=subprocess.DEVNULL) as t:
        t.ask(64)
        return float(t.ask(calls)[0])


def peers(kind, repetitions=3):
    rows = []
    with Talker(*on_cpu(WATCHED, program("calls"), kind)) as bare:
        def try_peer(text, turn):
            try:
                rows.append((text, [(turn(), float(bare.ask(CALLS)[0]))
                                    for _ in range(repetitions)]))
            except (EOFError, TimeoutError, BrokenPipeError):
                pass  # it is there but does not work here

        for name, options, calls in PEERS:
            command = (name,) + options
            if shutil.which(name):
                try_peer(" ".join(command), lambda: peer_turn(command, kind, calls))
        if shutil.which("bpftrace"):
            try_peer("bpftrace, count of the call", lambda: bpftrace_turn(bare))
    rows = [(text, Figure([a for a, _ in v]).text(0), Figure([a - b for a, b in v]).text(0),
             Figure([a / b for a, b in v]).text(1)) for text, v in rows]
    if rows:
        table(f"{KINDS[kind]}: peers, {repetitions} runs each, with bare turns in between",
              ("", "ns a call", "ns above bare", "ratio to bare"), rows)


begin("What a wrapped call costs on top of the bare one: libmagnet.so beside a plain LTTng-UST\n"
      "event with the same fields, and beside what a user would take instead.",
      "LD_PRELOAD=libmagnet.so calls null|unix|tcp",
      "magnet record --app-only -q -o DIR -- calls null|unix|tcp")
chosen = sys.argv[1:] or list(KINDS)
for k in chosen:
    show(k, *measure(k, SECONDS / len(chosen)))
if not sys.argv[1:]:
    for k in ("null", "tcp"):
        peers(k)
how_to_read("""
Every variant is a process of its own that waits for its turn; all run on one CPU, with real-time
priority where that is allowed, LTTng's daemons and the collector where the scheduler puts them. "Idle threads": LTTng-UST's listeners make any program it is loaded
into multithreaded, which makes the kernel's look-up of descriptors dearer; the plain event pays
that too. The plain event has the fields of a recorded call and no counter readings, and is recorded
by the same LTTng session as the library's own events there. Discarded events would be cheaper than recorded ones: there must be none.
""")
