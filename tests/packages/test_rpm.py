# SPDX-License-Identifier: MIT
"""
The RPM packages of packaging/magnet.spec, built by Debian's rpmbuild (which cannot know Fedora's names of
packages, so without checking them) and installed in a root that has the libraries. Usage: test_rpm.py SOURCE RELEASE
"""
import os
import re
import sys

from roots import Root, check, own_mounts
from smoke import completes, files, marks, records
from source import copy_source, glob_in

SOURCE, RELEASE = sys.argv[1:]

own_mounts()
with open(SOURCE + "/packaging/magnet.spec", encoding="utf-8") as f:
    VERSION = re.search(r"^Version: *(\S+)$", f.read(), re.M)[1]
with Root(RELEASE + "-build") as root:
    name = f"magnet-{VERSION}"
    copy_source(SOURCE, f"{root.path}/rpm/{name}")
    root.run("tar", "-czf", f"/rpm/{name}.tar.gz", name, cwd="/rpm")
    # the directory of libraries is Debian's, so that its linker and pkg-config find them
    lib = "/usr/lib/" + root.run("cc", "-print-multiarch").stdout.strip()
    root.run("rpmbuild", "-bb", "--nodeps", "--define", "_topdir /rpm/made", "--define", "_sourcedir /rpm",
             "--define", f"_libdir {lib}", f"/rpm/{name}/packaging/magnet.spec")
    rpms = glob_in(root, "/rpm/made/RPMS/*/*.rpm")
    check(sorted(os.path.basename(r).split(f"-{VERSION}")[0] for r in rpms if "debug" not in r)
          == ["magnet", "magnet-devel"], f"rpmbuild makes {[os.path.basename(r) for r in rpms]}")
    root.run("rm", "-r", f"/rpm/{name}")
    marks(root, VERSION, "rpm", "-i", "--nodeps", *(r for r in rpms if "debug" not in r))
    files(root, os.path.dirname(root.run("sh", "-c", "rpm -ql magnet | grep /libmagnet.so").stdout.strip()))
    completes(root)
    records(root, VERSION)
    root.run("rpm", "-e", "magnet", "magnet-devel")
    left = root.run("sh", "-c", "find /usr -name '*magnet*'").stdout
    check(left == "", f"nothing of it is left when it is removed: {left}")
