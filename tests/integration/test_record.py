# SPDX-License-Identifier: MIT
"""magnet record on the command line: statuses, signals, errors in one line, nothing left behind."""
import os
import signal
import stat
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from tracer import TRACER

TALK = """
import socket
a = socket.create_server(("127.0.0.1", 0))
b = socket.create_connection(a.getsockname())
c, _ = a.accept()
b.sendall(b"hello")
print(c.recv(10).decode())
"""
TOP = scratch()
os.environ["MAGNET_TEST_TOP"] = TOP  # marks all that this test starts
# what a recording consists of; names as the kernel shortens them
RECORDERS = {"magnet", "magnet-kernel-t"}
if no_kernel_side():
    RECORDERS.remove("magnet-kernel-t")


def record(*args, **kw):
    return run(MAGNET, "record", *args, check=False, **kw)


def new_dir(count=[0]):
    count[0] += 1
    return f"{TOP}/{count[0]}"


def processes():
    """Those of this test that run; others may record at the same time."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            comm = open(f"/proc/{pid}/comm").read().strip()
            if comm in RECORDERS and f"MAGNET_TEST_TOP={TOP}\0" in open(f"/proc/{pid}/environ").read():
                found.add(comm)
        except OSError:
            pass
    return found


def gone():
    for _ in range(100):
        if not processes():
            return True
        time.sleep(0.05)
    return False


def one_line(p, status, *words):
    lines = p.stderr.strip().splitlines()
    check(p.returncode == status and len(lines) == 1 and all(w in lines[0] for w in words),
          f"exit {p.returncode}: {p.stderr.strip()}")


def statuses():
    check(record("-q", "-o", new_dir(), "--", "sh", "-c", "exit 7").returncode == 7,
          "the command's exit status is passed on")
    check(record("-q", "-o", new_dir(), "--", "sh", "-c", "kill -9 $$").returncode == 137,
          "a signal's too")
    check(record("-q", "-o", new_dir(), "--", "sh", "-c", "kill -PIPE $$").returncode == 141,
          "it dies of SIGPIPE as it does without magnet")
    d = new_dir()
    sides = () if os.path.exists(TRACER) else ("--app-only",)
    one_line(record(*sides, "-o", d, "--", "/nonexistent/program"), 127, "No such file")
    check(not os.path.exists(d), "a command that is not there leaves no directory behind")
    check(record("-q", *sides, "-o", d, "--", "/etc/passwd").returncode == 126 and not os.path.exists(d),
          "nor does one that cannot run: 126")
    check(record("-q", *sides, "-o", d, "--", "sh", "-c", "exit 127").returncode == 127 and
          os.path.exists(d + "/session.json"), "one that ran and returns 127 is recorded")
    p = record("--app-only", "-o", new_dir(), "--", "true")
    check("no socket call was recorded" in p.stderr and "--pid" in p.stderr, "no socket call: " + p.stderr.strip())
    p = record("--app-only", "-o", new_dir(), "--", PYTHON, "-c", TALK)
    check("no socket call" not in p.stderr, "one with calls is not told so")


def usage():
    one_line(record(), 2, "COMMAND")
    one_line(record("--buffer", "12Q", "--", "true"), 2, "12Q", "from 4K to 512M")
    one_line(record("--drain", "0", "--", "true"), 2, "from 1 to 10000")
    one_line(record("--colour", "--", "true"), 2, "--colour")
    one_line(record("--duration"), 2, "--duration takes a value")
    one_line(record("--all=x"), 2, "--all takes no value")
    one_line(run(MAGNET, "show", "--ts=1", "x", check=False), 2, "--tsv takes no value")
    for letter in "tj":
        one_line(run(MAGNET, "report" if letter == "j" else "show", "-" + letter, "x", check=False), 2,
                 f"there is no option -{letter}")
    one_line(record("--buffer", "513M", "--", "true"), 2, "513M")
    one_line(record("--layers", "socket,wire", "--", "true"), 2, "socket,wire")
    one_line(record("--pid", "1", "--", "true"), 2, "exclude")
    one_line(record("--app-only", "--kernel-only", "--", "true"), 2, "exclude")
    p = record("--app-only", "--layers", "tcp", "--stacks=1s", "--max-size", "1M", "-o", new_dir(), "--", "true")
    check(p.returncode == 0 and "without effect: --layers, --stacks=1s\n" in p.stderr,
          f"options for the other side are told: {p.stderr.strip()}")
    check(record("--wrong", "--", "true").returncode == 2, "a wrong option: 2")
    check("usage: magnet record" in record("--help").stdout, "--help helps")
    one_line(run(MAGNET, "recrod", check=False), 2, "recrod")
    dies = os.environ["MAGNET_BUILD"] + "/tests/programs/libdies.so"
    if "ASAN_OPTIONS" not in os.environ:  # which must come first
        one_line(record("--app-only", "--", "true", env=dict(os.environ, LD_PRELOAD=dies)), 1,
                 "the application side's collector was killed by signal 9 (KILL)")


def directory():
    d = new_dir()
    p = record("-o", d, "--", PYTHON, "-c", TALK)
    check(p.stdout == "hello\n", "the program's output is its own")
    check(stat.S_IMODE(os.stat(d).st_mode) == 0o700, "the trace directory has mode 0700")
    session = json.load(open(d + "/session.json"))
    check(session["complete"] and session["exit_status"] == 0 and session["duration_ns"] > 0,
          "session.json says it is complete")
    modes = {os.path.join(at, name): stat.S_IMODE(os.stat(os.path.join(at, name)).st_mode)
             for at, directories, names in os.walk(d) for name in directories + names}
    check(all(mode == (0o700 if os.path.isdir(path) else 0o600) for path, mode in modes.items()),
          f"all in it is its owner's alone: {modes}")
    for reading in ("show", "report"):  # the reader is gone before, and SIGPIPE ignored
        p = run("sh", "-c", f"(sleep 0.2; exec {MAGNET} {reading} {d}) | true", restore_signals=False)
        check(p.stderr == "", f"{reading} into a pipe that is closed says nothing")
    one_line(record("-o", d, "--", "true"), 1, d, "not empty")
    one_line(record("-o", "/proc/nothing", "--", "true"), 1, "/proc/nothing")
    os.chdir(TOP)
    same_second = [subprocess.Popen([MAGNET, "record", "-q", "--app-only", "--", "true"])
                   for _ in range(3)]
    check([p.wait() for p in same_second] == [0] * 3
          and sum(n.startswith("magnet-true-") for n in os.listdir(TOP)) == 3,
          "without -o each gets a directory of its own, named after the command")
    os.mkdir(d + "-shared")
    same_dir = [subprocess.Popen([MAGNET, "record", "-q", "--app-only", "-o", d + "-shared", "--",
                                  "true"], stderr=subprocess.DEVNULL) for _ in range(3)]
    check(sorted(p.wait() for p in same_dir) == [0, 1, 1], "one directory takes one recording")
    if os.geteuid() == 0:
        os.mkdir(d + "-other")
        os.chown(d + "-other", 65534, 65534)
        one_line(record("-o", d + "-other", "--", "true"), 1, d, "somebody else")


def nothing_recorded():
    """A failed recording may be repeated with the same directory."""
    d = new_dir()
    for there in (False, True):
        one_line(record("-o", d, "--cgroup", "/none/such"), 1, "kernel side")
        check(os.path.exists(d) == there and not (there and os.listdir(d)), "nothing is left")
        if not there:
            os.mkdir(d)
    for part in ("cli/magnet", "preload/libmagnet.so"):
        copy = f"{TOP}/a place/{part}"
        os.makedirs(os.path.dirname(copy))
        shutil.copy(os.path.join(os.environ["MAGNET_BUILD"], part), copy)
    p = run(f"{TOP}/a place/cli/magnet", "record", "--app-only", "-o", d, "--", "true", check=False)
    one_line(p, 1, "spaces")


def anonymous():
    d = new_dir()
    record("-q", "--anonymize", "-o", d, "--", PYTHON, "-c", TALK, "http://192.0.2.7/")
    check("192.0.2.7" not in open(d + "/session.json").read(),
          "--anonymize leaves out the command's arguments")
    report = json.loads(run(MAGNET, "report", "--json", d).stdout)
    version = run(MAGNET, "--version").stdout.split()[1]
    check(report["schema"] == 1 and report["magnet"] == version, f"the report says its form, and {version}")
    check(report["session"]["command"] == PYTHON and all(f["local"] is None for f in report["flows"]),
          "and addresses")


def nothing_open():
    """Without standard descriptors their numbers must not go to pipes that lines are then put in."""
    d = new_dir()
    script = f"exec {MAGNET} record --app-only -o {d} -- {PYTHON} -c '{TALK}' <&- >&- 2>&-"
    check(run("sh", "-c", script, check=False).returncode == 0, "nothing open: it records")
    calls = json.loads(run(MAGNET, "report", "--json", d).stdout)["calls"]
    check(any(c["name"] == "send" for c in calls), "and all is there")
    p = run("sh", "-c", f"{MAGNET} doctor > /dev/full", check=False)
    check(p.returncode == 1 and "cannot write" in p.stderr, "doctor tells that it cannot write")


def preload():
    other = run("sh", "-c", "ls /lib/*/libm.so.6 /lib*/libm.so.6 2>/dev/null | head -1").stdout.strip()
    env = dict(os.environ, LD_PRELOAD=other)
    p = record("-q", "-o", new_dir(), "--", "sh", "-c", "echo $LD_PRELOAD", env=env)
    check(p.stdout.startswith(other + ":") and p.stdout.strip().endswith("libmagnet.so"),
          "libmagnet.so is appended to an existing LD_PRELOAD")


def children():
    d = new_dir()
    record("-q", "-o", d, "--", "sh", "-c", f"(exec {PYTHON} -c '{TALK}') & wait; true")
    report = json.loads(run(MAGNET, "report", "--json", d).stdout)
    calls = {c["name"]: c["n"] for c in report["calls"] if not c["kernel_only"]}
    check(calls.get("send") == 1 and calls.get("recv") == 1,
          "children are followed across fork and exec")


def interrupted(send, expected, what):
    d = new_dir()
    script = TALK + "import time, sys; sys.stdout.flush(); time.sleep(30)"
    p = subprocess.Popen([MAGNET, "record", "-o", d, "--", PYTHON, "-c", script], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    p.stdout.readline()  # it has talked
    check(processes() == RECORDERS, f"{what}: its recorders run")
    send(p)
    p.communicate(timeout=30)
    check(p.returncode == expected, f"{what}: exit {p.returncode}")
    check(gone(), f"{what}: no recorder is left")
    report = json.loads(run(MAGNET, "report", "--json", d).stdout)
    check(any(c["name"] == "send" for c in report["calls"]), f"{what}: the data is kept")
    return report


def ctrl_c():
    interrupted(lambda p: os.killpg(p.pid, signal.SIGINT), 130, "Ctrl-C")
    interrupted(lambda p: os.kill(p.pid, signal.SIGTERM), 143, "SIGTERM")


NOTED = """
import os, signal, sys, time
got = []
for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGRTMIN + 3):
    signal.signal(number, lambda n, _: got.append(n))
