# SPDX-License-Identifier: MIT
"""
The report as people read it: a web server and curl are recorded, and the text is read at 80, 100 and
200 columns, in colour, piped, and on a terminal with a pager.
"""
import fcntl
import os
import pty
import re
import shutil
import struct
import sys
import tempfile
import termios

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PORT = 5480
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
SECTIONS = {"in system calls": "System calls", "in the stack": "Latency by stage", "waiting for a CPU": "Scheduler"}
# what is there with the option, and not without it
HIDDEN = {"--calls": "% of overhead in", "--modulation": "Traffic by layer", "--explain": "\nWords\n",
          "--all": "until a call's last byte had passed"}


def report(rec, *options, columns=None, **env):
    # no terminal and no size of one but those of this test
    clean = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR", "PAGER", "MAGNET_PAGER")}
    if columns:
        env["COLUMNS"] = str(columns)
    return run(MAGNET, "report", rec.dir, *options, env={**clean, **env}).stdout


def fits(rec):
    for columns in (80, 100, 200):
        for options in ((), *((o,) for o in HIDDEN), ("--histogram", "--slowest", "3"), ("--all", "--flow", flow_of(rec))):
            text = report(rec, *options, columns=columns)
            coloured = report(rec, "--color=always", *options, columns=columns)
            wide = [line for line in text.splitlines() if len(line) > columns and " " in line.strip()]
            check(not wide, f"{columns} columns, {' '.join(options)}: no line is wider: {wide[:2]}")
            check(coloured != text and COLOUR.sub("", coloured) == text, "colour changes nothing but colour")
    bare = report(rec)
    check("\x1b" not in bare and bare == report(rec, "--color=never"), "piped it has none")
    check("\x1b" not in report(rec, "--color=auto", NO_COLOR="1"), "nor with NO_COLOR")
    check("\x1b" in report(rec, "--color=always", NO_COLOR="1"), "but where it is asked for")


def flow_of(rec):
    return rec.report()["flows"][0]["id"]


def first_screen(rec):
    lines = report(rec, columns=80).splitlines()[:24]
    answer = next(i for i, line in enumerate(lines) if line.startswith("Answer: "))
    # what can be done about it stands before that line, unless there is no single cause
    check(any("the slowest:" in line for line in lines[answer:]),
          "the first 24 lines have all of the answer:\n" + "\n".join(lines))


def in_order(rec):
    text, lost = report(rec), rec.report()["time_lost"]
    said = re.search(r"^Time lost, summed over messages and threads: (.*)$", text, re.M)[1].split(", ")
    names = [re.sub(r"^[\d.]+ \S+ ", "", part) for part in said]
    ns = {"in system calls": lost["calls_ns"], "in the stack": lost["stack_ns"], "waiting for a CPU": lost["run_queue_ns"]}
    check(names == sorted(ns, key=lambda name: -ns[name]), f"most is lost first: {said}, {ns}")
    places = [text.index("\n" + SECTIONS[name]) for name in names]
    check(places == sorted(places), f"and the sections are in that order: {places}")
    calls = sum(c[k]["mean"] * c[k]["n"] for c in rec.report()["calls"] for k in ("overhead_ns", "overhead_blocking_ns")
                if c[k]["n"])
    near(lost["calls_ns"], calls, 1e-6, "time in system calls is that of all calls, ns")
    calls = lambda f: next(layer["n"] for layer in f["layers"] if layer["name"] == "call")
    stack = sum(f["residence_total_ns"] * calls(f) for f in rec.report()["flows"] if f["residence_total_ns"] is not None)
    near(lost["stack_ns"], stack, 1e-6, "time in the stack is that of all flows, ns")
    near(lost["run_queue_ns"], rec.report()["scheduler"]["run_queue_total_ns"], 1e-6, "and that of waits for a CPU, ns")


def hidden(rec):
    text, everything = report(rec, columns=400), report(rec, "--all", columns=400)
    for option, words in HIDDEN.items():
        check(words not in text, f"without {option} there is no '{words.strip()}'")
        check(words in report(rec, option, columns=400) and words in everything, f"with it and with --all there is")
    hint = "more: --calls --modulation --explain --flow ID --slowest N --all"
    check(text.splitlines()[-1] == hint and text.count("--") == text[:-len(hint)].count("--") + hint.count("--") and
          text.count("more:") == 1, "the last line names the options, once")
    check("more:" not in everything, "and is not there with --all")
    check(len(re.findall(r"^  traffic.*: sizes .*modulation M (= [\d.]+: |n/a: )", text, re.M)) ==
          text.count("Latency by stage"), "what the stack made of the traffic is one line a flow")


