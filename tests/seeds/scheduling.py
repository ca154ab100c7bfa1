# SPDX-License-Identifier: MIT
"""The scheduler and the cost of an event: context switches, ping-pong, many senders on one CPU."""
import tempfile

from common import *
from tracer import Tracer
from traffic import LISTEN, READ_ALL, writes

CPU = max(os.sched_getaffinity(0))


def switches():
    rows = []
    for load in ("idle", "one CPU-bound process"):
        spins = subprocess.Popen(["timeout", "8", "sh", "-c", "while :; do :; done"]) \
            if load != "idle" else None
        with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
            run(MAGNET, "record", "-q", "-o", top + "/t", "--all", "--kernel-only", "--layers",
                "sched,switch", "--duration", 3)
            found = json.loads(run(MAGNET, "report", "--json", top + "/t").stdout)
        if spins:
            stop(spins)
        for s in found["scheduler"]["switches"]:
            figures = [f"{s[k]:.0f} ns" if s[k] is not None else "n/a" for k in ("mean_ns", "p99_ns")]
            rows.append([load, s["cpu"], s["kind"].replace("_", " "), s["n"], *figures])
    between = [r[3] for r in rows if r[2] == "task to task"] or [0]
    return Section("Duration of context switches (G02 Fig. 12-13; G03 Fig. 2-3)",
                   "`magnet record --all --layers sched,switch` for 3 s, on an idle machine and with one "
                   "process that never sleeps; from the scheduler's entry to its return in the next "
                   "thread, magnet's own two programs included.",
                   ["load", "CPU", "switch", "n", "mean", "p99"], rows,
                   "The papers have 2 µs on one CPU and 4 to 6 µs on the other of two 400 MHz processors, "
                   "and under load an oscillation with a period of 2 s between both, a fault of Linux 2.4's "
                   "scheduler. An oscillation of that period cannot be seen in the means of 3 s: that "
                   "takes the durations over time, for longer, and is not run. Switches between tasks are "
                   f"few on some rows (n is {min(between)} to {max(between)}), and a mean of few says little; "
                   "switches to and from the idle task are rows of their own, which the papers do not "
                   "tell apart. Times of a virtual CPU hold what the hypervisor took of it.")


