# SPDX-License-Identifier: MIT
"""
The doctor's verdict stands in its first ten lines, with a remedy for each thing that is missing; its exit
status says whether a recording is partial. tests/bench/tune.py has its curve of losses.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PAGE = open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "magnet-doctor.1")).read()


def verdict():
    p = run(MAGNET, "doctor", check=False)
    lines = p.stdout.splitlines()
    found = json.loads(run(MAGNET, "doctor", "--json", check=False).stdout)
    partial = any(m["partial"] for m in found["missing"])
    check(found["verdict"] == ("partial" if partial else "complete"), f"the verdict: {lines[0]}")
    check(p.returncode == (1 if partial else 0), f"exit status {p.returncode} says whether a recording is partial")
    check(len(lines) <= 10 and lines[0].startswith("PARTIAL" if partial else "complete"), f"in {len(lines)} lines")
    for m in found["missing"][:4]:
        check(any(m["what"] in a and m["why"] in a and m["mend"] in b for a, b in zip(lines, lines[1:])),
              f"missing: {m['what']}: mended by: {m['mend']}")
    check([m["partial"] for m in found["missing"]] == sorted((m["partial"] for m in found["missing"]), reverse=True),
          "what makes a recording partial comes first")
    without = {h["hook"] for h in found["hooks"]} - {h["hook"] for h in found["hooks"] if h["status"] == 0}
    named = " ".join(m["what"] for m in found["missing"])
    optional = {h["hook"] for h in found["hooks"] if h["layer"] in ("netfilter", "gro", "switch", "timestamps")}
    check(all(hook in named for hook in without - optional), f"each event without a hook is named: {sorted(without)}")
    table = run(MAGNET, "doctor", "-v", check=False).stdout
    check(table.startswith(lines[0]) and "sys_enter" in table and "not observable" in table, "-v has all hooks")
    cgroup2 = re.search("^cgroup v2 .*$", table, re.M)[0]
    check(found["machine"]["cgroup2"] is None or cgroup2.endswith(", for --cgroup and --layers timestamps"), cgroup2)
    members = set(re.findall(r"\w+", " ".join(re.findall(r"^\.It Va (.*)$", PAGE.split(".Sh JSON")[1], re.M))))
    check(set(found) <= members, f"the manual names each member of the object: {sorted(set(found) - members)} lack")
    check("LTTng sessions" in table and "LTTng sessions" in PAGE, "-v and the manual have the LTTng sessions")


def without_privilege():
    p = run("setpriv", "--reuid", "65534", "--clear-groups", "--", MAGNET, "doctor", "--json", check=False)
    found = json.loads(p.stdout)
    check(p.returncode == 1 and found["verdict"] == "partial" and found["app"]["works"],
          f"without privilege a recording is partial: {found['missing'][0]['why']}")
    check("sudo" in found["missing"][0]["mend"], f"mended by: {found['missing'][0]['mend']}")


def untuned():
    p = run("setpriv", "--reuid", "65534", "--clear-groups", "--", MAGNET, "doctor", "--tune", "1%", check=False)
    check(p.returncode == 1 and "without the kernel side" in p.stderr and p.stdout.startswith("PARTIAL"),
          f"nothing can be tuned without privilege: {p.stderr.strip()}")


need_kernel_side()
verdict()
without_privilege()
untuned()
