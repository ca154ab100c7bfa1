# SPDX-License-Identifier: MIT
"""
Packages for Debian, built by dpkg-buildpackage in a root with the packages of debian/control, installed in a
minimal one, and tried there. Usage: test_debian.py SOURCE RELEASE
"""
import glob
import os
import re
import shutil
import sys
import tempfile

from roots import AT, Root, check, own_mounts
from smoke import completes, files, marks, records
from source import copy_source, glob_in

SOURCE, RELEASE = sys.argv[1:]


def built(version, debs):
    with Root(RELEASE + "-build") as root:
        copy_source(SOURCE, root.path + "/build/magnet")
        root.run("dpkg-buildpackage", "-us", "-uc", "-b", "-Pnocheck", cwd="/build/magnet")
        for deb in glob.glob(root.path + "/build/*.deb"):
            if "-dbgsym" not in deb:
                shutil.copy(deb, debs)
        check(sorted(os.path.basename(d).split("_")[0] for d in os.listdir(debs)) == ["libmagnet-dev", "magnet",
                                                                                           "python3-magnet"],
              f"dpkg-buildpackage makes {sorted(os.listdir(debs))}")
        # magnet has no address of its own yet
        found = root.run("sh", "-c", "lintian --allow-root --fail-on error,warning --suppress-tags "
                         "bogus-mail-host,bogus-mail-host-in-debian-changelog *.changes", cwd="/build", check_it=False)
        check(found.returncode == 0, f"lintian has neither errors nor warnings: {found.stdout}{found.stderr}")
        marks(root, version, "dpkg", "-i", *glob_in(root, "/build/libmagnet-dev_*.deb"))


def tried(version, debs):
    with Root(RELEASE) as root:
        if root.run("apt-get", "-q", "update", check_it=False).returncode:
            sys.exit("the mirror of Debian cannot be reached")
        shutil.copytree(debs, root.path + "/debs")
        root.run("apt-get", "-q", "install", "-y", "--no-install-recommends",
                 *glob_in(root, f"/debs/magnet_{version}*.deb"))
        lib = root.run("sh", "-c", "dirname $(dpkg -L magnet | grep /libmagnet.so)").stdout.strip()
        files(root, lib)
        completes(root)
        records(root, version)
        with_python(root)
        root.run("apt-get", "-q", "purge", "-y", "magnet", "python3-magnet")
        left = root.run("sh", "-c", "find /usr /etc -name '*magnet*'").stdout
        check(left == "", f"nothing of it is left when it is removed: {left}")


def with_python(root):
    root.run("apt-get", "-q", "install", "-y", "--no-install-recommends", *glob_in(root, "/debs/python3-magnet_*.deb"))
    calls = root.run("python3", "-c", "import magnet; print(len(magnet.open('/tmp/t').facts.call))").stdout
    check(int(calls) > 30, f"the Python package reads {calls.strip()} calls")


own_mounts()
with open(SOURCE + "/debian/changelog", encoding="utf-8") as f:
    VERSION = re.match(r"magnet \((.*)\)", f.readline())[1]
if not os.path.isdir(os.path.join(AT, RELEASE)):
    Root(RELEASE)  # skips
with tempfile.TemporaryDirectory(prefix="magnet-test-") as made:
    built(VERSION, made)
    tried(VERSION, made)
