# SPDX-License-Identifier: MIT
"""Each example runs as its README says and shows what it promises."""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
SHOWS = {"driver-poll": "used their whole budget", "nagle": "send buffer", "slow-reader": "The peer reads too slowly"}

need_kernel_side()
examples = sorted(os.path.basename(os.path.dirname(p)) for p in glob.glob(ROOT + "/examples/*/run"))
check(examples == sorted(SHOWS), "each example has a test")
for name in examples:
    readme = open(f"{ROOT}/examples/{name}/README.md").read()
    check(re.search(rf"^    examples/{name}/run$", readme, re.M), f"{name}: its README tells how")
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as d:
        p = run(f"{ROOT}/examples/{name}/run", d + "/trace")
        check(SHOWS[name] in p.stdout, f"{name}: the report shows the {SHOWS[name]}")
        check(p.stderr == "", f"{name}: and nothing went wrong")
