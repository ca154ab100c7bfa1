# SPDX-License-Identifier: MIT
"""What recording costs a saturated network: the papers' six configurations, and message sizes."""
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
            bare = statistics.mean(r for r, _ in results["1 bare"][name])
            rates = [r for r, _ in values]
            row.append(f"{mean_ci(rates, 1)} ({100 * (statistics.mean(rates) / bare - 1):+.1f} %), "
                       f"CPU {statistics.mean(c for _, c in values):.0f} %")
        rows.append(row)
    return Section(
        "Throughput of a saturated network (F01 Table I, Fig. 4-5; L01 Table 1; G02 Tables I-II, "
        "Fig. 6; G03 Tables 2-3)",
        f"iperf3 for {SECONDS} s from one network namespace to another, {REPEATS} turns of each "
        "configuration, over a token bucket of that rate or over bare veth; mean ± 95 % in Mbit/s. "
        "`magnet record` writes its trace to disk, as magnet-read did; tcpdump keeps 68 bytes a "
        "packet. CPU is that of the whole machine: sender, receiver and observer, the "
        "recorder's start on the sender included.",
        ["configuration", "papers, 100 Mbit/s", "papers, 1000 Mbit/s",
         *(f"here, {name}" for name, _ in NETWORKS)], rows,
        "The papers' claims: less than 5 % of a saturated network's throughput for MAGNeT (3.3 % at "
        "most in G03), 25-35 % for tcpdump at 1000 Mbit/s. Where the network is the limit, no "
        "observer costs any of it. Without a limit the CPUs are, and all of them cost.")


def message_sizes():
    rows = []
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top, Network() as net:
        for length in ("256", "1K", "4K", "16K", "64K", "256K"):
            pairs = [(iperf(net, length=length)[0],
                      iperf(net, before_client=recorded(top), length=length)[0])
                     for _ in range(REPEATS)]
            lost = [100 * (1 - b / a) for a, b in pairs]
            rows.append([length, mean_ci([a for a, _ in pairs], 0),
                         mean_ci([b for _, b in pairs], 0), mean_ci(lost, 1)])
    return Section(
        "Throughput against message size (G03 Fig. 1)",
        f"`iperf3 -l SIZE`, {SECONDS} s a run, {REPEATS} turns, veth without a limit, bare and under "
        "`magnet record` on the sender; Mbit/s, mean ± 95 %.",
        ["bytes a write", "bare", "recorded", "% lost"], rows,
        "G03 finds 0.8 % at 32 MB messages on Gigabit Ethernet with a network card between. Here "
        "sender, receiver and tracer share two CPUs and nothing but them is the limit: the loss is "
        "what recording takes of a CPU, and it is less for large writes; the intervals are wide.")


EXPERIMENTS = {"throughput": six_configurations, "sizes": message_sizes}
