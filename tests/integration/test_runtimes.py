# SPDX-License-Identifier: MIT
"""
Programs into which libmagnet.so cannot be preloaded as into others: musl's loader does not load it, and a
sanitizer's runtime wants to be the first. They run as without magnet, also as children, whoever starts them
and how; what can be recorded is, and what cannot is told.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

GREETS = os.environ["MAGNET_BUILD"] + "/tests/programs/greets-"
CALLS = {"socketpair": 1, "send": 1, "recv": 1}
STARTS = """
import os, subprocess, sys
p = sys.argv[1]
subprocess.run([p], check=True)
subprocess.run([p], check=True, preexec_fn=lambda: None)
assert os.system(p) == 0
os.waitpid(os.posix_spawn(p, [p], os.environ), 0)
os.waitpid(os.posix_spawnp(p, [p], os.environ), 0)
for start in (os.spawnv, os.spawnvp):
    assert start(os.P_WAIT, p, [p]) == 0
if os.fork() == 0:
    os.execve(os.open(p, os.O_RDONLY), [p], os.environ)
assert os.wait()[1] == 0
"""


class Greeting(Recording):
    """A program that is recorded prints and returns what it does without."""

    def __init__(self, *command, options=("--app-only",)):
        self.what = " ".join(os.path.basename(str(c)) for c in command)[:60]
        bare = run(*command)
        super().__init__(*command, options=options)
        check(self.p.stdout == bare.stdout, f"{self.what}: runs as without magnet")

    def counts(self):
        found = {}
        for e in self.events():
            if e["event"].startswith("magnet:"):
                name = e["event"].removeprefix("magnet:")
                found[name] = found.get(name, 0) + 1
        return found

    def missing(self):
        with open(self.dir + "/session.json") as f:
            return json.load(f)["app"].get("missing")


def check_one(*command, greetings):
    with Greeting(*command) as rec:
        check(rec.counts() == {k: n * greetings for k, n in CALLS.items() if greetings},
              f"{rec.what}: the calls of {greetings} are there: {rec.counts()}")
        told = bool(not greetings)
        check(bool(rec.missing()) == told and ("cannot be preloaded" in rec.p.stderr) == told,
              f"{rec.what}: {rec.missing() or 'nothing is missing'}")


def check_children(name, preloaded):
    """Started by a shell, by Python in several ways, by itself."""
    program = GREETS + name
    for shell in ("sh", "bash"):
        with Greeting(shell, "-c", f"{program}; exec {program}") as rec:
            check(rec.counts() == {k: 2 * n * preloaded for k, n in CALLS.items() if preloaded},
                  f"{rec.what}: {rec.counts()}")
    with Greeting(PYTHON, "-c", STARTS, program) as rec:
        seen = rec.counts()
        check(all(seen.get(k, 0) >= 8 * preloaded for k in CALLS) and
              seen.get("recv", 0) == 8 * preloaded, f"{name}: of 8 started by Python: {seen}")
    with Greeting("env", program, program) as rec:
        check(rec.counts().get("recv", 0) == 2 * preloaded, f"{rec.what}: {rec.counts()}")


def sanitized(name):
    check_one(GREETS + name, greetings=1)
    if "tsan" in name or name == "clang-asan":
        return  # it is in the program, or does not mind who comes first
    check_children(name, 1)
    with Recording(GREETS + name, "env", options=("--app-only",)) as rec:
        env = dict(line.split("=", 1) for line in rec.p.stdout.splitlines() if "=" in line)
    inherited = [os.path.basename(library) for library in env["LD_PRELOAD"].split(":")]
    check(not any("san" in library for library in inherited) and "MAGNET_RUNTIME" not in env,
          f"the runtime is for that program, not for its children: {inherited}")


def musl():
    check_one(GREETS + "musl", greetings=0)
    check_children("musl", 0)
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        with open(top + "/script", "w") as f:
            f.write(f"#! {GREETS}musl /bin/echo\n")
        os.chmod(top + "/script", 0o755)
        check_one(top + "/script", greetings=0)
    if not no_kernel_side():
        with Greeting(GREETS + "musl", options=()) as rec:
            calls = {c["name"]: c["n"] for c in rec.report()["calls"] if c["kernel_only"]}
            check(all(calls.get(k) == 1 for k in ("socketpair", "sendto", "recvfrom")),
                  f"the kernel side has its calls: {calls}")


own_network()
built = [name for name in ("gcc-asan", "clang-asan", "clang-asan-shared", "clang-tsan", "gcc-tsan")
         if os.path.exists(GREETS + name)]
for name in built:
    print("---", name)
    sanitized(name)
if os.path.exists(GREETS + "musl"):
    print("--- musl")
    musl()
elif not built:
    skip("neither musl-gcc nor a sanitizer's runtime is here")
