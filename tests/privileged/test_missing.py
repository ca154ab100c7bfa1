# SPDX-License-Identifier: MIT
"""Messages of doctor and record where the kernel's types are hidden, or no cgroup v2 is mounted."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

HIDE_TYPES = 'mount -t tmpfs none /sys/kernel/btf && exec "$@"'
NO_CGROUPS = """for at in $(awk '$3 == "cgroup2" { print $2 }' /proc/self/mounts); do
umount -l "$at" || exit 1; done; exec "$@" """


def without(script):
    """The start of a command line, in a mount namespace of its own."""
    start = ["unshare", "-m", "sh", "-c", script, "sh"]
    if run(*start, "true", check=False).returncode:
        skip("nothing can be mounted, or unmounted, here")
    return start


def one_line(text, *words):
    check("\n" not in text and all(w in text for w in words), text)


def hidden_types(top):
    start = without(HIDE_TYPES)
    p = run(*start, MAGNET, "doctor", "--json", check=False)
    found = json.loads(p.stdout)
    check(p.returncode == 1 and found["verdict"] == "partial", "without the kernel's types a recording is partial")
    first = found["missing"][0]
    check(first["what"] == "the kernel side" and first["partial"] and "CONFIG_DEBUG_INFO_BTF" in first["mend"],
          f"and it is said first what mends it: {first['mend']}")
    check(not found["machine"]["btf"] and not found["kernel_side"]["works"] and found["app"]["works"],
          "without the kernel's types its side does not work, the application's does")
    one_line(found["kernel_side"]["why"], "/sys/kernel/btf/vmlinux", "CONFIG_DEBUG_INFO_BTF")
    p = run(*start, MAGNET, "record", "--kernel-only", "-o", top + "/k", "--", "true", check=False)
    check(p.returncode == 1, "a recording of the kernel side alone ends")
    one_line(p.stderr.strip(), "/sys/kernel/btf/vmlinux", "CONFIG_DEBUG_INFO_BTF")
    p = run(*start, MAGNET, "record", "-q", "-o", top + "/a", "--", "true")
    one_line(p.stderr.strip(), "application side only", "/sys/kernel/btf/vmlinux")


def no_cgroups(top):
    """As in `ip netns exec`, which hides what is mounted below /sys."""
    start = without(NO_CGROUPS)
    found = json.loads(run(*start, MAGNET, "doctor", "--json").stdout)
    check(found["kernel_side"]["works"] and found["machine"]["cgroup2"] is None,
          "without cgroups v2 the kernel side works")
    check(found["machine"]["cgroup2_usable"], "and magnet can mount them for itself")
    said = run(*start, MAGNET, "doctor", "-v").stdout
    check("not mounted here; magnet mounts it for itself" in said and "optional: cgroup v2" not in said, said)
    p = run(*start, MAGNET, "record", "-o", top + "/c", "--cgroup", "some", check=False)
    check(p.returncode == 1, "a recording of a cgroup that does not exist ends")
    one_line(p.stderr.strip(), "there is no cgroup some")
    start += ["setpriv", "--bounding-set", "-sys_admin"]
    found = json.loads(run(*start, MAGNET, "doctor", "--json").stdout)
    check(not found["machine"]["cgroup2_usable"], "without the capability it cannot")
    said = run(*start, MAGNET, "doctor", "-v").stdout
    check("optional: cgroup v2: not mounted" in said and "mount -t cgroup2" in said, "and doctor tells how to fix it")
    check("not mounted: --cgroup and --layers timestamps cannot be used" in said, "and doctor tells what does not")
    p = run(*start, MAGNET, "record", "-o", top + "/d", "--cgroup", "some", check=False)
    check(p.returncode == 1, "a recording of one ends")
    one_line(p.stderr.strip(), "no cgroup v2", "mount -t cgroup2")


need_kernel_side()
with tempfile.TemporaryDirectory() as top:
    hidden_types(top)
    no_cgroups(top)