def pipe_ping_pong():
    def once(pid_wanted=None):
        p = subprocess.Popen(["sh", "-c", 'read go; exec taskset -c ' + str(CPU) + ' perf bench -f simple sched pipe -l 40000'],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            if not pid_wanted:
                return float(p.communicate("\n")[0].split()[-1]) / 40000 * 1e6
            with tempfile.TemporaryDirectory(prefix="magnet-test-") as top, \
                    Tracer(top + "/t", "--pid", p.pid, "--layers", "sched") as t:
                t.ready()
                us = float(p.communicate("\n")[0].split()[-1]) / 40000 * 1e6
                t.end()
            return us
        finally:
            stop(p)
    title = "A character to and fro through pipes (P97 Table 2)"
    if not shutil.which("perf"):
        return Section(title, "Not run: perf is not installed.", ["", "paper", "here"],
                       [["original kernel", "28.5 µs", "not run"], ["instrumented", "31.9 µs", "not run"],
                        ["difference a context switch", "1.7 µs", "not run"]], "")
    pairs = [(once(), once(True)) for _ in range(6)]
    bare, with_ = [a for a, _ in pairs], [b for _, b in pairs]
    difference = [(b - a) / 2 for a, b in pairs]
    return Section(title,
                   "`perf bench sched pipe` on one CPU, 40,000 times to and fro, 6 turns, bare and with a tracer that "
                   "records every switch and waking of both; mean ± 95 %.",
                   ["", "paper", "here"],
                   [["original kernel", "28.5 µs", f"{mean_ci(bare)} µs"],
                    ["instrumented", "31.9 µs", f"{mean_ci(with_)} µs"],
                    ["difference a context switch", "1.7 µs", f"{mean_ci(difference)} µs"]],
                   "The paper records one event a switch into memory; magnet records the switch, the "
                   "waking, and interrupts on the CPUs concerned, into a trace on disk.")


def event_cost():
    with Recording(PYTHON, "-c", TALK, options=("--kernel-only",)) as rec:
        r = rec.report()
        with open(rec.dir + "/session.json") as f:
            k = json.load(f)["kernel_side"]
    hz = r["session"]["tsc_hz"]
    add = r["tracer"]["kernel_cost_ns_per_event"] * hz / 1e9
    drain = k["cpu_ns"] / k["events"] * hz / 1e9
    return Section("Cycles an event (F01 III-C)",
                   f"A program sends 40,000 messages to itself over TCP under `magnet record "
                   f"--kernel-only`: {k['events']:,} events. Recording is what the tracer measured at its "
                   "start with the hooks of system calls; writing is all CPU time of the tracer, its start "
                   "included, by the number of events.",
                   ["", "paper", "here"],
                   [["to record an event", "556 cycles", f"{add:.0f} cycles"],
                    ["to read it and write it to disk", "425 cycles", f"{drain:.0f} cycles"],
                    ["in all", "2.4 µs (400 MHz)", f"{(add + drain) / hz * 1e6:.2f} µs"]],
                   "`meson test --benchmark kernel_event` and `drain` measure both more closely, beside "
                   "other tools.")


TALK = """
import socket
l = socket.create_server(("127.0.0.1", 0))
a = socket.create_connection(l.getsockname())
b, _ = l.accept()
for _ in range(40000):
    a.send(b"x" * 64)
    b.recv(64)
"""


def call_overhead():
    rows = []
    with Recording(PYTHON, "-c", TALK) as rec:
        for c in rec.report()["calls"]:
            if c["name"] in ("send", "recv") and c["overhead_ns"]["p50"] is not None:
                o, t = c["overhead_ns"], c["total_ns"]
                rows.append([c["name"], c["n"], f"{t['p50']:.0f} ns",
                             f"{o['p50']:.0f} ± {o['uncertainty']:.0f} ns"])
    return Section("System-call overhead (G02 V)",
                   "The paper proposes a shared library that records calls in user space, beside the "
                   "kernel's record, to quantify what a system call costs. This is it: 40,000 messages of "
                   "64 bytes to itself over TCP.",
                   ["call", "n", "total, median", "overhead, median ± 2u"], rows,
                   "Overhead is the time on the CPU in call, layers and return, less magnet's own probes "
                   "(docs/method.md, \"System-call overhead\").")


SENDERS = f"""
import os, signal, socket, sys, time
host, senders, background, seconds = sys.argv[1], *map(int, sys.argv[2:4]), float(sys.argv[4])
until = time.monotonic() + seconds
def send():
    s = socket.create_connection((host, {PORT}))
    while time.monotonic() < until:
        s.send(bytes(8192))
def spin():
    while time.monotonic() < until:
        pass
for what in [send] * senders + [spin] * background:
    if os.fork() == 0:
        what()
        os._exit(0)
for _ in range(senders + background):
    os.wait()
"""
ACCEPT_MANY = LISTEN + """
import select
c, left, ready = [c], int(sys.argv[1]), [l, c]
left -= 1
while ready:
    for s in select.select(ready, [], [])[0]:
        if s is l:
            ready.append(l.accept()[0])
            left -= 1
        elif not s.recv(65536):
            ready.remove(s)
    if not left and l in ready:
        ready.remove(l)
"""


def dropped(net):
    """Return the packets that the queue in front of A has dropped."""
    return json.loads(run("tc", "-n", net.a, "-s", "-j", "qdisc", "show", "dev", net.a).stdout)[0]["drops"]


def in_window(rec, seconds):
    """Bytes of each flow that left the host in the middle `seconds` less one."""
    sent, first = {}, None
    for e in rec.events():
        if e["event"] == "dev_xmit" and e["length"] and int(e["length"]) and e["flow"].endswith("tx"):
            first = first or int(e["time_ns"])
            if 5e8 <= int(e["time_ns"]) - first < (seconds - 0.5) * 1e9:
                sent[e["flow"]] = sent.get(e["flow"], 0) + int(e["length"])
    return list(sent.values())


def share_of_senders(senders, background, seconds):
    """Return the bytes of each sender that left the host, and the packets that the queue dropped."""
    with Network(rate="10mbit", burst=6400, gso_max_segs=1) as net:
        other = net.popen(net.b, PYTHON, "-c", ACCEPT_MANY, senders, stdout=subprocess.PIPE)
        other.stdout.readline()
        try:
            with Recording("taskset", "-c", CPU, *net.inside(
                    net.a, PYTHON, "-c", SENDERS, net.B, senders, background, seconds)) as rec:
                return in_window(rec, seconds), dropped(net)
        finally:
            stop(other)


def many_senders():
    rows, index, drops = [], {}, 0
    with open("/proc/sys/net/ipv4/tcp_congestion_control") as f:
        congestion = f.read().strip().upper()
    for background, seconds in ((0, 20), (5, 20), (0, 3)):
        row, alone = [background, seconds], None
        for senders in (1, 2, 5, 10):
            got, more = share_of_senders(senders, background, seconds)
            drops += more
            fair = index[background, seconds, senders] = sum(got) ** 2 / (len(got) * sum(x * x for x in got))
            alone = alone or sum(got)
            row.append(f"{fair:.4f}; {100 * sum(got) / alone:.1f} %")
        rows.append(row)
    return Section("Many senders on one CPU (P97 Table 3, Fig. 5)",
                   "Senders and background processes on one CPU, through a bucket of 10 Mbit/s; Jain's index "
                   "of the bytes that left the host, and their sum as a share of one sender's.",
                   ["background processes", "seconds", "1 sender", "2", "5", "10"], rows,
                   "The paper's index goes from 1 down to 0.87 with 20 senders and 20 background processes "
                   "over 20 s, and its goodput keeps 97.3 %. Here 10 senders alone have "
                   f"{index[0, 20, 10]:.2f} in 20 s and {index[0, 3, 10]:.2f} in 3 s: the connections that begin first fill "
                   "a queue of up to 2 s, and the others get few windows through until the congestion "
                   f"control ({congestion}) has shared it out. The queue dropped {drops} packets. One run each: "
                   "whether background processes change the index is not decided.")


FRAME_NS = 1514 * 8e9 / 10e6


def frame_intervals():
    with Network(rate="10mbit", burst=3200, gso_max_segs=1) as net, \
            writes(net, 0, [8192] * 300, receiver=READ_ALL) as rec:
        times = [int(e["time_ns"]) for e in rec.events() if e["event"] == "dev_xmit"
                 and e["length"] and int(e["length"]) == 1448]
    in_order = [b - a for a, b in zip(times, times[1:])]
    gaps = sorted(in_order)
    # gaps too short for the rate, and how many of them follow one that was longer than the rate makes it
    short = [i for i, g in enumerate(in_order) if g < 0.5 * FRAME_NS]
    caught_up = sum(i == 0 or in_order[i - 1] > 1.1 * FRAME_NS for i in short)
    return Section("Frame intervals of one sender (P97 3.3.1)",
                   "One process writes as fast as it can through a bucket of 10 Mbit/s.",
                   ["", "paper", "here", "by arithmetic"],
                   [["minimum", "1.811 ms", ms(gaps[0]), ""],
                    ["median", "1.882 ms", ms(gaps[len(gaps) // 2]), "1.211 ms"],
                    ["97th percentile", "below 1.9 ms", ms(gaps[int(0.97 * len(gaps))]), ""]],
                   "Its Ethernet card took 1.88 ms a frame; a bucket of 10 Mbit/s takes (1500+14)·8/10⁷ s. The "
                   "25 ms pauses eight times a second were its operating system's. Intervals shorter than a "
                   "wire of that rate allows are possible here, as the veth pair behind the bucket is no wire: "
                   "the bucket holds 3200 bytes, so two frames may leave at once when it is full, at the "
                   f"begin and after a pause. Intervals shorter than half a frame's time: {len(short)} of {len(gaps)}; of "
                   f"these, {caught_up} are the first of all or follow one that was too long.")


EXPERIMENTS = {"switches": switches, "ping-pong": pipe_ping_pong, "event-cost": event_cost,
               "overhead": call_overhead, "senders": many_senders, "frames": frame_intervals}
