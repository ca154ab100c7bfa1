# SPDX-License-Identifier: MIT
"""
Ways from one end to the other: loopback; a veth pair; one with GRO, where frames come singly; a bridge, or a router, in a namespace of its
own; a bridge that the first end is in itself; a VXLAN tunnel; and two macvlans. All are quiet: only programs send packets.
"""
import ctypes
import fcntl
import json
import os
import socket
import struct
import subprocess
import time

from fixture import run, skip

CLONE_NEWNET = 0x40000000
SIOCETHTOOL = 0x8946
ETHTOOL_SRXCSUM, ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO = 0x15, 0x1f, 0x24, 0x2c
LIBC = ctypes.CDLL(None, use_errno=True)
PLACES = ("loopback", "veth", "veth GRO", "bridge", "routed", "bridge here", "vxlan", "macvlan")
QUIET = ("net.ipv6.conf.default.router_solicitations=0", "net.ipv6.conf.default.accept_dad=0",
         "net.ipv6.conf.default.mldv1_unsolicited_report_interval=10",
         "net.ipv6.conf.default.mldv2_unsolicited_report_interval=10",
         "net.ipv6.conf.default.addr_gen_mode=1", "net.ipv4.ping_group_range=0 2147483647",
         "net.ipv4.icmp_ratelimit=0", "net.ipv6.icmp.ratelimit=0")


