# SPDX-License-Identifier: MIT
"""Children of every making, other programs, daemons, cages: all they do is in the trace."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from lives import *


def sent_by(life, *expected):
    """So many sends by as many processes, each by its main thread."""
    check(sorted(life.of("send").values()) == sorted(expected), f"sends of processes: {expected}")
    check(life.of("send") == life.of("send", "tid"), "each by the thread that is the process")


def forks():
    for how in ("fork", "_Fork"):
        with Life(LIVES, "fork", how) as life:
            if life.p.returncode == 77:
                print("the C library has no _Fork()")
                continue
            life.check_calls(SINK, {"send": 6})
            sent_by(life, 2, 3, 1)
    with Life(LIVES, "raw_fork") as life:
        life.check_calls(SINK, {"send": 5})
        sent_by(life, 1, 2, 2)


def storm():
    with Life(LIVES, "storm", 200) as life:
        life.check_calls(SINK, {"send": 1000})
        sent_by(life, *[5] * 200)


def shared_memory():
    """Children in their parent's memory, whose descriptors are their own."""
    with Life(LIVES, "vfork") as life:
        life.check_calls(SINK, {"send": 4, "write": 1, "close": 1})
        sent_by(life, 2, 1, 1)
        check(not set(life.of("write")) & set(life.of("socket")), "the child wrote, not its parent")
    with Life(LIVES, "clone_vm") as life:
        life.check_calls(SINK, {"send": 4, "write": 1})
        sent_by(life, 2, 2)
        check(not set(life.of("write")) & set(life.of("socket")), "the child wrote, not its parent")
    with Life(LIVES, "beside") as life:  # the second child's is the kernel's to tell
        life.check_calls(SINK, {"send": 6003, "close": 1})
        sent_by(life, 3003, 3000)
    check_life(LIVES, "beside_sandbox", expected=[SINK, {"send": 2}])
    with Life(LIVES, "spawn") as life:
        life.check_calls(SINK, {"write": 2, "send": 1})
        check(not set(life.of("write")) & set(life.of("send")), "the child wrote, not its parent")


def foreign_storage():
    """Children with thread-local storage of the program's making: libmagnet.so leaves them alone."""
    with Life(LIVES, "foreign") as life:
        life.check_calls(SINK, {"send": 11})
        sent_by(life, 11)


def chain():
    with Life(LIVES, "exec_chain", 50) as life:
        life.check_calls(times(50, plus(SINK, {"send": 1, "close": 1})))
        check(len(life.of("send")) == 1, "all by one process")


def others():
    """By every function that executes a program: arguments, environment and errors as without."""
    with Life(LIVES, "execs") as life:
        life.check_calls(SINK, {"send": 10})


def daemons():
    """The number it had its socket under belongs to a file later."""
    for how in ("loop", "all", "close_range", "closefrom", "raw", "raw_range", "dup2"):
        with Life(LIVES, "daemon", how) as life:
            closed = {"close": 1 + (how in ("loop", "raw"))}
            life.check_calls(times(3, SINK), {"send": 5}, closed)
            sent_by(life, 1, 4)


def privileges():
    if os.geteuid():
        print("not root: no chroot(), no setuid()")
        return
    with Life(LIVES, "cage") as life:
        life.check_calls(SINK, {"send": 6})
    reach = run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "test", "-r", LIBMAGNET,
                check=False)
    if reach.returncode:
        print("the build is not readable by other users: not tried")
        return
    with Life(LIVES, "drop", LIVES) as life:
        life.check_calls(SINK, SINK, {"send": 9})
        check(sorted(life.of("send").values()) == [4, 5], "by both processes")


own_network()
for test in (forks, storm, shared_memory, foreign_storage, chain, others, daemons, privileges):
    print("---", test.__name__)
    test()
