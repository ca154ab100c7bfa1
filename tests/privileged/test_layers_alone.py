# SPDX-License-Identifier: MIT
"""
Each layer recorded alone, and some together: it sees every kind of socket, as often as the kernel's own
counters say; and with buffers far too small, what is in the trace and what is told as lost are together
what there was, at each level of protocol state.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from counters import own_counters
from fixture import *
from tracer import Tracer

PROGRAM = os.path.join(os.path.dirname(__file__), "..", "programs", "one_of_each.py")
N = 800 // SLOWER
TRIES = 4
# how often each packet or segment that a counter counts is an event of a layer
DEVICE = {"qdisc:lo:packets": 1, "dev:lo:tx_packets": 2, "dev:lo:rx_packets": 1}
IP = {"IpOutRequests": 2, "IpInDelivers": 1}
IP_FULL = {**IP, "TcpOutSegs": 1, "TcpInSegs": 1}
NETFILTER = {"IpOutRequests": 2, "IpInReceives": 2, "IpInDelivers": 1}
SOCKET = {"UdpOutDatagrams": 1, "UdpInDatagrams": 1}
TCP = {"TcpInSegs": 1, "TcpExtTCPBacklogCoalesce": -1, "UdpInDatagrams": 1}
TCP_FULL = {"TcpInSegs": 4, "TcpExtTCPBacklogCoalesce": -4, "UdpInDatagrams": 1}


def together(*layers):
    found = {}
    for layer in layers:
        for name, n in layer.items():
            found[name] = found.get(name, 0) + n
    return found


# (layers, level, what is counted of them)
CHOICES = (
    ("device", "none", DEVICE),
    ("ip", "full", IP_FULL),
    ("netfilter", "none", NETFILTER),
    ("socket", "full", SOCKET),
    ("tcp", "full", TCP_FULL),
    ("tcp,ip,device", "light", together(TCP, {"TcpInSegs": 1, "TcpExtTCPBacklogCoalesce": -1}, IP, DEVICE)),
    ("syscall,socket,tcp,ip,device", "full", together(SOCKET, TCP_FULL, IP_FULL, DEVICE)),
)
# what passes once a datagram, in both directions
UDP_EVENTS = {"device": ("dev_queue", "dev_xmit", "dev_done", "dev_recv"),
              "ip": ("ip_out", "ip_post", "ip_in"),
              "netfilter": ("nf_out_end", "nf_post_begin", "ip_recv", "nf_pre_end", "nf_in_begin"),
              "socket": ("sock_sent", "sock_received"), "tcp": ("sock_ready",)}
UNIX_LAYERS = ("socket", "tcp")


class Counted(Recording):
    """A recording of the program; `there` is what the kernel counted of the packets meanwhile."""

    def __init__(self, layers, level, *options):
        before = own_counters(("lo",))
        super().__init__(PYTHON, PROGRAM, N, options=("--kernel-only", "-l", layers, "--level", level, *options))
        self.there = {k: n - before.get(k, 0) for k, n in own_counters(("lo",)).items()}
        self.seen, self.by_kind, kinds = 0, {}, {}
        report = self.report()
        loss = report["loss"]
        self.not_observed = report["kinds_not_observed"]
        self.text = run(MAGNET, "report", "--all", self.dir).stdout
        self.brief = run(MAGNET, "report", self.dir).stdout
        self.lost = sum(g["count"] for g in loss["gaps"] if g["producer"] == "ring")
        self.skipped = loss["kernel"] - self.lost
        for e in self.events():
            if not e["cpu"] or e["event"] == "lost":
                continue
            self.seen += 1
            socket = e["flow"].split("/")[0]
            if e["event"] in ("sock_new", "sock_state"):
                kinds[socket] = e["fields"].get("kind", "tcp")
            at = kinds.get(socket), e["event"]
            self.by_kind[at] = self.by_kind.get(at, 0) + 1

    def count(self, what):
        return sum(self.there[name] * n for name, n in what.items())


def whole(layers, level, what):
    """Nothing is lost: each layer sees each kind of socket. Returns what of the packets no layer records."""
    for _ in range(TRIES):
        with Counted(layers, level) as rec:
            if not rec.skipped:
                break
    check(rec.lost == rec.skipped == 0, f"{layers}, level {level}: {rec.seen} events, none lost")
    sent = rec.there["UdpOutDatagrams"]
    check(sent == rec.there["UdpInDatagrams"] == 2 * N, f"{sent} datagrams are sent and received")
    for layer in layers.split(","):
        for event in UDP_EVENTS.get(layer, ()):
            got = rec.by_kind.get(("udp", event), 0)
            check(got == sent, f"{layers}: {got} of {sent} datagrams have {event}")
            if event not in ("sock_ready", "sock_sent", "sock_received"):
                got = rec.by_kind.get(("raw", event), 0)
                check(got == N, f"{layers}: {got} of {N} echo requests or replies have {event}")
                check(rec.by_kind.get(("tcp", event), 0) >= 2 * N, f"{layers}: TCP's segments have {event}, too")
            elif layer in UNIX_LAYERS:
                got = rec.by_kind.get(("unix_dgram", event), 0)
                check(got == N, f"{layers}: {got} of {N} messages of the UNIX socket have {event}")
    only_tcp = "tcp" in layers and "syscall" not in layers
    sizes = "traffic: packets of " in rec.brief
    check(("No summary: without the layer syscall" in rec.brief) == only_tcp and (sizes or "device" not in layers or not only_tcp),
          f"{layers}: the report says why there is no summary, and the sizes of packets that a device recorded")
    blind = [] if {"syscall", "socket", "tcp"} & set(layers.split(",")) else ["unix", "netlink", "vsock"]
    check(rec.not_observed == blind and ("not observed by the kernel side" in rec.text) == bool(blind) and
          ("UNIX" in rec.p.stderr) == bool(blind), f"{layers}: {blind} are told as not observed")
    return rec.count(what) - rec.seen


def never_recorded(choice):
    """Runs whole() until it returns the same twice: what others disturb may have another number of TCP's events."""
    before = whole(*choice)
    for _ in range(TRIES):
        never = whole(*choice)
        if never == before:
            break
        before = never
    return never


