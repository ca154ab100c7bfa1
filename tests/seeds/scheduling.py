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
    return Section("Duration of context switches (G02 Fig. 12-13; G03 Fig. 2-3)",
                   "`magnet record --all --layers sched,switch` for 3 s, on an idle machine and with one "
                   "process that never sleeps; from the scheduler's entry to its return in the next "
                   "thread, magnet's own two programs included.",
                   ["load", "CPU", "switch", "n", "mean", "p99"], rows,
                   "The papers have 2 µs on one CPU and 4 to 6 µs on the other of two 400 MHz processors, "
                   "and under load an oscillation with a period of 2 s between both, a fault of Linux 2.4's "
                   "scheduler. Nothing of the kind is left: a CPU-bound process stays where it is.")


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
    if not shutil.which("perf"):
        return None
    pairs = [(once(), once(True)) for _ in range(6)]
    bare, with_ = [a for a, _ in pairs], [b for _, b in pairs]
    difference = [(b - a) / 2 for a, b in pairs]
    return Section("A character to and fro through pipes (P97 Table 2)",
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


def in_window(rec, seconds):
    """Bytes of each flow that left the host in the middle `seconds` less one."""
    sent, first = {}, None
    for e in rec.events():
        if e["event"] == "dev_xmit" and e["length"] and int(e["length"]) and e["flow"].endswith("tx"):
            first = first or int(e["time_ns"])
            if 5e8 <= int(e["time_ns"]) - first < (seconds - 0.5) * 1e9:
                sent[e["flow"]] = sent.get(e["flow"], 0) + int(e["length"])
    return list(sent.values())


def many_senders():
    rows, seconds = [], 3
    for background in (0, 2, 5):
        row, total_alone = [background], None
        for senders in (1, 2, 5, 10):
            with Network(rate="10mbit", burst=6400, gso_max_segs=1) as net:
                other = net.popen(net.b, PYTHON, "-c", ACCEPT_MANY, senders, stdout=subprocess.PIPE)
                other.stdout.readline()
                try:
                    with Recording("taskset", "-c", CPU, *net.inside(
                            net.a, PYTHON, "-c", SENDERS, net.B, senders, background, seconds)) as rec:
                        got = in_window(rec, seconds)
                finally:
                    stop(other)
            fair = sum(got) ** 2 / (len(got) * sum(x * x for x in got))
            total_alone = total_alone or sum(got)
            row.append(f"{fair:.4f}; {100 * sum(got) / total_alone:.1f} %")
        rows.append(row)
    return Section("Many senders on one CPU (P97 Table 3, Fig. 5)",
                   f"Senders and background processes on one CPU, through a bucket of 10 Mbit/s, {seconds} s "
                   "each; Jain's index of the bytes that left the host, and their sum as a share of one sender's.",
                   ["background processes", "1 sender", "2", "5", "10"], rows,
                   "The paper's index goes from 1 down to 0.87 with 20 senders and 20 background processes "
                   "over 20 s, its goodput keeps 97.3 %. A sender here waits for the network, not for the "
                   "CPU, so background processes change little: Linux 2.0's did not preempt for it.")


def frame_intervals():
    with Network(rate="10mbit", burst=3200, gso_max_segs=1) as net, \
            writes(net, 0, [8192] * 300, receiver=READ_ALL) as rec:
        times = [int(e["time_ns"]) for e in rec.events() if e["event"] == "dev_xmit"
                 and e["length"] and int(e["length"]) == 1448]
    gaps = sorted(b - a for a, b in zip(times, times[1:]))
    return Section("Frame intervals of one sender (P97 3.3.1)",
                   "One process writes as fast as it can through a bucket of 10 Mbit/s.",
                   ["", "paper", "here", "by arithmetic"],
                   [["minimum", "1.811 ms", ms(gaps[0]), ""],
                    ["median", "1.882 ms", ms(gaps[len(gaps) // 2]), "1.211 ms"],
                    ["97th percentile", "below 1.9 ms", ms(gaps[int(0.97 * len(gaps))]), ""]],
                   "Its Ethernet card took 1.88 ms a frame; a bucket of 10 Mbit/s takes (1500+14)·8/10⁷ s. "
                   "The 25 ms pauses eight times a second were its operating system's.")


EXPERIMENTS = {"switches": switches, "ping-pong": pipe_ping_pong, "event-cost": event_cost,
               "overhead": call_overhead, "senders": many_senders, "frames": frame_intervals}
