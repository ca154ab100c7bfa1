# SPDX-License-Identifier: MIT
"""
However the tracer ends, its trace opens and tells where it ends, and nothing stays in the kernel:
kill -9 at any instant, a full disk, the end of the process it follows, a second tracer beside it.
"""
import glob
import os
import random
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from tracer import *

KILLS = 6
own_network()  # starts over: nothing is made before
TOP = scratch()


def gone(ids):
    """The kernel frees programs some time after their last user is gone."""
    for _ in range(100):
        if not in_kernel(ids):
            return True
        time.sleep(0.1)
    return False


def kill_once(d, load, seconds, begun, *options):
    """Returns what it held in the kernel. `begun`: the time counts from when it recorded on."""
    with Tracer(d, "--pid", load.pid, "--drain", 1, *options) as t:
        if begun:
            t.ready()
        time.sleep(seconds)
        ids = bpf_ids(t.pid)
        t.kill()
        return ids


def starting_takes(d, load):
    started = time.monotonic()
    with Tracer(d, "--pid", load.pid).ready():
        return time.monotonic() - started


def broke_off(d):
    """Whether there is a trace; fatal if it is one and does not open, or does not tell its end."""
    if not os.path.exists(d + "/metadata"):
        if os.path.exists(d) and os.listdir(d) not in ([], [".metadata.new"]):
            check(False, f"killed before the trace was begun, there is nothing: {os.listdir(d)}")
        return False
    why = opens(d)
    if why:
        check(False, f"{d}: plain babeltrace2 opens it: {why}")
    r = report(d)
    if r["session"]["ended_in_order"] or (r["events"]["kernel"] > 0) != \
            (r["session"]["broke_off_ns"] is not None):
        check(False, f"the report tells where it broke off: {r['session']}")
    return r["events"]["kernel"] > 0


def sockets_of_the_dead():
    pids = [re.search(r"-(\d+)\.sock$", p).group(1) for p in glob.glob("/run/magnet/kernel-tracer-*.sock")]
    return [pid for pid in pids if not os.path.exists("/proc/" + pid)]


def killed():
    """The tmpfs stops a write at every page, which disks seldom do."""
    top = tempfile.mkdtemp(prefix="magnet-test-", dir="/dev/shm" if os.path.isdir("/dev/shm") else TOP)
    random.seed(1)
    ids, with_events = set(), 0
    try:
        with Talker(4000) as load:
            load.begin(10 ** 9)
            starting = starting_takes(top + "/first", load)
            for n in range(KILLS):
                d = f"{top}/{n}"
                ids |= kill_once(d, load, random.uniform(0, 0.2 if n % 2 else starting), n % 2)
                with_events += broke_off(d)
                shutil.rmtree(d, ignore_errors=True)
            load.p.kill()
    finally:
        shutil.rmtree(top)
    check(with_events > KILLS / 4, f"of {KILLS} recordings that were killed all open, {with_events} with events")
    check(len(ids) > 20 and gone(ids), f"nothing is left of {len(ids)} programs and links")
    with Talker() as load, Tracer(TOP + "/next", "--pid", load.pid).ready():
        check(not sockets_of_the_dead(), "and their sockets are taken away by the next to come")


def killed_in_parts():
    """A kill may come between two parts, too."""
    random.seed(2)
    with Talker(4000) as load:
        load.begin(10 ** 9)
        for n in range(3):
            d = f"{TOP}/parts{n}"
            kill_once(d, load, random.uniform(0.1, 0.3), True, "--rotate", "64K", "--keep", "20")
            if opens(d) or report(d)["session"]["ended_in_order"]:
                check(False, f"{d}: it opens and broke off: {opens(d)}")
            shutil.rmtree(d)
        load.p.kill()
    check(True, "parts open after a kill")


