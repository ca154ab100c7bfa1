# SPDX-License-Identifier: MIT
"""
The scheduler's events against what is known otherwise: when a thread cannot have run, the kernel's
own counts of switches, waits and CPU time, and its count of timer interrupts.
"""
import collections
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from tracer import TRACER, Talker, Tracer, events

SCHEDULED = sys.argv[1]
PINGPONG = os.environ["MAGNET_BUILD"] + "/tests/bench/pingpong"
TRIES = 5  # the machine may keep a program from running at some switch, and count it or not


class Scheduled:
    """A recording of it, what it said, and its scheduler's events."""

    def __init__(self, *command, level="none"):
        options = ("--kernel-only", "--layers", "sched,switch", "--level", level)
        with Recording(*command, options=options, ok=None) as rec:
            if rec.p.returncode == 77:
                skip("SCHED_FIFO is refused")
            check(rec.p.returncode == 0, f"{' '.join(command[1:])} ended well")
            self.said = [tuple(map(int, line.split()))
                         for line in rec.p.stdout.splitlines() if line[0].isdigit() and
                         "." not in line]
            self.report = rec.report()
            self.events = list(rec.events())
        for e in self.events:
            e.update({k: int(v, 0) for k, v in e["fields"].items() if v.lstrip("-").isdigit()
                      or v.startswith("0x")})
            e["ns"] = int(e["time_ns"])
        self.skipped = self.report["loss"]["kernel"]

    def of(self, *names):
        return [e for e in self.events if e["event"] in names]


