# SPDX-License-Identifier: MIT
"""
Each event has the thread in whose context it happened, and each call the state of its own thread: also
where two threads share a place in the tracer's table, where a thread gets another number as it executes
a program, and where hooks come and go.
"""
import os
import re
import sys
import tempfile
import time
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from tracer import Tracer, events

PLACES = 16384  # MG_CALLERS
CALLS = 3000
TOP = scratch()

# send and receive `size` bytes on a pair of sockets, so many times
TALK = """
import ctypes, os, socket, sys, threading
def talk(size, times):
    a, b = socket.socketpair()
    for i in range(times):
        a.send(b"x" * size)
        b.recv(size)
    a.close()
    b.close()
"""

# a process and its child, whose numbers differ by what is given: clone3() with set_tid
TWO = TALK + """
class Args(ctypes.Structure):
    _fields_ = [(n, ctypes.c_uint64) for n in ("flags", "pidfd", "child_tid", "parent_tid", "exit_signal",
                "stack", "stack_size", "tls", "set_tid", "set_tid_size", "cgroup")]
apart, times = int(sys.argv[1]), int(sys.argv[2])
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # they take turns
while True:
    number = os.getpid() + (apart if os.getpid() < apart else -apart)
    if not os.path.exists(f"/proc/{number}"):
        break
    if os.fork():  # somebody has that number: go on with another one
        os.wait()
        sys.exit()
tid = (ctypes.c_int * 1)(number)
args = Args(exit_signal=17, set_tid=ctypes.addressof(tid), set_tid_size=1)
talk(7, 10)
child = ctypes.CDLL(None, use_errno=True).syscall(435, ctypes.byref(args), ctypes.sizeof(args))
if child < 0:
    sys.exit(f"no process {number}: {os.strerror(ctypes.get_errno())}")
talk(11 if child else 22, times)
if not child:
    os._exit(0)
os.waitpid(child, 0)
print(os.getpid(), child)
"""

# a thread that is not the first executes a program
EXECUTES = TALK + """
if len(sys.argv) == 2:
    talk(22, int(sys.argv[1]))
    sys.exit()
def second():
    talk(11, 1000)
    print(threading.get_native_id(), os.getpid(), flush=True)
    os.execv(sys.executable, [sys.executable, "-c", sys.argv[1], sys.argv[2]])
t = threading.Thread(target=second)
t.start()
talk(7, 1000)
t.join()
"""

# two processes that take turns, for as long as they are let
TURNS = TALK + """
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
child = os.fork()
if child:
    print(os.getpid(), flush=True)
os.read(0, 1)
for i in range(int(sys.argv[1])):
    talk(11 if child else 22, 10)
"""


def calls(directory):
    """How many calls of (tid, pid, asked) began, and how many of (tid, pid, ret) ended, that moved bytes."""
    began, ended = Counter(), Counter()
    for name, _, f in events(directory, "sys_enter", "sys_exit"):
        tid, pid = map(int, re.findall(r"-?\d+", f.split("}, {")[1])[:2])
        moved = int(re.search(r"asked = (\d+)" if name == "sys_enter" else r"ret = (-?\d+)", f)[1])
        if moved in (7, 11, 22):
            (began if name == "sys_enter" else ended)[(tid, pid, moved)] += 1
    return began, ended


def record(name, *command):
    d = f"{TOP}/{name}"
    said = run(MAGNET, "record", "-q", "--kernel-only", "-o", d, "--", *command).stdout
    return d + "/kernel", said


def one_place(apart):
    d, said = record(f"apart{apart}", PYTHON, "-c", TWO, str(apart), str(CALLS))
    parent, child = map(int, said.split())
    check(abs(parent - child) == apart, f"{parent} and {child} are {apart} apart")
    want = {(parent, parent, 7): 20, (parent, parent, 11): 2 * CALLS, (child, child, 22): 2 * CALLS}
    began, ended = calls(d)
    check(began == want and ended == want, f"each call is its own thread's: {dict(began)}, {dict(ended)}")


def another_number():
    d, said = record("executes", PYTHON, "-c", EXECUTES, EXECUTES, str(CALLS))
    second, first = map(int, said.split())
    began, ended = calls(d)
    want = {(first, first, 7): began[(first, first, 7)], (second, first, 11): 2000, (first, first, 22): 2 * CALLS}
    check(0 < began[(first, first, 7)] <= 2000 and began == want, f"calls begin: {dict(began)}")
    # the first thread may have been in a call when the second ended it
    check(ended - Counter(want) == Counter() and sum((Counter(want) - ended).values()) <= 1, f"and end: {dict(ended)}")


def hooks_come_and_go():
    d = f"{TOP}/turns"
    program = subprocess.Popen([PYTHON, "-c", TURNS, str(CALLS)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    try:
        parent = int(program.stdout.readline())
        with Tracer(d, "--pid", parent).ready() as t:
            program.stdin.write("\n" * 2)
            program.stdin.flush()
            for layers in ("syscall,socket,tcp", "syscall,sched", "syscall,socket", "syscall,socket,sched"):
                run(t.p.args[0], "ctl", "--pid", t.pid, "set", "layers=" + layers)
            program.communicate(timeout=60 * SLOWER)
            t.end()
    finally:
        program.kill()
        program.wait()
    began, ended = calls(d)
    processes = {pid for _, pid, _ in began}
    check(len(processes) == 2 and all(tid == pid and size == (11 if pid == parent else 22)
                                      for tid, pid, size in began | ended),
          f"whatever hooks are attached, each call is its own thread's: {dict(began)}, {dict(ended)}")


def end():
    """The tracer ends while two busy processes take turns on a CPU, of which it records one."""
    busy = [subprocess.Popen([PYTHON, "-c", TALK + "os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})\n"
                              f"while True: talk({size}, 100)\n"]) for size in (11, 22)]
    try:
        for n in range(4):
            d = f"{TOP}/end{n}"
            with Tracer(d, "--pid", busy[0].pid).ready() as t:
                time.sleep(0.3)
                t.end()
            began, ended = calls(d)
            who = {(busy[0].pid, busy[0].pid, 11)}
            others = [f for name, _, f in events(d, "softirq_entry", "softirq_exit", "irq_entry", "irq_exit")
                      if f"{busy[1].pid}," in f.split("}, {")[1]]
            check(set(began) == set(ended) == who and not others,
                  f"the last events are of the process it records, too: {dict(began)}, {others[:3]}")
    finally:
        for p in busy:
            stop(p)


need_kernel_side()
need_program("babeltrace2")
one_place(PLACES)
one_place(PLACES - 1)
another_number()
hooks_come_and_go()
end()
