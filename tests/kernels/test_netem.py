# SPDX-License-Identifier: MIT
"""
netem on the sender's queue holds segments back, so that they arrive out of order, and turns bits in
frames: a frame it damages is a copy without a socket. Every byte has every boundary all the same.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from fixture import *

TRANSFER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs", "transfer.py")
PORT, SIZE, CALL = 5291, 400_000, 10_000


def recorded(net):
    script = (f"nsenter --net=/run/netns/{net.b} {PYTHON} {TRANSFER} server {net.B} {PORT} & "
              f"nsenter --net=/run/netns/{net.a} {PYTHON} {TRANSFER} client {net.B} {PORT} {SIZE} {CALL}; wait")
    for _ in range(5):
        rec = Recording("sh", "-c", script, options=("-q",))
        if not rec.report()["loss"]["kernel"]:
            return rec
        print("events were lost: once more")
        rec.__exit__()
    sys.exit("events were lost in each of 5 recordings")


def layer(f, name):
    return next(l for l in f["layers"] if l["name"] == name)


def transfer(*how):
    """Send through netem; what both ends say, and whether segments came out of order."""
    print("--", *how, flush=True)
    with Network(gso_max_segs=1) as net:
        p = run("tc", "-n", net.a, "qdisc", "add", "dev", net.a, "root", "netem", *how, check=False)
        if p.returncode:
            skip("there is no netem: " + p.stderr.strip())
        with recorded(net) as rec:
            said = next(j for j in map(json.loads, rec.p.stdout.splitlines()) if "sent" in j)
            report = rec.report()
            tx, rx = flow(report, "tx", PORT, bytes=SIZE), flow(report, "rx", PORT, bytes=SIZE)
            for f in (tx, rx):
                check(f["coverage"] == 1 and f["complete_bytes"] == SIZE, f"{f['direction']}: every byte is followed")
                check(f["closure_error_cycles"] == 0, f"{f['direction']}: all closes to 0")
            again = said["tcp_info"]["total_retrans"]
            check(tx["retransmits"] == again, f"{again} segments sent again, as the kernel counts")
            for name in ("ip", "queue", "device", "driver"):
                check(layer(tx, name)["bytes"] == SIZE, f"each byte is at the layer {name} once")
            arrived = [int(e["offset"]) for e in rec.events("--flow", rx["id"])
                       if e["event"] == "tcp_recv" and e["offset"] and e["length"] not in ("", "0")]
            return tx, arrived != sorted(arrived)


need_kernel_side()
need_program("tc")
_, disordered = transfer("delay", "3ms", "reorder", "25%", "50%")
check(disordered, "segments came out of order")
tx, _ = transfer("corrupt", "10%")
check(tx["retransmits"] > 0, "damaged frames were sent again")
check(0 < layer(tx, "device")["repeated_bytes"] <= layer(tx, "queue")["repeated_bytes"],
      "the device had bytes twice: the damaged frames are the sender's own")
