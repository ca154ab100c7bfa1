# SPDX-License-Identifier: MIT
"""
A ring that is far too small loses events; every loss must be told, in its place, with its count, and
what remains must be as true as without.
"""
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from tracer import Talker, Tracer

TRANSFER = os.path.join(os.path.dirname(__file__), "..", "programs", "transfer.py")
PORT, BYTES = 5104, 20_000_000 // SLOWER
SCRIPT = (f"{PYTHON} {TRANSFER} server 127.0.0.1 {PORT} & "
          f"{PYTHON} {TRANSFER} client 127.0.0.1 {PORT} {BYTES} 4000; wait")

need_kernel_side()
for _ in range(10): # of a flow all events may be lost
    rec = Recording("sh", "-c", SCRIPT, options=("--buffer", "4K", "--drain", 20 * SLOWER))
    report = rec.report()
    if {f["direction"] for f in report["flows"] if f["bytes"] > 1000} == {"tx", "rx"}:
        break
    rec.__exit__()
else:
    sys.exit("all events of one direction were lost each time")
with rec:
    session = json.load(open(rec.dir + "/session.json"))
    lost = report["loss"]["kernel"]
    check(lost > 0, f"{lost} kernel events were lost")
    check("events lost" in rec.p.stderr, "the recorder says so")
    check("LOST" in rec.text(), "the report says so")
    check(session["kernel_side"]["lost"] == lost, "the tracer counted as many")
    calls = sum(g["count"] for g in report["loss"]["gaps"] if g["producer"].startswith("libmagnet"))
    check(sum(g["count"] for g in report["loss"]["gaps"]) - calls == lost, "the gaps add up")
    check(calls == report["loss"]["app"] == session["app"]["discarded"],
          f"{calls} calls were lost, by the trace ({report['loss']['app']}) and by the recorder's own count "
          f"({session['app']['discarded']})")

    # in its CPU's stream a gap lies where its times say
    last, gaps, ended = {}, 0, set()
    for e in rec.events():
        if e["event"] == "sock_state" and e["fields"]["old"] == "established":
            ended.add(e["flow"].split("/")[0])
        if e["event"] == "lost" and e["fields"]["reason"] == "ring_full":
            cpu = e["fields"]["cpu"]
            check(e["cpu"] == cpu, f"gap {gaps} stands in the stream of CPU {cpu}") if not gaps else None
            if not last.get(cpu, 0) <= int(e["fields"]["from_ns"]) <= int(e["fields"]["to_ns"]) \
                    or int(e["fields"]["to_ns"]) != int(e["time_ns"]):
                check(False, f"gap {gaps} of CPU {cpu}: {e}")
            gaps += 1
        elif e["cpu"] and not e["event"].startswith("magnet:"):
            last[e["cpu"]] = int(e["time_ns"])
    check(gaps == len([g for g in report["loss"]["gaps"] if g["producer"] == "ring"]),
          f"all {gaps} gaps stand in their streams")

    p = run("babeltrace2", rec.dir, check=False)
    warned = sum(map(int, re.findall(r"Tracer discarded (\d+) event", p.stderr)))
    in_rings = sum(g["count"] for g in report["loss"]["gaps"] if g["producer"] == "ring")
    check(warned == in_rings + calls, f"babeltrace2 warns of {warned} discarded events")

    # what each figure has lost is beside it
    def standing(coverage):
        return "withheld" if coverage < 0.9 else "starred" if coverage < 0.99 else "whole"

    for c in report["calls"]:
        if c["coverage"] is None:
            continue
        check(c["standing"] == standing(c["coverage"]),
              f"{c['name']} {c['flow_kind']} of {c['coverage']:.3f} is {c['standing']}")
        told = [v for v in c["states_ns"].values() if v is not None]
        check(not told or c["standing"] != "withheld", "withheld is null")
        check(c["complete"] <= c["n"], f"{c['complete']} of {c['n']} calls have nothing missing")
    scheduler = report["scheduler"]
    check(scheduler["standing"] == standing(scheduler["coverage"]) and scheduler["at_least"],
          f"the scheduler's figures of {scheduler['coverage']:.3f} are {scheduler['standing']}")
    check(scheduler["wakeup_ns"]["n"] == 0 or scheduler["wakeup_ns"]["max_at_least"]
          and ("≥" in rec.text() or ">=" in rec.text()), "the longest wakeup is a least one")
    lost_ns = {}  # of rings, whose gaps do not overlap
    for g in report["loss"]["gaps"]:
        if g["producer"] == "ring":
            lost_ns[g["cpu"]] = lost_ns.get(g["cpu"], 0) + g["to_ns"] - g["from_ns"]
    by_cpu = {(c["layer"], c["cpu"]): c["coverage"] for c in report["loss"]["time_coverage"]}
    spans = {(1 - by_cpu[("ip", cpu)]) / ns for cpu, ns in lost_ns.items()
             if not any(g["producer"] != "ring" and "ip" in g["layers"]
                        for g in report["loss"]["gaps"])}
    check(not spans or max(spans) <= min(spans) * 1.000001,
          "time coverage is 1 less the gaps' share, on each CPU")

    tx = flow(report, "tx", PORT)
    rx = flow(report, "rx", PORT)
    for f in tx, rx:
        print(f"   {f['direction']}: {f['bytes']} bytes of {BYTES}, {f['offsets']}")
        # neither its opening was lost nor, after the last byte was written, all up to its end
        if f["offsets"] == "from_connection" and f["id"].split("/")[0] in ended:
            near(f["bytes"], BYTES, 0.01, "bytes passed, by TCP's counters")
        check(f["bytes"] <= BYTES, "not more than were sent")
        near(f["coverage"], f["complete_bytes"] / f["bytes"], 1e-9, "coverage by these")
        check(f["standing"] == standing(f["coverage"]), f"{f['coverage']:.3f} is {f['standing']}")
        check(f["tcp"]["at_least"] and f["tcp"]["zero_windows"] != 0, "no absent facts")
        check(f["complete_bytes"] + f["incomplete_bytes"] + (f.get("unsent_bytes") or 0) == f["bytes"],
              f"complete, incomplete and unsent bytes are all: {f['complete_bytes']}, {f['incomplete_bytes']}")
    check(("In one sentence" in rec.text()) == (min(tx["coverage"], rx["coverage"]) >= 0.9),
          "the sentence is of nine tenths of the bytes, or there is none")
    check(tx["retransmits"] != 0 and tx["tcp"]["timeouts"] != 0, "nor of what was not sent again")
    check(tx["coverage"] is not None and tx["coverage"] < 1, f"coverage {tx['coverage']}")
    check(tx["gaps"] > 0, "the flow tells that gaps touch it")
    check(all(f["closure_error_cycles"] in (0, None) for f in report["flows"]),
          "what is complete closes to 0")
    check(report["state_sum_mismatches"] == 0, "every joined call's states sum to its total")

