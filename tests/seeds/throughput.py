# SPDX-License-Identifier: MIT
"""Cost of recording on a saturated network: the papers' six configurations, and message sizes."""
import tempfile

from common import *

SECONDS, REPEATS = 1, 4


def iperf(net, before_client=(), before_server=(), length=None):
    """(Mbit/s that arrived, CPU % of the machine)."""
    server = net.popen(net.b, *before_server, "iperf3", "-s", "-1", "-p", PORT,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            listening = run(*net.inside(net.b, "ss", "-tlnH", f"sport = :{PORT}")).stdout
            if listening:
                break
            time.sleep(0.02)
        with open("/proc/stat") as f:
            before = list(map(int, f.readline().split()[1:9]))
        out = run(*net.inside(net.a, *before_client, "iperf3", "-c", net.B, "-p", PORT, "-t",
                              SECONDS, "-J", *(["-l", length] if length else []))).stdout
        with open("/proc/stat") as f:
            after = list(map(int, f.readline().split()[1:9]))
    finally:
        try:
            server.wait(5)
        except subprocess.TimeoutExpired:
            stop(server)
    spent = [b - a for a, b in zip(before, after)]
    busy = 100 * (1 - (spent[3] + spent[4]) / sum(spent))
    rate = json.loads(out[out.index("{"):])["end"]["sum_received"]["bits_per_second"] / 1e6
    return rate, busy


class Beside:
    """A program that watches while a transfer runs; ended, and its files removed, afterwards."""

    def __init__(self, *command, then=None):
        self.command, self.then = command, then

    def __enter__(self):
        self.top = tempfile.mkdtemp(prefix="magnet-test-")
        command = [str(c).replace("DIR", self.top + "/t") for c in self.command]
        self.p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1.5 if self.then else 0.5)
        if self.then:
            run(*(str(c).replace("PID", str(self.p.pid)) for c in self.then))
        return self

    def __exit__(self, *unused):
        stop(self.p)
        shutil.rmtree(self.top, ignore_errors=True)


def recorded(top):
    return (MAGNET, "record", "-q", "-o", tempfile.mkdtemp(dir=top) + "/t", "--")


def configurations(net, top):
    def dump(ns, dev):
        return Beside(*net.inside(ns, "tcpdump", "-i", dev, "-s", 68, "-w", "DIR"))

    def inactive():
        return Beside(TRACER, "-o", "DIR", "--all",
                      then=(TRACER, "ctl", "--pid", "PID", "pause"))

    def with_(watcher):
        with watcher:
            return iperf(net)
    return {
        "1 bare": lambda: iperf(net),
        "2 magnet attached, recording paused": lambda: with_(inactive()),
        "3 magnet on the receiver": lambda: iperf(net, before_server=recorded(top)),
        "4 magnet on the sender": lambda: iperf(net, before_client=recorded(top)),
        "5 tcpdump on the receiver": lambda: with_(dump(net.b, net.b)),
        "6 tcpdump on the sender": lambda: with_(dump(net.a, net.a)),
    }


NETWORKS = [("100 Mbit/s", {"rate": "100mbit", "burst": 20000}),
            ("1000 Mbit/s", {"rate": "1gbit", "burst": 600000}), ("as fast as it goes", {})]
# throughput in Mbit/s of the papers' (G02 Table II), 100 and 1000 Mbit/s
PAPER = {"1": (94.14, 459.48), "2": (94.13, 452.46), "3": (90.79, 444.31), "4": (90.69, 440.24),
         "5": (89.39, 290.68), "6": (89.04, 343.22)}


def changes(results, what, network, against="1 bare"):
    """Return by how much the rate of a configuration differs from another's, turn by turn, in %."""
    return [100 * (a / b - 1) for (a, _), (b, _) in zip(results[what][network],
                                                        results[against][network])]


def what_they_cost(results, network):
    """Say which configurations differ from bare on a network, and by how much."""
    sure = [what for what in results if what != "1 bare" and settled(changes(results, what, network))]
    return f"{network[0].upper() + network[1:]}: " + (
        "no configuration differs from bare." if not sure else listed(
            [f"{what[2:]} ({mean_ci(changes(results, what, network), 1)} %)" for what in sure])
        + " differ" + ("s" if len(sure) == 1 else "") + " from bare.")


