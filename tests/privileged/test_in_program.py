# SPDX-License-Identifier: MIT
"""
Servers that are slow for a known reason (programs/slow_server.py): the parts of a request sum to
the time in the program, and the reason is the largest of them.
"""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fact_table import facts
from fixture import *

SERVER = os.path.join(os.path.dirname(__file__), "..", "programs", "slow_server.py")
TIMES, PAUSE_NS = 12, 30e6
SLEEPS = ("clock_nanosleep", "nanosleep", "select", "pselect6")
# the largest part, its system call, and words of the report
REASONS = {
    "sleep": ("blocked", SLEEPS, "blocked in "), "lock": ("blocked", ("futex",), "blocked in futex"),
    "fsync": ("blocked", ("fsync",), "blocked in fsync"),
    "backend": ("blocked", ("recvfrom",), "waiting for 127.0.0.1:"),
    "epoll": ("blocked", ("epoll_wait", "epoll_pwait"), "waiting for 127.0.0.1:"),
    "hog": ("run_queue", (None,), "waiting for a CPU"),
    # another thread's time on the CPU; how long that waits for one is not the program's doing
    "burn": ("on_cpu", (None,), "on the CPU"), "pool": ("on_cpu", (None,), "on the CPU"),
    "hand": ("on_cpu", (None,), "on the CPU"),
}
BUSY = ("burn", "pool", "hand")


def sums_hold(exchanges, parts, what):
    worst = max(abs(sum(p["time_ns"] for p in parts if same(p, e)) - e["in_program_ns"]) for e in exchanges)
    check(worst < 1, f"{what}: the parts of {len(exchanges)} exchanges sum to the time in the program: {worst} ns")


def same(part, exchange):
    return (part["request"], part["ordinal"]) == (exchange["request"], exchange["ordinal"])


def served(rec, port):
    exchanges = [e for e in facts(rec, "exchange") if e["role"] == "server" and
                 e["local"].endswith(f":{port}") and e["answer"] == "answered"]
    numbers = {(e["request"], e["ordinal"]) for e in exchanges}
    return exchanges, [p for p in facts(rec, "in_program") if (p["request"], p["ordinal"]) in numbers]


def is_expected(reason, part, said):
    kind, calls, _ = REASONS[reason]
    remote = f"127.0.0.1:{said['backend']}" if reason in ("backend", "epoll") else None
    return part["part"] == kind and (part["call"] or None) in calls and (not remote or part["remote"] == remote)


def works_in_time(reason, exchanges, parts):
    """A thread that computes for so long is on the CPU for so long, whichever thread it is."""
    readers = {e["request_tid"] for e in exchanges}
    for e in exchanges[1:]:  # before the first the thread may not have begun to wait for work
        own = [p for p in parts if same(p, e)]
        if any(p["part"] in ("handed_over", "blocked") and p["time_ns"] > PAUSE_NS / 2 for p in own):
            continue  # the thread had not yet begun to wait for more
        ran = sum(p["time_ns"] for p in own if p["part"] == "on_cpu")
        unknown = sum(p["time_ns"] for p in own if p["part"] == "unknown")
        # where Python's lock goes from one thread to the other, the division follows it
        least = PAUSE_NS * (0.99 if reason == "burn" else 0.8)
        if not least - unknown <= ran <= PAUSE_NS * 1.2 + 3e6 * SLOWER:
            return f"{ran / 1e6:.3f} ms in {e['ordinal']}"
        if reason != "burn" and not any(p["tid"] and p["tid"] not in readers and p["part"] == "on_cpu"
                                        and p["time_ns"] > PAUSE_NS / 2 for p in own):
            return f"not in the thread that works: {own}"
    return None


