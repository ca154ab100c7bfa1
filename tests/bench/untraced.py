# SPDX-License-Identifier: MIT
"""Cost of the kernel tracer for a program that it does not follow, and for calls that it does not record."""
from observers import *

CALLS = 200_000
TIME = duration(50)
WHAT = {"none": "getppid()", "null": "write() to /dev/null", "unix": "send() on a UNIX socket",
        "tcp": "send() on a TCP socket"}
if "MAGNET_BENCH_RESULTS" in os.environ:  # the table has calls on no sockets alone
    WHAT = {what: WHAT[what] for what in ("none", "null")}


class Filtered(Tracer):
    """The whole machine, but a filter that nothing passes."""
    name = "--all --port 1"
    options = ("--port", "1")


class Empty(EmptyHooks):
    """At system calls alone."""
    places = ["tp:sys_enter", "tp:sys_exit"]


class Followed(Tracer):
    name = "followed itself"


class OtherFollowed(OtherTracer):
    name = "other build: followed itself"


need_kernel_side()
KINDS = [Bare, Empty, Tracer, Filtered, Followed] + [OtherTracer, OtherFollowed] * bool(OTHER_TRACER)
begin("A program's calls while a tracer follows another process, or everything but what a filter "
      "refuses.", f"calls none|null|unix|tcp, {CALLS:,} calls a turn",
      "magnet-kernel-tracer -o DIR --pid ANOTHER", "magnet-kernel-tracer -o DIR --all --port 1",
      "magnet-kernel-tracer -o DIR --pid ITSELF")
another = start("sleep", 600)
for what, call in WHAT.items():
    names = {**{k: k.name for k in KINDS}, Tracer: "another process",
             OtherTracer: "other build: another process"}
    series = {names[k]: [] for k in KINDS}
    with Talker(*on_cpu(WATCHED, program("calls"), what)) as talker:
        talker.ask(CALLS)
        for n in rounds(TIME / len(WHAT)):
            for kind in in_turn(n, KINDS):
                pid = {Tracer: another.pid, OtherTracer: another.pid,
                       Filtered: None}.get(kind, talker.pid)
                with kind(pid):
                    each = float(talker.ask(CALLS)[0])
                series[names[kind]].append(each)
    for name, values in series.items():
        result(f"not recorded, {what}: {name}", differences(values, series["bare"]))
    table(call, ("", "ns a call", "ns above bare"),
          [(name, Figure(v).text(0), Figure(differences(v, series["bare"])).text(0))
           for name, v in series.items()])
how_to_read("""
Every system call of the machine passes the two hooks of system calls, which leave at once if it is
none on sockets or the task is not followed; empty programs are at these two alone. A send also passes IP's and the device's hooks, which
look its socket up.
""")
