# SPDX-License-Identifier: MIT
"""
magnet record --repeat: each recording is whole and has its own directory; a command that fails, one that
cannot be run, signals, a directory that is not empty. Who takes the directory as a whole, and who refuses it.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

TOP = scratch()
# says how often it was run, in a file, and sends as many bytes; argv: file, exit status
COUNTS = """
import socket, sys
with open(sys.argv[1], "a+") as f:
    f.write("x")
    f.seek(0)
    n = len(f.read())
a, b = socket.socketpair()
a.sendall(b"x" * n)
b.recv(n)
sys.exit(int(sys.argv[2]) if n == 2 else 0)
"""
# says that it runs, and waits; argv: file
WAITS = """
import socket, sys, time
a, b = socket.socketpair()
a.send(b"x")
open(sys.argv[1], "a").write("x")
time.sleep(60)
"""


def repeat(n, name, *command, options=("--app-only",)):
    return run(MAGNET, "record", "--repeat", n, *options, "-o", f"{TOP}/{name}", "--", *command, check=False)


def sent(name):
    r = json.loads(run(MAGNET, "report", "--json", f"{TOP}/{name}").stdout)
    check(r["session"]["ended_in_order"], f"{name} is whole")
    return sum(c["bytes"] for c in r["calls"] if "send" in c["name"])


def recorded():
    p = repeat(3, "three", PYTHON, "-c", COUNTS, f"{TOP}/count", "0")
    check(p.returncode == 0 and f"3 recordings in {TOP}/three" in p.stderr, f"three times: {p.stderr.strip()}")
    check(sorted(os.listdir(f"{TOP}/three")) == ["1", "2", "3"], "each has its own directory")
    check(os.stat(f"{TOP}/three").st_mode & 0o777 == 0o700, "which is its owner's alone")
    check([sent(f"three/{i}") for i in (1, 2, 3)] == [1, 2, 3], "and each is the recording of one run")
    for command in (("report",), ("show",)):
        p = run(MAGNET, *command, f"{TOP}/three", check=False)
        check(p.returncode == 1 and not p.stdout and "holds 3 recordings: 1, 2, 3; give one" in p.stderr,
              f"{command[0]} wants one of them: {p.stderr.strip()}")
    boots()
    p = repeat(2, "three", "true")
    check(p.returncode == 1 and len(p.stderr.splitlines()) == 1 and "not empty" in p.stderr,
          f"a directory that is not empty: {p.stderr.strip()}")
    p = repeat(2, "quiet", "true", options=("--app-only", "-q"))
    check(p.returncode == 0 and not p.stderr, "nothing is said with --quiet")


def boots():
    """Each recording of a side stands alone: they may be of several boots, not of several hosts."""
    shutil.copytree(f"{TOP}/three", f"{TOP}/boots")
    path = f"{TOP}/boots/2/session.json"
    with open(path) as f:
        session = json.load(f)
    for member, value, status in (("boot_id", "1b4e28ba-2fa1-11d2-883f-0016d3cca427", 0), ("host", "another", 2)):
        session[member] = value
        with open(path, "w") as f:
            json.dump(session, f)
        p = run(MAGNET, "report", f"{TOP}/boots", "--against", f"{TOP}/three", check=False)
        check(p.returncode == status and bool(p.stderr) == bool(status),
              f"one of another {member}: {p.stderr.strip() or 'compared'}")


STUBBORN = """
import os, signal, socket, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
a, b = socket.socketpair()
a.send(b"x")
with open(sys.argv[1], "a+") as f:
    f.seek(0)
    left = [pid for pid in f.read().split() if os.path.exists(f"/proc/{pid}")]
    f.write(f"{os.getpid()}\\n")
