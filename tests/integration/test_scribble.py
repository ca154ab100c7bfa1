# SPDX-License-Identifier: MIT
"""
A program writes over the rings it shares with the recorder: that ends in order, in time, with what
it has, and what it has can be read; other programs go on.
"""
import os
import resource
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

BUILD = os.environ["MAGNET_BUILD"]
PROGRAM = BUILD + "/tests/programs/scribble"
SECONDS = 3
INNOCENT = """
import socket, time
a, b = socket.socketpair()
for i in range({n}):
    a.send(b"x" * 100); b.recv(100)
    if i % 100 == 0: time.sleep(0.01)
print("done")
"""
BOTH = f"""{PROGRAM} {SECONDS} & mad=$!
{PYTHON} -c '{INNOCENT.format(n=20000)}' || echo "exit $?"
wait $mad && echo mad
{PYTHON} -c '{INNOCENT.format(n=500)}' || echo "exit $?"
"""

began = time.monotonic()
with Recording("sh", "-c", BOTH, options=("--app-only",)) as rec:
    took = time.monotonic() - began
    check(rec.p.stdout == "done\nmad\ndone\n",
          f"the programs do what they do: {rec.p.stdout!r} {rec.p.stderr}")
    check(took < 4 * SECONDS + 10, f"it ends: {took:.1f} s")
    print(rec.p.stderr.strip())
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    check(used.ru_maxrss < 400 << 10, f"no process had more than {used.ru_maxrss >> 10} MiB")
    size = sum(os.path.getsize(os.path.join(at, f)) for at, _, fs in os.walk(rec.dir) for f in fs)
    check(size < 500 << 20, f"the trace has {size >> 20} MiB")
    session = json.load(open(rec.dir + "/session.json"))
    check(session["complete"], "it is complete")
    last, count = 0, 0
    # as many warnings as there were losses: a pipe that nobody reads meanwhile may be full
    with tempfile.TemporaryFile("w+") as said, \
            subprocess.Popen(["babeltrace2", "--clock-cycles", rec.dir + "/app"], text=True,
                             stdout=subprocess.PIPE, stderr=said, errors="replace") as bt:
        for line in bt.stdout:
            now = int(line[1:line.index("]")])
            if now < last or now > session["stop_ns"] + 1000000000:
                check(False, f"time is what it is: {last} {line}")
            last = now
            count += 1
        bt.wait()
        said.seek(0)
        errors = said.read()
    check(bt.returncode == 0 and " ERROR " not in errors and count > 0,
          f"babeltrace2 reads all {count} events, in order " + (errors if " ERROR " in errors else ""))
    report = run(MAGNET, "report", "--json", rec.dir, check=False)
    check(report.returncode == 0, "magnet report does too")
    sent = sum(c["n"] for c in json.loads(report.stdout)["calls"] if c["name"] == "send")
    check(sent >= 500, f"what runs afterwards is recorded as if nothing had been: {sent} calls")
