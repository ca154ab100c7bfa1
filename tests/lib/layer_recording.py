# SPDX-License-Identifier: MIT
"""
A recording of the workload: what magnet saw in each phase, by event and network namespace, and which of
the packets that a capture has are of followed sockets.
"""
import os
import socket

from fixture import Recording

# of a phase: what its sockets are, and its IP protocols
PHASES = {"tcp": ("tcp", (6,)), "udp": ("udp", (17,)), "raw": ("raw", (1, 58)),
          "ping": ("raw", (1, 58))}
UNIX_PHASES = ["unix_stream", "unix_stream listener", "unix_dgram", "unix_dgram bound"]
SYN, ETHERNET = 2, 14
REQUEST, REPLY = (8, 128), (0, 129)


class LayerRecording(Recording):
    """A recording of the workload; its own events give each socket's kind and namespace."""

    def __init__(self, topology, workload, spec, layers):
        super().__init__(*workload, spec, options=("--kernel-only", "--layers", layers))
        number = {str(os.stat(f"/run/netns/{ns}").st_ino): ns for ns in topology.namespaces}
        self.all_events, self.kind, self.netns = list(self.events()), {}, {}
        for e in self.all_events:
            e["socket"] = e["flow"].split("/")[0]
            if e["event"] in ("sock_new", "sock_state"):
                self.kind[e["socket"]] = e["fields"].get("kind", "tcp")
                self.netns[e["socket"]] = number.get(e["fields"]["netns"])
        self.the_report = self.report()

    def skipped(self):
        """
        Why the recording cannot be complete, or "": what was lost, and packets that IP's hooks saw
        and the device's did not, since some machines run tracing programs, other than netfilter's,
        not while their supervisor's tasks are current. Nobody counts those.
        """
        if self.the_report["loss"]["kernel"]:
            return f"{self.the_report['loss']['kernel']} events were lost"
        segs = dict.fromkeys(("ip_recv", "nf_post_begin", "dev_xmit", "dev_recv", "tcp_ready"), 0)
        for e in self.all_events:
            if e["event"] in segs and e["socket"] and e["fields"].get("via", "own") == "own":
                # fragments are made behind IP's last hook
                segs[e["event"]] += int(e["fields"].get("segs", 1)) \
                    if e["event"] in ("ip_recv", "dev_recv") \
                    or int(e["fields"].get("frag", 1)) & 0x1fff == 0 \
                    else 0
        if segs["dev_recv"] < segs["ip_recv"] or segs["dev_xmit"] < segs["nf_post_begin"]:
            return "packets were not seen by every hook"
        return ""


class Seen:
    """Events of one name, namespace and phase, added up."""

    def __init__(self, events):
        fields = [e["fields"] for e in events]
        self.n = len(fields)
        self.segs = sum(int(f.get("segs", 1)) for f in fields)
        self.payload = sum(int(f.get("len", f.get("ret", 0))) for f in fields)
        of_packets = [f for f in fields if "headers" in f]
        self.size = sum(int(f["len"]) + int(f["headers"]) for f in of_packets)
        # as frames: each has the headers
        self.frames = sum(int(f["len"]) + int(f["segs"]) * int(f["headers"]) for f in of_packets)


