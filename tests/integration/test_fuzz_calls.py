# SPDX-License-Identifier: MIT
"""Calls with all kinds of wrong arguments return what they return without magnet, errno too."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from lttng import LttngSession

BUILD = os.environ["MAGNET_BUILD"]
PROGRAM = BUILD + "/tests/programs/fuzz_calls"
LIBMAGNET = BUILD + "/preload/libmagnet.so"
CALLS = 20000


def results(seed, **kw):
    return run(PROGRAM, seed, CALLS, "list", check=False, **kw)


def same(how, bare, p):
    """Where they differ, the first call that does is shown."""
    if p.returncode == 0 and p.stdout == bare.stdout:
        return check(True, f"{how}: {p.stdout.splitlines()[-1]}")
    for first, other in zip(bare.stdout.splitlines(), p.stdout.splitlines()):
        if first != other:
            print(f"without magnet: {first}\n{how}: {other}")
            break
    check(False, f"{how}: exit {p.returncode} {p.stderr}")


own_network()
for seed in range(1, 4):
    bare = results(seed)
    same("without magnet, a second time", bare, results(seed))
    with Recording(PROGRAM, seed, CALLS, "list", options=("--app-only", "-q"), ok=None) as r:
        same("recorded", bare, r.p)
    # while LTTng's threads look for a session daemon they have descriptors of low numbers: it waits
    without_session = dict(os.environ, LD_PRELOAD=LIBMAGNET, LTTNG_UST_REGISTER_TIMEOUT="500")
    same("without a session", bare, results(seed, env=without_session))
if shutil.which("lttng-sessiond"):
    with LttngSession() as session:
        same("to LTTng", bare,
             results(seed, env=dict(os.environ, LD_PRELOAD=LIBMAGNET, **session.env)))
