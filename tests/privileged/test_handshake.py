# SPDX-License-Identifier: MIT
"""
Data that complete a handshake arrive for a request, which has no socket yet: they are followed like
all others, whatever makes them come first. Only what is in a SYN is not, and that is said.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

DROP = sys.argv[1]
PROGRAM = os.path.join(os.path.dirname(__file__), "..", "programs", "handshake.py")
CASES = ("lost", "lost over IPv6", "TCP_DEFER_ACCEPT", "SO_REUSEPORT", "data and FIN", "queue full", "SYN cookie",
         "Fast Open", "destination options of IPv6")
PORT, FIRST, SIZE = 5601, 900, 3000
FULL, FAST, OPTIONS = 5606, 5608, 5609


def recorded(net, filters):
    run("tc", "-n", net.b, "qdisc", "del", "dev", net.b, "clsact", check=False)
    run("tc", "-n", net.b, "qdisc", "add", "dev", net.b, "clsact")
    if run("tc", "-n", net.b, "filter", "add", "dev", net.b, "ingress", "bpf", "da", "obj", DROP, "sec", "tc/third",
           check=False).returncode:
        skip("tc cannot load a BPF program")
    run("ip", "-n", net.a, "tcp_metrics", "flush")  # the client's cookies of Fast Open
    go_on = os.path.join(TOP, "go on")
    if os.path.exists(go_on):
        os.unlink(go_on)
    ends = [" ".join(net.inside(ns, PYTHON, PROGRAM, role, net.B, net.B6, f"'{go_on}'"))
            for ns, role in ((net.b, "server"), (net.a, "client"))]
    return Recording("sh", "-c", f"{ends[0]} & server=$!; {ends[1]}; wait $server", options=("-q", *filters))


def begin_of(events, rx):
    """The number of a connection's first byte."""
    return next(e["fields"]["rcv_nxt"] for e in events if e["event"] == "sock_state"
                and e["flow"].split("/")[0] == rx["id"].split("/")[0] and e["fields"]["now"] == "established")


def syn_is_recorded(events, begin, what):
    check(any(e["event"] == "dev_recv" and e["fields"].get("seq") == str(int(begin) - 1) and
              e["fields"]["via"] == "own" for e in events), f"{what}: its SYN is recorded at the device, as the listener's")


def one(events, rx, sent, received, what):
    """A connection: its bytes here, and when they were sent and read by the programs' own clocks."""
    begin, first = begin_of(events, rx), {}
    for e in events:  # before it is known whose they are they have no flow
        if (e["flow"] == rx["id"] and e["offset"] == "0" and e["length"] not in ("", "0")) or \
                (e["flow"] == "" and e["fields"].get("seq") == begin and e["fields"].get("len", "0") != "0"):
            first.setdefault(e["event"], int(e["time_ns"]))
    syn_is_recorded(events, begin, what)
    check(rx["bytes"] == rx["complete_bytes"] == SIZE and rx["opening_bytes"] == 0,
          f"{what}: all {SIZE} bytes are followed")
    if rx["ambiguous_bytes"]:
        check(rx["ambiguous_bytes"] == SIZE and rx["withheld"] == "copies", f"{what}: all came twice")
    else:
        check(sent < first["dev_recv"] <= first["ip_in"] <= first["tcp_ready"] < received,
              f"{what}: the first arrived after they were sent and before they were read")
        check("tcp_recv" not in first, f"{what}: they have no event of TCP")
        check(rx["closure_error_cycles"] == 0, f"{what}: all closes to 0")
    for name in ("device", "ip"):
        layer = next(l for l in rx["layers"] if l["name"] == name)
        check(layer["bytes"] == SIZE, f"{what}: {name} has each byte once")
    check(rx["modulation"]["bytes"] == SIZE, f"{what}: from call to call all are followed")


def fast_open(rec, rx):
    check(rx["bytes"] == SIZE and rx["complete_bytes"] == SIZE - FIRST and rx["opening_bytes"] == FIRST,
          f"Fast Open: all but the {FIRST} bytes in the SYN are followed")
    check("came with the handshake" in rec.text("--flow", rx["id"]), "the text says so")


def compare(rec, cases):
    said = {j["role"]: j["said"] for j in map(json.loads, rec.p.stdout.splitlines())}
    report, events = rec.report(), list(rec.events())
    nth = {}  # in which order they opened: each CPU numbers the sockets it makes by itself
    for e in events:
        if e["event"] == "sock_state" and e["fields"]["now"] == "established":
            nth.setdefault(e["flow"].split("/")[0], len(nth))
    for port, case in enumerate(cases, PORT):
        received = sorted(said["server"][str(port)], key=lambda c: c[1])
        sent = said["client"][str(port)]
        flows = sorted((f for f in report["flows"] if f["direction"] == "rx" and f["proto"] == "tcp"
                        and f["local"].endswith(f":{port}")), key=lambda f: nth[f["id"].split("/")[0]])
        check(len(flows) == len(sent) == len(received), f"{case}: {len(sent)} connections")
        if port == FAST:
            fast_open(rec, flows[1])
            continue
        if port == OPTIONS:  # an ordinary handshake otherwise
            syn_is_recorded(events, begin_of(events, flows[0]), case)
            continue
        for rx, (_, at), (_, until) in zip(flows, sent, received):
            again = port == FULL and rx is flows[1]  # if the client sends both segments again
            check(again or not rx["ambiguous_bytes"],
                  f"{case}: {rx['ambiguous_bytes']} bytes came again before they were in order")
            one(events, rx, at, until, case)


need_kernel_side()
need_program("tc")
check(os.path.exists(DROP), f"{DROP} is built")
with tempfile.TemporaryDirectory() as TOP, Network(gso_max_segs=1) as net:
    for what, cases, filters in (("without filters", CASES, ()), ("with filters that all pass", CASES[:OPTIONS - PORT], (
            "--port", ",".join(str(PORT + n) for n in range(8)), "--address", f"{net.B},{net.B6}"))):  # 8 at most
        print(f"{what}:")
        with undisturbed(lambda: recorded(net, filters)) as rec:
            compare(rec, cases)
