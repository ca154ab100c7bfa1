# SPDX-License-Identifier: MIT
"""
Figures on demand with known answers, through real sockets: bursts that a program sends are counted and
dispersed as it sent them; what a token bucket let out fits a bucket of its size; fairness is that of what
the senders sent; the goodput ratio is bytes by the frames that an interface counted; and where events were
lost, what they touch is refused.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PORT = 5120
TRANSFER = os.path.join(os.path.dirname(__file__), "..", "programs", "transfer.py")
BURSTS, UNITS, SIZE, PERIOD = 150, 8, 200, 0.020
DATAGRAMS = f"""
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("{Network.B}", {PORT}))
for _ in range({BURSTS}):
    for _ in range({UNITS}):
        s.send(b"x" * {SIZE})
    time.sleep({PERIOD})
"""
BURST, RATE = 3200, 10e6
STREAM = f"""
import socket, sys, time
def connect():
    for _ in range(100):
        try:
            s = socket.create_connection(("{Network.B}", {PORT}))
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s
sizes = list(map(int, sys.argv[3:]))
peers = [connect() for _ in sizes]
for _ in range(int(sys.argv[1])):
    for s, size in zip(peers, sizes):
        s.sendall(b"x" * size)
    time.sleep(float(sys.argv[2]))
for s in peers:
    s.shutdown(socket.SHUT_WR)
for s in peers:
    s.recv(1)
"""
RECEIVER = f"""
import socket, threading
def drain(c):
    while c.recv(65536):
        pass
    c.close()
l = socket.create_server(("", {PORT}), backlog=16)
while True:
    threading.Thread(target=drain, args=(l.accept()[0],), daemon=True).start()
