# SPDX-License-Identifier: MIT
"""
Rows of the table of layers: of one recording, what magnet saw at each layer of each end beside what
others counted. A row is (protocol, end, direction, layer, what, seen, counted, by whom).
"""
from collections import namedtuple

from layer_recording import ETHERNET, Others, Seen, socket_address

Row = namedtuple("Row", "protocol end direction layer what seen counted whom")

SENDS = ("sendto", "sendmsg", "sendmmsg", "write", "writev")
RECEIVES = ("recvfrom", "recvmsg", "recvmmsg", "read", "readv")
IP_HEADER = {False: 20, True: 40}
FRAGMENT_HEADER = {False: 20, True: 48}

def internet_rows(phase, ns):
    """Both directions of one end."""
    counters, others, v6 = phase.said["counters"][ns], Others(phase, ns), phase.v6
    dev = phase.topology.interface[ns]
    end = "both" if phase.topology.place == "loopback" else "a" if ns == phase.topology.a else "b"
    rows = []

    def get(name):
        return counters.get(name, 0)

    def ip(name, ext=False):
        return get("Ip6" + name) if v6 else get(("IpExt" if ext else "Ip") + name)

    # bridges, loopback, tunnels, and veth with GRO count without the Ethernet header taken off
    gro, tunnel = phase.topology.place.endswith("GRO"), phase.topology.place == "vxlan"
    sent_header = 0 if gro or tunnel or dev == "lo" else ETHERNET
    received_header = 0 if gro or tunnel or dev == "lo" or dev.endswith("br") else ETHERNET

    def row(direction, layer, what, seen, counted, whom):
        rows.append(Row(phase.name, end, direction, layer, what, seen, counted, whom))

    def fragmented(direction):
        """Bytes of headers that fragments have more than the datagrams they come from."""
        made, of = ("FragCreates", "FragOKs") if direction == "send" else ("ReasmReqds", "ReasmOKs")
        pieces = ip(made) - others.fragments(direction)
        whole = ip(of) - sum(p.part == 1 for p in others.others[direction])
        return FRAGMENT_HEADER[v6] * pieces - IP_HEADER[v6] * whole

    def transport(name):
        six = "6" if v6 else ""
        return get({"udp": f"Udp{six}", "raw": f"Icmp{six}", "tcp": "Tcp"}[phase.kind] + name)

    # ---- sending
    calls, size = phase.moved(ns, SENDS)
    row("send", "system call", "calls", calls, phase.counted(ns, "sent_calls"), "program")
    row("send", "system call", "bytes", size, phase.counted(ns, "sent_bytes"), "program")
    out, post = phase.seen("ip_out", ns), phase.seen("ip_post", ns)
    if phase.kind == "tcp":
        row("send", "socket", "bytes", phase.layer(ns, "tx", "copy"),
            phase.counted(ns, "sent_bytes"), "program")
        data = Seen([e for e in phase.events.get(("ip_out", ns), ())
                     if int(e["fields"]["len"]) and e["fields"]["via"] == "own"])
        row("send", "transport", "segments", out.segs,
            transport("OutSegs") + transport("RetransSegs") - others.n("send"), "TcpOutSegs")
        row("send", "transport", "data segments", data.segs, phase.tcp_info(ns, "data_segs_out"),
            "TCP_INFO data_segs_out")
        row("send", "transport", "bytes", out.payload, phase.tcp_info(ns, "bytes_sent"),
            "TCP_INFO bytes_sent")
    else:
        sent = phase.seen("sock_sent", ns)
        row("send", "socket", "messages", sent.n,
            phase.counted(ns, "sent_calls") + phase.counted(ns, "sent_messages"), "program")
        row("send", "socket", "bytes", sent.payload, phase.counted(ns, "sent_bytes"), "program")
    if phase.kind == "udp":
        row("send", "transport", "datagrams", out.n, transport("OutDatagrams"), "UdpOutDatagrams")
        row("send", "transport", "bytes", out.payload, phase.counted(ns, "sent_bytes"), "program")
    if phase.kind == "raw":
        answers = get("Icmp6OutEchoReplies") if v6 else get("IcmpOutEchoReps")
        row("send", "transport", "messages", out.n, transport("OutMsgs") - answers, "IcmpOutMsgs")
        row("send", "transport", "bytes", out.payload + 8 * out.n, phase.counted(ns, "sent_bytes"),
            "program")
    requests = ip("OutRequests") - others.whole("send")
    row("send", "IP", "packets", post.n, requests, "IpOutRequests")
    row("send", "IP", "bytes", post.size + fragmented("send"),
        ip("OutOctets", True) - others.size("send", 0), "IpExtOutOctets")
    for name in ("nf_out_end", "nf_post_begin"):
        row("send", "netfilter", name, phase.seen(name, ns).n, requests, "IpOutRequests")
    queue, xmit, done = (phase.seen(name, ns) for name in ("dev_queue", "dev_xmit", "dev_done"))
    row("send", "queue", "frames", queue.segs, get(f"qdisc:{dev}:packets") - others.n("send"), "qdisc")
    row("send", "queue", "bytes", queue.frames, get(f"qdisc:{dev}:bytes") - others.size("send"),
        "qdisc")
    if phase.kind == "tcp":  # of the report, those with payload
        row("send", "queue", "data frames", phase.layer(ns, "tx", "queue", "frames"),
            phase.tcp_info(ns, "data_segs_out"), "TCP_INFO data_segs_out")
    else:
        row("send", "queue", "frames of the report", phase.layer(ns, "tx", "queue", "frames"),
            get(f"qdisc:{dev}:packets") - others.n("send"), "qdisc")
    row("send", "driver", "packets", xmit.n, get(f"dev:{dev}:tx_packets") - others.n("send"),
        "interface")
    row("send", "driver", "bytes", xmit.size - (ETHERNET - sent_header) * xmit.n,
        get(f"dev:{dev}:tx_bytes") - others.size("send", sent_header), "interface")
    row("send", "driver", "captured", xmit.n, len(others.all["send"]) - others.n("send"), "tcpdump")
    opening = sum(phase.opens(e) and e["fields"]["via"] == "own" or 0
                  for e in phase.events.get(("dev_xmit", ns), ()))
    row("send", "driver", "taken", done.n - opening,
        get(f"dev:{dev}:tx_packets") - others.n("send"), "interface")
    row("send", "driver", "fragments", sum(
        e["fields"]["frag"] != "0" for e in phase.events.get(("dev_xmit", ns), ())
        if e["fields"]["via"] == "own"), ip("FragCreates") - others.fragments("send"), "IpFragCreates")

    # ---- receiving
    recv, into = phase.seen("dev_recv", ns), phase.seen("ip_in", ns)
    came = get(f"dev:{dev}:rx_packets") - others.n("receive")
    if gro:  # interfaces count before it, captures behind
        frames = phase.seen("dev_gro", ns)
        row("receive", "GRO", "packets", frames.n, came, "interface")
        row("receive", "GRO", "bytes", frames.size,
            get(f"dev:{dev}:rx_bytes") - others.size("receive", 0), "interface")
        peer = phase.topology.b if ns == phase.topology.a else phase.topology.a
        row("receive", "device", "frames", recv.segs, phase.said["counters"][peer][
            f"qdisc:{phase.topology.interface[peer]}:packets"] - others.n("receive"), "peer's qdisc")
    else:
        row("receive", "device", "packets", recv.n, came, "interface")
        row("receive", "device", "bytes", recv.size + received_header * recv.n,
            get(f"dev:{dev}:rx_bytes") - others.size("receive", received_header), "interface")
    row("receive", "device", "captured", recv.n, len(others.all["receive"]) - others.n("receive"),
        "tcpdump")
    received = ip("InReceives") - others.n("receive")
    for name in ("ip_recv", "nf_pre_end"):
        row("receive", "netfilter", name, phase.seen(name, ns).n, received, "IpInReceives")
    # IPv6 puts fragments together behind its last hook
    whom, together = "IpInReceives", 0
    if not v6:
        whom, together = "IpInDelivers", fragmented("receive")
        received = ip("InDelivers") - others.whole("receive")
    row("receive", "netfilter", "nf_in_begin", phase.seen("nf_in_begin", ns).n, received, whom)
    row("receive", "IP", "packets", into.n, received, whom)
    row("receive", "IP", "bytes", into.size + together,
        ip("InOctets", True) - others.size("receive", 0), "IpExtInOctets")
    bytes_received = phase.counted(ns, "received_bytes")
    if phase.kind == "tcp":
        data = Seen([e for e in phase.events.get(("ip_in", ns), ()) if int(e["fields"]["len"])])
        row("receive", "transport", "data segments", data.segs, phase.tcp_info(ns, "data_segs_in"),
            "TCP_INFO data_segs_in")
        info = phase.tcp_info(ns, "bytes_received") - 2 * (2 if end == "both" else 1)  # the FINs
        row("receive", "transport", "bytes", phase.layer(ns, "rx", "tcp"), info,
            "TCP_INFO bytes_received")
        row("receive", "socket queue", "bytes", phase.layer(ns, "rx", "in_order"), info,
            "TCP_INFO bytes_received")
        row("receive", "copy", "bytes", phase.seen("sock_copy", ns).payload, bytes_received,
            "program")
    else:
        messages = phase.counted(ns, "received_calls")
        whom, at_transport = "program", messages
        if phase.kind == "udp":
            whom, at_transport = "UdpInDatagrams", transport("InDatagrams")
        row("receive", "socket queue", "messages", phase.seen("sock_ready", ns).n, at_transport, whom)
        received = phase.seen("sock_received", ns)
        row("receive", "copy", "messages", received.n, at_transport, whom)
        row("receive", "copy", "bytes", received.payload, bytes_received, "program")
    calls, size = phase.moved(ns, RECEIVES)
    row("receive", "system call", "calls", calls, phase.counted(ns, "received_calls"), "program")
    row("receive", "system call", "bytes", size, bytes_received, "program")
    return rows


