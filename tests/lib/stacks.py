# SPDX-License-Identifier: MIT
"""Ways through devices that lie upon others: VLANs, one in the other, and on a bond; macvlans."""
from topology import Topology

STACKS = ("qinq", "vlan on bond")


class Stack(Topology):
    def _on(self, ns, below, *kind):
        """The end's own interface, upon another."""
        self.index += 1
        self.ip(ns, "link", "set", "dev", below, "mtu", 1600)
        self.ip(ns, "link", "add", "name", ns, "index", self.index, "link", below, "type", *kind)
        self.ip(ns, "link", "set", "dev", ns, "up")

    def _qinq(self):
        """The inner tag is in the frame, the outer one beside it, as veth hands it on."""
        self._veth_pair(self.a, self.ports[0], self.b, self.ports[1])
        for ns, port in ((self.a, self.ports[0]), (self.b, self.ports[1])):
            self.ip(ns, "link", "set", "dev", port, "mtu", 1700)
            self.ip(ns, "link", "add", "name", "outer", "link", port, "type", "vlan", "proto",
                    "802.1ad", "id", 9)
            self.ip(ns, "link", "set", "dev", "outer", "up")
            self._on(ns, "outer", "vlan", "id", 5)
        self._ends()

    def _macvlan_here(self):
        """Each on a device of the same namespace."""
        self._veth_pair(self.a, self.ports[0], self.b, self.ports[1])
        for ns, port in zip((self.a, self.b), self.ports):
            self._on(ns, port, "macvlan", "mode", "bridge")
        self._ends()

    def _vlan_on_bond(self):
        for ns in (self.a, self.b):
            self.ip(ns, "link", "add", "name", "below", "type", "bond", "mode", "balance-rr")
        for port in self.ports:
            self._veth_pair(self.a, port, self.b, port)
            for ns in (self.a, self.b):
                self.ip(ns, "link", "set", "dev", port, "down")
                self.ip(ns, "link", "set", "dev", port, "master", "below")
                self.ip(ns, "link", "set", "dev", port, "up")
        for ns in (self.a, self.b):
            self.ip(ns, "link", "set", "dev", "below", "up")
            self._on(ns, "below", "vlan", "id", 5)
        self._ends()
