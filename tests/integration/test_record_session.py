# SPDX-License-Identifier: MIT
"""
magnet record --session and --lttng: the application side in LTTng sessions, the kernel side beside it.
The session daemon is the test's own, in a mount namespace where /run/lttng is empty.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

EXCHANGE = os.path.join(os.path.dirname(__file__), "..", "programs", "exchange.py")
SENDER = os.path.join(os.environ["MAGNET_BUILD"], "tests", "programs", "sends")
NEEDED = ("lttng-sessiond", "lttng", "babeltrace2")

need_program(*NEEDED)
if os.geteuid() == 0 and not os.environ.get("MAGNET_TEST_OWN_LTTNG"):
    os.environ["MAGNET_TEST_OWN_LTTNG"] = "1"
    os.execvp("unshare", ["unshare", "-m", "sh", "-c",
                          'mkdir -p /run/lttng; mount -t tmpfs tmpfs /run/lttng && exec "$0" "$@"',
                          sys.executable, *sys.argv])
KERNEL = not no_kernel_side()
SIDES = () if KERNEL else ("--app-only",)
TOP = scratch()
os.environ["LTTNG_HOME"] = TOP


def lttng(*args):
    return run("lttng", "--no-sessiond", *args).stdout


def record(name, *options, ok=0, command=(PYTHON, EXCHANGE, "100")):
    p = run(MAGNET, "record", "-o", f"{TOP}/{name}", *SIDES, *options, "--", *command, check=False)
    if p.returncode != ok:
        sys.exit(f"FAILED: {name}: exit {p.returncode}, {p.stderr}")
    return p.stderr


def refused(what, *expected, options):
    said = record("refused", *options, ok=1)
    check(said.count("\n") == 1 and all(e in said for e in expected), f"{what}: {said.strip()}")
    check(not os.path.exists(TOP + "/refused"), "and nothing is left of it")


def call(name, function="send"):
    report = json.loads(run(MAGNET, "report", "--json", f"{TOP}/{name}").stdout)
    check(not report["loss"]["missing"]["app_side"], "LTTng's trace is the application side")
    return report, next((c for c in report["calls"] if c["name"] == function), {"n": 0})


def archives(session):
    path = f"{TOP}/{session}-out/archives"
    return sorted(os.listdir(path)) if os.path.exists(path) else []


def sessions():
    refused("no such session", "no LTTng session none", "lttng create none", options=("--session", "none"))
    lttng("create", "mine", f"--output={TOP}/mine-out")
    refused("it says which there are", "name one of these: mine", options=("--session", "none"))
    lttng("enable-event", "-s", "mine", "-u", "other:*")
    refused("no event of magnet", "lttng enable-event -s mine -u 'magnet:*'", options=("--session", "mine"))
    lttng("create", "nowhere", "--no-output")
    refused("a session without files", "does not write to this machine", options=("--session", "nowhere"))
    lttng("destroy", "nowhere")
    refused("no snapshots", "lttng create --snapshot", options=("--session", "mine", "--flight", "10s")) if KERNEL else None


def own_session():
    """Not started, with a filter and a context: these stay, and it is stopped again."""
    lttng("enable-event", "-s", "mine", "-u", "magnet:send", "--filter", "ret >= 100")
    lttng("enable-event", "-s", "mine", "-u", "magnet:recv")
    lttng("add-context", "-s", "mine", "-u", "-t", "procname")
    said = record("one", "--session", "mine")
    check("was not started" in said, "an idle session is started, which is said")
    check("inactive" in lttng("list", "mine"), "and stopped at the end")
    report, send = call("one")
    check(send["n"] == 200, f"all sends of both programs are there: {send['n']}")
    check({c["name"] for c in report["calls"]} >= {"send", "recv"}
          and not any(c["name"] == "accept" and c.get("logged") for c in report["calls"]),
          "of the events that the session takes")
    if KERNEL:
        check(send["joined"] == 200, "each is joined to its system call")
    check(report["tracer"]["cpu_share"] is None, "the daemons' share of the CPUs is not known")
    lines = run("babeltrace2", TOP + "/one").stdout.splitlines()
    times = [line[1:line.index("]")] for line in lines]
    check(times == sorted(times) and sum("magnet:send: " in line for line in lines) == 200,
          f"babeltrace2 opens the directory and merges {len(lines)} events")
    lines = run("babeltrace2", TOP + "/mine-out").stdout.splitlines()
    check(all('procname = "' in line for line in lines if "magnet:" in line), "with the session's context")
    with open(TOP + "/one/session.json") as f:
        app = json.load(f)["app"]
    check(app["lttng_session"] == "mine" and app["events"] is None and app["discarded"] == 0,
          f"session.json names it: {app}")
    # once more, started by the user and with something in it from before
    lttng("start", "mine")
    run(PYTHON, EXCHANGE, "30", env=dict(os.environ, LD_PRELOAD=os.environ["MAGNET_BUILD"] + "/preload/libmagnet.so"))
    said = record("two", "--session", "mine")
    check("was not started" not in said and "[active]" in lttng("list", "mine"), "a started session goes on")
    check(call("two")[1]["n"] == 200 and call("one")[1]["n"] == 200, "each recording has its own calls only")


def rotated():
    before = archives("mine")
    record("three", "--session", "mine", "--rotate", "64K", command=(PYTHON, EXCHANGE, "1000"))
    made = [a for a in archives("mine") if a not in before]
    kernel = os.listdir(TOP + "/three/kernel")
    linked = {os.path.basename(os.readlink(f"{TOP}/three/app/{n}")) for n in os.listdir(TOP + "/three/app")}
    check(len(kernel) > 2 and len(linked) > 2 and linked < set(made),
          f"{len(kernel)} parts of the kernel side, {len(linked)} of the session")
    check(call("three")[1]["n"] == 2000, "which have all calls together")
    check(call("three/app")[1]["n"] == 2000, "the application side alone, too")


def made():
    record("four", "--lttng")
    check(call("four")[1]["n"] == 200 and os.path.isdir(TOP + "/four/app/ust"), "a session is made for the recording")
    check(not re.search(r"\) magnet-\d", lttng("list")), "and is gone at its end")
    p = run(MAGNET, "record", "-o", TOP + "/none", *SIDES, "--lttng", "--", TOP + "/absent", check=False)
    check(p.returncode == 127 and not re.search(r"\) magnet-\d", lttng("list")) and not os.path.exists(TOP + "/none"),
          "also where COMMAND does not exist")


def snapshots():
    lttng("create", "last", "--snapshot")
    lttng("enable-event", "-s", "last", "-u", "magnet:*")
    record("five", "--session", "last")
    check(call("five")[1]["n"] == 200, "a session in snapshot mode: its snapshot")
    if not KERNEL:
        return
    script = f"{PYTHON} {EXCHANGE} 100; kill -USR1 $PPID; sleep 1"
    record("six", "--session", "last", "--flight", "30s", command=("sh", "-c", script))
    check(call("six")[1]["n"] >= 200 and any(n.startswith("snapshot") for n in os.listdir(TOP + "/six/app")),
          "with each dump of the flight recorder a snapshot of the session")
    script += f"; {PYTHON} {EXCHANGE} 50"
    record("seven", "--lttng", "--flight", "30s", command=("sh", "-c", script))
    taken = [n for n in os.listdir(TOP + "/seven/app") if n.startswith("snapshot")]
    check(len(taken) == 2 and call("seven")[1]["n"] == 300, f"and one of the end: {taken}; calls in both count once")


def many_processes():
    """With buffers of each process, each has a trace, whose metadata takes babeltrace2 3 MB."""
    lttng("create", "each", f"--output={TOP}/each-out")
    lttng("enable-channel", "-s", "each", "-u", "--buffers-pid", "own")
    lttng("enable-event", "-s", "each", "-u", "magnet:*", "-c", "own")
    record("eight", "--session", "each", command=("sh", "-c", f"for i in $(seq 70); do {SENDER} 3; done"))
    check(call("eight")[1]["n"] == 210, "70 processes with buffers of their own")
    lttng("destroy", "each")


os.mkdir(TOP + "/.lttng", 0o711)
os.chmod(TOP, 0o711)
daemon = None
try:
    built = "built without" not in run(MAGNET, "record", "-o", TOP + "/x", *SIDES, "--lttng", "--", "true", check=False).stderr
    if not built:
        refused("without the library's headers", "liblttng-ctl-dev", options=("--lttng",))
    else:
        refused("no daemon", "no LTTng session daemon", "lttng-sessiond --daemonize", options=("--lttng",))
        daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, start_new_session=True)
        while run("lttng", "--no-sessiond", "list", check=False).returncode and daemon.poll() is None:
            time.sleep(0.05)
        sessions()
        own_session()
        rotated() if KERNEL else None
        made()
        snapshots()
        many_processes()
finally:
    if daemon:
        stop(daemon)
    shutil.rmtree(TOP, ignore_errors=True)