"""


def report(rec, figures, *options):
    return json.loads(run(MAGNET, "report", "--json", "--on-demand", figures, *options, rec.dir).stdout)


def row(f, figure, layer):
    return next(r for r in f["on_demand"][figure]["layers"] if r["layer"] == layer)


def bursts():
    with Network() as net:
        sink = net.popen(net.b, PYTHON, "-c", "import socket, time\n"
                         "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                         f"s.bind(('', {PORT}))\nwhile True: s.recv(4096)")
        try:
            with Recording(*net.inside(net.a, PYTHON, "-c", DATAGRAMS)) as rec:
                tx = flow(report(rec, f"bursts:gap={PERIOD * 500},idc,hurst"), "tx", PORT)
                for layer in ("call", "device"):
                    b = row(tx, "bursts", layer)
                    check(b["bursts"] == BURSTS, f"{layer}: {b['bursts']} bursts")
                    near(b["units"]["mean"], UNITS, 0.02, f"{layer}: units a burst")
                    near(b["bytes"]["p50"], UNITS * SIZE, 0, f"{layer}: bytes a burst")
                    idc = row(tx, "idc", layer)["windows"]
                    for w in idc[:3]:  # a burst is in one window or none
                        near(w["idc"], UNITS * (1 - w["window_ms"] / PERIOD / 1000), 0.15,
                             f"{layer}: dispersion in windows of {w['window_ms']} ms")
                    check(row(tx, "hurst", layer)["H"] is None, f"{layer}: no H of a short flow")
                text = rec.text("--on-demand", "all")
                check("Hurst parameter\n    not available: " in text, "the text says so")
        finally:
            stop(sink)


def contract():
    with Network(rate="10mbit", burst=BURST, gso_max_segs=1) as net:
        receiver = net.popen(net.b, PYTHON, "-c", RECEIVER)
        try:
            with Recording(*net.inside(net.a, PYTHON, "-c", STREAM, 40, 0.05, 40000)) as rec:
                tx = flow(report(rec, f"contract:rate={RATE}:bucket={BURST},gcra"), "tx", PORT)
                device, call = row(tx, "contract", "device"), row(tx, "contract", "call")
                b = device["buckets"][0]["bucket_bytes"]
                # the hook runs a little after the bucket has let go, at times later than at others
                check(1514 <= b <= BURST * 1.1, f"a bucket of {b:.0f} bytes holds what one of {BURST} let out")
                check(call["buckets"][0]["bucket_bytes"] >= 40000, "but not what the program wrote")
                check(device["rate_for_bucket_bit_s"] < 1.1 * RATE,
                      f"and with such a bucket {device['rate_for_bucket_bit_s']:.0f} bit/s are enough")
                check(call["rate_for_bucket_bit_s"] is None, "in which no write of the program's fits")
                check(device["counted"] == "frames" and call["counted"] == "payload", "what is counted is told")
                cells = row(tx, "gcra", "device")
                check(cells["cells"] >= tx["bytes"] / 48, f"{cells['cells']:.0f} cells")
                mbs = [c["mbs_cells"] for c in cells["contracts"] if c["mbs_cells"] is not None]
                check(mbs == sorted(mbs, reverse=True), f"burst sizes fall with the rate: {mbs}")
        finally:
            stop(receiver)


def fairness():
    with Network() as net:
        receiver = net.popen(net.b, PYTHON, "-c", RECEIVER)
        try:
            with Recording(*net.inside(net.a, PYTHON, "-c", STREAM, 200, 0.005, 1000, 1000, 10000)) as rec:
                j = report(rec, "jain")["on_demand"]["jain"]["tx"]
                near(j["index"], 12 ** 2 / (3 * 102), 0.02, f"fairness of 1:1:10 among {j['n']}")
                check(j["n"] == 3 and j["flows"][0]["goodput_bit_s"] > 5 * j["flows"][1]["goodput_bit_s"],
                      "the largest is ten times the others")
            with Recording(*net.inside(net.a, PYTHON, "-c", STREAM, 200, 0.005, 1000, 1000)) as rec:
                j = report(rec, "jain")["on_demand"]["jain"]["tx"]
                near(j["index"], 1, 0.01, "two alike")
                check(report(rec, "jain:min=1GB")["on_demand"]["jain"]["tx"]["index"] is None,
                      "none is large enough: n/a")
        finally:
            stop(receiver)


def counted(net):
    """Bytes the interface of A has sent."""
    link = json.loads(run("ip", "-n", net.a, "-s", "-j", "link", "show", net.a).stdout)[0]
    return link["stats64"]["tx"]["bytes"]


def frame(event):
    """Bytes of a packet with its headers."""
    return int(event["fields"]["len"]) + int(event["fields"]["headers"])


def goodput():
    """Frames with payload are those of the ratio; the interface counted them and those without."""
    with Network() as net:
        for ns, other, address in ((net.a, net.b, net.B), (net.b, net.a, net.A)):
            mac = json.loads(run("ip", "-n", other, "-j", "link", "show", other).stdout)[0]["address"]
            run(*net.inside(ns, "sysctl", "-qw", f"net.ipv6.conf.{ns}.disable_ipv6=1"))
            run("ip", "-n", ns, "neigh", "replace", address, "lladdr", mac, "dev", ns, "nud", "permanent")
        receiver = net.popen(net.b, PYTHON, "-c", RECEIVER)
        try:
            before = []

            def once():
                before.append(counted(net))
                return Recording(*net.inside(net.a, PYTHON, "-c", STREAM, 100, 0.002, 30000))
            with undisturbed(once) as rec:
                sent = counted(net) - before[-1]
                r = report(rec, "goodput")
                tx = flow(r, "tx", PORT)
                g, empty, again = tx["on_demand"]["goodput"], 0, 0
                for e in rec.events("--flow", tx["id"]):
                    if e["event"] == "dev_xmit" and not int(e["length"] or 0):
                        empty += frame(e)
                    elif e["event"] == "dev_xmit":
                        again += (int(e["fields"]["segs"]) - 1) * int(e["fields"]["headers"])
                # the first connect may find nobody listening yet: a frame of another flow
                others = sum(frame(e) for e in rec.events()
                             if e["event"] == "dev_xmit" and e["flow"] != tx["id"])
                check(g["delivered_bytes"] == tx["bytes"] == 100 * 30000, "all was delivered")
                check(g["wire_bytes"] + empty + others == sent + again,
                      f"{g['wire_bytes']:.0f} bytes of frames, {empty + others} without payload: the "
                      f"interface counted {sent}, without {again} of the headers of super-segments")
                check(abs(g["ratio"] - tx["bytes"] / (sent + again - empty - others)) < 1e-9,
                      f"goodput ratio {g['ratio']}")
                check(tx["modulation"]["goodput_ratio"] == g["ratio"], "in the modulation too")
        finally:
            stop(receiver)


def lossy():
    """Gaps: no H, maxima are lower bounds, spacings that touch one are left out."""
    script = (f"{PYTHON} {TRANSFER} server 127.0.0.1 {PORT} & "
              f"{PYTHON} {TRANSFER} client 127.0.0.1 {PORT} {20_000_000 // SLOWER} 4000; wait")
    with Recording("sh", "-c", script,
                   options=("--buffer", "16K" if SLOWER == 1 else "8K", "--drain", "20")) as rec:
        r = report(rec, "all")
        check(r["loss"]["kernel"] > 0, f"{r['loss']['kernel']} events were lost")
        tx = flow(r, "tx", PORT)
        refused = 0
        for figure in ("hurst", "contract", "ks", "bursts"):
            for line in tx["on_demand"][figure].get("layers") or tx["on_demand"][figure]["pairs"]:
                little = min(line["coverage"], line["time_coverage"]) < 0.99
                check(line["starred"] == little, f"{figure} {line.get('layer') or line['to']}: coverage "
                      f"{line['coverage']}, of the time {line['time_coverage']}: starred {line['starred']}")
                if line["coverage"] < 0.9:
                    check("90 %" in line["refused"], "and refused: " + line["refused"])
                    refused += 1
                elif figure == "hurst":
                    check(line["H"] is None and "missing" in line["refused"], "no H")
                elif figure == "contract" and not line["refused"]:
                    check(line["at_least"], "the bucket is a lower bound")
        print(f"{refused} rows refused")
        run(MAGNET, "report", "--on-demand", "all", rec.dir)


need_kernel_side()
patiently(bursts)
patiently(contract)
patiently(fairness)
patiently(goodput)
lossy()
