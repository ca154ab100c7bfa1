# SPDX-License-Identifier: MIT
"""
Both ends of connections that were open before the recording: they find each other across namespaces,
by their counters, and where drops on this machine have spoilt those by their addresses; then the
receiver's counters tell where the sender's bytes lie.
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

DROP = sys.argv[1]
PORT = 5190
QUIET = tempfile.mktemp(prefix="magnet-test-quiet-")
RECEIVER = """
import socket, sys
l = socket.create_server((sys.argv[1], int(sys.argv[2])))
s, _ = l.accept()
while s.recv(65536):
    pass
"""
# hooks come and go one after another: what is sent meanwhile is not seen by all
SENDER = """
import os, socket, sys, time
s = socket.create_connection((sys.argv[1], int(sys.argv[2])))
while True:
    if not os.path.exists(sys.argv[4]):
        s.sendall(b"x" * int(sys.argv[3]))
    time.sleep(0.003)
"""


def programs(net, port, step):
    b = net.popen(net.b, PYTHON, "-c", RECEIVER, net.B, port)
    time.sleep(0.3 * SLOWER)
    return b, net.popen(net.a, PYTHON, "-c", SENDER, net.B, port, step, QUIET,
                        stderr=subprocess.DEVNULL)


def record(net, trace, *options):
    p = subprocess.Popen([MAGNET, "record", "-q", "-o", trace, "--all", "--netns",
                          f"{net.a},{net.b}", *options])
    try:
        for _ in range(600):
            if os.path.isdir(trace + "/kernel"):
                break
            time.sleep(0.05)
        time.sleep(1.5 * SLOWER)
        open(QUIET, "w").close()
        time.sleep(0.2)
    finally:
        p.send_signal(signal.SIGINT)
        p.wait(60)
        os.unlink(QUIET)


def recorded(net, what, port, step, *options):
    top = tempfile.mkdtemp(prefix="magnet-test-")
    try:
        for last in (0, 0, 0, 0, 0, 1):  # hooks are attached one after another, late on a busy machine
            record(net, top + "/t", *options)
            report = json.loads(run(MAGNET, "report", "--json", top + "/t").stdout)
            if all((f["coverage"] or 0) > 0.92 for f in report["flows"] if f["bytes"]) or last:
                break
            print(f"coverage {[f['coverage'] for f in report['flows']]}: once more")
            shutil.rmtree(top + "/t")
        rec = Recording.__new__(Recording)
        rec.dir = top + "/t"
        tx = flow(report, "tx")
        rx = next((f for f in report["flows"] if f["id"] == tx["peer"]), None)
        check(rx is not None, f"{what}: the sender has found its peer")
        check(rx["peer"] == tx["id"], f"{what}: and that the sender")
        for f in (tx, rx):
            check(f["offsets"] == "from_connection" and f["first_offset"] > 0,
                  f"{what}: {f['direction']} counts from the connection's begin")
            check(f["closure_error_cycles"] == 0, f"{what}: closes to 0")
        offsets = [int(e["offset"]) for e in rec.events("--flow", tx["id"])
                   if e["event"] == "tcp_send" and e["fields"]["left"] == str(step)]
        # what is listed before the peer is met counts from the recording
        early = 2 if what == "spoilt" else 0
        check(len(offsets) > 50 and all(o % step == 0 for o in offsets[early:]),
              f"{what}: {len(offsets)} calls begin at multiples of {step} bytes: {offsets[:3]} ...")
        followed = rx["modulation"]["bytes"]
        check(followed and followed > 0.9 * min(tx["bytes"], rx["bytes"]),
              f"{what}: {followed} bytes followed from call to call")
        half = rx["transit_ns"]["p50"]
        check(half and half > 0, f"{what}: half of them were on their way {half} ns")
        return tx, rx
    finally:
        if not os.environ.get("MAGNET_TEST_KEEP"):
            shutil.rmtree(top)


need_kernel_side()
need_program("tc")
with Network(gso_max_segs=1) as net:
    pair = programs(net, PORT, 1009)
    try:
        time.sleep(0.7 * SLOWER)
        recorded(net, "as it is", PORT, 1009)
        recorded(net, "anonymized", PORT, 1009, "--anonymize")
    finally:
        for p in pair:
            stop(p)
    run("tc", "-n", net.a, "qdisc", "add", "dev", net.a, "clsact")
    p = run("tc", "-n", net.a, "filter", "add", "dev", net.a, "egress", "bpf", "da", "obj", DROP,
            "sec", "tc/every13", check=False)
    if p.returncode != 0:
        skip("tc cannot load a BPF program: " + p.stderr.strip())
    pair = programs(net, PORT + 1, 733)
    try:
        time.sleep(0.7 * SLOWER)
        tx, rx = recorded(net, "spoilt", PORT + 1, 733)
        check(tx["resent_bytes"] > 0, f"{tx['resent_bytes']} bytes were sent again meanwhile, too")
    finally:
        for p in pair:
            stop(p)