def middle_rows(phase):
    """Packets that pass a bridge or router, at each of its ports, and where IP forwards them."""
    t, rows = phase.topology, []
    ports = t.ports if t.m else [t.ports[1]]
    ns = t.m or t.a
    counters = phase.said["counters"][ns]

    def row(layer, what, seen, counted, whom):
        rows.append(Row(phase.name, "between", "forward", layer, what, seen, counted, whom))

    for port in ports:
        index = str(t.link(ns, port)["ifindex"])
        there = phase.captured[ns, port]
        # the sender of a SYN is known, that of its answer not yet
        opening = [p for p in there if p.syn]
        end = t.a if port == t.ports[0] else t.b
        address = socket_address(t.address(end, phase.v6))
        for name, side in (("dev_recv", "rx"), ("dev_xmit", "tx"), ("dev_done", "tx"),
                           ("dev_queue", "tx")):
            # which came in here: those of the end behind it
            syn = [p for p in opening if (p.src == address) == (side == "rx")]
            seen = Seen([e for events in (v for (n, _), v in phase.events.items() if n == name)
                         for e in events if e["fields"]["ifindex"] == index
                         and e["fields"]["via"] != "own" and not phase.opens(e)])
            if name == "dev_xmit":
                done = sum(phase.opens(e) and e["fields"]["ifindex"] == index or 0
                           for (n, _), events in phase.events.items() if n == name for e in events)
            if name == "dev_done":
                seen.n -= done  # which does not tell what it was
            row(f"{name} at port {ports.index(port) + 1}", "packets", seen.n,
                counters[f"dev:{port}:{side}_packets"] - len(syn), "interface")
            if name != "dev_done":
                row(f"{name} at port {ports.index(port) + 1}", "bytes",
                    seen.size + (ETHERNET * seen.n if side == "rx" else 0),
                    counters[f"dev:{port}:{side}_bytes"] - sum(p.size for p in syn), "interface")
    if t.place == "routed":
        forwarded = counters["Ip6OutForwDatagrams"] if phase.v6 else counters["IpForwDatagrams"]
        opening = sum(p.syn != 0 for p in phase.captured[ns, ports[0]] if p.syn)
        seen = Seen([e for (n, _), v in phase.events.items() if n == "ip_forward" for e in v
                     if not phase.opens(e)])
        row("IP forwards", "packets", seen.n, forwarded - opening, "IpForwDatagrams")
    return rows


