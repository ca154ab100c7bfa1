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


def results(seed, *listed, **kw):
    return run(PROGRAM, seed, CALLS, *listed, **{"check": False, **kw})


def same(how, bare, p, again):
    """Where they differ, the first call that does is shown."""
    if p.returncode == 0 and p.stdout == bare.stdout:
        return check(True, f"{how}: {p.stdout.strip()}")
    lines = zip(results(seed, "list").stdout.splitlines(), again().stdout.splitlines())
    for of_bare, of_other in lines:
        if of_bare != of_other:
            print(f"without magnet: {of_bare}\nwith it:        {of_other}")
            break
    check(False, f"{how}: exit {p.returncode} {p.stderr}")


own_network()
for seed in range(1, 4):
    bare = results(seed)
    check(results(seed).stdout == bare.stdout, f"seed {seed}: one sequence, one result")

    def recorded(*listed):
        with Recording(PROGRAM, seed, CALLS, *listed, options=("--app-only", "-q"), ok=None) as r:
            return r.p

    # while LTTng's threads look for a session daemon they have descriptors of low numbers: it waits
    def without_session(*listed):
        return results(seed, *listed, env=dict(os.environ, LD_PRELOAD=LIBMAGNET,
                                                  LTTNG_UST_REGISTER_TIMEOUT="500"))

    same("recorded", bare, recorded(), lambda: recorded("list"))
    same("without a session", bare, without_session(), lambda: without_session("list"))
if shutil.which("lttng-sessiond"):
    with LttngSession() as session:
        def to_lttng(*listed):
            return results(seed, *listed,
                           env=dict(os.environ, LD_PRELOAD=LIBMAGNET, **session.env))

        same("to LTTng", bare, to_lttng(), lambda: to_lttng("list"))
