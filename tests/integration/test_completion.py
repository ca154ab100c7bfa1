# SPDX-License-Identifier: MIT
"""Completion for bash gives the commands, options and values that --help lists."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from tracer import TRACER

SHELL = os.path.join(os.path.dirname(__file__), "..", "..", "completion")


def completed(*words):
    """Return the words that complete the last one."""
    script = f"""source {SHELL}/magnet.bash
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_magnet 2>/dev/null
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    return run("bash", "-c", script, "-", MAGNET, *words).stdout.split()


def of_help(command):
    return {m[1] + ("=" if m[2] else "") for m in
            re.finditer(r"^  (?:-., |    )(--[a-z-]+)( [A-Z]+)?", run(MAGNET, command, "--help").stdout, re.M)}


need_program("bash")
check(completed("re") == ["record", "report"] and "show" in completed("help", ""), "commands")
for command in ("record", "report", "show", "doctor", "export", "annotate", "plot", "top", *(("ctl",) if os.path.exists(TRACER) else ())):
    check(set(completed(command, "--")) == of_help(command) != set(), f"the options of magnet {command}")
check(completed("record", "--flight", "") == [], "an option's value that can be anything")
check(completed("record", "--level", "l") == ["light"] and completed("record", "--level", "=", "f") == ["full"],
      "an option's value that is one of a list")
check(completed("record", "-l", "tcp,i") == ["tcp,ip"], "the next value of a list")
check(completed("report", "--color", "a") == ["auto", "always"], "when there is colour")
check("records" in completed("export", "--format", ""), "formats of export")
check(completed("top", "--sort", "re") == ["remote", "received", "retransmits"], "columns of magnet top")
check("range" in completed("show", "--facts", ""), "kinds of facts")
check(completed("report", "--on-demand", "bu") == ["bursts"], "figures on demand")
check(completed("record", "-q", "curl", "--l") == [], "options of the program that is recorded are its own")
check(not os.path.exists(TRACER) or completed("ctl", "st") == ["status", "stop"], "requests to a running recording")
with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
    os.mkdir(top + "/trace")
    check(completed("report", top + "/t") == [top + "/trace"], "directories")
zsh = shutil.which("zsh")
check(not zsh or run(zsh, "-n", SHELL + "/_magnet").returncode == 0, "zsh can parse its file" if zsh else "(no zsh)")
