# SPDX-License-Identifier: MIT
"""Effect of the stack on known traffic: FTP, MP3, relays, a streamed film, a competing flow."""
import random

from common import *
from relays import Chain, table

LISTEN = f"""
import socket, sys
l = socket.create_server(("", {PORT}))
print("ready", flush=True)
c, _ = l.accept()
"""
READ_ALL = LISTEN + "while c.recv(65536): pass\n"
WRITE = f"""
import socket, sys, time
for _ in range(100):
    try:
        s = socket.create_connection((sys.argv[1], {PORT}))
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
at = time.monotonic()
for size in map(int, sys.argv[3].split(",")):
    s.sendall(bytes(size))
    at += float(sys.argv[2])
    time.sleep(max(0, at - time.monotonic()))
s.shutdown(socket.SHUT_WR)
s.recv(1)
"""


def writes(net, gap, sizes, receiver=READ_ALL, options=()):
    return talk(net, WRITE, receiver, str(gap), ",".join(map(str, sizes)), options=options)


def size_and_spacing(l):
    return f"{l['mean_size']:.0f} B / {ms(l['mean_spacing_ns'])}"


def ftp():
    with Network(rate="10mbit", burst=3200, gso_max_segs=1) as net, \
            writes(net, 0.02, [10240] * 150) as rec:
        tx = flow(rec.report(), "tx", PORT)
        app, net_ = layer(tx, "call"), layer(tx, "device")
        m = tx["modulation"]
    rows = [["application", "10 KB every 20 ms", size_and_spacing(app)],
            ["network", "about 1500 B, irregular", size_and_spacing(net_)],
            ["M, S", "not measured", f"{m['M']:.3f}, {m['S']:.2f}"]]
    return Section("An FTP transfer, as written and as sent (F01 Fig. 8; L01 Fig. 3; G02 Fig. 9)",
                   "10,240 bytes every 20 ms for 3 s through a bucket of 10 Mbit/s; mean size and "
                   "spacing at each layer.", ["", "papers", "here"], rows,
                   "The pattern is the papers': blocks of 10 KB become frames of one segment each, "
                   "eight to a block, spaced by the network.")


def table3():
    rates, n, gap = [10, 8, 6.5, 5, 4], 160, 0.062
    with Chain(rates) as chain, chain.record(n, 3284, gap) as rec:
        found, _ = table(rec, len(rates))
    paper = [("3284 B", "0.124 s"), ("1016 B", "0.045 s"), ("919 B", "0.037 s"), ("761 B", "0.079 s"),
             ("723 B", "0.122 s"), ("", "")]
    rows = [[r["name"], *p, f"{r['mean_size']:.0f} B", f"{r['mean_spacing_ns'] / 1e9:.4f} s",
             f"{r['J_ns'] / 1e6:.3f} ms" if "J_ns" in r else "", f"{r['M']:.4f}" if "M" in r else ""]
            for r, p in zip(found, paper)]
    return Section("Several TCP stacks in a row (F01 Table II; G02 Table III)",
                   f"A source writes {n} blocks of 3284 bytes on average, {gap} s apart on average (half "
                   "the papers' gap); four relays read and write on; a bucket on each hop, of "
                   f"{', '.join(map(str, rates))} Mbit/s. J and M compare the source's calls with the "
                   "frames of that stack, byte by byte. `tests/privileged/test_relays.py` checks it.",
                   ["", "papers: size", "papers: spacing", "size", "spacing", "J", "M"], rows,
                   "The first stack cuts the blocks as in the papers: 1016 B in 0.045 s there. Later rows "
                   "of theirs imply rates from 26 to 6 kB/s, so they cannot be one stream, and are not "
                   "reproduced: a relay passes on as many bytes as it gets. M says what the sizes no "
                   "longer show: each stack moves the bytes further from the application's own times.")


PLAYER = LISTEN + """
while len(c.recv(418, socket.MSG_WAITALL)) == 418: pass
"""


def mp3():
    rows = []
    for gap, paper in ((0.079, "418 B / 21 ms; IP 1380 B / 79 ms"), (0.0872, "")):
        with Network() as net:
            server = net.popen(net.a, PYTHON, "-c", WRITE, net.B, gap, ",".join(["1380"] * 40))
            try:
                with Recording(*net.inside(net.b, PYTHON, "-c", PLAYER)) as rec:
                    rx = flow(rec.report(), "rx", PORT)
            finally:
                stop(server)
            app, ip = layer(rx, "call"), layer(rx, "ip")
            expected = gap * 418 / 1380 * 1e3
            rows.append([f"1380 B every {gap * 1e3:g} ms", paper, size_and_spacing(app),
                         f"{expected:.2f} ms", size_and_spacing(ip),
                         f"{app['mean_size'] * 8e6 / app['mean_spacing_ns']:.1f} kbit/s"])
    return Section("An MP3 stream, as delivered and as read (G02 Fig. 10)",
                   "A server writes 1380 bytes at a time, a player reads blocks of 418 bytes, as many as "
                   "there are.",
                   ["server", "papers", "read by the player", "by arithmetic", "at IP", "rate"], rows,
                   "418 B every 21 ms are 159 kbit/s, not the 127.1 that the paper states; 127.1 take "
                   "26.3 ms. With one frame of 1380 B every 79 ms the player gets a block every "
                   "23.93 ms on average, which is what is seen; a second stream at 87.2 ms gives the "
                   "rate of an MP3 of 128 kbit/s.")


