# SPDX-License-Identifier: MIT
"""Independent counts: the kernel's own counters of a network namespace, and a packet capture."""
import json
import re
import signal
import struct
import subprocess
import sys
import time

from topology import enter


def two_lines(path):
    """/proc/net/snmp and netstat: a line of names, a line of numbers."""
    found, lines = {}, open(path).read().splitlines()
    for names, numbers in zip(lines[::2], lines[1::2]):
        group = names.split(":")[0]
        for name, number in zip(names.split()[1:], numbers.split()[1:]):
            found[group + name] = int(number)
    return found


def counters(ns, devices):
    """Those of a namespace, which the calling thread enters: see own_counters()."""
    enter(ns)
    return own_counters(devices)


def own_counters(devices):
    """Everything, flat: {"UdpOutDatagrams": n, "dev:NAME:tx_packets": n, "qdisc:NAME:bytes": n}."""
    found = {**two_lines("/proc/net/snmp"), **two_lines("/proc/net/netstat")}
    for line in open("/proc/net/snmp6"):
        name, number = line.split()
        found[name] = int(number)
    for line in open("/proc/net/dev").read().splitlines()[2:]:
        name, numbers = line.split(":")
        n = list(map(int, numbers.split()))
        for what, value in (("rx_bytes", n[0]), ("rx_packets", n[1]), ("rx_dropped", n[3]),
                            ("tx_bytes", n[8]), ("tx_packets", n[9]), ("tx_dropped", n[11])):
            found[f"dev:{name.strip()}:{what}"] = value
    for device in devices:
        said = subprocess.run(["tc", "-s", "-j", "qdisc", "show", "dev", device],
                              capture_output=True, text=True, check=True).stdout
        for q in json.loads(said or "[]"):
            if q.get("root"):
                for what in ("bytes", "packets", "drops"):
                    found[f"qdisc:{device}:{what}"] = q[what]
    return found


SYN, ACK = 2, 16


class Capture:
    """
    tcpdump on interfaces; `end()` gives {(namespace, interface): packets}, or None if it had no time
    to read all of them.
    """

    def __init__(self, topology, top):
        self.running = []
        for n, (ns, dev) in enumerate(topology.captured()):
            path = f"{top}/{n}.pcap"
            p = subprocess.Popen(
                topology.inside(ns, "tcpdump", "-i", dev, "-n", "-s", 160, "-B", 8192, "-U", "-Z",
                                "root", "--immediate-mode", "-w", path, "ip", "or", "ip6"),
                stderr=subprocess.PIPE, text=True)
            self.running.append(((ns, dev), p, path))
        for _, p, _ in self.running:
            line = p.stderr.readline()
            while line and "listening on" not in line:
                line = p.stderr.readline()
            if not line:
                sys.exit("tcpdump does not begin")

    def end(self):
        time.sleep(0.05)  # what it has still to read
        found, whole = {}, True
        for where, p, path in self.running:
            p.send_signal(signal.SIGINT)
            said = p.communicate(timeout=30)[1]
            if "0 packets dropped by kernel" not in said:
                sys.exit(f"tcpdump has lost packets: {said}")
            # it leaves unread what it has not read by now; of loopback it is given each twice
            read, given = (int(re.search(r"(\d+) packets? " + how, said)[1]) for how in ("captured", "received"))
            whole = whole and given in (read, 2 * read if where[1] == "lo" else read)
            found[where] = list(packets(path))
        self.running = []
        return found if whole else None

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for _, p, _ in self.running:
            p.kill()
            p.communicate()


class Packet:
    """A frame as captured: `size` of all of it, `ip` of its IP packet, `payload` of its transport."""

    def __init__(self, t, size, raw):
        self.t, self.size = t, size
        kind, self.ip = struct.unpack_from("!H", raw, 12)[0], size - 14
        self.v6, self.part, self.payload, self.flags, self.type, self.id = kind == 0x86dd, 0, 0, 0, -1, 0
        if self.v6:
            self.proto, at = raw[20], 54
            self.src, offset = raw[22:38], 0
            while self.proto in (0, 43, 44, 60):
                if self.proto == 44:
                    offset, self.id = struct.unpack_from("!HI", raw, at + 2)
                    self.proto, at = raw[at], at + 8
                else:
                    self.proto, at = raw[at], at + (raw[at + 1] + 1) * 8
            self.part = 2 if offset & 0xfff8 else offset & 1
        else:
            self.proto, at = raw[23], 14 + (raw[14] & 15) * 4
            self.src = raw[26:30]
            self.id, offset = struct.unpack_from("!HH", raw, 18)
            self.part = 2 if offset & 0x1fff else offset >> 13 & 1
        upper = 0
        if self.proto == 6:
            self.flags, upper = raw[at + 13], (raw[at + 12] >> 4) * 4
            self.flow = self.src + raw[at:at + 4]
        elif self.part != 2 and self.proto in (1, 17, 58):
            upper, self.type = 8, raw[at]
        self.payload = size - at - upper
        self.syn = bool(self.proto == 6 and self.flags & SYN)
        self.opens = self.syn  # or it is the acknowledgement that ends an opening


def packets(path):
    """In their order; of each connection the third is known as part of its opening."""
    openers = set()
    for p in read_packets(path):
        if p.syn and not p.flags & ACK:
            openers.add(p.flow)
        elif p.proto == 6 and p.flow in openers:
            openers.remove(p.flow)
            p.opens = True
        yield p


def read_packets(path):
    with open(path, "rb") as f:
        data = f.read()
    at = 24
    while at + 16 <= len(data):
        s, us, kept, size = struct.unpack_from("<IIII", data, at)
        raw = data[at + 16:at + 16 + kept]
        at += 16 + kept
        if struct.unpack_from("!H", raw, 12)[0] in (0x800, 0x86dd):
            yield Packet(s * 10 ** 9 + us * 1000, size, raw)
