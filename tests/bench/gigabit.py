# SPDX-License-Identifier: MIT
"""CPU time that recording adds to a transfer at 1 Gbit/s, without the recorder's start and end."""
from observers import *

RATE = "1G"
WINDOW = 4            # seconds that are measured
TIME = duration(120)  # of all
Tracer.always = ()    # the transfer is under way


def cpu_ns(pid):
    """CPU time of a process so far, of all its threads, as the scheduler has it."""
    used = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{tid}/schedstat") as f:
                used += int(f.read().split()[0])
        except OSError:
            pass
    return used


def softirq_threads():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm") as f:
                if f.read().startswith("ksoftirqd/"):
                    found.append(int(pid))
        except OSError:
            pass
    return found


def processes(observer):
    return [p.pid for p in [observer.p, *getattr(observer, "all", [])] if p]


def window(net, server, kind):
    """CPU seconds in ten of the transfer and of who watches it; Gbit/s that it kept; note."""
    client = start(*net.inside(net.a, "iperf3", "-c", net.B, "-p", 5300, "-t", 600, "-b", RATE),
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.5)
        with kind(client.pid) as observer:
            who = [client.pid, server.pid, *softirq_threads()]
            others = len(who)
            who += processes(observer)
            time.sleep(0.3)  # what begins with the first events is over
            sent, before, began = bytes_sent(net), list(map(cpu_ns, who)), time.monotonic()
            time.sleep(WINDOW)
            after, took = list(map(cpu_ns, who)), time.monotonic() - began
            rate = (bytes_sent(net) - sent) * 8 / took / 1e9
    finally:
        stop(client)
    used = [(b - a) / 1e9 / took * 10 for a, b in zip(before, after)]
    return sum(used), sum(used[others:]), rate, observer.note


def bytes_sent(net):
    said = run(*net.inside(net.a, "cat", "/proc/net/dev")).stdout
    return int(re.search(rf"{net.a}:\s*(?:\d+\s+){{8}}(\d+)", said)[1])


need_kernel_side()
need_program("iperf3", "ip", "nsenter")
begin("CPU time of a transfer at 1 Gbit/s from one network namespace to another, bare and recorded.",
      f"iperf3 -c {Network.B} -b {RATE}",
      "magnet-kernel-tracer -o DIR --pid PID [--layers light|timestamps]",
      "tcpdump -i VETH [-s 96] -w /dev/null")
with Network() as network:
    listener = start(*network.inside(network.b, "iperf3", "-s", "-p", "5300"),
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        Tcpdump.device = network.a
        Tcpdump.inside = tuple(network.inside(network.a))
        find_places()
        EmptyHooks.inside = [tuple(network.inside(ns)) for ns in (network.a, network.b)]
        KINDS = [Bare, EmptyHooks, Tracer, LightTracer, TimestampsTracer] + OTHER_KINDS
        KINDS += [peer for peer in (Tcpdump, TcpdumpShort) if peer.works()]
        time.sleep(0.3)  # the server must listen
        series = {k.name: [] for k in KINDS}
        for n in rounds(TIME, at_least=2):
            for kind in in_turn(n, KINDS):
                series[kind.name].append(window(network, listener, kind))
    finally:
        stop(listener)

all_of = {name: [v[0] for v in values] for name, values in series.items()}
rows = []
for name, values in series.items():
    added = differences(all_of[name], all_of["bare"])
    result(f"gigabit, s: {name}", all_of[name])
    result(f"gigabit, s added: {name}", added)
    rows.append((name, Figure(all_of[name]).text(), Figure(added).text() if name != "bare" else "",
                 Figure([v[1] for v in values]).text(), Figure([v[2] for v in values]).text(),
                 values[-1][3]))
table(f"{len(series['bare'])} turns of {WINDOW} s: CPU seconds in ten seconds",
      ("", "in all", "above bare", "of the observer", "Gbit/s", "last turn"), rows)
how_to_read("""
The CPU time of iperf3's two processes, of the kernel's softirq threads and of who watches, by the
scheduler's account, from 0.3 s after the observer is ready: without its start and its end. Softirqs
on top of other processes are not in it. A tool that loses packets does less than it was asked for.
""")
