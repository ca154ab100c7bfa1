# SPDX-License-Identifier: MIT
"""Cases of the program `lives`, without magnet and under `magnet record`, and what must be equal."""
import os
import re
from collections import Counter

from fixture import *

PROGRAMS = os.path.join(os.environ["MAGNET_BUILD"], "tests", "programs")
LIVES = os.path.join(PROGRAMS, "lives")
LIBMAGNET = os.path.join(os.environ["MAGNET_BUILD"], "preload", "libmagnet.so")
UNTIMED = "app_untimed"  # why a call is lost: its program has forbidden the cycle counter
UNFINISHED = "app_unfinished"  # why a call is lost: its logging was cut short
SINK = {"socket": 1, "bind": 1, "connect": 1}  # what sink() of the program calls


def plus(*counts):
    """{name: number} of several, added up."""
    total = Counter()
    for c in counts:
        total.update(c)
    return dict(total)


def times(n, counts):
    return {name: n * k for name, k in counts.items()}


def bare(*command, **kw):
    return run(*command, check=False, stdin=subprocess.DEVNULL, **kw)


class Life(Recording):
    """A recording of the application side, compared with a run without magnet."""

    def __init__(self, *command, options=(), env=None, compare=True, may_lose=False):
        self.what = " ".join(os.path.basename(str(c)) for c in command)
        with tempfile.NamedTemporaryFile(prefix="magnet-test-", mode="r") as told:
            os.chmod(told.name, 0o666)
            env = dict(os.environ, **(env or {}))
            without = bare(*command, env=env) if compare else None
            super().__init__(*command, options=("--app-only", "-q", *options), ok=None,
                             env=dict(env, LIVES_TOLD=told.name), stdin=subprocess.DEVNULL)
            self.told = [line.split() for line in told]
        self.warned = self.p.stderr
        if may_lose:
            self.p.stderr = re.sub("magnet: warning: events lost: .*\n", "", self.p.stderr)
        if compare:
            self.check_same(without)
        self.calls = [e for e in self.events() if e["event"].startswith("magnet:")]

    def check_same(self, without):
        if without.returncode < 0:  # a signal's number; magnet ends as a shell does
            without.returncode = 128 - without.returncode
        pairs = [(getattr(without, k), getattr(self.p, k)) for k in ("returncode", "stdout", "stderr")]
        for name, (before, now) in zip(("exit status", "stdout", "stderr"), pairs):
            if before != now:
                sys.exit(f"FAILED: {self.what}: {name} {before!r} without magnet, {now!r} with")
        print(f"ok: {self.what}: exit status {without.returncode} and output as without magnet")

    def lost(self):
        with open(self.dir + "/session.json") as f:
            return json.load(f)["app"]["discarded"]

    def losses(self):
        """Why calls were lost."""
        return {e["fields"]["reason"] for e in self.events() if e["event"] == "lost"}

    def names(self):
        return dict(Counter(e["event"].removeprefix("magnet:") for e in self.calls))

    def of(self, name, key="pid"):
        """{pid: number} of one call."""
        return Counter(int(e[key]) for e in self.calls if e["event"] == "magnet:" + name)

    def check_calls(self, *expected):
        """Exactly these, and none was lost."""
        expected, names = plus(*expected), self.names()
        check(self.lost() == 0, f"{self.what}: nothing was lost ({self.lost()})")
        check(names == expected, f"{self.what}: the calls are {expected}"
              + ("" if names == expected else f", not {names}"))


def check_life(*command, expected, **kw):
    """A case that needs no closer look."""
    with Life(*command, **kw) as life:
        life.check_calls(*expected)
