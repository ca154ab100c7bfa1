# SPDX-License-Identifier: MIT
"""
--event: any tracepoint of the kernel, each occurrence of it, with the fields that were asked for;
against what a program knows it did and against the kernel's own counters.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

EXECS, DUPS, MANY = 40, 5000, 200_000

# a descriptor nobody else has, so that the filter lets nobody else's calls through
DUP = """
import ctypes, sys
dup = ctypes.CDLL(None).dup
for i in range(int(sys.argv[1])):
    dup(98700 + i % 2)
"""

# events are counted within and around two readings of the kernel's counter
SOFTIRQS = """
import socket, time
def net_rx():
    for line in open("/proc/softirqs"):
        if line.split()[0] == "NET_RX:":
            return sum(map(int, line.split()[1:]))
l = socket.create_server(("127.0.0.1", 0))
s = socket.create_connection(l.getsockname())
c, _ = l.accept()
t = [time.monotonic_ns()]
n = net_rx()
t.append(time.monotonic_ns())
for _ in range(2000):
    s.send(b"x")
    c.recv(1)
t.append(time.monotonic_ns())
n = net_rx() - n
print(n, *t, time.monotonic_ns())
"""

# the CPU time the scheduler has accounted for, within and around two readings of it
BUSY = """
import os, time
def accounted():
    return int(open("/proc/thread-self/schedstat").read().split()[0])
t = [time.monotonic_ns()]
n = accounted()
t.append(time.monotonic_ns())
while time.monotonic_ns() < t[1] + 100_000_000:
    time.sleep(0.0001)
