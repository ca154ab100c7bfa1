# SPDX-License-Identifier: MIT
"""
test_fuzz_recordings.py COUNT [SEED [NUMBER]]: mutations of ten kinds of recordings, by both readers. Whatever
it is given, magnet ends soon, by itself, with at most 512 MB and without a sanitizer's word; and where it
says that nothing was lost it has read as many events as there were. (Of LTTng's traces nobody can tell, so
that it is not said.) NUMBER tries one mutation alone.

MAGNET_FUZZ_RECORDER is a magnet to record with, where the one that reads is a sanitized one.
"""
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from ctf import Trace
from fixture import *
from mutations import mutate

own_network()
RECORDER = os.environ.get("MAGNET_FUZZ_RECORDER", MAGNET)
EXCHANGE = os.path.join(os.path.dirname(__file__), "..", "programs", "exchange.py")
SANITIZED = "ASAN_OPTIONS" in os.environ
MEMORY_KB = 512 * 1024
SECONDS = 120 * SLOWER  # a busy machine's, not a bound that is tested: what hangs does so for ever
READ = re.compile(r"(nothing lost:|read:) ([\d,]+) application and ([\d,]+) kernel events")
UNIX = """
import socket
a, b = socket.socketpair()
for i in range(300): a.send(b"x" * 100); b.recv(100)
"""
UDP = """
import socket
a, b = socket.socket(type=socket.SOCK_DGRAM), socket.socket(type=socket.SOCK_DGRAM)
b.bind(("127.0.0.1", 0))
for i in range(300): a.sendto(b"x" * 100, b.getsockname()); b.recv(100)
"""


def record(d, options, *command):
    run(RECORDER, "record", "-q", "-o", d, *options, "--", *command,
        env={k: v for k, v in os.environ.items() if k != "ASAN_OPTIONS" or RECORDER == MAGNET})


def by_hand(d):
    """As LTTng's tracers write them: only babeltrace2 reads it."""
    t = Trace(d, {"sched_switch": [("prev_comm", "comm"), ("prev_tid", "s32"), ("prev_prio", "s32"),
                                   ("prev_state", "s64"), ("next_comm", "comm"), ("next_tid", "s32"),
                                   ("next_prio", "s32")]}, trace_uuid=uuid.UUID(int=1))
    for i in range(500):
        t.add(10**9 + i * 1000, i % 2, "sched_switch", "a", i % 2 * 7, 20, 1, "b", 7 - i % 2 * 7, 20)
    t.write()


TALK = f"""
import socket, sys, time
if sys.argv[1:]:
    c, _ = socket.create_server(("", 5137)).accept()
else:
    c = socket.socket()
    for _ in range(200):
        try:
            c.connect(("{Network.B}", 5137))
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
for _ in range(50):
    if not sys.argv[1:]: c.sendall(b"x" * 1000)
    c.recv(1000, socket.MSG_WAITALL)
    if sys.argv[1:]: c.sendall(b"x" * 1000)
"""


def two_hosts(d):
    """A connection between two recordings, a and b, that say they are of different hosts."""
    os.mkdir(d)
    with Network() as net:
        other = subprocess.Popen([RECORDER, "record", "-q", "-o", d + "/b", "--", *net.inside(net.b, PYTHON, "-c", TALK, "b")])
        try:
            record(d + "/a", (), *net.inside(net.a, PYTHON, "-c", TALK))
            check(other.wait(60 * SLOWER) == 0, "both recordings were made")
        finally:
            stop(other)
    for host in "ab":
        with open(f"{d}/{host}/session.json") as f:
            session = json.load(f)
        session["host"] = session["boot_id"] = host
        with open(f"{d}/{host}/session.json", "w") as f:
            json.dump(session, f)


EXCHANGED = (PYTHON, EXCHANGE, "150", "1000")
APP_KINDS = {
    "application side": lambda d: record(d, ("--app-only",), *EXCHANGED),
    "UNIX sockets, application side": lambda d: record(d, ("--app-only",), PYTHON, "-c", UNIX),
    "UDP, application side": lambda d: record(d, ("--app-only",), PYTHON, "-c", UDP),
    "LTTng's": by_hand,
}
KINDS = {
    "both sides": lambda d: record(d, (), *EXCHANGED),
    "application side": APP_KINDS["application side"],
    "kernel side": lambda d: record(d, ("--kernel-only",), *EXCHANGED),
    "level full": lambda d: record(d, ("--level", "full"), PYTHON, EXCHANGE, "50"),
    "rotated": lambda d: record(d, ("--rotate", "64K"), PYTHON, EXCHANGE, "300"),
    "flight recorder": lambda d: record(d, ("--flight", "10s", "--trigger", "lost"), *EXCHANGED),
    "UDP": lambda d: record(d, (), PYTHON, "-c", UDP),
    "UNIX sockets": lambda d: record(d, (), PYTHON, "-c", UNIX),
    "LTTng's": by_hand,
    "two hosts": two_hosts,
}


def recordings(kind, d):
    """The directories that a report of this kind is of."""
    return (d + "/a", d + "/b") if kind == "two hosts" else (d,)


