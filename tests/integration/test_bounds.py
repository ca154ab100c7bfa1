# SPDX-License-Identifier: MIT
"""
The bounds of a recording (--max-size, --rotate with --keep, --flight) hold for the application side, too: on
the disk at any moment, and in what is told of it. The calls that are there are those that the program
made meanwhile, by its own clock.
"""
import array
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PROGRAM = """
import array, socket, sys, time
a, b = socket.socketpair()
now, began, ended = time.monotonic_ns, array.array("Q"), array.array("Q")
until = now() + int(float(sys.argv[2]) * 1e9)
while not ended or ended[-1] < until:
    began.append(now())
    a.send(b"x" * 100)
    ended.append(now())
    if len(began) % 100 == 0:
        b.recv(100 * 100)
with open(sys.argv[1], "wb") as f:
    began.tofile(f)
    ended.tofile(f)
"""
KIB = 1024
PACKET = 256 * KIB  # what is written at once


def on_disk(directory):
    size = 0
    for path, _, names in os.walk(directory):
        for name in names:
            try:
                size += os.lstat(os.path.join(path, name)).st_size
            except OSError:  # deleted meanwhile
                pass
    return size


def recorded(top, seconds, *options):
    """The report, its text, the largest size on the disk, when each send began and ended, and record's messages."""
    p = subprocess.Popen([MAGNET, "record", "--app-only", "--calls", "send", *options, "-o", top + "/t", "--",
                          PYTHON, "-c", PROGRAM, top + "/times", str(seconds)], stderr=subprocess.PIPE, text=True)
    largest = 0
    while p.poll() is None:
        largest = max(largest, on_disk(top + "/t/app"))
        time.sleep(0.01)
    said = p.stderr.read()
    check(p.returncode == 0, f"{' '.join(options)}: record ends well: {said.strip()}")
    times = array.array("Q", open(top + "/times", "rb").read())
    report = json.loads(run(MAGNET, "report", "--json", top + "/t").stdout)
    return report, run(MAGNET, "report", top + "/t").stdout, largest, times[:len(times) // 2], times[len(times) // 2:], said


def bounded(most, edge, reason, *options, seconds=2):
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        report, text, largest, began, ended, said = recorded(top, seconds, *options)
        side = report["session"]["sides"]["app"]
        check(largest <= most, f"never more than {largest // KIB} KiB of {most // KIB} were on the disk")
        check(f"INCOMPLETE: the application side {edge} " in text and reason in text, f"told in the text: {side}")
        check(not side["complete"] and side["ended_in_order"] and side["coverage"] < 1, "and in JSON")
        first, last = side["from_ns"], side["until_ns"]
        least = sum(b > first and e < last for b, e in zip(began, ended))
        at_most = sum(e >= first and b <= last for b, e in zip(began, ended))
        seen = sum(c["n"] for c in report["calls"] if c["name"] == "send")
        lost = report["loss"]["app"]
        check(least <= seen + lost <= at_most, f"{seen} calls seen and {lost} lost: by the program's clock {least} "
              f"to {at_most} of {len(began)}")
        check(0 < seen < len(began), "which are not all")
        if lost == 0:
            check("no other loss is reported" in text, "nothing else is missing")
        return side, said


def all_parts():
    """Without --keep all are there, and together they are the recording."""
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        report, text, _, began, _, _ = recorded(top, 1, "--rotate", "256K")
        parts = sorted(os.listdir(top + "/t/app"))
        seen = sum(c["n"] for c in report["calls"] if c["name"] == "send")
        check(len(parts) > 2 and "INCOMPLETE" not in text, f"{len(parts)} parts are one recording")
        check(seen + report["loss"]["app"] == len(began), f"{seen} and {report['loss']['app']} lost of {len(began)} calls")
        p = run("babeltrace2", top + "/t/app/" + parts[1])
        check(p.stdout.count("send") > 100, "a part is a trace of its own")
        shutil.rmtree(f"{top}/t/app/{parts[1]}")
        report, text = json.loads(run(MAGNET, "report", "--json", top + "/t").stdout), run(MAGNET, "report", top + "/t").stdout
        check("INCOMPLETE" in text and "nothing lost:" not in text, "one that is taken out is told")
        gaps = [g for g in report["loss"]["gaps"] if g["reason"] == "not_here" and g["layers"] == ["app"]]
        check(len(gaps) == 1 and gaps[0]["from_ns"] < gaps[0]["to_ns"], "with its place")


def wrong():
    for options, why in ((("--keep", "2"), "--keep needs --rotate or --flight"), (("--max-size", "1"), "bad value"),
                         (("--flight", "1s", "--rotate", "1s"), "--flight excludes")):
        p = run(MAGNET, "record", "--app-only", *options, "-o", "/nonexistent/t", "--", "true", check=False)
        check(p.returncode == 2 and why in p.stderr, f"{' '.join(options)}: {p.stderr.strip()}")


own_network()
_, said = bounded(512 * KIB + 2 * PACKET, "ends", "it has reached --max-size", "--max-size", "512K")
check("application side: it has reached --max-size; calls from now on" in said, "record says so at once")
bounded(4 * (256 * KIB + PACKET), "begins", "earlier events were not kept", "--rotate", "256K", "--keep", "3")
side, _ = bounded(1 << 30, "begins", "earlier events were not kept", "--flight", "1s", seconds=3)
check(side["until_ns"] - side["from_ns"] >= 1e9, "not less is kept than was asked for")
bounded(11 * (128 * KIB + PACKET), "begins", "earlier events were not kept", "--flight", "1M")
all_parts()
wrong()