t.append(time.monotonic_ns())
n = accounted() - n
print(os.getpid(), n, *t, time.monotonic_ns())
"""


def chosen(recording, name):
    return [e for e in recording.events() if e["event"] == name]


def refused(what, *options, status=2, under=()):
    """One line, the status of wrong usage, and no directory left behind."""
    with tempfile.TemporaryDirectory() as d:
        p = run(*under, MAGNET, "record", "-q", "-o", d + "/t", *options, "--", "true", check=False)
        left = os.listdir(d)
    lines = p.stderr.strip().splitlines()
    check(p.returncode == status and len(lines) == 1 and what in lines[0] and left == [],
          f"{options[-1]}: exit {p.returncode}, {p.stderr.strip()}")


def every_occurrence_is_recorded():
    with tempfile.TemporaryDirectory() as d:
        names = [f"{d}/program{i}" for i in range(EXECS)]
        # one whose name alone is longer than a page of the trace has room for
        names.insert(1, d + ("/" + "n" * 200) * 20)
        names[1] = names[1][:4090]
        os.makedirs(os.path.dirname(names[1]))
        for n in names:
            os.symlink("/bin/true", n)
        options = ("--kernel-only", "-l", "none", "--event", "sched:sched_process_exec:filename,pid")
        with Recording("sh", "-c", "; ".join(names), options=options) as rec:
            execs = chosen(rec, "sched:sched_process_exec")
            seen = [e["fields"]["filename"] for e in execs if e["fields"]["filename"] in names]
            check(seen == names, f"{len(names)} programs were executed, each is seen once, in order")
            check(all(e["fields"]["pid"] == e["pid"] == e["tid"] for e in execs),
                  "by the process the event itself names")
            check(all(list(e["fields"]) == ["filename", "pid"] for e in execs), "with the fields asked for")
            report = rec.report()
            check({"name": "sched:sched_process_exec", "n": len(execs)} in report["other_events"],
                  "the report counts as many")
            check("sched:sched_process_exec" in rec.text(), "in words too")
            hooks = [h for h in report["hooks"] if h["layer"] == "event"]
            check([h["hook"] for h in hooks] == ["sched:sched_process_exec"] and hooks[0]["status"] == 0,
                  "its hook is told")
            plain = run("babeltrace2", rec.dir).stdout
            check(plain.count("sched:sched_process_exec: {") == len(execs), "plain babeltrace2 prints them")


def filters_are_the_kernels():
    options = ("--kernel-only", "-l", "none", "--event", "syscalls:sys_enter_dup/fildes == 98701/")
    with Recording(PYTHON, "-c", DUP, DUPS, options=options) as rec:
        dups = chosen(rec, "syscalls:sys_enter_dup")
        check(len(dups) == DUPS // 2, f"of {DUPS} calls the filter lets {len(dups)} through")
        check({e["fields"]["fildes"] for e in dups} == {"98701"}, "those it names")
        check(list(dups[0]["fields"]) == ["__syscall_nr", "fildes"], "with all fields but the common ones")
        check(rec.report()["loss"]["kernel"] == 0, "none was lost")


def a_small_ring_tells_what_it_loses():
    options = ("--kernel-only", "-l", "none", "--buffer", "4096", "--drain", "50",
               "--event", "syscalls:sys_enter_dup/fildes >= 98700 && fildes <= 98701/:fildes")
    with Recording(PYTHON, "-c", DUP, MANY, options=options) as rec:
        report = rec.report()
        seen, lost, last = 0, 0, {}
        for e in rec.events():
            if e["event"] == "lost" and e["fields"]["reason"] == "chosen_ring_full":
                lost += int(e["fields"]["count"])
                cpu = e["fields"]["cpu"]
                if not (e["cpu"] == cpu and last.get(cpu, 0) <= int(e["fields"]["from_ns"])
                        <= int(e["fields"]["to_ns"]) == int(e["time_ns"])):
                    check(False, f"a gap lies where its times say: {e}")
            elif e["event"] == "syscalls:sys_enter_dup":
                seen += 1
                last[e["cpu"]] = int(e["time_ns"])
        check(lost > 0, f"{lost} calls were lost")
        check(seen + lost == MANY, f"{seen} seen and {lost} lost are the {MANY} that were made")
        gaps = sum(g["count"] for g in report["loss"]["gaps"] if g["producer"] == "--event ring")
        check(gaps == lost == report["loss"]["kernel"], "the report tells as many")
        session = json.load(open(rec.dir + "/session.json"))
        check(session["kernel_side"]["lost"] == lost, "the tracer counted as many")
        warned = run("babeltrace2", rec.dir).stderr
        warned = sum(map(int, re.findall(r"Tracer discarded (\d+) event", warned)))
        check(warned == lost, f"babeltrace2 warns of {warned}")
        check("events lost" in rec.p.stderr, "the recorder says so")


def the_kernel_counted_as_many():
    options = ("--kernel-only", "-l", "none", "--event", "irq:softirq_entry/vec == 3/:vec",
               "--event", "napi:napi_poll:work,budget")
    with Recording(PYTHON, "-c", SOFTIRQS, options=options) as rec:
        n, *t = map(int, rec.p.stdout.split())
        times = [int(e["time_ns"]) for e in chosen(rec, "irq:softirq_entry")]
        within = sum(t[1] <= x <= t[2] for x in times)
        around = sum(t[0] <= x <= t[3] for x in times)
        # the counter and the event are two steps: each CPU may stand between them
        cpus = os.cpu_count()
        check(within - cpus <= n <= around + cpus,
              f"/proc/softirqs counted {n} NET_RX, {within} to {around} are recorded")
        polls = chosen(rec, "napi:napi_poll")
        check(polls and all(0 <= int(e["fields"]["work"]) <= int(e["fields"]["budget"]) for e in polls),
              f"{len(polls)} polls, none did more than its budget")


def what_counts_for_more_than_one_comes_once():
    """The kernel counts this event by the nanoseconds it tells, and would give it that often."""
    options = ("--kernel-only", "-l", "none", "--event", "sched:sched_stat_runtime:pid,runtime")
    with Recording(PYTHON, "-c", BUSY, options=options) as rec:
        pid, n, *t = map(int, rec.p.stdout.split())
        told = [e for e in chosen(rec, "sched:sched_stat_runtime") if int(e["fields"]["pid"]) == pid]
        times = [int(e["time_ns"]) for e in told]
        check(len(set(times)) == len(times) > 100, f"{len(times)} times CPU time was accounted for")
        within = sum(int(e["fields"]["runtime"]) for e in told if t[1] <= int(e["time_ns"]) <= t[2])
        around = sum(int(e["fields"]["runtime"]) for e in told if t[0] <= int(e["time_ns"]) <= t[3])
        check(within <= n <= around, f"{n} ns of it, {within} to {around} are recorded")
        check(rec.report()["loss"]["kernel"] == 0, "none was lost")


def kernel_has(event):
    with tempfile.TemporaryDirectory() as d:
        return run(MAGNET, "record", "--kernel-only", "-q", "-l", "none", "-o", d + "/t", "--event", event,
                   "--", "true", check=False).returncode == 0


def they_merge_with_the_layers():
    if not kernel_has("sock:sock_send_length"):
        print("this kernel has no sock:sock_send_length to look at")
        return
    exchange = SOFTIRQS.replace("2000", "500")
    options = ("--kernel-only", "--event", "sock:sock_send_length:ret", "--event", "tcp:tcp_probe",
               "--event", "sock:*:family")
    with Recording(PYTHON, "-c", exchange, options=options) as rec:
        last, inside, sends, outside, own = 0, {}, 0, [], set()
        for e in rec.events():
            if int(e["time_ns"]) < last:
                check(False, f"time runs backwards: {e}")
            last = int(e["time_ns"])
            if e["event"] == "sys_enter":
                inside[e["tid"]] = e["fields"]["call"]
                own.add(e["tid"])
            elif e["event"] == "sys_exit":
                inside.pop(e["tid"], None)
            elif e["event"] == "sock:sock_send_length" and list(e["fields"]) == ["ret"] \
                    and e["fields"]["ret"] == "1" and e["tid"] in own:  # others' are recorded, too
                sends += 1
                if inside.get(e["tid"]) not in ("sendto", "send"):
                    outside.append((e["tid"], inside.get(e["tid"]), e["time_ns"]))
        check(sends >= 500, f"{sends} sends of a byte")
        report = rec.report()
        skipped = report["loss"]["kernel"]
        check(len(outside) <= skipped, f"{sends - len(outside)} of them lie within their system calls, not {outside[:5]}")
        names = [o["name"] for o in report["other_events"]]
        check("sock:sk_data_ready" in names, f"the pattern fits others: {names}")
        probe = chosen(rec, "tcp:tcp_probe")[0]["fields"]
        check(len(probe["saddr"]) == 56 and probe["sport"].isdigit() and probe["skaddr"].startswith("0xff"),
              f"arrays, numbers and pointers are shown as such: {probe}")


def addresses_can_be_left_out():
    options = ("--kernel-only", "-l", "none", "--anonymize", "--event", "tcp:tcp_probe")
    with Recording(PYTHON, "-c", SOFTIRQS, options=options) as rec:
        fields = chosen(rec, "tcp:tcp_probe")[0]["fields"]
        check("data_len" in fields and not {"saddr", "daddr", "sport", "dport"} & set(fields),
              "--anonymize leaves out addresses and ports")
    refused("--anonymize", "--anonymize", "--event", "tcp:tcp_probe:sport")


def wrong_input_is_refused():
    refused("CATEGORY:NAME", "--event", "napi")
    refused("did you mean napi:napi_poll?", "--event", "napi:napi_pol")
    refused("no event nothing:like_it", "--event", "nothing:like_it")
    refused("no event napi:x*", "--event", "napi:x*")
    refused("its fields: napi, dev_name, work, budget", "--event", "napi:napi_poll:works")
    refused("none of the events napi:* has a field 'works'", "--event", "napi:*:work,works")
    refused("closing '/'", "--event", "napi:napi_poll/work>0")
    refused("Field not found", "--event", "napi:napi_poll/works>0/")
    refused("does not understand", "--event", "napi:napi_poll/work>/")
    refused("named twice", "--event", "napi:napi_poll", "--event", "napi:napi_poll/work>0/")
    refused("named twice", "--event", "napi:napi_poll:work,work")


def privilege_that_is_missing_is_told():
    need_program("setpriv")
    refused("it takes", "--kernel-only", "--event", "napi:napi_poll", status=1,
            under=("setpriv", "--bounding-set=-sys_admin,-perfmon"))


def mounts():
    """Those a tracer could make: other file systems come and go by themselves."""
    all = (line.split(" - ")[1] for line in open("/proc/self/mountinfo"))
    return sorted(m for m in all if m.split()[0] in ("tracefs", "debugfs", "bpf", "cgroup2"))


need_kernel_side()
before = mounts()
every_occurrence_is_recorded()
filters_are_the_kernels()
a_small_ring_tells_what_it_loses()
the_kernel_counted_as_many()
what_counts_for_more_than_one_comes_once()
they_merge_with_the_layers()
addresses_can_be_left_out()
wrong_input_is_refused()
privilege_that_is_missing_is_told()
check(mounts() == before, "no mount is left")