def read_by(reader, *args):
    """(exit status or None, stdout, stderr, KiB at most)"""
    env = dict(os.environ, MAGNET_READER=reader, LC_ALL="C")
    if SANITIZED:  # what babeltrace2 holds where it gives up is not freed, and memory is to be measured
        env["ASAN_OPTIONS"] += ":detect_leaks=0:quarantine_size_mb=8"
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        p = subprocess.Popen([MAGNET, *args], stdout=out, stderr=err, stdin=subprocess.DEVNULL, env=env)
        until, status = time.monotonic() + SECONDS, None
        pid = 0
        while not pid and time.monotonic() < until:
            pid, status, usage = os.wait4(p.pid, os.WNOHANG)
            time.sleep(0 if pid else 0.002)
        if not pid:
            p.kill()
            _, _, usage = os.wait4(p.pid, 0)
        p.returncode = 0  # it has been waited for
        out.seek(0)
        err.seek(0)
        code = os.waitstatus_to_exitcode(status) if pid else None
        return code, out.read().decode(errors="replace"), err.read().decode(errors="replace"), usage.ru_maxrss


def counts(text):
    """Returns for each recording whether it says that nothing was lost, and its events; None if nothing is told."""
    return [(m[1] == "nothing lost:", *(int(n.replace(",", "")) for n in m.groups()[1:]))
            for m in READ.finditer(text)] or None


def wrong(result, whole, may_differ):
    """Returns what is wrong with a run, "" if nothing is."""
    code, out, err, kib = result
    if code is None:
        return "it hangs"
    if code not in (0, 1, 2):
        return f"exit status {code}"
    if "Sanitizer" in err or "runtime error:" in err:
        return "a sanitizer's report"
    if kib > MEMORY_KB:
        return f"{kib >> 10} MB"
    if code == 1 and not err.strip():
        return "no word of what failed"
    if "nothing lost" not in out:
        return ""
    here = counts(out)
    if not here or not whole:
        return "" if not whole else "nothing lost, of nothing that is told"
    gone = sum(max(n - m, 0) for (says, *now), (_, *before) in zip(here, whole) if says
               for m, n in zip(now, before))
    return f"nothing lost, of {here} where {whole} were" if gone > may_differ else ""


def commands(rng, kind, d, intact):
    yield "report", *recordings(kind, d)
    if kind == "two hosts" and rng.random() < 0.25:
        yield "report", "--json", *recordings(kind, d)
    elif kind != "two hosts" and rng.random() < 0.25:
        yield rng.choice((("report", "--json", d), ("show", "--tsv", d), ("show", d), ("report", intact, d),
                          ("report", intact, "--against", d), ("report", "--json", "--on-demand", "all", d)))


def tried(top, intact, whole, seed, number):
    """Runs, and what was wrong with them."""
    rng = random.Random(f"{seed}/{number}")
    kind = list(intact)[number % len(intact)]
    d = f"{top}/{number}"
    shutil.copytree(intact[kind], d, symlinks=True)
    some = recordings(kind, d)
    what, may_differ = mutate(rng, some[number // len(intact) % len(some)])
    runs, bad = 0, []
    for command in commands(rng, kind, d, intact[kind]):
        alone = command == ("report", *recordings(kind, d))
        for reader in ("", "babeltrace2"):
            result = read_by(reader, *command)
            why = wrong(result, whole[kind] if alone else None, may_differ)
            runs += 1
            if why:
                bad.append(f"{seed} {number}, {kind}: {what}: magnet {' '.join(command)} by '{reader}': {why}\n"
                           f"{result[1][:600]}{result[2][:1500]}")
    if bad and os.environ.get("MAGNET_TEST_KEEP"):
        print("kept:", d)
    else:
        for path in (d, d + ".elsewhere"):
            if os.path.isdir(path):
                shutil.rmtree(path, ignore_errors=True)
            elif os.path.lexists(path):
                os.unlink(path)
    return runs, bad


def main(count, seed, only):
    top = tempfile.mkdtemp(prefix="magnet-test-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    kernel = RECORDER != MAGNET or not no_kernel_side()
    kinds, intact, whole = KINDS if kernel else APP_KINDS, {}, {}
    try:
        for n, (kind, make) in enumerate(kinds.items()):
            intact[kind] = f"{top}/intact{n}"
            make(intact[kind])
            whole[kind] = counts(read_by("", "report", *recordings(kind, intact[kind]))[1])
            print(f"{kind}: {whole[kind]} events", flush=True)
        check(sum(w is not None for w in whole.values()) > len(whole) / 2, "most recordings are whole before")
        runs, bad = 0, []
        for number in range(count) if only is None else (only,):
            n, found = tried(top, intact, whole, seed, number)
            runs += n
            bad += found
            for line in found:
                print(line, flush=True)
            if number % 500 == 499:
                print(f"{number + 1} mutations, {runs} runs, {len(bad)} wrong", flush=True)
        check(not bad, f"{count if only is None else 1} mutations of {len(kinds)} kinds of recordings, {runs} runs, "
              f"seed {seed}: {len(bad)} wrong")
    finally:
        if not os.environ.get("MAGNET_TEST_KEEP"):
            shutil.rmtree(top, ignore_errors=True)


signal.signal(signal.SIGPIPE, signal.SIG_IGN)
main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1, int(sys.argv[3]) if len(sys.argv) > 3 else None)