def named_first(rec):
    """The first flow shown is an end of the slowest exchange."""
    slow = rec.report()["slowest"][0]
    first = re.search(r"^Latency by stage, (.*)$", report(rec), re.M)[1]
    at = slow["causes"][0]["at"]
    check(f"port {PORT}" in first and (at == "network" or ("server at" if at == "server" else "client of") in first),
          f"most of the slowest exchange was {at}, {slow['causes'][0]['cause']}; the first flows are: {first}")


def on_terminal(*args, rows=24, **env):
    """Runs magnet on a terminal of 80 columns; returns what it shows."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
    clean = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR", "PAGER", "MAGNET_PAGER")}
    with subprocess.Popen([MAGNET, *args], stdin=theirs, stdout=theirs, stderr=theirs,
                          env={**clean, "TERM": "xterm", **env}) as p:
        os.close(theirs)
        shown = b""
        try:
            while data := os.read(ours, 65536):
                shown += data
        except OSError:  # the other side is closed
            pass
    os.close(ours)
    check(p.returncode == 0, f"magnet {args[0]} on a terminal of {rows} lines: {p.returncode}")
    return shown.decode().replace("\r\n", "\n")


def paged(rec, top):
    text = report(rec, "--color=always", columns=80)
    pager = f"{PYTHON} {top}/pager"
    with open(top + "/pager", "w") as f:
        f.write("import os, sys\nopen(sys.argv[0] + '.got', 'w').write(sys.stdin.read())\nprint('paged', os.environ['LESS'])\n")

    def got():
        try:
            with open(top + "/pager.got") as f:
                return f.read()
        except FileNotFoundError:
            return None
        finally:
            shutil.rmtree(top + "/pager.got", ignore_errors=True)
            if os.path.exists(top + "/pager.got"):
                os.unlink(top + "/pager.got")
    check(on_terminal("report", rec.dir, MAGNET_PAGER=pager, PAGER="false") == "paged FRX\n" and got() == text,
          "a long report goes to MAGNET_PAGER, with its colours and its width")
    check(on_terminal("report", rec.dir, PAGER=pager) == "paged FRX\n" and got() == text, "or to PAGER")
    check(on_terminal("show", rec.dir, MAGNET_PAGER=pager).endswith("paged FRX\n") and got().count("\n") > 100,
          "events, too")
    for what, args, env in (("--no-pager", ("--no-pager",), {"MAGNET_PAGER": pager}),
                            ("MAGNET_PAGER is empty", (), {"MAGNET_PAGER": "", "PAGER": pager}),
                            ("the terminal is a dumb one", ("--color=always",), {"MAGNET_PAGER": pager, "TERM": "dumb"})):
        check(on_terminal("report", rec.dir, *args, **env) == text and got() is None, f"{what}: there is no pager")
    check(on_terminal("report", rec.dir, rows=1000, MAGNET_PAGER=pager) == text and got() is None,
          "nor for what fits the screen")
    check(report(rec, MAGNET_PAGER=pager) and got() is None, "nor for what is piped")
    check(on_terminal("report", rec.dir, MAGNET_PAGER="/no/such/pager").endswith(text), "a pager that is not there is done without")


need_kernel_side()
need_program("curl")
SERVICE = f"""{PYTHON} -m http.server --bind 127.0.0.1 --directory /usr/share {PORT} >/dev/null 2>&1 & server=$!
for i in $(seq 100); do curl -s -o /dev/null http://127.0.0.1:{PORT}/ && break; sleep 0.05; done
for i in $(seq 30); do curl -s -o /dev/null http://127.0.0.1:{PORT}/; done; kill $server"""
with Recording("sh", "-c", SERVICE) as rec, tempfile.TemporaryDirectory() as top:
    fits(rec)
    first_screen(rec)
    in_order(rec)
    hidden(rec)
    named_first(rec)
    paged(rec, top)