def killed_text():
    with Talker() as load, Tracer(TOP + "/killed", "--pid", load.pid).ready() as t:
        load.ask(100)
        time.sleep(0.2)
        t.kill()
    text = run(MAGNET, "report", TOP + "/killed").stdout
    check("INCOMPLETE: the kernel side ends at " in text and "the tracer was killed" in text,
          "the report says where it broke off, and why")


def full_disk():
    top = TOP + "/small"
    os.mkdir(top)
    if run("mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", top, check=False).returncode:
        print("no tmpfs can be mounted: not tried")
        return
    try:
        with Talker() as load:
            load.begin(10 ** 9)
            p = run(TRACER, "-o", top + "/t", "--pid", load.pid, check=False)
            load.p.kill()
        check(p.returncode == 1 and p.stderr.count("\n") == 1 and "no space left" in p.stderr,
              "one line says that the disk is full: " + p.stderr.strip())
        check(opens(top + "/t") == "", "plain babeltrace2 opens the trace")
        r = report(top + "/t")
        check(r["events"]["kernel"] > 0 and r["session"]["broke_off_ns"] is not None,
              f"{r['events']['kernel']} events are readable, and where it ends is told")
    finally:
        run("umount", top)


def ends_with_its_process():
    with Talker() as load, Tracer(TOP + "/pid", "--pid", load.pid).ready() as t:
        load.ask(10)
        load.leave()
        said = t.end(ask=False)
    check(said.get("done") and t.p.returncode == 0, "with the process of --pid the recording ends")
    check(report(TOP + "/pid")["session"]["ended_in_order"], "in order")
    with Talker() as load:
        p = subprocess.Popen([MAGNET, "record", "-q", "-o", TOP + "/record", "--pid", str(load.pid)])
        while not os.path.exists(TOP + "/record/kernel/tracer"):
            time.sleep(0.05)
        load.ask(10)
        load.leave()
        check(p.wait(60) == 0, "magnet record --pid ends likewise")
    check(json.load(open(TOP + "/record/session.json"))["complete"], "and is complete")


def ends_while_it_starts():
    """A process that is gone before the tracer watches it: the recording ends, and does not wait for more."""
    with subprocess.Popen(["sleep", "0.05"]) as gone:
        p = subprocess.Popen([MAGNET, "record", "-q", "-o", TOP + "/gone", "--pid", str(gone.pid)],
                             stderr=subprocess.PIPE, text=True)
        gone.wait()
        check(p.wait(60) in (0, 1), f"a process that ends during the start: {p.stderr.read().strip()}")


def two():
    """Side by side; on a machine that skips programs at times, tried again."""
    for n in range(5):
        a, b = f"{TOP}/a{n}", f"{TOP}/b{n}"
        with Talker() as load, Tracer(a, "--pid", load.pid).ready() as one, \
                Tracer(b, "--pid", load.pid).ready() as other:
            load.ask(500)
            load.leave()
            said = [one.end(ask=False), other.end(ask=False)]
        # not what each says of itself, nor what goes on before both are there
        counted = [{k: v for k, v in counts(d).items() if k not in
                    ("clock_sync", "clock_cpus", "calibration", "hook", "sched_switch", "sched_waking",
                     "lost")} for d in (a, b)]
        if counted[0] == counted[1] and not any(s["lost"] for s in said):
            break
        print("some program was skipped: once more", counted)
    check(counted[0] == counted[1], f"two tracers record the same: {counted[0]}")
    check(counted[0]["tcp_send"] >= 1000 and counted[0].get("ip_out", 2000) >= 1000,
          "which is what happened")
    missing = {h["hook"] for d in said for h in d["hooks"] if h["status"]}
    # a socket's lock is seen only where the kernel lets functions be hooked
    check(all(h.startswith(("lock_", "backlog_")) for h in missing),
          f"with every hook attached in both: {missing or 'all'}")


need_kernel_side()
need_program("babeltrace2")
try:
    for test in (killed, killed_in_parts, killed_text, full_disk, ends_with_its_process, ends_while_it_starts, two):
        print("---", test.__name__)
        test()
finally:
    shutil.rmtree(TOP)
