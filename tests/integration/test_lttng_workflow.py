# SPDX-License-Identifier: MIT
"""
Without the front end: a user's own LTTng session, the library preloaded by hand, the kernel tracer by
hand, and both traces read together; and what is said where the tracer runs only for a part of the calls. As root a session daemon of the machine's own may be running, so
this one gets a private /run/lttng.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

BUILD = os.environ["MAGNET_BUILD"]
EXCHANGE = os.path.join(os.path.dirname(__file__), "..", "programs", "exchange.py")
KERNEL = not no_kernel_side()
TOP = scratch()

SCRIPT = """
set -e
cd {top}
lttng-sessiond -d
trap 'lttng destroy mine >/dev/null 2>&1 || :; kill $(cat $pidfile) 2>/dev/null' EXIT
lttng create mine --output=$PWD/app
lttng enable-event --userspace 'magnet:*'
lttng start
{tracer_start}
LD_PRELOAD={build}/preload/libmagnet.so {python} {exchange} 100
{tracer_stop}
lttng stop
lttng destroy
{part}
"""
PART = """
lttng create mine --output=$PWD/part
lttng enable-event --userspace 'magnet:*'
lttng start
LD_PRELOAD={build}/preload/libmagnet.so {python} {exchange} 100
{tracer_start}
LD_PRELOAD={build}/preload/libmagnet.so {python} {exchange} 100
{tracer_stop}
LD_PRELOAD={build}/preload/libmagnet.so {python} {exchange} 100
lttng stop
lttng destroy
"""
TRACER_START = """
{build}/kernel-tracer/magnet-kernel-tracer -o {output}/ &
tracer=$!
until {build}/kernel-tracer/magnet-kernel-tracer ctl --pid $tracer status >/dev/null 2>&1; do
    kill -0 $tracer
    sleep 0.05
done
"""
TRACER_STOP = "kill -INT $tracer; wait $tracer"


def in_part(traces):
    """The tracer saw the second of three runs of the program."""
    report, text = json.loads(run(MAGNET, "report", "--json", *traces).stdout), run(MAGNET, "report", *traces).stdout
    head = [line for line in text.splitlines() if line.startswith("INCOMPLETE: the kernel side ")]
    check(len(head) == 2 and "begins at" in head[0] and "the first calls" in head[0] and "ends at" in head[1] and
          "ended by signal" in head[1], f"a tracer that ran for a part of the calls: {head}")
    kernel, gaps = report["session"]["sides"]["kernel"], report["loss"]["gaps"]
    check([g["reason"] for g in gaps] == ["not_covered"] * 2 and gaps[0]["to_ns"] == kernel["from_ns"] and
          gaps[1]["from_ns"] == kernel["until_ns"], "JSON has what it did not cover")
    check(not kernel["complete"] and kernel["coverage"] < 1 and kernel["ended_in_order"],
          f"which is {1 - kernel['coverage']:.3f} of the time")
    send = next(c for c in report["calls"] if c["name"] == "send" and not c["kernel_only"])
    check(send["n"] == 600 and send["joined"] == 200 and abs(send["coverage"] - send["complete"] / 600) < 1e-9 and
          send["standing"] == "withheld", f"of 600 sends 200 are joined, and the coverage is {send['coverage']:.3f}")


need_program("lttng-sessiond", "lttng", "babeltrace2")
names = dict(top=TOP, build=BUILD, python=PYTHON, exchange=EXCHANGE)
names["tracer_stop"] = TRACER_STOP if KERNEL else ""
names["part"] = names["tracer_start"] = ""
if KERNEL:
    names["part"] = PART.format(**dict(names, tracer_start=TRACER_START.format(**dict(names, output="part-kernel"))))
    names["tracer_start"] = TRACER_START.format(**dict(names, output="kernel"))
script = SCRIPT.format(**names)
try:
    if os.geteuid() == 0:
        script = ("mkdir -p /run/lttng; mount -t tmpfs tmpfs /run/lttng\n"
                  "pidfile=/run/lttng/lttng-sessiond.pid\n" + script)
        p = run("unshare", "-m", "sh", "-c", script, check=False)
    else:
        script = f"export LTTNG_HOME={TOP}/home; mkdir $LTTNG_HOME\n" \
                 "pidfile=$LTTNG_HOME/.lttng/lttng-sessiond.pid\n" + script
        p = run("sh", "-c", script, check=False)
    print(p.stdout + p.stderr)
    check(p.returncode == 0, "the session ran")
    traces = [TOP + "/app"] + ([TOP + "/kernel"] if KERNEL else [])
    text = run("babeltrace2", *traces).stdout.splitlines()
    times = [line[1:line.index("]")] for line in text]
    check(times == sorted(times), f"babeltrace2 merges {len(text)} events in order of time")
    check(sum(" magnet:send: " in line for line in text) == 200, "all 200 sends are there")

    # a program's event lies between its own system calls, not just somewhere near
    report = json.loads(run(MAGNET, "report", "--json", *traces).stdout)
    send = next(c for c in report["calls"] if c["name"] == "send")
    check(send["n"] == 200 and send["bytes"] == 20000, "magnet report reads both directories")
    if KERNEL:
        check(send["joined"] == 200, "every call is joined to its system call")
        check(lost(report) == 0, "nothing was lost")
        check(report["session"]["sides"]["kernel"]["complete"] and not report["loss"]["gaps"],
              "a tracer that was attached before the calls, and ended after them, covers all")
        ours = [f for f in report["flows"] if f["bytes"] == 10000]
        check(len(ours) == 4 and all(f["coverage"] > 0.99 for f in ours),
              "four flows, with every boundary")
        # LTTng's sockets are recorded, too: more bytes and longer waits than the program's
        lttng = [g for g in report["exchanges"] if (g["comm"] or "").startswith("lttng-")]
        first, slow = report["exchanges"][0], report["slowest"][0]
        answer = next(line for line in run(MAGNET, "report", *traces).stdout.splitlines()
                      if line.startswith(("Answer: ", "Summary: ")))
        check(lttng and first["port"] and slow["proto"] == "tcp" and ":" in answer.partition(": ")[2],
              f"LTTng's own exchanges, of {len(lttng)} programs, are not what the report is about: {answer}")
        in_part([TOP + "/part", TOP + "/part-kernel"])
finally:
    shutil.rmtree(TOP)
