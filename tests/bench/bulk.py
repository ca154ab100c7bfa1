# SPDX-License-Identifier: MIT
"""
Bulk TCP throughput lost to recording, sender and receiver saturating the machine.

  bulk.py [--one-cpu] [BYTES]

  --one-cpu   both ends on one CPU and in batches (SCHED_BATCH), the recorder on another: the turns
              of sender and receiver are the same each time, and what is lost is what the hooks cost
  BYTES       in writes of that size instead of iperf3's 128 KiB
"""
from bulk_transfer import *

TIME = duration(44)  # of all
ONE_CPU = "--one-cpu" in sys.argv
SIZES = [a for a in sys.argv[1:] if a != "--one-cpu"]
WRITES = ("-l", SIZES[0]) if SIZES else ()
SIZE = (f"writes of {SIZES[0]} bytes" if SIZES else "bulk") + (", one CPU" if ONE_CPU else "")
END = ("chrt", "-b", "0", "taskset", "-c", WATCHED) if ONE_CPU else ()

need_kernel_side()
need_program("iperf3", "ip", "nsenter")


def observed(kind):
    """How one observer is measured: throughput, CPU share, note."""
    def turn(net):
        transfer = Transfer(net, (), END, WRITES)
        try:
            observer = kind(transfer.pid)
            with observer:
                rate = transfer.go()
        finally:
            stop(transfer.p)
        share = None if observer.cpu_s is None else observer.cpu_s / transfer.elapsed
        return rate, share, observer.note
    return turn


def recorded(net, magnet=MAGNET):
    """magnet record around the client: both sides; the daemons' CPU time is in session.json."""
    with Place() as top:
        transfer = Transfer(net, (magnet, "record", "-q", "-o", top + "/t", "--"), END, WRITES)
        rate = transfer.go()
        with open(top + "/t/session.json") as f:
            session = json.load(f)
    app, kernel = session["app"], session["kernel_side"]
    cpu_s = (app["daemon_cpu_ns"] + kernel["cpu_ns"]) / 1e9
    return (rate, cpu_s / (session["duration_ns"] / 1e9),
            f"{kernel['events']:,} kernel events, {kernel['lost']:,} lost; "
            f"app lost {app['discarded']:,}")


def recorded_by_other(net):
    return recorded(net, OTHER + "/cli/magnet")


def turns(net, ways):
    series = {name: [] for name in ways}
    for n in rounds(TIME):
        for name in in_turn(n, ways):
            series[name].append(ways[name](net))
    return series


def show(series):
    bare = [rate for rate, _, _ in series["bare"]]
    rows = []
    for name, results in series.items():
        rates = [rate for rate, _, _ in results]
        shares = [share * 100 for _, share, _ in results if share is not None]
        lost = Figure([(1 - x) * 100 for x in ratios(rates, bare)])
        result(f"{SIZE}, % lost: {name.strip()}", [(1 - x) * 100 for x in ratios(rates, bare)])
        rows.append((name, Figure(rates).text(1), Figure(ratios(rates, bare)).text(),
                     lost.text(1) if name != "bare" else "",
                     Figure(shares).text(1) if shares else "", results[-1][2]))
    table(f"{SIZE}: {len(bare)} turns of {SECONDS} s, iperf3 through a pair of veth devices",
          ("", "Gbit/s", "ratio to bare", "% lost", "% of a CPU", "last turn"), rows)


begin("Bulk TCP throughput from one network namespace to another, bare and recorded.",
      f"{' '.join(map(str, END))} iperf3 -c {Network.B} -t {SECONDS} {' '.join(WRITES)}",
      "magnet-kernel-tracer -o DIR --pid PID [--layers light|timestamps]",
      "magnet record -q -o DIR -- iperf3 ...",
      "tcpdump -i VETH [-s 96] -w /dev/null")
with Network() as network:
    server = start_server(network, *END)
    try:
        Tcpdump.device = network.a
        Tcpdump.inside = tuple(network.inside(network.a))
        find_places()
        EmptyHooks.inside = [tuple(network.inside(ns)) for ns in (network.a, network.b)]
        WAYS = {"bare": observed(Bare), "empty programs at the same places": observed(EmptyHooks),
                "empty events": observed(EmptyEvents),
                "empty programs, light": observed(EmptyLight),
                "empty events, light": observed(EmptyEventsLight), "magnet-kernel-tracer": observed(Tracer),
                "  light": observed(LightTracer), "  timestamps": observed(TimestampsTracer), "magnet record": recorded}
        if OTHER:
            WAYS["other build: magnet record"] = recorded_by_other
        for peer in OTHER_KINDS + [Tcpdump, TcpdumpShort]:
            if peer.works():
                WAYS[peer.name] = observed(peer)
        observed(Bare)(network)
        show(turns(network, WAYS))
    finally:
        stop(server)
how_to_read("""
Sender, receiver and observer share the machine's CPUs, which the transfer alone keeps busy: what an
observer uses, the transfer loses. "% of a CPU" is the observer's own processes (magnet: tracer and
collector); what its programs do inside the kernel is in the throughput only. tcpdump looks at
packets and discards what it has read; magnet keeps its trace on disk. A tool that loses packets
does less work than it was asked for.
""")