def never_before_the_spin_ends():
    run_of = Scheduled(SCHEDULED, "hog")
    clock = run_of.report["clock"]
    if clock["ns_only"]:
        print("not tested: the cycle counter is not one of constant rate here")
        return
    bound = (clock["max_error_ns"] + (clock["cpu_offset_ns"] or 0)) \
        * run_of.report["session"]["tsc_hz"] / 1e9 + 1
    woken = run_of.said[0][0]
    arrivals = [int(e["cycles"]) for e in run_of.of("sched_switch") if e["next_tid"] == woken]
    wakings = [int(e["cycles"]) for e in run_of.of("sched_waking") if e["wakee_tid"] == woken]
    known = early = 0
    for _, waking, end in run_of.said:
        if not any(waking - bound <= w <= end for w in wakings):
            continue  # it was awake still
        first = min((a for a in arrivals if a >= waking), default=None)
        if first:
            known += 1
            early += first < end - bound
    # on a busy machine it does not get to sleep again in between, and so is not woken
    check(known > len(run_of.said) // 8, f"{known} of {len(run_of.said)} wakings were followed")
    check(early == 0, "no thread runs before who has the CPU has spun to the end")
    report = run_of.report["scheduler"]
    check(report["wakeup_ns"]["max"] >= 5e6, "the longest wakeup is at least a spin")


def by_the_kernels_counts():
    for _ in range(TRIES):
        r = Scheduled(SCHEDULED, "shared", level="full")
        (tid, begin, v0, i0, ran0, waited0), (_, end, v1, i1, ran1, waited1) = r.said
        window = [e for e in r.events if begin < e["ns"] < end]
        left = [e for e in window if e["event"] == "sched_switch" and e["prev_tid"] == tid]
        voluntary = sum(not e["preempt"] and e["prev_state"] != 0 for e in left)
        came = sum(e["event"] == "sched_switch" and e["next_tid"] == tid for e in window)
        # on some machines no tracing program runs while their supervisor's tasks are current: who
        # comes after one of these is not seen to come, but to leave again
        if not r.skipped and 0.8 * len(left) < came <= len(left) == v1 - v0 + i1 - i0:
            break
        print(f"it was seen to leave {len(left)} times of {v1 - v0 + i1 - i0}, and to come "
              f"{came} times: once more")
    check(voluntary == v1 - v0, f"{v1 - v0} voluntary switches, by getrusage() too")
    check(len(left) - voluntary == i1 - i0, f"{i1 - i0} others")

    # how long it waited at least, and at most where it was not seen to be woken or to come
    waits, most, since, gone = 0, 0, None, None
    for e in window:
        if e["event"] == "sched_switch" and e["prev_tid"] == tid:
            most += e["ns"] - (since or gone or e["ns"])
            gone = e["ns"]
            since = e["ns"] if e["preempt"] or e["prev_state"] == 0 else None
        elif e["event"] == "sched_waking" and e["wakee_tid"] == tid and since is None:
            since = e["ns"]
        elif e["event"] == "sched_switch" and e["next_tid"] == tid:
            waits += e["ns"] - (since or e["ns"])
            most += e["ns"] - (since or gone or e["ns"])
            since = gone = None
    most += end - (since or gone or end)
    waited = waited1 - waited0
    check(waits - 0.02 * waited <= waited <= most + 0.02 * waited,
          f"{waits} to {most} ns of waiting for the CPU, {came} of {len(left)} times seen to get it: "
          f"{waited} ns by schedstat")
    check(r.report["scheduler"]["run_queue_total_ns"] >= waits, "the report has them in its total")

    told = [e for e in window if e["event"] == "sched_task" and e["task_tid"] == tid]
    check(len([e for e in told if e["leaves"]]) == len(left), "level full: one more at each switch")
    ran, by_trace = ran1 - ran0, told[-1]["cpu_ns"] - told[0]["cpu_ns"]
    edges = told[0]["ns"] - begin + end - told[-1]["ns"]  # it ran before the first, and after the last
    check(-0.01 * ran <= ran - by_trace <= edges + 0.01 * ran,
          f"{by_trace} ns of CPU time and at most {edges} around it: {ran} by schedstat")
    check(all(e["runnable"] >= (1 if e["state"] else 2) or not e["leaves"] for e in told),
          "and who leaves it to another leaves it to somebody")
    states = {e["state"] for e in told if e["leaves"]}
    # on a quiet machine nobody preempts it
    check((0 in states or i1 == i0) and any(s & 1 for s in states), "it left asleep, and preempted")


def timer_interrupts():
    if os.uname().machine != "x86_64":
        print("not tested: only x86-64 traces the timer's interrupt")
        return
    for _ in range(TRIES):
        r = Scheduled(SCHEDULED, "timer")
        (a0, a1, before), (b0, b1, after) = r.said
        spinner = {e["tid"] for e in r.of("irq_entry") if a1 < e["ns"] < b0}
        # the kernel gives who waits a little even beside SCHED_FIFO: interrupts then are another's
        if not r.skipped and not any(e["prev_tid"] in map(int, spinner) and a0 < e["ns"] < b1
                                     for e in r.of("sched_switch")):
            break
        print("somebody else had the CPU meanwhile, or a program was skipped: once more")
    times = [e["ns"] for e in r.of("irq_entry") if e["fields"]["source"] == "local_timer"]
    least = sum(a1 < t < b0 for t in times)
    most = sum(a0 < t < b1 for t in times)
    check(least > 0 and least <= after - before <= most,
          f"{least} to {most} timer interrupts, {after - before} by /proc/interrupts")
    began = collections.Counter((e["tid"], e["number"]) for e in r.of("irq_entry"))
    ended = collections.Counter((e["tid"], e["number"]) for e in r.of("irq_exit"))
    check(r.skipped or began == ended, "each that begins ends in the same thread")


def every_switch_has_its_duration():
    for _ in range(TRIES):
        r = Scheduled(PINGPONG, "-n", "3000", "-c", "0", "-S", "0")
        if r.report["scheduler"]["no_durations"]:
            print("not tested:", r.report["scheduler"]["no_durations"])
            return
        newborn = {e["child_tid"] for e in r.of("task_fork")}
        missing, latest, exact = [], {}, 0
        for e in r.of("sched_switch", "sched_cost"):
            at = latest.get(e["cpu"])
            if e["event"] == "sched_switch":
                if at:
                    missing.append(at)
                latest[e["cpu"]] = e
            elif at:
                exact += e["ns"] - e["reload_ns"] == at["ns"] and \
                    (e["prev_tid"], e["next_tid"]) == (at["prev_tid"], at["next_tid"])
                latest[e["cpu"]] = None
        # who runs for the first time does not come back from the scheduler
        missing = [e for e in missing if e["next_tid"] not in newborn]
        if not missing and not r.skipped:
            break
        print(f"{len(missing)} have none: once more")
    costs = len(r.of("sched_cost"))
    check(not missing and exact == costs, f"{costs} switches, each with its entry and its exit")
    by_kind = r.report["scheduler"]["switches"]
    check(sum(s["n"] for s in by_kind) == len(r.of("sched_switch")), "the report counts them all")
    check(sum(s["measured"] + s["interrupted"] for s in by_kind) == costs, "and their durations")
    check(all(e["decide_ns"] > 0 and e["reload_ns"] > 0 for e in r.of("sched_cost")),
          "neither part is nothing")


def switched_on_and_off():
    """The layer while the tracer records: no switch takes the time the layer was off."""
    top = tempfile.mkdtemp(prefix="magnet-test-")
    d = top + "/t"
    try:
        with Talker() as load, Tracer(d, "--pid", load.pid, "--layers", "sched").ready() as t:
            load.ask(50)
            for layers in ("switch", "sched", "switch"):
                run(TRACER, "ctl", "--pid", t.pid, "set", "layers=" + layers)
                load.ask(100)
            hooks = {h["hook"]: h["status"] for h in
                     json.loads(run(TRACER, "ctl", "--pid", t.pid, "--json", "status").stdout)["hooks"]}
            t.end()
        entries, off = [], 0
        for name, at, f in events(d):
            if name == "change" and "switch" in f and '"off"' in f:
                off = at
            elif name == "sched_cost":
                took = sum(int(n) for n in re.findall(r"(?:decide|reload)_ns = (\d+)", f))
                entries.append(at - took > off)
    finally:
        shutil.rmtree(top)
    if hooks.get("sched_cost"):
        print("not tested: this kernel has no tracepoints around the scheduler")
        return
    check(off and entries and all(entries), f"{len(entries)} switches, none of them from before")


need_kernel_side()
never_before_the_spin_ends()
by_the_kernels_counts()
timer_interrupts()
every_switch_has_its_duration()
switched_on_and_off()
