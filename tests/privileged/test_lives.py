# SPDX-License-Identifier: MIT
"""
The kernel side counts and names what libmagnet.so cannot see; lives that are seen agree on
both sides.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from lives import *

BARE = os.path.join(PROGRAMS, "lives_bare")


class Both(Recording):
    """A recording of both sides, and its calls by who has seen them."""

    def __init__(self, *command, ok=(0,), **kw):
        self.what = " ".join(os.path.basename(str(c)) for c in command)
        super().__init__(*command, ok=None, stdin=subprocess.DEVNULL, **kw)
        if self.p.returncode not in ok:
            sys.exit(f"FAILED: {self.what}: exit {self.p.returncode} {self.p.stderr}")
        self.r = self.report()

    def calls(self, kernel_only):
        seen = Counter()
        for c in self.r["calls"]:
            if c["kernel_only"] == kernel_only:
                seen[c["name"]] += c["n"]
        return dict(seen)

    def check_sides(self, both, kernel_only):
        check(lost(self.r) == 0, f"{self.what}: nothing was lost")
        check(self.calls(False) == both, f"{self.what}: libmagnet.so saw {both}, {self.calls(False)}")
        check(self.calls(True) == kernel_only,
              f"{self.what}: only the kernel side saw {kernel_only}, {self.calls(True)}")

    def check_named(self, comm):
        check(any(u["comm"] == comm for u in self.r["unseen"]), f"{self.what}: the report names it")
        check(f"of {comm}" in self.p.stderr, f"{self.what}: {self.p.stderr.strip().splitlines()[0]}")


def bare():
    """System calls of the program's own, in a dynamic and in a static program."""
    own = {"socketpair": 1, "sendto": 5, "recvfrom": 1}
    for name in ("lives_bare", "lives_static"):
        with Both(os.path.join(PROGRAMS, name)) as rec:
            rec.check_sides({}, own)
            rec.check_named(name)


def privileged():
    """A program that gains privileges is not preloaded."""
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        os.chmod(top, 0o755)
        program = top + "/gains"
        shutil.copy(LIVES, program)
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        with Both(program, "brief") as rec:
            if rec.calls(False):
                print("no set-user-id programs here")
                return
            rec.check_sides({}, {"socket": 1, "bind": 1, "connect": 1, "sendto": 3})
            rec.check_named("gains")


def deepbind():
    with Both(LIVES, "deepbind", os.path.join(PROGRAMS, "liblives.so")) as rec:
        rec.check_sides({"socket": 1, "bind": 1, "connect": 1, "send": 1}, {"sendto": 4})


def foreign_storage():
    """Children without thread-local storage of the C library's: the kernel side has their calls."""
    with Both(LIVES, "foreign") as rec:
        rec.check_sides({"socket": 1, "bind": 1, "connect": 1, "send": 11},
                        {"sendto": 15, "socketpair": 7, "write": 7, "recvfrom": 7})


def uring():
    with Both(LIVES, "uring", ok=(0, 77)) as rec:
        if rec.p.returncode == 77:
            print("no io_uring here")
            return
        rec.check_sides({"socket": 1, "bind": 1, "connect": 1, "send": 1}, {"io_uring_enter": 2})
        check("io_uring" in rec.text(), "the report says so")


def agree():
    """Each call that libmagnet.so sees is one the kernel saw, of the same thread."""
    for case in ("storm 50", "vfork", "raw_fork", "clone_vm", "spawn", "threads 50",
                 "daemon close_range", "exec_chain 20", "rights", "inherit", "sandbox seccomp"):
        with Both(LIVES, *case.split(), ok=(0, 7)) as rec:
            r, others = rec.r, rec.calls(True)
            check(lost(r) == 0 and r["unjoined_calls"] == 0, f"{rec.what}: all calls are joined")
            # not what libmagnet.so asks the kernel, either, of descriptors that are inherited
            check(not others, f"{rec.what}: and no others were made {others or ''}")


need_kernel_side()
for test in (bare, privileged, deepbind, foreign_storage, uring, agree):
    print("---", test.__name__)
    test()