def too_small(layers, level, what, never):
    """`never` of what is counted is no event; the rest is seen or lost."""
    for _ in range(TRIES):
        with Counted(layers, level, "--buffer", "4K", "--drain", "1") as rec:
            truth = rec.count(what) - never
            print(f"   {layers}, level {level}: {rec.seen} seen + {rec.lost} lost of {truth}, "
                  f"{rec.skipped} skipped", flush=True)
            if rec.seen + rec.lost == truth and not rec.skipped:
                break
    check(rec.lost > truth // 100 and rec.seen > truth // 100, "some are seen, and some are lost")
    check(rec.seen + rec.lost == truth, f"{layers}, level {level}: together they are all")


def there_before():
    """Sockets that are open already as the recording begins, of which the layer syscall would learn at a call."""
    for layers in ("device", "ip"):
        with tempfile.TemporaryDirectory(prefix="magnet-test-") as top, subprocess.Popen(
                [PYTHON, PROGRAM, str(N), "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
            p.stdout.readline()
            with Tracer(top + "/t", "--pid", p.pid, "-l", layers).ready() as tracer:
                p.stdin.write("go\n")
                p.stdin.flush()
                p.wait(60 * SLOWER)
                tracer.end()
            seen = {}
            for line in run(MAGNET, "show", "--tsv", top + "/t").stdout.splitlines():
                for event in UDP_EVENTS[layers]:
                    if f"\t{event}\t" in line and ("proto=udp" in line or event == "dev_done"):
                        seen[event] = seen.get(event, 0) + 1
            for event in UDP_EVENTS[layers]:
                if event != "dev_done":  # which does not tell the protocol
                    check(seen.get(event, 0) == 2 * N, f"{layers}, attached: {seen.get(event, 0)} datagrams have {event}")


need_kernel_side()
need_program("tc")
run("tc", "qdisc", "add", "dev", "lo", "root", "pfifo", "limit", "10000")
run("sysctl", "-qw", "net.ipv4.ping_group_range=0 2147483647")
for choice in CHOICES:
    too_small(*choice, never_recorded(choice))
there_before()
