# SPDX-License-Identifier: MIT
"""
Protocol state at level light and full against what TCP says of the same connection at the same
moment (TCP_INFO, ss), at moments when nothing moves.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PROGRAM = os.path.join(os.path.dirname(__file__), "..", "programs", "tcp_state.py")
SAME = {  # a field of the trace: the one of TCP_INFO, by event
    "tcp_state": {"snd_wnd": "snd_wnd", "srtt_us": "rtt", "rto_us": "rto", "packets_out": "unacked",
                  "retrans_out": "retrans", "snd_ssthresh": "snd_ssthresh",
                  "snd_cwnd": "snd_cwnd", "rcv_wnd": "rcv_wnd"},
    "tcp_more": {"pacing_rate": "pacing_rate", "delivered": "delivered",
                 "notsent": "notsent_bytes"},
    "tcp_limits": {"busy_us": "busy_time", "rwnd_limited_us": "rwnd_limited",
                   "sndbuf_limited_us": "sndbuf_limited", "sacked_out": "sacked",
                   "lost_out": "lost", "backoff": "backoff", "retransmits": "retransmits",
                   "probes_out": "probes"},
}
# sums of times, which grow by whole ticks of the kernel's clock, also before the send
GROWING = ("busy_us", "rwnd_limited_us", "sndbuf_limited_us")
# what an event has itself: its field, the same of its state
TWICE = {"tcp_send": [("seq", "tcp_more", "write_seq"), ("snd_wnd", "tcp_state", "snd_wnd"),
                      ("cwnd", "tcp_state", "snd_cwnd"),
                      ("wmem_queued", "tcp_more", "wmem_queued")],
         "tcp_recv": [("copied_seq", "tcp_more", "copied_seq"), ("snd_wnd", "tcp_state", "snd_wnd"),
                      ("cwnd", "tcp_state", "snd_cwnd"), ("srtt_us", "tcp_state", "srtt_us")],
         "sock_state": [("write_seq", "tcp_more", "write_seq"),
                        ("copied_seq", "tcp_more", "copied_seq")]}
WITH_STATE = ("tcp_send", "tcp_recv", "tcp_retransmit", "sock_state")


def record(level):
    return Recording(PYTHON, PROGRAM, "checkpoints", options=["--level", level])


def states(rec):
    """Each TCP event with the events of state that follow it on its CPU."""
    last, found = {}, []
    for e in rec.events():
        cpu = e["cpu"]
        if e["event"] in WITH_STATE:
            last[cpu] = (e, {})
            found.append(last[cpu])
        elif e["event"] in SAME or e["event"] == "tcp_algorithm":
            at, with_it = last[cpu]
            check_quietly(at["flow"].split("/")[0] == e["flow"].split("/")[0],
                          f"{e['event']} is of the socket of the event before it")
            with_it[e["event"]] = e["fields"]
    return found


def check_quietly(ok, what):
    if not ok:
        check(ok, what)


def between(value, a, b):
    return min(a, b) <= value <= max(a, b)


def compare(point, state, event):
    """A field lies between TCP_INFO before the send and after it; they mostly agree."""
    exact = 0
    for name, of_info in SAME[event].items():
        a = point["before"].get(of_info)
        if a is None:
            continue  # this kernel does not tell
        value = int(state[event][name])
        # what the send itself changes is not in the event, which comes before
        ok = value == a or (name in GROWING and between(value, a, point["after"][of_info]))
        check_quietly(ok, f"send of {point['size']}: {name} is {value}, TCP_INFO says {a}, then "
                          f"{point['after'][of_info]}")
        exact += value == a
    return exact


need_kernel_side()
with undisturbed(lambda: record("full")) as rec:
    points = [json.loads(line) for line in rec.p.stdout.splitlines()]
    found = states(rec)
    for e, with_it in found:
        check_quietly({"tcp_state", "tcp_more", "tcp_limits"} <= set(with_it),
                      f"{e['event']} at {e['time_ns']} has its state: {sorted(with_it)}")
        for field, event, same in TWICE.get(e["event"], ()):
            check_quietly(e["fields"][field] == with_it[event][same],
                          f"{e['event']} at {e['time_ns']}: {field} and {same} agree")
    check(len(found) > 100, f"{len(found)} TCP events have their state")
    if not hooked(rec, "tcp_send"):
        skip("no hook sees the program's sends here, at which TCP_INFO is compared")
    exact = {name: 0 for name in SAME}
    for point in points:
        sends = [s for e, s in found if e["event"] == "tcp_send" and
                 int(e["fields"]["left"]) == point["size"]]
        check_quietly(len(sends) == 1, f"the send of {point['size']} is found")
        for event in SAME:
            exact[event] += compare(point, sends[0], event)
        if point["ss"]:
            state = sends[0]["tcp_state"]
            check_quietly(float(point["ss"]["rto"]) * 1000 == int(state["rto_us"]) and
                          int(point["ss"]["cwnd"]) == int(state["snd_cwnd"]) and
                          point["algorithm"] in point["ss"]["words"],
                          f"ss agrees: {point['ss']['words']}")
    check(len(points) == 11, f"{len(points)} moments agree with TCP_INFO and ss: {exact} fields")
    last = points[-1]["before"]
    check(last["notsent_bytes"] > 0 and last["rwnd_limited"] > 0,
          f"some was waiting for the peer's window: {last['rwnd_limited']} us")

    sender = next(e["flow"] for e, _ in found if e["event"] == "tcp_send")
    names = [e["fields"]["name"] for e in rec.events()
             if e["event"] == "tcp_algorithm" and e["flow"] == sender]
    said = list(dict.fromkeys(p["algorithm"] for p in points))
    check(names == said, f"congestion control in use, each once: {names}")

    headers = {}
    for e in rec.events():
        if e["event"] == "ip_header":
            headers[e["fields"]["sent"]] = headers.get(e["fields"]["sent"], 0) + 1
            check_quietly(e["fields"]["version"] == "4" and e["fields"]["protocol"] == "tcp" and
                          e["fields"]["ttl"] == "64", f"an IP header: {e['fields']}")
    segments = {n: sum(e["event"] == n for e in rec.events()) for n in ("ip_out", "ip_in")}
    check(headers == {"1": segments["ip_out"], "0": segments["ip_in"]},
          f"every segment's IP header is there: {headers}")

TALK = """
import socket
l = socket.create_server(("::1", 0), family=socket.AF_INET6)
c = socket.create_connection(l.getsockname()[:2])
c.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, 8)
s, _ = l.accept()
c.sendall(b"x" * 1000)
s.recv(1000)
"""
with undisturbed(lambda: Recording(PYTHON, "-c", TALK, options=["--level", "full"])) as rec:
    headers = [e["fields"] for e in rec.events() if e["event"] == "ip_header"]
    ways = {way: [(h["flow_label"], h["tos"]) for h in headers if h["sent"] == way] for way in "01"}
    check(headers and all((h["version"], h["protocol"], h["ttl"]) == ("6", "tcp", "64")
                          for h in headers), f"{len(headers)} IPv6 headers")
    check({tos for _, tos in ways["1"]} == {"0", "8"}, "with the traffic class that was asked for")
    check(set(ways["1"]) >= set(ways["0"]) and any(label != "0" for label, _ in ways["1"]),
          f"and flow labels: {sorted(set(ways['1']))}")

with record("light") as rec:
    seen = {e["event"] for e in rec.events()}
    check("tcp_state" in seen and "tcp_algorithm" in seen and
          not seen & {"tcp_more", "tcp_limits", "ip_header"}, "level light has the light part")
with record("none") as rec:
    seen = {e["event"] for e in rec.events()}
    check("tcp_send" in seen and not seen & {*SAME, "tcp_algorithm", "ip_header"},
          "level none has none")
with tempfile.TemporaryDirectory() as d:
    p = run(MAGNET, "record", "--level", "much", "-o", d + "/t", "--", "true", check=False)
    check(p.returncode == 2 and "--level: bad value 'much'" in p.stderr and not os.path.exists(d + "/t"),
          "another level is refused: " + p.stderr.strip())
