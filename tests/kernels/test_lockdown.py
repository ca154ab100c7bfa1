# SPDX-License-Identifier: MIT
"""
A kernel locked down to confidentiality lets nobody's programs read its memory: that is told, and not
taken for a missing privilege, with what to do; also where the file that says so is not mounted.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *


def is_told(why, where):
    check("locked down (confidentiality)" in why and "lockdown=integrity" in why
          and "CAP_" not in why and "\n" not in why, f"{where}: {why}")


def tried(*start):
    """Doctor and record report it, and the application side remains."""
    p = run(*start, MAGNET, "doctor", "--json", check=False)
    found = json.loads(p.stdout)
    check(p.returncode == 1 and found["verdict"] == "partial" and "lockdown" in found["missing"][0]["mend"],
          "a recording would be partial, and doctor says what mends it")
    check(found["app"]["works"] and not found["kernel_side"]["works"],
          "only the application side works")
    is_told(found["kernel_side"]["why"], "doctor")
    with tempfile.TemporaryDirectory() as top:
        p = run(*start, MAGNET, "record", "--kernel-only", "-o", top + "/k", "--", "true", check=False)
        check(p.returncode == 1, "a recording of the kernel side alone ends")
        is_told(p.stderr.strip(), "record --kernel-only")
        p = run(*start, MAGNET, "record", "-q", "-o", top + "/a", "--", "true")
        is_told(p.stderr.strip(), "record")
    return found["machine"]["lockdown"]


check(tried() == "confidentiality", "doctor tells the kernel's mode")
HIDE = "umount /sys/kernel/security && exec \"$@\""
check(tried("unshare", "-m", "sh", "-c", HIDE, "sh") is None, "or that it is not known")