# The kernel does not count datagrams here, but the program knows what it sent and received.
DATAGRAMS = r"""
import socket, time
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
r, s = socket.socket(type=socket.SOCK_DGRAM), socket.socket(type=socket.SOCK_DGRAM)
r.bind(("127.0.0.1", 0))
s.connect(r.getsockname())
for i in range(500):
    time.sleep(0.001)
    for x, y in ((a, b), (s, r)):
        x.send(bytes(100 + i % 50))
        y.recv(1000)
"""


def datagrams():
    with Recording(PYTHON, "-c", DATAGRAMS, options=("--buffer", "4K", "--drain", 20 * SLOWER)) as rec:
        report = json.loads(run(MAGNET, "report", "--json", "--on-demand", "idc", rec.dir).stdout)
        sent = sum(100 + i % 50 for i in range(500))
        flows = [f for f in report["flows"] if f["bytes"]]
        check(len(flows) == 4, f"{len(flows)} flows")
        check(report["loss"]["app"] == 0, "all the program's calls are there")
        for f in flows:
            check(f["bytes"] == sent, f"{f['proto']} {f['direction']}: {sent} bytes, those of lost calls, too")
            check(f["coverage"] < 0.9 and f["standing"] == "withheld" and f["modulation"]["J_ns"] is None,
                  f"coverage {f['coverage']:.3f}: withheld")
            check(all(r["refused"] for r in f["on_demand"]["idc"]["layers"]), "and no figure on demand")


def killed_when_quiet():
    """The last losses of a burst, on a CPU that has become quiet, are in the trace soon."""
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        with Talker() as load, Tracer(top + "/t", "--pid", load.pid, "--buffer", "4K", "--drain",
                                      100 * SLOWER).ready() as tracer:
            # nobody reads the rings until they are full and all is quiet: losses come last
            os.kill(tracer.pid, signal.SIGSTOP)
            load.ask(300)
            time.sleep(0.3)
            os.kill(tracer.pid, signal.SIGCONT)
            time.sleep(2 * SLOWER)
            tracer.kill()
        with subprocess.Popen([MAGNET, "show", "--tsv", top + "/t"], text=True,
                              stdout=subprocess.PIPE) as p:
            last = {row["cpu"]: row for row in csv.DictReader(p.stdout, delimiter="\t",
                                                              quoting=csv.QUOTE_NONE)}
    ends = {cpu: row["event"] for cpu, row in last.items() if cpu}
    check("lost" in ends.values(), f"a killed tracer has told what was lost last: {ends}")


# Each end is sent to for the first time while the rings are full, and once more when they are not.
PEERS = r"""
import socket, time
ends = [socket.socket(type=socket.SOCK_DGRAM) for _ in range(21)]
for end in ends:
    end.bind(("127.0.0.1", 0))
s = socket.socket(type=socket.SOCK_DGRAM)
def send(n, end):
    for _ in range(n):
        s.sendto(b"x", end.getsockname())
send(1, ends[0])
time.sleep(0.3)
for end in ends[1:]:
    send(300, ends[0])
    send(1, end)
time.sleep(0.3)
for end in ends[1:]:
    send(1, end)
    time.sleep(0.15)
print(*[end.getsockname()[1] for end in ends])
"""


def peers():
    with Recording(PYTHON, "-c", PEERS, options=("--kernel-only", "--buffer", "4K", "--drain", 100)) as rec:
        ports = rec.p.stdout.split()
        told = {e["fields"]["port"] for e in rec.events()
                if e["event"] == "sock_peer" and e["fields"]["rx"] == "0"}
        check(rec.report()["loss"]["kernel"] > 1000 and told == set(ports),
              f"{len(told)} of {len(ports)} far ends are told, also those first met when there was no room")


patiently(datagrams)
patiently(peers)
killed_when_quiet()
