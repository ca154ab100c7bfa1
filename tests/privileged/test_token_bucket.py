# SPDX-License-Identifier: MIT
"""
The demo as a test: it finishes, leaves nothing behind, and its report shows the token bucket's
signature, the device-layer spacing of full frames: (MTU+14)*8/rate. A bucket with a short queue
drops what tc counts, and windows of time have all retransmissions that the whole has.
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fact_table import facts
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


def short_queue():
    with Network() as net:
        run(*net.inside(net.a, "tc", "qdisc", "add", "dev", net.a, "root", "tbf", "rate", "20mbit", "burst", "5k",
                        "limit", "30k"))
        server = subprocess.Popen(net.inside(net.b, "iperf3", "-s", "-1"), stdout=subprocess.DEVNULL)
        try:
            time.sleep(0.5)
            with Recording(*net.inside(net.a, "iperf3", "-c", net.B, "-n", "2M")) as rec:
                compare(net, rec)
        finally:
            stop(server)


def compare(net, rec):
    report = rec.report()
    losses = report["losses"]
    if lost(report) or hooks_not_run(report):
        raise Spoiled(1)
    counted = json.loads(run(*net.inside(net.a, "tc", "-s", "-j", "qdisc", "show", "dev", net.a)).stdout)
    drops = [d for d in losses["drops"] if d["layer"] == "qdisc"]
    check(sum(d["n"] for d in drops) == counted[0]["drops"] > 0, f"tc counts as many packets as {drops}")
    passed = {"queue": 0, "device": 0}
    for p in facts(rec, "packet"):
        if p["layer"] in passed and p["flow"].endswith("/tx"):
            passed[p["layer"]] += p["packets"]
    check(sum(d["segments"] for d in drops) == passed["queue"] - passed["device"],
          f"and that many segments were queued and did not leave: {passed}")
    snmp = [line.split() for line in run(*net.inside(net.a, "cat", "/proc/net/snmp")).stdout.splitlines()
            if line.startswith("Tcp:")]
    again = int(dict(zip(*snmp))["RetransSegs"])
    check(losses["retransmits"] == again > 0, f"{losses['retransmits']} segments retransmitted, {again} by the kernel's count")
    end = report["session"]["duration_ns"] / 1e9
    cuts = [0, end / 3, end / 2, end + 1]
    parts = [json.loads(run(MAGNET, "report", "--json", rec.dir, "--from", a, "--to", b).stdout)["losses"]
             for a, b in zip(cuts, cuts[1:])]
    for name in ("retransmits", "retransmitted_bytes", "syn_retries", "dropped"):
        check(sum(p[name] for p in parts) == losses[name], f"{name} of all windows: {[p[name] for p in parts]}")


need_kernel_side()
need_program("curl", "iperf3", "nsenter", "sysctl", "tc")
p = run("ip", "netns", "add", f"mgtry{os.getpid()}", check=False)
if p.returncode != 0:
    skip("no network namespace can be made")
run("ip", "netns", "del", f"mgtry{os.getpid()}")

patiently(bucket)
patiently(short_queue)
