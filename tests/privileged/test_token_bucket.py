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
FULL = 1448


def frames(trace, flow_id, event):
    """When frames with bytes not seen before passed, their first byte, and how many."""
    before = set()
    with subprocess.Popen([MAGNET, "show", "--tsv", "--flow", flow_id, trace], text=True,
                          stdout=subprocess.PIPE) as show:
        for row in csv.DictReader(show.stdout, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["event"] == event and row["length"] not in ("", "0") \
                    and row["offset"] not in before:
                before.add(row["offset"])
                yield int(row["time_ns"]), int(row["offset"]), int(row["length"])


def bucket():
    top = tempfile.mkdtemp(prefix="magnet-test-")
    try:
        started = time.monotonic()
        p = run(ROOT + "/scripts/demo-run", top + "/trace")
        print(p.stdout)
        check(time.monotonic() - started < 300, "the demo finishes in under 5 minutes")
        check("magnet-demo" not in run("ip", "netns", "list").stdout, "its namespaces are gone")
        report = json.loads(run(MAGNET, "report", "--json", top + "/trace").stdout)
        skipped = hooks_not_run(report)  # the bucket's timer fires on top of any task
        for direction, event in (("tx", "dev_xmit"), ("rx", "dev_recv")):
            f = flow(report, direction, 8000)
            seen = list(frames(top + "/trace", f["id"], event))
            device = next(l for l in f["layers"] if l["name"] == "device")
            if not skipped:  # else the report leaves out the spacing across a loss
                near(device["mean_spacing_ns"], (seen[-1][0] - seen[0][0]) / (len(seen) - 1), 0.0001,
                     f"{direction}: the report's mean spacing is that of its frames, ns")
            near(device["p50_spacing_ns"], SPACING_NS, 0.02, f"{direction}: median spacing, ns")
            # once the burst has passed, the bucket spaces what it has to send; on a busy machine the
            # programs pause, and frames are late
            gaps = [(b[0] - a[0]) for a, b in zip(seen[1000:], seen[1001:])
                    if a[2] == b[2] == FULL and b[1] == a[1] + FULL]
            paced = [gap for gap in gaps if gap < 2 * SPACING_NS]
            check(len(paced) > 0.95 * len(gaps), f"{direction}: {len(paced)} of {len(gaps)} gaps paced")
            near(sum(paced) / len(paced), SPACING_NS, 0.05, f"{direction}: their mean, ns")
            need_coverage(f, report, 0.98)
            check(f["closure_error_cycles"] == 0, f"{direction}: atoms close to 0 cycles")
        rx = flow(report, "rx", 8000)
        check(rx["bytes"] > 16 << 20, "the file was received")
        check(rx["modulation"]["M"] is not None, "sender and receiver were joined")
        check(lost(report) == 0, "nothing was lost")
    finally:
        shutil.rmtree(top)


need_kernel_side()
need_program("curl", "nsenter", "sysctl")
p = run("ip", "netns", "add", f"mgtry{os.getpid()}", check=False)
if p.returncode != 0:
    skip("no network namespace can be made")
run("ip", "netns", "del", f"mgtry{os.getpid()}")

patiently(bucket)