print("beside", *left, flush=True)
time.sleep(60)
"""


def stubborn():
    p = repeat(2, "stubborn", PYTHON, "-c", STUBBORN, f"{TOP}/pids", options=("--app-only", "--duration", "0.5"))
    check(p.returncode == 128 + signal.SIGKILL and p.stderr.count("is killed") == 2,
          f"a command that ignores SIGTERM: {p.stderr.strip().splitlines()[0]}")
    check(p.stdout.splitlines() == ["beside", "beside"] and len(os.listdir(f"{TOP}/stubborn")) == 2,
          f"none runs beside the next one's recording: {p.stdout.split()}")


def fails():
    p = repeat(3, "fails", PYTHON, "-c", COUNTS, f"{TOP}/count-2", "7")
    check(p.returncode == 7, "the exit status is the first that is not 0")
    check(sorted(os.listdir(f"{TOP}/fails")) == ["1", "2", "3"], "a command that fails is run again")
    p = repeat(3, "none", f"{TOP}/there-is-no-such-program")
    check(p.returncode == 127 and not os.path.exists(f"{TOP}/none"),
          f"one that cannot be run leaves nothing: {p.stderr.strip()}")
    for way in (("--pid", os.getpid()), ("--all",), ("--cgroup", "/")):
        p = run(MAGNET, "record", "--repeat", "2", *way, "-o", f"{TOP}/none", check=False)
        check(p.returncode == 2 and len(p.stderr.splitlines()) == 1 and "COMMAND" in p.stderr,
              f"{way[0]}: {p.stderr.strip()}")
    check(not os.path.exists(f"{TOP}/none"), "and leaves nothing either")


def wait_until(found, what):
    for _ in range(600):
        if found():
            return
        time.sleep(0.05)
    sys.exit(f"not within 30 s: {what}")


def second_of_five(name):
    """The process, once it records the command for the second time."""
    marker = f"{TOP}/{name}-runs"
    program = f"import os, sys\nif os.path.exists(sys.argv[1] + '-first'):\n    exec({WAITS!r})\n" \
              f"open(sys.argv[1] + '-first', 'w')"
    p = subprocess.Popen([MAGNET, "record", "--repeat", "5", "--app-only", "-o", f"{TOP}/{name}", "--", PYTHON,
                          "-c", program, marker], stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        wait_until(lambda: os.path.exists(marker), "the command's second run")
    except BaseException:
        os.killpg(p.pid, signal.SIGKILL)
        raise
    return p


def interrupted(name, by_keyboard, number):
    """The second of five is interrupted, by Ctrl-C, which all processes get, or by kill of the first."""
    p = second_of_five(name)
    try:
        if by_keyboard:
            os.killpg(p.pid, number)
        else:
            p.send_signal(number)
        _, err = p.communicate(timeout=60)
    finally:
        if p.poll() is None:
            os.killpg(p.pid, signal.SIGKILL)
    check(p.returncode == 128 + number, f"{name}: exit status {p.returncode}")
    check("still runs" not in err, "a signal to the whole group counts once")
    check("2 of 5 recordings were made" in err, f"{err.strip().splitlines()[-2:]}")
    check(sorted(os.listdir(f"{TOP}/{name}")) == ["1", "2"], "what was recorded is kept")
    check(sent(f"{name}/2") == 1, "also of the one that was interrupted")


def ended():
    """Who repeats is killed: the recording that goes on ends in order, and the command with it."""
    p = second_of_five("ended")
    p.kill()
    try:
        _, err = p.communicate(timeout=60)  # until the last process has closed its end
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        raise
    check(f"in {TOP}/ended/2" in err, f"the recording says that it has ended: {err.strip().splitlines()[-1]}")
    check(sorted(os.listdir(f"{TOP}/ended")) == ["1", "2"] and sent("ended/2") == 1, "and is whole")


try:
    recorded()
    fails()
    interrupted("keyboard", True, signal.SIGINT)
    interrupted("killed", False, signal.SIGTERM)
    interrupted("group", True, signal.SIGTERM)
    stubborn()
    ended()
finally:
    shutil.rmtree(TOP)
