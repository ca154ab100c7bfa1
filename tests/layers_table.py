#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
layers_table.py [--write FILE] [PLACE...]

What magnet sees at each layer of the kernel, for each protocol, IP version and way, beside what others
count: the programs themselves, the kernel's counters, the queues', the interfaces' and a capture.
Prints each inequality, writes the Markdown table on request, and fails if anything differs. Needs
root; leaves nothing behind.
"""
import argparse
import json
import os
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from counters import Capture
from fixture import *
from layer_table import *
from topology import PLACES, Topology

WORKLOAD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "workload.py")
LAYERS = "syscall,socket,tcp,ip,netfilter,device"
TRIES = 8


def one_run(topology, v6, phases, top):
    """[rows of a phase], or why the recording cannot be used."""
    devices = {}
    for ns, dev in topology.captured():
        devices.setdefault(ns, []).append(dev)
    spec = {"a": topology.a, "b": topology.b, "m": topology.m, "v6": v6, "devices": devices,
            "unix": f"{top}/socket", "phases": phases,
            "address": {end: topology.address(getattr(topology, end), v6) for end in "ab"}}
    for name in os.listdir(top):
        os.unlink(f"{top}/{name}")
    with open(f"{top}/spec", "w") as f:
        json.dump(spec, f)
    with Capture(topology, top) as capture:
        with LayerRecording(topology, (PYTHON, WORKLOAD), f"{top}/spec", LAYERS) as rec:
            why = rec.skipped()
            if why:
                return why
            captured, rows, told = capture.end(), [], json.loads(rec.p.stdout)
            if any(c["TcpOutRsts"] for said in told for c in said["counters"].values()):
                return "a segment came after the end of its connection"  # sent again too soon
            for said in told:
                phase = Phase(rec, said, topology, captured, v6)
                if phase.name.startswith("unix"):
                    rows += unix_rows(phase)
                    continue
                for ns in topology.interface:
                    rows += internet_rows(phase, ns)
                if len(topology.captured()) > len(topology.interface):
                    rows += middle_rows(phase)
            return rows


def measure(place, v6, phases, top):
    with Topology(place) as topology:
        for _ in range(TRIES):
            rows = one_run(topology, v6, phases, top)
            if not isinstance(rows, str):
                return rows
            print(f"{rows}: once more", flush=True)
    sys.exit(f"events were missed in each of {TRIES} recordings")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", metavar="FILE")
    parser.add_argument("place", nargs="*", help=f"of {', '.join(PLACES)}, unix; default: all")
    args = parser.parse_args()
    need_kernel_side()
    need_program("tcpdump", "tc")
    signal.signal(signal.SIGTERM, lambda *unused: sys.exit(1))
    rows, failed = {}, False
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        for place in args.place or (*PLACES, "unix"):
            for v6 in (False, True) if place != "unix" else (False,):
                what = f"{place}, IPv{6 if v6 else 4}" if place != "unix" else "UNIX"
                phases = list(PHASES) if place != "unix" else UNIX_PHASES
                started = time.monotonic()
                found = measure(place if place != "unix" else "loopback", v6, phases, top)
                rows[what] = found
                wrong = [r for r in found if r.seen != r.counted]
                print(f"--- {what}: {len(found)} comparisons, {len(wrong)} unequal; "
                      f"{time.monotonic() - started:.1f} s", flush=True)
                for r in wrong:
                    print(f"FAILED: {what}: {r.protocol} at {r.end}, {r.direction}, {r.layer}, "
                          f"{r.what}: {r.seen}, but {r.whom} has {r.counted}")
                failed = failed or bool(wrong)
    if args.write:
        with open(args.write, "w") as f:
            f.writelines(table(rows))
    sys.exit(failed)


if __name__ == "__main__":
    main()
