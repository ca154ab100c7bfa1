# SPDX-License-Identifier: MIT
"""
scripts/debian-apt has apt ask this machine's own mirrors of Debian, with the keys they are trusted by, for the
releases that are wanted; apt itself tells what it would ask. Nothing is fetched.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

SCRIPT = os.path.join(os.path.dirname(__file__), "..", "..", "scripts", "debian-apt")
SUITES = ("bullseye", "bookworm-security", "trixie-backports")
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"

OLD_FORM = """
# deb http://off.example/debian bookworm main
deb-src http://source.example/debian bookworm main
deb [arch=amd64 signed-by=/etc/docker.gpg] https://docker.example/linux/debian bookworm stable
deb https://other.example/debian bookworm main # signed by a key of its own
deb [ arch=amd64 signed-by=%s check-valid-until=no ] http://mirror.example/pub/debian/ bookworm main contrib # ours
deb http://sec.example/debian-security bookworm-security main
""" % KEYS
NEW_FORM = """
# made by hand
Types: deb
Enabled: no
URIs: http://off.example/debian
Suites: bookworm
Components: main

Types: deb deb-src
uris: http://one.example/debian
  http://two.example/debian
Suites: trixie trixie-updates
# a remark in between
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mDMEY865UxYJKwYBBAHaRw8BAQdAd7Z0srwuhlB6JKFkcf4HU4SSS/xcRfwEQWzr
 -----END PGP PUBLIC KEY BLOCK-----
"""
CLOUD = """
Types: deb
URIs: mirror+file:///etc/apt/mirrors/debian.list
Suites: bookworm bookworm-updates bookworm-backports
Components: main

Types: deb
URIs: mirror+file:///etc/apt/mirrors/debian-security.list
Suites: bookworm-security
Components: main
"""
NO_SECURITY_NAME = "deb http://archive.example/all bookworm main\n"
UBUNTU = "deb http://ubuntu.example/ubuntu noble main universe\ndeb https://node.example/node_20.x nodistro main\n"


def asked(listed, parts, mirror=None):
    """Returns apt's requests, [(URL up to the suite, suite)], the sources written, and the messages."""
    with tempfile.TemporaryDirectory() as top:
        os.makedirs(top + "/parts")
        for path, text in (("sources.list", listed), *((f"parts/{n}", t) for n, t in parts.items())):
            with open(f"{top}/{path}", "w") as f:
                f.write(text)
        with open(top + "/conf", "w") as f:
            f.write(f'Dir::Etc::sourcelist "{top}/sources.list";\nDir::Etc::sourceparts "{top}/parts";\n')
        env = dict(os.environ, APT_CONFIG=top + "/conf")
        env.pop("MAGNET_DEBIAN_MIRROR", None)
        if mirror:
            env["MAGNET_DEBIAN_MIRROR"] = mirror
        p = run(PYTHON, SCRIPT, top + "/own", "arm64", *SUITES, env=env, check=False)
        if p.returncode:
            return [], "", p.stderr
        q = run("apt-get", "update", "--print-uris", env=dict(os.environ, APT_CONFIG=top + "/own/conf"))
        with open(top + "/own/sources/debian.sources") as f:
            return sorted(re.findall(r"^'(\S+?)/dists/(\S+)/InRelease'", q.stdout, re.M)), f.read(), p.stderr


need_program("apt-get")

found, written, said = asked(OLD_FORM, {})
check(found == [("http://mirror.example/pub/debian", "bullseye"),
                ("http://mirror.example/pub/debian", "trixie-backports"),
                ("http://sec.example/debian-security", "bookworm-security")],
      f"sources.list: {found}")
check(written.count(KEYS) == 1 and "Check-Valid-Until: no" in written, "with the keys and options of each")

found, written, said = asked("", {"a.sources": NEW_FORM, "b.list": UBUNTU, "c.list.save": OLD_FORM})
check(found == sorted((f"http://{host}.example/debian{of}", suite) for host in ("one", "two") for of, suite in
                              (("", "bullseye"), ("", "trixie-backports"), ("-security", "bookworm-security"))),
      f".sources, two mirrors, security beside them: {found}")
check(written.count("BEGIN PGP PUBLIC KEY BLOCK") == 2 and "mDMEY865" in written, "with the key that stands there")

found, written, said = asked("", {"debian.sources": CLOUD})
check("URIs: mirror+file:///etc/apt/mirrors/debian.list\nSuites: bullseye trixie-backports" in written
      and "URIs: mirror+file:///etc/apt/mirrors/debian-security.list\nSuites: bookworm-security" in written
      and "Signed-By" not in written, "a list of mirrors, trusted as apt is configured")

found, written, said = asked(NO_SECURITY_NAME, {})
check([s for _, s in found] == ["bullseye", "trixie-backports"] and "bookworm-security: left out" in said,
      f"without a security archive: {said.strip()}")

found, written, said = asked(UBUNTU, {})
check(not found and "MAGNET_DEBIAN_MIRROR" in said and said.count("\n") == 1, f"on Ubuntu: {said.strip()}")
found, written, said = asked(UBUNTU, {}, mirror="http://set.example/debian")
check([u for u, _ in found] == ["http://set.example/debian"] * 2 + ["http://set.example/debian-security"],
      f"or as it is set: {found}")
