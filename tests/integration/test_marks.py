# SPDX-License-Identifier: MIT
"""Points a program marks: in the trace, at their place, and tied to the bytes around them."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from lttng import LttngSession

BUILD = os.environ["MAGNET_BUILD"]
PROGRAM = BUILD + "/tests/programs/marks"

check(run(PROGRAM).stdout == "done\n", "without the library a mark does nothing")
kernel = not no_kernel_side()
with Recording(PROGRAM) as rec:
    check(rec.p.stdout == "done\n", "with it the program does the same")
    events = [e for e in rec.events() if e["event"] in ("magnet:mark", "magnet:send", "magnet:recv")]
    frames = [e for e in events if e["fields"].get("name") == "frame"]
    check(len(frames) == 100, "all marks are there")
    for i, e in enumerate(frames):
        after = events[events.index(e) + 1]
        if (e["fields"]["id"], e["fields"]["value"]) != (str(i), str(100 + i)) \
                or after["event"] != "magnet:send" or after["fields"]["ret"] != str(100 + i):
            check(False, f"frame {i}: {e} {after}")
    report = rec.report()
    marks = report["marks"]
    check(len(marks) == 201 and report["marks_left_out"] == 0, "the report has them")
    check(marks[0]["name"] == "begin of all that is to " and marks[0]["value"] == -1,
          "24 bytes of a name are kept")
    if kernel:
        tx, offset = flow(report, "tx")["id"], 0
        for i, m in enumerate(m for m in marks if m["name"] == "frame"):
            if m["sent"] != {"flow": tx, "offset": offset, "length": 100 + i}:
                check(False, f"frame {i} at {offset}: {m}")
            offset += 100 + i
        check(True, "each frame is tied to the bytes that were sent next")
        rx, offset = flow(report, "rx")["id"], 0
        for i, m in enumerate(m for m in marks if m["name"] == "got"):
            if m["received"] != {"flow": rx, "offset": offset, "length": 100 + i}:
                check(False, f"got {i} at {offset}: {m}")
            offset += 100 + i
        check(True, "and to those received before")
    check("100 frame (" in rec.text(), "the text names them")

with Recording(PROGRAM, options=("--app-only",)) as rec:
    check("100 frame (n/a followed by sent bytes)" in rec.text(), "which bytes were sent next is not known without the kernel side")

with Recording(PROGRAM, "forbid") as rec:
    check("2 calls of programs that have forbidden themselves the cycle counter" in rec.p.stderr,
          "marks without a time are told as lost: " + rec.p.stderr)

if shutil.which("lttng-sessiond"):
    with LttngSession() as session:
        run(PROGRAM, env=dict(os.environ, LD_PRELOAD=BUILD + "/preload/libmagnet.so", **session.env))
        session.end()
        text = run("babeltrace2", session.trace).stdout
        check(text.count("magnet:mark:") == 201 and 'name = "frame"' in text,
              "an LTTng session has them too")
        check(len(json.loads(run(MAGNET, "report", "--json", session.trace).stdout)["marks"]) == 201,
              "and so has its report")
