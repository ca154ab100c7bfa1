# SPDX-License-Identifier: MIT
"""Each example runs as its README says and shows what it promises."""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from python_package import interpreter

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
SHOWS = {  # in this order
    "code-or-kernel": ["== slow: the code", "server: the program itself", "blocked in futex", "== slow: the link",
                       "→ The link, or a rate limit on it, is slower than the program."],
    "congestion-control": ["goodput Mbit/s", "cubic", "over time: ", "reno", "over time: "],
    "driver-poll": ["used their whole budget"],
    "nagle": ["Nagle's algorithm waited for an ACK", "→ Set TCP_NODELAY", "send buffer"],
    "p99-cause": ["slowest 1 %: 4 requests", "the slowest spend more", "ms  blocked in clock_nanosleep",
                  "every request over time"],
    "pinning": ["figures differ", "tcp requests"],
    "proxy": ["received from 127.0.0.1:8001", "socket queue: reader absent", "sizes 200 B → "],
    "send-buffer": ["== slow: the link", "TCP small queues", "== slow: the reader", "the peer's window",
                    "== slow: the pacing", "(pacing)"],
    "simulator-traffic": ["application: 75 of 10240 bytes, every 20.", "wire: "],
    "slow-reader": ["The peer reads too slowly"],
}

TABLES = ("congestion-control", "p99-cause", "simulator-traffic")  # ask the Python package

need_kernel_side()
python = interpreter("numpy", "pandas", "matplotlib")
if python:
    os.environ["MAGNET_PYTHON"] = python
examples = sorted(os.path.basename(os.path.dirname(p)) for p in glob.glob(ROOT + "/examples/*/run"))
check(examples == sorted(SHOWS), "each example has a test")
for name in examples:
    readme = open(f"{ROOT}/examples/{name}/README.md").read()
    check(re.search(rf"^    examples/{name}/run$", readme, re.M), f"{name}: its README tells how")
    if name in TABLES and not python:
        print(f"{name}: not tried: no Python here has pandas and matplotlib")
        continue
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as d:
        p = run(f"{ROOT}/examples/{name}/run", d + "/trace")
        at = 0
        for shown in SHOWS[name]:
            at = p.stdout.find(shown, at)
            check(at >= 0, f"{name}: the report shows: {shown}")
        check(p.stderr == "", f"{name}: and nothing went wrong")
