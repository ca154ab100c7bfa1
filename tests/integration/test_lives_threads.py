# SPDX-License-Identifier: MIT
"""Threads, many at once and many in turn, cancelled, interrupted by signals, and out of handlers."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from lives import *

RINGS_MAY_HAVE = 64 << 20


def threads():
    with Life(LIVES, "threads", 200) as life:
        life.check_calls(SINK, {"send": 1000})
        check(sorted(life.of("send", "tid").values()) == [5] * 200, "five sends by each of 200 threads")
        check(len(life.of("send")) == 1, "of one process")


def chain():
    """Rings are used again: 5000 threads need no more memory than some do."""
    with Life(LIVES, "thread_chain", 5000) as life:
        life.check_calls(SINK, {"send": 10000})
        check(set(life.of("send", "tid").values()) == {2}, "two sends by each of 5000 threads")
        size = int(life.told[0][1])
        check(0 < size <= RINGS_MAY_HAVE, f"the rings have {size >> 10} KiB")


def cancelled():
    with Life(LIVES, "cancel") as life:
        life.check_calls(times(2, SINK), {"send": 2, "recv": 2, "close": 2})


def interrupted():
    """A handler that sends while the program writes, anywhere in it."""
    with Life(LIVES, "signals") as life:
        told = {name: int(n) for name, n in life.told}
        check(told["handled"] > 100, f"{told['handled']} signals")
        life.check_calls(SINK, {"write": told["written"], "send": told["handled"]})


def jumps():
    """
    A handler that leaves by siglongjmp(). A call whose logging it left may not be there, but is told;
    no other is missing, and none waits for it.
    """
    with Life(LIVES, "jumps", may_lose=True) as life:
        told = {name: int(n) for name, n in life.told}
        seen, lost = life.names()["send"], life.lost()
        check(told["jumps"] > 100, f"{told['jumps']} jumps")
        check(lost <= told["jumps"] / 4 and life.losses() <= {UNFINISHED}, f"{lost} were left undone")
        check(told["sent"] <= seen + lost <= told["sent"] + told["jumps"],
              f"{told['sent']} sends returned: {seen} are there, {lost} are told to be missing")


own_network()
for test in (threads, chain, cancelled, interrupted, jumps):
    print("---", test.__name__)
    test()
