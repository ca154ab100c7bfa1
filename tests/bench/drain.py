# SPDX-License-Identifier: MIT
"""Cycles an event costs between the ring and the trace file."""
from lib import *

if os.environ.get("MAGNET_TEST_KERNEL") == "0":
    skip("built without the kernel side")

REPETITIONS = 60
# in memory the file system costs least; on disk is where recordings are made
PLACES = [("a file on disk", None), ("a file in memory", "/dev/shm")]

begin("Cycles an event in the drain: the kernel tracer's drain and CTF writer on a ring in plain\n"
      "memory, beside a plain copy of the same 64-byte slots.",
      f"drain_cost DIR {REPETITIONS}")

BUILDS = [("", program("drain_cost"))]
if OTHER:
    BUILDS.append(("other build, ", OTHER + "/tests/bench/drain_cost"))
for (place, parent), (build, measured) in [(p, b) for p in PLACES for b in BUILDS]:
    if parent and not os.access(parent, os.W_OK):
        continue
    cycles, size = {}, {}
    with Place(parent) as d:
        for line in output(measured, d, REPETITIONS).splitlines():
            way, value, length = line.split()
            cycles.setdefault(way, []).append(float(value))
            size[way] = float(length)

    def row(text, way, peer):
        return (text, f"{size[way]:.1f}", Figure(cycles[way]).text(1),
                Figure(ratios(cycles[way], cycles[peer])).text() if way != peer else "1")

    table(f"{build}into {place}: cycles an event, {REPETITIONS} repetitions of 80,000 events in passes of "
          "10,000", ("", "bytes an event", "cycles an event", "ratio to plain copy"), [
              row("drain, filled on another CPU", "drain-other", "plain-other"),
              row("plain copy, filled on another CPU", "plain-other", "plain-other"),
              row("drain, filled by the same thread", "drain-same", "plain-same"),
              row("plain copy, filled by the same thread", "plain-same", "plain-same"),
              row("drain without write(), another CPU", "drain-other-nowrite",
                  "plain-other-nowrite"),
              row("plain copy without write(), another CPU", "plain-other-nowrite",
                  "plain-other-nowrite"),
              row("drain without write(), same thread", "drain-same-nowrite", "plain-same-nowrite"),
              row("plain copy without write(), same thread", "plain-same-nowrite",
                  "plain-same-nowrite")])

how_to_read("""
A pass is drain_pass() and ctf_flush(): every slot is checked, put into the CTF packet, and the
packets are written. "Another CPU" is the case of a traced program that keeps the other CPU busy;
its slots must first come over. The copy does the least that brings the slots into a file: it checks
nothing and keeps all 64 bytes. The difference between a row and its "without write()" is the file
system's part, which depends on the machine's disk and kernel and not on magnet.
""")
