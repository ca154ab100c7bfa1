# SPDX-License-Identifier: MIT
"""However a program ends, and however soon: what it did until then is in the trace."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from lives import *

LOOP = 'i=0; while [ $i -lt {} ]; do "$0" brief || exit 1; i=$((i+1)); done'
KILLS = 60


def brief():
    check_life(LIVES, "brief", expected=[SINK, {"send": 3}])
    check_life(LIVES, "brief", "preinit", expected=[SINK, SINK, {"send": 5, "close": 1}])


def a_thousand():
    with Life("sh", "-c", LOOP.format(1000), LIVES) as life:
        life.check_calls(times(1000, plus(SINK, {"send": 3})))
        check(len(life.of("send")) == 1000, "a thousand processes")


def ends():
    for how in ("_exit", "quick_exit", "exit_group", "abort", "segv", "kill"):
        check_life(LIVES, "end", how, expected=[SINK, {"send": 4}])


def killed():
    """
    In the middle of a loop of sends. One whose logging was cut short cannot be there, and is told;
    everything before is, and everything of another program.
    """
    with Life(LIVES, "killed", KILLS, may_lose=True) as life:
        sends = life.of("send")
        check(life.lost() <= KILLS, f"{life.lost()} calls were cut short")
        told = {int(pid): int(n) for _, pid, n in life.told}
        check(len(told) == KILLS + 1, f"{KILLS} programs were killed, one was not")
        ended = life.told[-1]
        check(ended[0] == "peaceful" and sends[int(ended[1])] == int(ended[2]),
              f"the other's {ended[2]} sends are all there")
        wrong = {pid: (n, sends[pid]) for pid, n in told.items() if not 0 <= sends[pid] - n <= 1}
        check(not wrong, f"each send that returned is there {wrong or ''}")
        check(life.losses() <= {UNFINISHED}, "nothing else was lost")


own_network()
for test in (brief, a_thousand, ends, killed):
    print("---", test.__name__)
    test()