def order_of_observers(results, network):
    """Say whether tcpdump costs more than magnet, as it did in the papers."""
    words = []
    for end, magnet, dump in (("receiver", "3 magnet on the receiver", "5 tcpdump on the receiver"),
                              ("sender", "4 magnet on the sender", "6 tcpdump on the sender")):
        more = changes(results, magnet, network, dump)
        mean, _ = interval(more)
        words.append(f"on the {end} magnet's rate differs from tcpdump's by {mean_ci(more, 1)} %, " + (
            "which these runs do not decide" if not settled(more) else
            "so magnet costs less, as in the papers" if mean > 0 else
            "so magnet costs more, against the papers"))
    return "; ".join(words)


def six_configurations():
    results = {}
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        for name, shape in NETWORKS:
            with Network(**shape) as net:
                ways = configurations(net, top)
                iperf(net)
                for _ in range(REPEATS):
                    for what, way in ways.items():
                        results.setdefault(what, {}).setdefault(name, []).append(way())
    rows = []
    for what, by_network in results.items():
        row = [what, *(f"{x:.2f} ({100 * (x / b - 1):+.1f} %)"
                       for x, b in zip(PAPER[what[0]], PAPER["1"]))]
        for name, values in by_network.items():
            change = "" if what == "1 bare" else f"({mean_ci(changes(results, what, name), 1)} %), "
            row.append(f"{mean_ci([r for r, _ in values], 1)} {change}"
                       f"CPU {statistics.mean(c for _, c in values):.0f} %")
        rows.append(row)
    return Section(
        "Throughput of a saturated network (F01 Table I, Fig. 4-5; L01 Table 1; G02 Tables I-II, "
        "Fig. 6; G03 Table 2)",
        f"iperf3 for {SECONDS} s from one network namespace to another, {REPEATS} turns of each "
        "configuration, over a token bucket of that rate or over bare veth; mean ± 95 % in "
        "Mbit/s, and in brackets the difference from bare, turn by turn, in %. "
        "`magnet record` writes its trace to disk, as magnet-read did; tcpdump keeps 68 bytes a "
        "packet. CPU is that of the whole machine: sender, receiver and observer, the "
        "recorder's start on the sender included.",
        ["configuration", "papers, 100 Mbit/s", "papers, 1000 Mbit/s",
         *(f"here, {name}" for name, _ in NETWORKS)], rows,
        "The papers' claims: MAGNeT takes less than 5 % of a saturated network's throughput (3.3 % at "
        "most in G03, whose rates are others: 94.12 and 615.34 Mbit/s bare); tcpdump takes 25-37 % at "
        "1000 Mbit/s, more than MAGNeT. Here a bucket limits the rate in two columns, and the two shared "
        "CPUs in the third, where a cost of the CPU is a loss of rate. "
        + " ".join(what_they_cost(results, name) for name, _ in NETWORKS)
        + f" The papers' order of the two observers, as fast as it goes: "
        f"{order_of_observers(results, NETWORKS[2][0])}. {REPEATS} turns of {SECONDS} s are few: "
        "differences below the intervals may exist.")


def trend(by_size):
    """Say whether the smallest writes lose more than the largest."""
    (small, a), *_, (large, b) = by_size.items()
    more = [x - y for x, y in zip(a, b)]
    return (f"Writes of {small} bytes lose {mean_ci(more, 1)} percentage points more than those of {large}: " + (
        "the loss falls with the size." if settled(more) and interval(more)[0] > 0 else
        "the loss grows with the size." if settled(more) else
        "these runs do not decide whether the loss depends on the size."))


def message_sizes():
    rows, by_size = [], {}
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top, Network() as net:
        for length in ("256", "1K", "4K", "16K", "64K", "256K"):
            pairs = [(iperf(net, length=length)[0],
                      iperf(net, before_client=recorded(top), length=length)[0])
                     for _ in range(REPEATS)]
            lost = by_size[length] = [100 * (1 - b / a) for a, b in pairs]
            rows.append([length, mean_ci([a for a, _ in pairs], 0),
                         mean_ci([b for _, b in pairs], 0), mean_ci(lost, 1)])
    return Section(
        "Throughput against message size (G03 Fig. 1)",
        f"`iperf3 -l SIZE`, {SECONDS} s a run, {REPEATS} turns, veth without a limit, bare and under "
        "`magnet record` on the sender; Mbit/s, mean ± 95 %.",
        ["bytes a write", "bare", "recorded", "% lost"], rows,
        "G03 finds 0.8 % at 32 MB messages on Gigabit Ethernet with a network card between. Here "
        "sender, receiver and tracer share two CPUs, which are the only limit: a loss of rate is what "
        f"recording takes of a CPU. A loss is shown at {listed([s for s, v in by_size.items() if settled(v)])}; "
        f"at the other sizes the intervals hold 0. {trend(by_size)}")


EXPERIMENTS = {"throughput": six_configurations, "sizes": message_sizes}