def enter(ns):
    """The calling thread, which must be the only one, goes there."""
    with open(f"/run/netns/{ns}") as f:
        if LIBC.setns(f.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns {ns}")


def ethtool(sock, interface, command, value):
    what = ctypes.create_string_buffer(struct.pack("II", command, value))
    fcntl.ioctl(sock, SIOCETHTOOL, struct.pack("16sP", interface.encode(), ctypes.addressof(what)))


class Topology:
    """`a` and `b` are the ends' namespaces (the same on loopback), `m` the one between or None."""

    def __init__(self, place, v6=False):
        self.place, self.v6 = place, v6
        tag = f"mg{os.getpid()}"
        self.a = tag + "a"
        self.b = self.a if place == "loopback" else tag + "b"
        self.m = tag + "m" if place in ("bridge", "routed", "macvlan") else None
        self.namespaces = [self.a] + [n for n in (self.m, self.b) if n and n != self.a]
        self.interface = {self.a: self.a, self.b: self.b}
        if place == "loopback":
            self.interface = {self.a: "lo"}
        elif place == "bridge here":
            self.interface[self.a] = tag + "br"
        self.ports = [tag + "p", tag + "q"]  # of the router or bridge, towards a and b
        self.index = 100
        self.net = ("77.0", "77.0") if place != "routed" else ("77.1", "77.2")

    def address(self, end, v6):
        if self.place == "loopback":
            return "::1" if v6 else "127.0.0.1"
        net, host = (self.net[0], 1) if end == self.a else (self.net[1], 2)
        return f"fd77:{net[3:]}::{host}" if v6 else f"10.{net}.{host}"

    def captured(self):
        """(namespace, interface) of everything that packets pass."""
        seen = [(ns, dev) for ns, dev in self.interface.items()]
        if self.m and self.place != "macvlan":
            seen += [(self.m, p) for p in self.ports]
        if self.place == "bridge here":
            seen.append((self.a, self.ports[1]))
        return seen

    def ip(self, ns, *args):
        return run("ip", "-n", ns, *args)

    def inside(self, ns, *args):
        return ["nsenter", f"--net=/run/netns/{ns}", *map(str, args)]

    def __enter__(self):
        for ns in self.namespaces:
            p = run("ip", "netns", "add", ns, check=False)
            if p.returncode != 0:
                self.__exit__()
                skip("no network namespace can be made: " + p.stderr.strip())
        try:
            self._set_up()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _set_up(self):
        for ns in self.namespaces:
            run(*self.inside(ns, "sysctl", "-qw", *QUIET))
            self.ip(ns, "link", "set", "dev", "lo", "up")
        getattr(self, "_" + self.place.replace(" ", "_"))()
        for ns, dev in self.interface.items():
            # a queue that counts; IPv6 datagrams and large ones are cut everywhere
            self.ip(ns, "link", "set", "dev", dev, "mtu", 1500)
            run("tc", "-n", ns, "qdisc", "replace", "dev", dev, "root", "pfifo", "limit", 10000)
        self._neighbours()
        time.sleep(0.5)  # what IPv6 has to say on a new link

    def _veth_pair(self, ns, dev, other, peer):
        # numbers tell interfaces apart also between namespaces
        self.index += 2
        self.ip(ns, "link", "add", "name", dev, "index", self.index, "type", "veth", "peer", "name",
                peer, "index", self.index + 1, "netns", other)
        self.ip(ns, "link", "set", "dev", dev, "up")
        self.ip(other, "link", "set", "dev", peer, "up")

    def _give(self, ns, dev, net, host):
        self.ip(ns, "addr", "add", f"10.{net}.{host}/24", "dev", dev)
        self.ip(ns, "addr", "add", f"fd77:{net[3:]}::{host}/64", "dev", dev, "nodad")

    def _loopback(self):
        pass

    def _veth(self):
        self._veth_pair(self.a, self.a, self.b, self.b)
        self._ends()

    def _vxlan(self):
        """
        The ends' interfaces are those of a tunnel through a veth pair; frames need not be cut. It is
        of the other version of IP than what it is to carry, so that IP counts it apart.
        """
        outer = "10.77.3.{}" if self.v6 else "fd77:3::{}"
        under = {self.a: (self.ports[0], 1), self.b: (self.ports[1], 2)}
        self._veth_pair(self.a, self.ports[0], self.b, self.ports[1])
        for ns, (dev, host) in under.items():
            self.ip(ns, "link", "set", "dev", dev, "mtu", 1600)
            self._give(ns, dev, "77.3", host)
            self.index += 1
            self.ip(ns, "link", "add", "name", ns, "index", self.index, "type", "vxlan", "id", 77,
                    "local", outer.format(host), "remote", outer.format(3 - host), "dstport", 4789)
            self.ip(ns, "link", "set", "dev", ns, "up")
        self._ends()

    def _macvlan(self):
        """Both ends have one on the same interface, which is in the namespace between them."""
        self._veth_pair(self.m, self.ports[0], self.m, self.ports[1])
        for ns in (self.a, self.b):
            self.index += 1
            self.ip(self.m, "link", "add", "name", ns, "link", self.ports[0], "netns", ns, "index",
                    self.index, "type", "macvlan", "mode", "bridge")
            self.ip(ns, "link", "set", "dev", ns, "up")
        self._ends()

    def _veth_GRO(self):
        self._veth()
        self._gro()

    def _ends(self):
        self._give(self.a, self.interface[self.a], self.net[0], 1)
        self._give(self.b, self.interface[self.b], self.net[1], 2)

    def _make_bridge(self, ns, name):
        self.ip(ns, "link", "add", "name", name, "type", "bridge", "mcast_snooping", "0",
                "stp_state", "0")
        self.ip(ns, "link", "set", "dev", name, "up")

    def _bridge(self):
        run(*self.inside(self.m, "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1"))
        self._make_bridge(self.m, "br0")
        for end, port in zip((self.a, self.b), self.ports):
            self._veth_pair(end, end, self.m, port)
            self.ip(self.m, "link", "set", "dev", port, "master", "br0")
        self._ends()

    def _bridge_here(self):
        self._make_bridge(self.a, self.interface[self.a])
        self._veth_pair(self.b, self.b, self.a, self.ports[1])
        self.ip(self.a, "link", "set", "dev", self.ports[1], "master", self.interface[self.a])
        self._ends()

    def _routed(self):
        run(*self.inside(self.m, "sysctl", "-qw", "net.ipv4.ip_forward=1",
                         "net.ipv6.conf.all.forwarding=1"))
        for end, port, net in zip((self.a, self.b), self.ports, self.net):
            self._veth_pair(end, end, self.m, port)
            self._give(self.m, port, net, 9)
        self._ends()
        for end, net in ((self.a, self.net[0]), (self.b, self.net[1])):
            self.ip(end, "route", "add", "default", "via", f"10.{net}.9")
            self.ip(end, "-6", "route", "add", "default", "via", f"fd77:{net[3:]}::9")

    def link(self, ns, dev):
        return json.loads(self.ip(ns, "-j", "link", "show", "dev", dev).stdout)[0]

    def _neighbours(self):
        """Nobody asks for an address."""
        if self.place == "loopback":
            return
        at = [(ns, dev) for ns, dev in self.interface.items()]
        if self.place == "routed":
            at += [(self.m, p) for p in self.ports]
        mac = {dev: self.link(ns, dev)["address"] for ns, dev in at}
        for ns, dev in at:
            for v6 in (False, True):
                for address, owner in self._sees(ns, dev, v6):
                    self.ip(ns, "neigh", "replace", address, "lladdr", mac[owner], "dev", dev, "nud",
                            "permanent")

    def _sees(self, ns, dev, v6):
        """(address, whose interface) of the neighbours of an interface."""
        if self.place != "routed":
            other = self.b if ns == self.a else self.a
            return [(self.address(other, v6), self.interface[other])]
        if ns == self.m:
            end = (self.a, self.b)[self.ports.index(dev)]
            return [(self.address(end, v6), self.interface[end])]
        side = 0 if ns == self.a else 1
        net = self.net[side]
        return [(f"fd77:{net[3:]}::9" if v6 else f"10.{net}.9", self.ports[side])]

    def _gro(self):
        """Frames of their own size on the way, put together where they arrive."""
        home = os.open("/proc/self/ns/net", os.O_RDONLY)
        for ns, dev in self.interface.items():
            enter(ns)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                for command, value in ((ETHTOOL_STSO, 0), (ETHTOOL_SGSO, 0), (ETHTOOL_SGRO, 1)):
                    ethtool(s, dev, command, value)
        LIBC.setns(home, CLONE_NEWNET)
        os.close(home)

    def __exit__(self, *unused):
        for ns in self.namespaces:
            subprocess.run(["ip", "netns", "del", ns], capture_output=True)