def send_buffer():
    rand = random.Random(3)
    sizes = [round(rand.choice((1500, 2500, 24000)) * rand.uniform(0.7, 1.3)) for _ in range(120)]
    with Network(rate="3mbit", burst=3200, gso_max_segs=1) as net, \
            writes(net, 0.033, sizes) as rec:
        unsent, unacked = [], []
        for e in rec.events():
            if e["event"] == "tcp_send":
                f = e["fields"]
                unsent.append((int(f["seq"]) - int(f["snd_nxt"])) % 2**32)
                unacked.append((int(f["seq"]) - int(f["snd_una"])) % 2**32)
    rows = [[name, paper, f"{max(v) / 1e3:.1f} KB", f"{statistics.mean(v) / 1e3:.1f} KB"]
            for name, paper, v in (("written, not acknowledged", "max about 30 KB, mean 6.5 KB",
                                    unacked), ("written, not sent", "", unsent))]
    return Section("The send buffer of a streamed film (G02 Fig. 11)",
                   "Frames of varying size, 30 a second, through a bucket of 3 Mbit/s; write_seq less "
                   "snd_una, and less snd_nxt, at each `tcp_send`.",
                   ["", "paper", "max", "mean at a write"], rows,
                   "The film and network are not the paper's; the quantity is, and is there at every write.")


def rate_against_iperf():
    with Network(rate="4130kbit", burst=3200, gso_max_segs=1) as net:
        client = net.popen(net.a, "sh", "-c", f"sleep 1.5; exec iperf3 -c {net.B} -p {PORT} -t 4",
                           stdout=subprocess.DEVNULL)
        try:
            with Recording(*net.inside(net.b, "iperf3", "-s", "-1", "-J", "-p", PORT)) as rec:
                said = json.loads(rec.p.stdout[rec.p.stdout.index("{"):rec.p.stdout.rindex("}") + 1])
                rx = flow(rec.report(), "rx", PORT)
                got = [(int(e["time_ns"]), int(e["length"]))
                       for e in rec.events("--flow", rx["id"])
                       if e["event"].startswith("magnet:") and e["length"] and int(e["length"])]
        finally:
            stop(client)
    theirs = said["end"]["sum_received"]["bits_per_second"] / 1e6
    ours = sum(n for _, n in got[1:]) * 8e3 / (got[-1][0] - got[0][0])
    window = [sum(n for _, n in got[i + 1:i + 101]) * 8e3 / (got[i + 100][0] - got[i][0])
              for i in range(0, len(got) - 100, 10)]
    return Section("Rate by the trace and by the program (G03 Fig. 6)",
                   "iperf3 receives for 4 s; its own figure, and the rate from the recorded receives.",
                   ["", "paper", "here"],
                   [["the program's own figure", "3.947 Mbit/s (FTP)", f"{theirs:.3f} Mbit/s"],
                    ["by the trace, all receives", "3.946 Mbit/s", f"{ours:.3f} Mbit/s"],
                    ["by the trace, windows of 100 receives", "1000 receives",
                     f"{min(window):.3f} to {max(window):.3f} Mbit/s" if window else "too few"]],
                   "Both count the same bytes over nearly the same time.")


COMPETING = f"""
import socket, sys, threading, time
def send(begin, end):
    time.sleep(begin)
    s = socket.create_connection((sys.argv[1], {PORT}))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)
    until = time.monotonic() + end - begin
    while time.monotonic() < until:
        s.send(bytes(4096))
    s.close()
t = [threading.Thread(target=send, args=a) for a in ((0, 6), (2, 4))]
[x.start() for x in t]
[x.join() for x in t]
"""
ACCEPT_TWO = f"""
import socket, threading
l = socket.create_server(("", {PORT}))
print("ready", flush=True)
def read(c):
    while c.recv(65536): pass
for _ in range(2):
    threading.Thread(target=read, args=(l.accept()[0],)).start()
"""


def competing():
    with Network(rate="10mbit", burst=6400, gso_max_segs=1) as net, \
            talk(net, COMPETING, ACCEPT_TWO) as rec:
        flows = sorted((f for f in rec.report()["flows"] if f["direction"] == "tx"
                        and f["remote"].endswith(f":{PORT}")), key=lambda f: -f["bytes"])
        sent = [(int(e["time_ns"]), int(e["length"])) for e in rec.events("--flow", flows[0]["id"])
                if e["event"] == "dev_xmit" and e["length"]]
    began = sent[0][0]

    def rate(a, b):
        return sum(n for t, n in sent if a <= (t - began) / 1e9 < b) * 8 / (b - a) / 1e6
    return Section("A competing flow (G03 Fig. 7)",
                   "One stream through a bucket of 10 Mbit/s for 6 s; another joins from 2 s to 4 s.",
                   ["time", "paper", "rate of the first stream"],
                   [["before", "full", f"{rate(0.5, 1.9):.2f} Mbit/s"],
                    ["with the other", "about half (14.3 to 19.3 s there)",
                     f"{rate(2.5, 3.9):.2f} Mbit/s"],
                    ["after", "full again", f"{rate(4.5, 5.9):.2f} Mbit/s"]],
                   "The step down and up again is the paper's.")


EXPERIMENTS = {"ftp": ftp, "relays": table3, "mp3": mp3, "send-buffer": send_buffer,
               "rate": rate_against_iperf, "competing": competing}
