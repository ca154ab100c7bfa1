# SPDX-License-Identifier: MIT
"""Roots that scripts/packages has made, each used through an overlay that is gone at the end."""
import os
import subprocess
import sys
import tempfile

SKIP = 77
AT = os.environ.get("MAGNET_ROOTS") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "magnet/roots")
BARE = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
        "DEBIAN_FRONTEND": "noninteractive"}


def skip(why):
    print("SKIP: " + why)
    sys.exit(SKIP)


def check(holds, what):
    print(("ok: " if holds else "FAILED: ") + what, flush=True)
    if not holds:
        sys.exit(1)


def own_mounts():
    """Start over where mounts are this program's own, and end with it."""
    if os.geteuid():
        skip("only root can use another root directory")
    if not os.environ.get("MAGNET_TEST_OWN_MOUNTS"):
        os.environ["MAGNET_TEST_OWN_MOUNTS"] = "1"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv])


class Root:
    """A root directory above one of those; what is written into it is gone at the end."""

    def __init__(self, name):
        self.lower = os.path.join(AT, name)
        if not os.path.isdir(self.lower):
            skip(f"{self.lower} is not there: scripts/packages makes it")

    def __enter__(self):
        self.top = tempfile.TemporaryDirectory(prefix="magnet-test-")
        at = self.top.name
        subprocess.run(["mount", "-t", "tmpfs", "none", at], check=True)
        for sub in ("upper", "work", "root"):
            os.mkdir(f"{at}/{sub}")
        self.path = at + "/root"
        subprocess.run(["mount", "-t", "overlay", "none", "-o",
                        f"lowerdir={self.lower},upperdir={at}/upper,workdir={at}/work", self.path], check=True)
        subprocess.run(["mount", "-t", "proc", "none", self.path + "/proc"], check=True)
        for shared in ("/sys", "/dev"):
            subprocess.run(["mount", "--rbind", shared, self.path + shared], check=True)
        with open("/etc/resolv.conf", encoding="utf-8") as f, open(self.path + "/etc/resolv.conf", "w",
                                                                  encoding="utf-8") as to:
            to.write(f.read())
        return self

    def __exit__(self, *unused):
        subprocess.run(["umount", "-R", "-l", self.top.name], check=True)
        self.top.cleanup()

    def run(self, *command, check_it=True, cwd="/", **kw):
        """Run a command in it, its output captured; a failure shows the end of it."""
        p = subprocess.run(["chroot", self.path, "sh", "-c", 'cd "$0" && exec "$@"', cwd, *map(str, command)],
                           capture_output=True, text=True, env=BARE, timeout=1500, **kw)
        if check_it and p.returncode:
            check(False, f"{' '.join(map(str, command))}: exit {p.returncode}\n{p.stdout[-3000:]}{p.stderr[-3000:]}")
        return p
