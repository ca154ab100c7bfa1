# SPDX-License-Identifier: MIT
"""
A server under a CPU quota: its waits for the quota are told apart from other waits for a CPU, their number
and sum are the kernel's own (cpu.stat), and the first screen names the quota as the cause.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from cpu_group import CpuGroup

# One process asks, the other is in the group, and computes as long for each request.
SERVER = """
import os, socket, sys, time
listener = socket.create_server(("127.0.0.1", 0))
requests, work = int(sys.argv[1]), float(sys.argv[2])
if os.fork() == 0:
    with open(sys.argv[3] + "/cgroup.procs", "w") as f:
        f.write(str(os.getpid()))
    s = listener.accept()[0]
    while s.recv(100):
        until = time.thread_time() + work
        while time.thread_time() < until:
            pass
        s.sendall(bytes(100))
    os._exit(0)
s = socket.create_connection(listener.getsockname())
listener.close()
for _ in range(requests):
    s.sendall(bytes(100))
    s.recv(100)
s.close()
os.wait()
"""


def under_a_quota():
    group = CpuGroup(30000, 100000)
    if group.why:
        print("not tested:", group.why)
        return
    try:
        with Recording(PYTHON, "-c", SERVER, 100, 0.005, group.path) as rec:
            report, text, show = rec.report(), rec.text(), run(MAGNET, "show", "--facts", "wait", rec.dir).stdout
        times, throttled = group.throttled()
    finally:
        group.remove()
    scheduler = report["scheduler"]
    waits = [line for line in show.splitlines() if "\tthrottled\t" in line]
    check(times >= 5, f"the kernel throttled the group {times} times")
    if scheduler["throttled_at_least"]:
        check(times / 2 <= scheduler["throttled_ns"]["n"] <= times + 1, f"of which {scheduler['throttled_ns']['n']} are seen")
        check(throttled / 2 <= scheduler["throttled_total_ns"] <= 1.05 * throttled,
              f"{scheduler['throttled_total_ns']:.0f} ns of {throttled} are seen")
    else:
        # the last time may have no end, as the process ends then
        near(scheduler["throttled_ns"]["n"], times, 1.5 / times, "times throttled, by cpu.stat")
        near(scheduler["throttled_total_ns"], throttled, 0.05, "ns throttled in all, by cpu.stat")
    check(len(waits) == scheduler["throttled_ns"]["n"], "facts and figures agree")
    check(scheduler["throttled_total_ns"] <= scheduler["run_queue_total_ns"], "they are among the waits for a CPU")
    check("server: the program itself, throttled by its CPU quota" in text and "cpu.max" in text,
          "the answer names the quota:\n" + text[:3000])
    check("throttled, as a cgroup had used up its CPU quota" in text, "the scheduler's section has the sum")


def without_one():
    with Recording(PYTHON, os.path.join(os.path.dirname(__file__), "..", "programs", "exchange.py"), 500) as rec:
        check(rec.report()["scheduler"]["throttled_ns"]["n"] == 0 and "throttled" not in rec.text(),
              "nothing is throttled without a quota")


need_kernel_side()
patiently(under_a_quota)
patiently(without_one)