class Phase:
    """Records and counts while one kind of socket is at work."""

    def __init__(self, recording, said, topology, captured, v6):
        self.name, self.said, self.topology, self.v6 = said["name"], said, topology, v6
        self.kind, self.protocols = PHASES.get(self.name, (self.name.split()[0], ()))
        begin, end = said["mono_ns"]
        self.events, self.calls = {}, []
        for e in recording.all_events:
            if not begin <= int(e["time_ns"]) <= end:
                continue
            if e["event"] in ("sys_enter", "sys_exit"):
                self.calls.append(e)
            elif recording.kind.get(e["socket"]) == self.kind:
                ns = recording.netns.get(e["socket"])
                self.events.setdefault((e["event"], ns), []).append(e)
        begin, end = said["real_ns"]
        self.captured = {where: [p for p in packets if begin <= p.t <= end]
                         for where, packets in captured.items()}
        self.recording = recording

    def seen(self, name, ns, own=True):
        return Seen([e for e in self.events.get((name, ns), ())
                     if own == (e["fields"].get("via", "own") == "own") and not self.opens(e)])

    @staticmethod
    def opens(e):
        """Part of a TCP connection's opening: not yet known for one that is followed."""
        return e["fields"].get("proto") == "tcp" and int(e["fields"]["tcp_flags"], 16) & SYN

    def moved(self, ns, names):
        """Calls and bytes."""
        calls = size = 0
        entered = {}
        for e in self.calls:
            f = e["fields"]
            if e["event"] == "sys_enter":
                entered[e["tid"]] = f.get("kind"), e["socket"]
                continue
            kind, sock = entered.pop(e["tid"], (None, None))
            if kind != self.kind or f["call"] not in names or int(f["ret"]) < 0 \
                    or (ns and self.recording.netns.get(sock) != ns):
                continue
            calls += 1
            size += int(f["bytes"] if "mmsg" in f["call"] else f["ret"])
        return calls, size

    def counted(self, ns, what):
        """By the program's own processes in a namespace; None: by all."""
        ends = [e for e in "ab" if ns is None or getattr(self.topology, e) == ns]
        return sum(c.get(what, 0) for e in ends for c in self.said["counted"][e])

    def tcp_info(self, ns, what):
        ends = [e for e in "ab" if getattr(self.topology, e) == ns]
        return sum(i[what] for e in ends for c in self.said["counted"][e] for i in c["tcp_info"])

    def layer(self, ns, direction, name, what="bytes"):
        """Sums a figure of the report over the flows of a namespace."""
        at_work = {e["socket"] for events in self.events.values() for e in events}
        return sum(l[what] or 0 for f in self.recording.the_report["flows"]
                   if f["direction"] == direction and f["id"].split("/")[0] in at_work
                   and self.recording.netns.get(f["id"].split("/")[0]) == ns
                   for l in f["layers"] if l["name"] == name)


class Others:
    """Returns a capture's packets of an end, and those of no followed socket."""

    def __init__(self, phase, ns):
        t = phase.topology
        dev = t.interface[ns]
        loopback = t.place == "loopback"
        own = {socket_address(t.address(ns, phase.v6))}
        requests = {p.id for p in phase.captured[ns, dev] if p.type in REQUEST and p.part}
        self.all, self.others = {}, {}
        for direction in ("send", "receive"):
            self.all[direction] = [p for p in phase.captured[ns, dev]
                                   if loopback or (p.src in own) == (direction == "send")]
            self.others[direction] = [
                p for p in self.all[direction]
                if p.proto not in phase.protocols
                or (p.opens if direction == "receive" else p.syn)
                or (p.proto != 6 and not self.followed(phase, p, direction, requests, loopback))]

    @staticmethod
    def followed(phase, p, direction, requests, loopback):
        """The kernel answers echo requests by itself; only a raw socket gets to see them."""
        if phase.kind != "raw":
            return True
        request = p.type in REQUEST or (p.part and p.id in requests)
        if direction == "send":
            return request
        return loopback and phase.name == "raw" or not request

    def n(self, direction):
        return len(self.others[direction])

    def whole(self, direction):
        """Datagrams: of fragmented ones the first part."""
        return sum(p.part != 2 for p in self.others[direction])

    def fragments(self, direction):
        return sum(p.part != 0 for p in self.others[direction])

    def size(self, direction, header=ETHERNET):
        return sum(p.ip + header for p in self.others[direction])


def socket_address(text):
    return socket.inet_pton(socket.AF_INET6 if ":" in text else socket.AF_INET, text)
