# SPDX-License-Identifier: MIT
"""
Several recordings a side (docs/method.md, "Comparison"). A program against itself: of the ways to divide its
recordings into two sides, those that find a difference are as rare as is promised. A server that sleeps for
2 ms, and a receiver without room for its datagrams: found with sign and size, the requests first.
"""
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

SIDE = 5
# asks and is answered on one connection; then sends 200 datagrams before the first is read; argv: seconds for
# which the server sleeps, bytes of the datagrams' receive buffer
PROGRAM = """
import socket, sys, threading, time
listening = socket.create_server(("127.0.0.1", 5133))
def serve():
    c, _ = listening.accept()
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while c.recv(100):
        time.sleep(float(sys.argv[1]))
        c.sendall(b"y" * 100)
t = threading.Thread(target=serve)
t.start()
s = socket.create_connection(listening.getsockname())
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for _ in range(60):
    s.sendall(b"x" * 100)
    s.recv(100, socket.MSG_WAITALL)
    time.sleep(0.001)
s.close()
t.join()
r = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
r.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, int(sys.argv[2]))
r.bind(("127.0.0.1", 5134))
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(r.getsockname())
for _ in range(200):
    s.send(b"x" * 400)
r.setblocking(False)
try:
    while True:
        r.recv(1000)
except BlockingIOError:
    pass
"""


def repeat(top, n, *args):
    run(MAGNET, "record", "-q", "--repeat", n, "--level", "light", "-o", top, "--", PYTHON, "-c", PROGRAM, *args)
    return [f"{top}/{i + 1}" for i in range(n)]


def compared(now, before):
    return json.loads(run(MAGNET, "report", "--json", *now, "--against", ",".join(before)).stdout)["comparison"]


def figure(c, name, **match):
    for f in c["figures"]:
        if f["figure"] == name and all(f[k] == v for k, v in match.items()):
            return f
    sys.exit(f"no figure {name} {match}")


def against_itself(dirs):
    """
    Each way to divide the recordings is as good as any other if nothing differs: one in twenty at most finds
    anything. Of the 252 ways, 20 by chance.
    """
    rng, finds, compares = random.Random(1), [], 0
    for _ in range(20):
        now = sorted(rng.sample(dirs, SIDE))
        c = compared(now, [d for d in dirs if d not in now])
        if not compares:
            check(c["noise"] == "between" and c["can_tell"] and c["resamples"] == 252, "all arrangements are tried")
        compares = max(compares, c["compared_n"])
        if c["exceeding_n"]:
            finds.append(c["exceeding_n"])
    c = compared(dirs[SIDE:], dirs[:SIDE])
    print(f"the later five against the earlier: {c['exceeding_n']} of {c['compared_n']} figures differ")
    check(compares > 50, f"{compares} figures are compared")
    check(len(finds) <= 5, f"{len(finds)} of 20 divisions find differences: {finds}")


def sleeping(asleep, awake):
    c = compared(asleep, awake)
    f = figure(c, "in_program_p50", side="server")
    check(f["exceeds_noise"] and f["chance"] <= 0.05, f"the server's sleep exceeds the noise: {f}")
    check(1.9e6 <= f["difference"] < 4e6, f"with its size: {f['difference']} ns")
    check(f["low"] <= f["difference"] <= f["high"], f"and its interval, {f['low']} to {f['high']}")
    check(f["now_n"] == SIDE and f["before_n"] == len(awake), "of all recordings")
    f = figure(c, "in_program", side="server", reason="blocked in clock_nanosleep")
    check(f["exceeds_noise"] and 1.9e6 <= f["difference"] < 4e6, f"so does the call in which it sleeps: {f}")
    check(figure(c, "srtt", side="client", direction="tx")["now_n"] == SIDE, "the connection's state is compared")
    check([r["source"] for r in c["now_recordings"]] == asleep, "each recording is named")
    text = run(MAGNET, "report", *asleep, "--against", os.path.dirname(awake[0])).stdout
    first = re.search(r"The largest difference: (.*) of tcp requests", text)
    check(first and re.fullmatch("(request to reply|in the program), p(50|99)", first[1]),
          f"the requests stand first: {first and first[0]}")
    rows = [line for line in text.splitlines() if re.match(r"    \S", line)]
    check(len(rows) == 10, f"of the table {len(rows)} rows are printed")
    rest = run(MAGNET, "report", "--all", *asleep, "--against", os.path.dirname(awake[0])).stdout
    check(len(rest.splitlines()) > len(text.splitlines()) + 50, "and all with --all")


def one_is_not_enough(one, other, others):
    for now, before, which in ((one, other, "each"), (one, ",".join(others), "one")):
        p = run(MAGNET, "report", "--json", now, "--against", before)
        check(not json.loads(p.stdout)["comparison"]["can_tell"], f"one recording on {which} side cannot tell")
        text = " ".join(run(MAGNET, "report", now, "--against", before).stdout.split())
        check(f"one recording on {which} side cannot tell a change of the program" in text and "--repeat 5" in text,
              "which the text says first, and what to do")
    text = " ".join(run(MAGNET, "report", *others[:3], "--against", ",".join(others[3:6])).stdout.split())
    check("3 and 3 recordings are too few to tell a change" in text, "three are not enough either")


def without_room(narrow, wide):
    f = figure(compared(narrow, wide), "dropped", direction="rx", kind="udp")
    check(f["before"] == 0 and 0.3 < f["now"] < 1 and f["exceeds_noise"], f"the share of drops exceeds the noise: {f}")


def bad_lists(dirs):
    p = run(MAGNET, "report", dirs[0], "--against", dirs[1] + ",", check=False)
    check(p.returncode == 2 and len(p.stderr.splitlines()) == 1, f"a name is missing: {p.stderr.strip()}")
    p = run(MAGNET, "report", dirs[0], "--against", dirs[1] + "," + dirs[1] + "-not", check=False)
    check(p.returncode == 1 and dirs[1] + "-not: " in p.stderr, f"one is not there: {p.stderr.strip()}")


need_kernel_side()
with tempfile.TemporaryDirectory(prefix="magnet-test-") as TOP:
    same = repeat(TOP + "/same", 2 * SIDE, "0", "400000")
    against_itself(same)
    changed = repeat(TOP + "/changed", SIDE, "0.002", "20000")
    sleeping(changed, same)
    without_room(changed, same)
    one_is_not_enough(changed[0], same[0], same)
    bad_lists(same)