print("ready", flush=True)
end = time.monotonic() + 20
while len(got) < 4 and time.monotonic() < end:
    time.sleep(0.05)
print(*map(int, got), flush=True)
"""


def passed_on():
    """Signals that may mean something to the program reach it, and end no recording; without a program they end it."""
    numbers = [signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGRTMIN + 3]
    for options in ([], ["--repeat", "1"]):
        d = new_dir()
        p = subprocess.Popen([MAGNET, "record", "-q", *options, "-o", d, "--", PYTHON, "-c", NOTED], text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        p.stdout.readline()
        for number in numbers:
            os.kill(p.pid, number)
            time.sleep(0.1)
        out, said = p.communicate(timeout=60)
        check(p.returncode == 0 and sorted(map(int, out.split())) == sorted(numbers) and gone(),
              f"{options}: the program got signals {out.strip()}: exit {p.returncode} {said.strip()}")


SLOW = """#!/usr/bin/python3
# The kernel tracer where the kernel takes long to check its programs.
import os, sys, time
at = os.path.dirname(sys.argv[0])
with open(at + "/seconds") as f:
    time.sleep(float(f.read()))
os.execv(at + "/real", sys.argv)
"""


def slow_copy():
    """magnet with such a tracer: its program, and the file that says how long it takes."""
    of = os.path.join(TOP, "slow")
    for part in ("cli/magnet", "preload/libmagnet.so", "kernel-tracer/magnet-kernel-tracer"):
        os.makedirs(os.path.dirname(f"{of}/{part}"))
        shutil.copy(os.path.join(os.environ["MAGNET_BUILD"], part), f"{of}/{part}")
    tracer = f"{of}/kernel-tracer/magnet-kernel-tracer"
    os.rename(tracer, f"{of}/kernel-tracer/real")
    with open(tracer, "w") as f:
        f.write(SLOW)
    os.chmod(tracer, 0o755)
    return f"{of}/cli/magnet", f"{of}/kernel-tracer/seconds"


def slow_tracer():
    """However long the kernel tracer takes, it is waited for; that is told, and can be interrupted."""
    if no_kernel_side():
        return
    magnet, seconds = slow_copy()
    with open(seconds, "w") as f:
        f.write("11\n")
    d = new_dir()
    p = run(magnet, "record", "-o", d, "--", PYTHON, "-c", TALK)
    check(p.stderr.count("not ready yet") == 1, f"it is told: {p.stderr.strip()}")
    check(os.path.exists(d + "/kernel/metadata"), "and recorded")
    with open(seconds, "w") as f:
        f.write("1000\n")
    for number in (signal.SIGINT, signal.SIGTERM):
        d = new_dir()
        p = subprocess.Popen([magnet, "record", "-o", d, "--", "echo", "ran"], text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        while processes() != RECORDERS:
            time.sleep(0.05)
        os.killpg(p.pid, number)
        out, said = p.communicate(timeout=60)
        check(p.returncode == 128 + number and "nothing was recorded" in said,
              f"a signal ends the waiting: exit {p.returncode}: {said.strip()}")
        check(out == "" and not os.path.exists(d) and gone(), "nothing ran, and nothing is left")


def killed():
    """Even kill -9 of the recorder leaves no recorder, and a trace that opens."""
    d = new_dir()
    script = TALK + "import time, sys; sys.stdout.flush(); time.sleep(2)"
    p = subprocess.Popen([MAGNET, "record", "-o", d, "--", PYTHON, "-c", script], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    p.stdout.readline()
    p.kill()
    p.communicate()
    check(gone(), "kill -9: no recorder is left")
    check(run(MAGNET, "report", d, check=False).returncode == 0, "kill -9: the trace opens")


def largest_buffer():
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if no_kernel_side() or os.sysconf("SC_NPROCESSORS_CONF") * (512 << 20) > free / 4:
        return
    p = record("-q", "--kernel-only", "--buffer", "512M", "-o", new_dir(), "--", "true")
    check(p.returncode == 0, f"the largest buffer is one the kernel takes: {p.stderr}")


def duration():
    for seconds in ("1", "500ms"):
        started = time.monotonic()
        p = record("-q", "--duration", seconds, "-o", new_dir(), "--", "sleep", "30")
        check(p.returncode == 143 and time.monotonic() - started < 10, f"--duration {seconds} ends the command")


def hangup():
    """SIGHUP ends a recording, but not below nohup."""
    for how, seconds, status in (((), 30, 129), (("nohup",), 1, 0)):
        p = subprocess.Popen([*how, MAGNET, "record", "-q", "--app-only", "-o", new_dir(), "--", "sh", "-c",
                              f"echo begun; sleep {seconds}"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))  # the test may run below nohup
        p.stdout.readline()
        p.send_signal(signal.SIGHUP)
        check(p.wait(30) == status, f"{' '.join(how)}: SIGHUP: exit {p.returncode}")
        p.stdout.close()


def newest():
    top = new_dir()
    os.mkdir(top)
    for name in ("b", "a"):
        record("-q", "--app-only", "-o", f"{top}/{name}", "--", PYTHON, "-c", TALK)
    for command in ("report", "show"):
        p = run(MAGNET, command, cwd=top)
        check(p.stdout and p.stderr == "magnet: newest recording: a\n", f"{command} takes the newest: {p.stderr.strip()}")
    check(run(MAGNET, "report", cwd=top + "/b").stderr == "", "in a recording's directory it takes that one")
    os.mkdir(top + "/none")
    one_line(run(MAGNET, "report", cwd=top + "/none", check=False), 2, "there is no recording in this directory")


def not_ended(d):
    """Record a command that will not end, while other tests run; returns how long it took, too."""
    stubborn = "trap '' TERM; echo $$; exec sleep 20 2>/dev/null"
    started = time.monotonic()
    with open(TOP + "/pid", "w") as out:
        p = subprocess.run([MAGNET, "record", "-q", "--app-only", "--duration", "1", "-o", d, "--",
                            "sh", "-c", stubborn], text=True, stdout=out, stderr=subprocess.PIPE)
    took = time.monotonic() - started
    os.kill(int(open(TOP + "/pid").read()), signal.SIGKILL)
    return p, took


def left_to_itself(d, p, took):
    one_line(p, 143, "still runs")
    session = json.load(open(d + "/session.json"))
    check(took < 15 and session["exit_status"] is None and session["complete"],
          "one that will not end is left to itself, and has no exit status")


def unprivileged():
    if os.geteuid() != 0:
        return
    nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    if run(*nobody, "test", "-x", MAGNET, check=False).returncode != 0:
        print("the build is not readable by other users: not tried")
        return
    home = tempfile.mkdtemp(prefix="magnet-test-")
    os.chmod(home, 0o777)
    try:
        p = run(*nobody, "env", "HOME=" + home, MAGNET, "record", "-q", "-o", home + "/t", "--",
                PYTHON, "-c", TALK, check=False)
        one_line(p, 0, "application side only")
        report = json.loads(run(MAGNET, "report", "--json", home + "/t").stdout)
        check(report["events"]["kernel"] == 0 and report["events"]["app"] > 0,
              "without privilege the application side is recorded")
        send = next(c for c in report["calls"] if c["name"] == "send")
        check(send["total_ns"]["mean"] > 0 and send["overhead_ns"]["mean"] is None,
              "totals are known, what needs the kernel side is null")
    finally:
        shutil.rmtree(home)


def full_disk():
    if no_kernel_side():
        return
    script = f"""
