# SPDX-License-Identifier: MIT
"""Each figure that the text report prints is JSON's of the same name, to the last digit printed."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from text_figures import compare

PROGRAMS = os.path.join(os.path.dirname(__file__), "..", "programs")
EXCHANGE = [PYTHON, PROGRAMS + "/exchange.py", "300"]
RECORDINGS = (
    ("all but a few layers", EXCHANGE, ()),
    ("datagrams and UNIX sockets", [PYTHON, PROGRAMS + "/messages.py"], ("--level", "full", "--layers", "+switch")),
    ("the device alone", EXCHANGE, ("--layers", "device")),
    ("no layer", EXCHANGE, ("--layers", "none")),
    ("the application alone", EXCHANGE, ("--app-only",)),
    ("too small a buffer", EXCHANGE, ("--buffer", "64K")),
)

need_kernel_side()
for what, command, options in RECORDINGS:
    with Recording(*command, options=("-q", *options)) as rec:
        n, wrong = compare(rec.text(), rec.report())
        check(n > 20 and not wrong, f"{what}: {n} figures are the same in text and JSON; not so: {wrong}")
