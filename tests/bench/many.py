# SPDX-License-Identifier: MIT
"""Cost of recording many small datagrams, and requests over a thousand connections."""
from observers import *

TIME = duration(50)  # of each table
SLOW_TURNS = 3
WORKLOADS = [
    ("64-byte datagrams, sender and receiver on two CPUs",
     ("datagrams", 200_000, 64, WATCHED, WATCHING), "a datagram"),
    ("requests in turn over 1,000 connections, one CPU",
     ("connections", 1000, 20_000, WATCHED, WATCHED), "a request"),
]
KINDS = [Bare, EmptyHooks, Tracer, LightTracer, *OTHER_KINDS, Tcpdump, TcpdumpShort, PerfRecord,
         BpftraceCount]

need_kernel_side()


def turn(observer, talker):
    """ns each, and how many arrived of how many."""
    with observer:
        each, n, arrived = map(float, talker.ask())
        if observer.p and observer.name == "tcpdump":
            time.sleep(0.1)
    return each, arrived / n


def compare(title, args, unit, kinds):
    series = {k.name: [] for k in kinds}
    arrived = {k.name: [] for k in kinds}
    notes = {}
    with Talker(program("many"), *args, first_line=False) as talker:
        talker.ask()
        with Tracer(talker.pid) as t:
            talker.ask()
        events = (t.done["events"] - t.ready["events"]) / args[1 if args[0] == "datagrams" else 2]
        for n in rounds(TIME):
            for kind in in_turn(n, kinds):
                if kind.slow and n >= SLOW_TURNS:
                    continue
                observer = kind(talker.pid)
                each, share = turn(observer, talker)
                series[kind.name].append(each)
                arrived[kind.name].append(100 * share)
                notes[kind.name] = observer.note
    bare = series["bare"]
    table(f"{title}; about {events:.1f} events {unit}",
          ("", f"ns {unit}", "ratio to bare", "% arrived", "last turn"),
          [(name, Figure(v).text(0), Figure(ratios(v, bare)).text(),
            Figure(arrived[name]).text(1), notes.get(name) or "") for name, v in series.items()])


begin("Many small datagrams, and a thousand connections, on loopback: bare and recorded.",
      "many datagrams 200000 64 CPU CPU", "many connections 1000 20000 CPU CPU",
      "magnet-kernel-tracer -o DIR --pid PID [--layers light]",
      "tcpdump -i lo [-s 96] -w /dev/null", "perf record -a -e TRACEPOINTS",
      "bpftrace -e 'tracepoint:... { @ = count(); }'")
find_places()
usable = [k for k in KINDS if k is Bare or k.works()]
for workload in WORKLOADS:
    compare(*workload, usable)
how_to_read("""
The receiver has room for all datagrams of a turn; what did not arrive was dropped by the kernel.
perf record and bpftrace watch the tracepoints that they share with magnet's hooks, on the whole
machine, and know no sockets.
""")