mount -t tmpfs -o size=1m tmpfs /mnt || exit 99
{MAGNET} record -o /mnt/t --kernel-only -- {PYTHON} {os.path.dirname(__file__)}/../programs/exchange.py 20000
echo status $? >&2
{MAGNET} report /mnt/t >/dev/null && echo readable
{MAGNET} export /mnt/t --format csv -o /mnt/csv
"""
    p = run("unshare", "-m", "sh", "-c", script, check=False)
    if "status" not in p.stderr:
        return
    check("no space left" in p.stderr and "status 1" in p.stderr, "a full disk is told: "
          + p.stderr.strip().splitlines()[0])
    check("readable" in p.stdout, "and the trace is readable")
    check(p.stderr.count("No space left on device") and "Input/output error" not in p.stderr,
          "an export of text says so, too: " + p.stderr.strip().splitlines()[-1])


try:
    for test in (statuses, usage, directory, nothing_recorded, anonymous, nothing_open, preload, children, ctrl_c, passed_on,
                 slow_tracer, killed):
        print("---", test.__name__)
        test()
    with ThreadPoolExecutor(1) as pool: # that one takes 11 s
        where = new_dir()
        waiting = pool.submit(not_ended, where)
        for test in (largest_buffer, duration, hangup, newest, unprivileged, full_disk):
            print("---", test.__name__)
            test()
        left_to_itself(where, *waiting.result())
finally:
    os.chdir("/")
    shutil.rmtree(TOP)
