# SPDX-License-Identifier: MIT
"""
The losses of 400 short connections are named in the report's head, counted as the kernel counts them, and
shown for the group of connections, with the wait that they cost. A connection without losses has no
such lines.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "programs"))
import lossy
from fixture import *
from tcp_info import netstat
from together import agree

DROP = sys.argv[1]
PROGRAM = lossy.__file__
PORT = 5109


def counters(net):
    """Returns the counters of both namespaces, and the drops of the program before the server."""
    found = {}
    for ns in (net.a, net.b):
        text = run(*net.inside(ns, "cat", "/proc/net/netstat", "/proc/net/snmp")).stdout
        lines = [line for line in text.splitlines() if not line.startswith("UdpLite")]
        for name, n in netstat("\n".join(lines)).items():
            found[name] = found.get(name, 0) + n
    said = run("tc", "-n", net.b, "-s", "qdisc", "show", "dev", net.b, "clsact").stdout
    found["dropped"] = int(re.search(r"dropped (\d+)", said)[1])
    return found


def recorded(net):
    """Both ends."""
    global counted, datagrams
    script = (f"nsenter --net=/run/netns/{net.b} {PYTHON} {PROGRAM} server {net.B} {PORT} | "
              f"(read up; nsenter --net=/run/netns/{net.a} {PYTHON} {PROGRAM} client {net.B} {PORT})")
    before = counters(net)
    rec = Recording("sh", "-c", script)
    counted = {k: n - before[k] for k, n in counters(net).items()}
    return rec


def copies(rec):
    """By event: (first time, last time, bytes) of each range that was handed to IP more than once."""
    sent = {}
    for e in rec.events():
        if e["event"] == "ip_out" and e["flow"].endswith("/tx") and int(e["length"] or 0) > 0:
            sent.setdefault((e["flow"], e["offset"], int(e["length"])), []).append(int(e["time_ns"]))
    return [(t[0], t[-1], length) for (_, _, length), t in sent.items() if len(t) > 1]


def in_brief(rec, whole):
    """Without --full most flows are in brief, and all else is the same."""
    brief = json.loads(run(MAGNET, "report", "--json", rec.dir).stdout)
    differ = {k: (brief.get(k), whole.get(k)) for k in brief.keys() | whole.keys()
              if k != "flows" and brief.get(k) != whole.get(k)}
    check(not differ, f"in brief: the same figures of all flows together: {str(differ)[:3000]}")
    short = [f for f in brief["flows"] if "tcp" not in f]
    check(len(short) > 100 and not any("tcp" not in f for f in whole["flows"]),
          f"{len(short)} of {len(whole['flows'])} flows are in brief, with --full none")
    rounded = {"layers", "residence", "modulation", "coverage", "residence_total_ns"}
    for mine, theirs in zip(brief["flows"], whole["flows"], strict=True):
        same = theirs.keys() if "tcp" in mine else mine.keys() - rounded
        differ = [key for key in same if mine.get(key) != theirs[key]]
        if differ:
            check(False, f"{theirs['id']} with --full has the same {differ}")
    check(sum(f["bytes"] for f in brief["flows"]) == sum(f["bytes"] for f in whole["flows"]) > 0,
          "each has the same bytes in both")


def lossy_connections(net):
    with undisturbed(lambda: recorded(net)) as rec:
        report, text, took = rec.report(), rec.text(), json.loads(rec.p.stdout)
        losses, head = report["losses"], "\n".join(text.splitlines()[:10])
        print(head)

        hit = counted["dropped"]
        check(hit >= 20, f"{hit} requests were dropped on the way")
        at = {}
        for d in losses["drops"]:  # of several reasons and places
            same = at.setdefault((d["layer"], d["direction"]), dict(d, segments=0, discarded=0))
            for what in ("segments", "discarded"):
                same[what] += d[what]
        reasons = any(d["reason"] != "not told" for d in losses["drops"])  # since Linux 5.17
        way, full, why = (("qdisc", "rx"), ("socket", "rx"), "TC_INGRESS") if reasons else (
            ("device", "rx"), ("udp", "rx"), "not told")
        check(at[way]["segments"] == hit and at[way]["reason"] == why,
              f"so many are in the report, with the reason {why} and the place")
        check(losses["retransmits"] == counted["RetransSegs"] >= hit,
              f"{losses['retransmits']} segments sent again, as the kernel counts")
        check(losses["timeouts"] == counted["TCPTimeouts"], f"{losses['timeouts']} timeouts likewise")
        check(losses["syn_retries"] + losses["syn_ack_retries"] == counted["TCPSynRetrans"],
              f"{losses['syn_retries']} SYNs and {losses['syn_ack_retries']} SYN-ACKs, too")
        room = counted["RcvbufErrors"]
        check(room > 0 and at[full]["segments"] == room, f"{room} datagrams found no room")
        check(losses["dropped"] == hit + room + at["tcp", "tx"]["segments"] - at["tcp", "tx"]["discarded"],
              "all packets dropped are those, and the SYNs that were refused")
        # without reasons they cannot be told from what TCP discards
        check(at["tcp", "tx"]["segments"] - at["tcp", "tx"]["discarded"] == (lossy.REFUSED if reasons else 0),
              f"the latter {lossy.REFUSED}: {losses['drops']}")
        check(losses["resets_received"] == lossy.REFUSED + lossy.RESETS, "each reset is received")
        check(losses["resets_sent"] == lossy.RESETS, "and sent, but by no socket those that refuse")

        tx = {f["id"]: f for f in report["flows"] if f["direction"] == "tx" and f["proto"] == "tcp"}
        reset = lossy.REFUSED + lossy.RESETS
        check(losses["connections"] == lossy.CONNECTIONS + reset, f"{losses['connections']} connections")
        again = {name for name, f in tx.items() if f["retransmits"]}
        ended = ("timeouts", "resets_sent", "resets_received")
        hit_flows = {name for name, f in tx.items()
                     if f["retransmits"] or any(f["tcp"][what] for what in ended)}
        # a connection counts once: by its client's flow, also where its server sent again
        client = {(f["remote"], f["local"]): name for name, f in tx.items() if f["local"].startswith(net.A)}
        hit_flows = {client.get((tx[name]["local"], tx[name]["remote"]), name) for name in hit_flows}
        check(losses["connections_hit"] == len(hit_flows) >= reset + 1,
              f"{losses['connections_hit']} were hit, by their flows {len(hit_flows)}")
        check((losses["sockets"], losses["sockets_hit"]) == (2, 1), "one of two sockets of UDP")

        # the wait: by the events, and by the program's own clock
        twice = copies(rec)
        waited, size = sum((b - a) * n for a, b, n in twice), sum(n for _, _, n in twice)
        near(losses["resent_wait_ns"]["mean"], waited / size, 0.001, "their mean wait, ns, by events")
        slow = sum(sorted(took)[-len(twice):]) / len(twice)
        check(losses["resent_wait_ns"]["mean"] <= slow, f"the requests themselves took longer: {slow} ns")

        check("Losses on " in head and f"{losses['connections_hit']} of " in head,
              "the text's head says how many connections were hit")
        named = ("TC_INGRESS", "SOCKET_RCVBUFF") if reasons else ("at device", "at udp")
        for part in (f" segment{'s' * (losses['retransmits'] > 1)} retransmitted", "packets dropped",
                     *named, "resets received", "their bytes waited"):
            check(part in head, f"and names: {part}")

        group = next(g for g in report["together"] if g["direction"] == "tx" and g["side"] == "client")
        theirs = [f for f in tx.values() if (f["remote"] or "").endswith(f":{PORT}")]
        for what in ("retransmits", "retransmitted_bytes", "ambiguous_bytes"):
            check(group[what] == sum(f[what] for f in theirs), f"the group has its flows' {what}")
        check(group["tcp"]["timeouts"] == sum(f["tcp"]["timeouts"] for f in theirs), "and timeouts")
        group = next(g for g in report["together"] if g["direction"] == "rx" and g["side"] == "server")
        check(sum(d["segments"] for d in group["drops"] if (d["layer"], d["reason"]) == (way[0], why)) == hit,
              "the server's has what was dropped before it")
        below = text[text.index("Latency by stage"):]
        for part in ("segments retransmitted: ", "retransmitted bytes waited from the first copy",
                     "not in the stages, as they passed more than once", "  dropped: "):
            check(part in below.split("Traffic by layer")[0], f"the text says of groups: {part}")
        agree(report)
        in_brief(rec, report)
        one = rec.text("--flow", sorted(again)[0])
        check("segments retransmitted" in one and "Losses on " not in one, "--flow: its own")


FULL = f"""
import json, socket, sys, threading, time
socket.setdefaulttimeout(60)
sys.path.insert(0, {os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib")!r})
from tcp_info import netstat
before = netstat()
def more(name):
    return netstat()[name] - before[name]
l = socket.socket()
l.bind(("127.0.0.1", 0))
l.listen(1)
def one():
    with socket.create_connection(l.getsockname()) as s:
        s.sendall(b"q")  # sent again, it opens what a SYN cookie alone did not
        s.recv(1)
threads = [threading.Thread(target=one) for _ in range(5)]
for t in threads:
    t.start()
end = time.monotonic() + 60
while more("ListenDrops") < 3 and time.monotonic() < end:  # on a busy machine a thread may be late
    time.sleep(0.05)
for _ in range(5):
    c, _ = l.accept()
    c.recv(1)
    c.close()
for t in threads:
    t.join()
l.close()
print(json.dumps({{k: more(k) for k in ("ListenDrops", "ListenOverflows", "TCPSynRetrans")}}))
"""


def full_listener():
    """The listening socket has room for two: the others' SYNs are dropped, and sent again."""
    with undisturbed(lambda: Recording(PYTHON, "-c", FULL)) as rec:
        said, losses, text = json.loads(rec.p.stdout), rec.report()["losses"], rec.text()
        dropped = said["ListenDrops"]
        check(losses["listen_drops"] == dropped >= 3,
              f"{losses['listen_drops']} dropped, {dropped} by the kernel's count, {said['ListenOverflows']} overflows")
        # what is dropped may be the last ACK as well, after which neither is sent again
        again = said["TCPSynRetrans"]
        check(losses["syn_retries"] + losses["syn_ack_retries"] == again >= 1,
              f"{losses['syn_retries']} SYNs and {losses['syn_ack_retries']} SYN-ACKs again, {again} by the kernel's count")
        check(f"{dropped} packets dropped by listening sockets" in "\n".join(text.splitlines()[:10]),
              "the head says so")


IGNORED = f"""
import json, socket, sys, time
socket.setdefaulttimeout(60)
sys.path.insert(0, {os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib")!r})
from tcp_info import netstat
before = netstat()
def more(name):
    return netstat()[name] - before[name]
l = socket.socket()
l.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 1)
l.bind(("127.0.0.1", 0))
l.listen(1)
peers = [socket.create_connection(l.getsockname()) for _ in range(4)]
for s in peers:
    s.sendall(b"q" * 100)
end = time.monotonic() + 60
while more("TCPSynRetrans") < 2 and time.monotonic() < end:
    time.sleep(0.05)
for _ in peers:
    c, _ = l.accept()
    c.recv(100)
    c.sendall(b"r")
    c.close()
for s in peers:
    s.recv(1)
l.close()
print(json.dumps({{k: more(k) for k in ("ListenDrops", "TCPSynRetrans")}}))
"""


def requests_thrown_away():
    """
    With TCP_DEFER_ACCEPT the data make the connections, of which the accept queue has room for two: the
    others' are thrown away, as are the segments without data before, which is no loss. The answer to the
    SYN is sent again meanwhile.
    """
    with undisturbed(lambda: Recording(PYTHON, "-c", IGNORED)) as rec:
        said, report, text = json.loads(rec.p.stdout), rec.report(), rec.text()
        losses, dropped, again = report["losses"], said["ListenDrops"], said["TCPSynRetrans"]
        check(losses["listen_drops"] == dropped >= 2, f"{dropped} found no room, each counted once")
        check(losses["syn_retries"] + losses["syn_ack_retries"] == again >= 2,
              f"{losses['syn_retries']} SYNs and {losses['syn_ack_retries']} SYN-ACKs retransmitted: {again}")
        server = [f for f in report["flows"] if f["direction"] == "tx" and f["proto"] == "tcp"]
        check(sum(f["syn_ack_retries"] for f in server) == losses["syn_ack_retries"],
              "the SYN-ACKs are those of the connections that came of them")
        group = next(g for g in report["together"] if g["direction"] == "tx" and g["side"] == "server")
        check(group["syn_ack_retries"] == losses["syn_ack_retries"], "and of the group")
        head = "\n".join(text.splitlines()[:10])
        check(f"{losses['syn_ack_retries']} SYN-ACKs retransmitted" in head, "the head says so")
        check(f"  SYN-ACKs retransmitted: {losses['syn_ack_retries']}\n" in text, "and the group's lines")


STILL_OPEN = f"""
import socket, sys, time
sys.path.insert(0, {os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib")!r})
from tcp_info import netstat
sys.stdin.readline()
before = netstat()["ListenDrops"]
l = socket.create_server(("127.0.0.1", 0), backlog=1)
peers = [socket.socket() for _ in range(6)]
for s in peers:
    s.setblocking(False)
    s.connect_ex(l.getsockname())
while netstat()["ListenDrops"] - before < 4:
    time.sleep(0.01)
for s in peers:
    s.close()
print(netstat()["ListenDrops"] - before, flush=True)
sys.stdin.readline()
"""


def still_open():
    """A socket listens on as the recording ends, and nobody has accepted."""
    with tempfile.TemporaryDirectory() as top, subprocess.Popen(
            [PYTHON, "-c", STILL_OPEN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        record = subprocess.Popen([MAGNET, "record", "-q", "-o", top + "/t", "--pid", str(p.pid)])
        for _ in range(600):
            if os.path.exists(top + "/t/kernel/metadata"):
                break
            time.sleep(0.05)
        time.sleep(1.5 * SLOWER)
        p.stdin.write("\n")
        p.stdin.flush()
        dropped = int(p.stdout.readline())
        record.send_signal(signal.SIGINT)
        record.wait(60)
        p.stdin.write("\n")
        p.stdin.close()
        losses = json.loads(run(MAGNET, "report", "--json", top + "/t").stdout)["losses"]
        check(losses["listen_drops"] == dropped, f"still open: {losses['listen_drops']} of {dropped} dropped are told")


def lossless_connections(net):
    run("tc", "-n", net.b, "filter", "del", "dev", net.b, "ingress")
    talk = f"""
import socket
l = socket.create_server(("127.0.0.1", {PORT}))
for _ in range(20):
    s = socket.create_connection(("127.0.0.1", {PORT})); c, _ = l.accept()
    s.sendall(b"x" * 1000); c.recv(1000); c.close(); s.close()
"""
    for _ in range(5):
        with undisturbed(lambda: Recording(PYTHON, "-c", talk)) as rec:
            report, text = rec.report(), rec.text()
            if not report["losses"]["retransmits"]: # a busy machine may send a segment again
                break
    check(report["losses"]["dropped"] == report["losses"]["retransmits"] == 0, "nothing was lost")
    check("on the network" not in text and "Resets" not in text, "and the text is silent")


STEADY = """
import socket, sys, time
if sys.argv[1] == "server":
    c, _ = socket.create_server((sys.argv[2], int(sys.argv[3]))).accept()
    print("up", flush=True)
    while c.recv(65536): pass
else:
    for _ in range(100):
        try:
            c = socket.create_connection((sys.argv[2], int(sys.argv[3]))); break
        except ConnectionRefusedError: time.sleep(.02)
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        c.sendall(b"x" * 10000); time.sleep(.01)
"""


def path_is_cut():
    """
    All segments of a steady sender are dropped for a while: what waits in the send buffer waits for what is to be
    sent again, whatever closes the windows meanwhile.
    """
    if not shutil.which("nft"):
        print("no nft: a cut path is not tested")
        return
    with Network() as net:
        at = [f"nsenter --net=/run/netns/{ns}" for ns in (net.a, net.b)]
        script = (f"{at[1]} {PYTHON} -c '{STEADY}' server {net.B} {PORT} & {at[0]} {PYTHON} -c '{STEADY}' client {net.B} {PORT} & "
                  f"sleep 1; {at[1]} nft 'add table ip m; add chain ip m i {{ type filter hook input priority 0; }}; "
                  f"add rule ip m i meta l4proto tcp drop'; sleep .5; {at[1]} nft flush ruleset; wait")
        with Recording("sh", "-c", script) as rec:
            sent = max((f for f in rec.report()["flows"] if f["direction"] == "tx"), key=lambda f: f["bytes"])
            check(0.8 < sent["send_buffer_lost_share"] <= 1,
                  f"{sent['send_buffer_lost_share']:.0%} of the wait in the send buffer is for what is sent again")
            first = run(MAGNET, "report", rec.dir).stdout
            check("send buffer (earlier bytes had to be sent again" in first and "NETFILTER_DROP" in first,
                  "the summary says so:\n" + first[:1200])


need_kernel_side()
need_program("tc")
counted = {}
with Network(gso_max_segs=1) as net:
    run("tc", "-n", net.b, "qdisc", "add", "dev", net.b, "clsact")
    p = run("tc", "-n", net.b, "filter", "add", "dev", net.b, "ingress", "bpf", "da", "obj", DROP,
            "sec", "tc/every13", check=False)
    if p.returncode != 0:
        skip("tc cannot load a BPF program: " + p.stderr.strip())
    lossy_connections(net)
    lossless_connections(net)
path_is_cut()
full_listener()
requests_thrown_away()
still_open()
