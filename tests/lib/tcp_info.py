# SPDX-License-Identifier: MIT
"""TCP's own figures of a connection (TCP_INFO) and of a namespace (netstat), for comparison."""
import socket
import struct

FIELDS = {  # name: (offset, format) in struct tcp_info of <linux/tcp.h>
    "ca_state": (1, "B"), "retransmits": (2, "B"), "probes": (3, "B"), "backoff": (4, "B"),
    "rto": (8, "I"), "unacked": (24, "I"), "sacked": (28, "I"), "lost": (32, "I"),
    "retrans": (36, "I"), "rtt": (68, "I"), "snd_ssthresh": (76, "I"), "snd_cwnd": (80, "I"),
    "total_retrans": (100, "I"), "pacing_rate": (104, "Q"), "bytes_acked": (120, "Q"),
    "bytes_received": (128, "Q"), "segs_out": (136, "I"), "segs_in": (140, "I"),
    "notsent_bytes": (144, "I"), "data_segs_in": (152, "I"), "data_segs_out": (156, "I"),
    "busy_time": (168, "Q"), "rwnd_limited": (176, "Q"), "sndbuf_limited": (184, "Q"),
    "delivered": (192, "I"), "bytes_sent": (200, "Q"), "bytes_retrans": (208, "Q"),
    "snd_wnd": (228, "I"), "rcv_wnd": (232, "I"), "total_rto": (240, "H"),
}


def tcp_info(s):
    """Returns the fields that this kernel has."""
    raw = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    return {name: struct.unpack_from(fmt, raw, at)[0] for name, (at, fmt) in FIELDS.items()
            if at + struct.calcsize(fmt) <= len(raw)}


def netstat(text=None):
    """The counters of /proc/net/netstat, by name; those that a kernel does not have are missing."""
    if text is None:
        with open("/proc/net/netstat") as f:
            text = f.read()
    lines, counters = text.splitlines(), {}
    for names, values in zip(lines[::2], lines[1::2]):
        counters.update(zip(names.split()[1:], map(int, values.split()[1:])))
    return counters