def unix_rows(phase):
    rows = []

    def row(direction, layer, what, seen, counted):
        rows.append(Row(phase.name, "both", direction, layer, what, seen, counted, "program"))

    everything = {}
    for (name, _), events in phase.events.items():
        everything.setdefault(name, []).extend(events)
    # a listener has something in its queue, too: those who call
    talk = {e["socket"] for n in ("sock_sent", "sock_received") for e in everything.get(n, ())}
    sent, ready, received = (Seen([e for e in everything.get(n, ()) if e["socket"] in talk])
                             for n in ("sock_sent", "sock_ready", "sock_received"))
    for direction, names, what in (("send", SENDS, "sent"), ("receive", RECEIVES, "received")):
        calls, size = phase.moved(None, names)
        row(direction, "system call", "calls", calls, phase.counted(None, what + "_calls"))
        row(direction, "system call", "bytes", size, phase.counted(None, what + "_bytes"))
    row("send", "socket", "messages", sent.n, phase.counted(None, "sent_calls"))
    row("send", "socket", "bytes", sent.payload, phase.counted(None, "sent_bytes"))
    row("receive", "socket queue", "messages", ready.n, phase.counted(None, "sent_calls"))
    row("receive", "copy", "messages", received.n, phase.counted(None, "received_calls"))
    row("receive", "copy", "bytes", received.payload, phase.counted(None, "received_bytes"))
    copied = Seen(everything.get("sock_copy", ()))
    row("receive", "copy", "bytes copied", copied.payload, phase.counted(None, "received_bytes"))
    return rows