def slow_for(reason, directory):
    with Recording(PYTHON, SERVER, reason, TIMES, f"{directory}/file") as rec:
        said = json.loads(rec.p.stdout)
        exchanges, parts = served(rec, said["port"])
        report, text = rec.report(), rec.text()
    check(len(exchanges) == TIMES, f"{reason}: {len(exchanges)} exchanges of {TIMES}")
    sums_hold(exchanges, parts, reason)
    # a switch that is not in the recording, and of which no loss is told, is rare
    unknown = [p for p in parts if p["part"] == "unknown"]
    check({p["why_unknown"] for p in unknown} <= {"unseen"} and len(unknown) <= 2,
          f"{reason}: hardly anything is unknown: {unknown}")
    if reason != "hand":  # there another thread writes, and times nothing else
        took, inside = sum(said["took"]), sum(e["in_program_ns"] for e in exchanges)
        check(took <= inside * 1.001, f"{reason}: {took / 1e6:.2f} ms by its own clock, in the program {inside / 1e6:.2f} ms")
    right, all_of_it = sum(p["time_ns"] for p in parts if is_expected(reason, p, said)), sum(p["time_ns"] for p in parts)
    group = next(g for g in report["exchanges"] if g["role"] == "server" and g["port"] == said["port"])
    if reason in BUSY:
        wrong = works_in_time(reason, exchanges, parts)
        check(not wrong, f"{reason}: on the CPU as long as it computes: {wrong}")
    elif reason == "fsync":  # a fast disk takes less time than to get a CPU again
        blocked = [p for p in parts if p["part"] == "blocked"]
        waited = sum(p["time_ns"] for p in blocked)
        check(right > 0.9 * waited, f"fsync: {right / 1e6:.2f} of {waited / 1e6:.2f} ms blocked are in it")
        check(all(p["io"] for p in blocked if p["call"] == "fsync"), "fsync: it waits for a disk")
    else:
        check(right > all_of_it / 2, f"{reason}: {right / 1e6:.2f} of {all_of_it / 1e6:.2f} ms are in {REASONS[reason][:2]}")
        check(is_expected(reason, group["program_parts"][0], said), f"{reason}: the largest: {group['program_parts'][0]}")
    check(REASONS[reason][2] in text, f"{reason}: the text says {REASONS[reason][2]}")
    listed = sum(p["total_ns"] for p in group["program_parts"])
    check(abs(listed - all_of_it) < len(parts), f"{reason}: the report's parts sum to {all_of_it / 1e6:.2f} ms")
    for share in "share", "share_p50", "share_p99":
        whole = sum(p[share] for p in group["program_parts"])
        check(abs(whole - 1) < 1e-6, f"{reason}: {share} sums to {whole}")
    slowest = report["slowest"][0]
    whole = sum(p["ns"] for p in slowest["program_parts"])
    check(abs(whole - slowest["in_program_ns"]) < 1, f"{reason}: the slowest's parts sum to {whole / 1e6:.3f} ms")


def without_scheduler(directory):
    with Recording(PYTHON, SERVER, "sleep", 3, f"{directory}/file", options=("--layers", "syscall,tcp")) as rec:
        said = json.loads(rec.p.stdout)
        exchanges, parts = served(rec, said["port"])
    sums_hold(exchanges, parts, "without the scheduler")
    check({p["why_unknown"] for p in parts} == {"not_recorded"}, "and all of it is unknown, with the reason")


DISPATCHER = """
import os, queue, selectors, socket, threading, time
listener, sel, jobs = socket.create_server(("127.0.0.1", 0)), selectors.DefaultSelector(), queue.Queue()
print(listener.getsockname()[1], flush=True)
def work():
    while True:
        c = jobs.get()
        time.sleep(0.02)
        c.sendall(b"r" * 100)
def dispatch():
    sel.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in sel.select():
            if key.fileobj is listener:
                sel.register(listener.accept()[0], selectors.EVENT_READ)
            elif key.fileobj.recv(100):
                jobs.put(key.fileobj)
            else:
                sel.unregister(key.fileobj)
def ask():
    c = socket.create_connection(listener.getsockname())
    for _ in range(8):
        c.sendall(b"q" * 100)
        c.recv(100, socket.MSG_WAITALL)
if os.fork() == 0:
    clients = [threading.Thread(target=ask) for _ in range(4)]
    for t in clients: t.start()
    for t in clients: t.join()
    os._exit(0)
for f in (work, work, dispatch):
    threading.Thread(target=f, daemon=True).start()
os.wait()
"""


def others_are_no_service():
    """Between requests a thread waits for any client: a request waits for no other client."""
    with Recording(PYTHON, "-c", DISPATCHER) as rec:
        exchanges, parts = served(rec, int(rec.p.stdout))
    sums_hold(exchanges, parts, "many clients")
    clients = {e["remote"] for e in exchanges}
    named = [p for p in parts if p["remote"] in clients]
    idle = sum(p["time_ns"] for p in parts if (p["call"] or "").startswith("epoll"))
    check(len(clients) == 4 and not named, f"many clients: none is waited for by name: {named[:2]}; "
          f"{idle / 1e6:.2f} ms in epoll")


need_kernel_side()
os.system("ip link set lo up")
with tempfile.TemporaryDirectory(dir=os.environ["MAGNET_BUILD"]) as top:
    for name in REASONS:
        patiently(lambda reason=name: slow_for(reason, top))  # stolen time counts as time on the CPU
    without_scheduler(top)
    patiently(others_are_no_service)
