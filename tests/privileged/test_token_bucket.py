# SPDX-License-Identifier: MIT
"""
The demo as a test: it finishes, leaves nothing behind, and its report shows the token bucket's
signature, the device-layer spacing of full frames: (MTU+14)*8/rate.
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
SPACING_NS = (1500 + 14) * 8 / 100e6 * 1e9

need_kernel_side()
need_program("curl", "nsenter", "sysctl")
p = run("ip", "netns", "add", f"mgtry{os.getpid()}", check=False)
if p.returncode != 0:
    skip("no network namespace can be made")
run("ip", "netns", "del", f"mgtry{os.getpid()}")

top = tempfile.mkdtemp(prefix="magnet-test-")
try:
    started = time.monotonic()
    p = run(ROOT + "/scripts/demo-run", top + "/trace")
    print(p.stdout)
    check(time.monotonic() - started < 300, "the demo finishes in under 5 minutes")
    check("magnet-demo" not in run("ip", "netns", "list").stdout, "its namespaces are gone")
    report = json.loads(run(MAGNET, "report", "--json", top + "/trace").stdout)
    for direction, layer in (("tx", "device"), ("rx", "device")):
        f = flow(report, direction, 8000)
        device = next(l for l in f["layers"] if l["name"] == layer)
        near(device["p50_spacing_ns"], SPACING_NS, 0.02, f"{direction}: spacing of frames, ns")
        # a busy machine may leave the link idle now and then, but never more than fills it
        check(device["mean_spacing_ns"] > 0.98 * SPACING_NS,
              f"{direction}: mean spacing {device['mean_spacing_ns']:.0f} ns")
        # the bucket's timer fires on top of any task, and some machines run no tracing programs
        # while their supervisor's tasks are current: such bytes must be few, and left out
        check(f["coverage"] > 0.98, f"{direction}: coverage {f['coverage']}")
        check(f["closure_error_cycles"] == 0, f"{direction}: atoms close to 0 cycles")
    rx = flow(report, "rx", 8000)
    check(rx["bytes"] > 16 << 20, "the file was received")
    check(rx["modulation"]["M"] is not None, "sender and receiver were joined")
    check(lost(report) == 0, "nothing was lost")

    # once the burst has passed every single gap between full frames is the bucket's
    times = []
    sent = flow(report, "tx", 8000)["id"]
    with subprocess.Popen([MAGNET, "show", "--tsv", "--flow", sent, top + "/trace"], text=True,
                          stdout=subprocess.PIPE) as show:
        for row in csv.DictReader(show.stdout, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["event"] == "dev_xmit" and row["length"] == "1448":
                times.append(int(row["time_ns"]))
    gaps = sorted(b - a for a, b in zip(times[1000:], times[1001:]))
    near(gaps[len(gaps) // 2], SPACING_NS, 0.02, "median gap between full frames, ns")
finally:
    shutil.rmtree(top)
