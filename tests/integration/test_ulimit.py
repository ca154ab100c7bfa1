# SPDX-License-Identifier: MIT
"""
Limits on address space, file sizes and descriptors, and a small /dev/shm: what can be recorded is, else
the limit is named; a recording that does not begin leaves no directory; the program has its own limits.
"""
import ctypes
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PROGRAM = """
import resource, socket
print([resource.getrlimit(r) for r in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_AS)])
a, b = socket.socketpair()
for i in range(300): a.send(b"x"); b.recv(1)
"""
KERNEL = not no_kernel_side()
CAP_SYS_RESOURCE, PR_CAPBSET_DROP = 24, 24


def recorded(what, amount, *options):
    """A recording under a limit that its recorders may not raise, and how it went."""
    limits = [(resource.RLIM_INFINITY,) * 2 if r != resource.RLIMIT_NOFILE else resource.getrlimit(r)
              for r in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_AS)]
    which = [resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_AS].index(what)
    limits[which] = (amount, amount)

    def limit():
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_SYS_RESOURCE, 0, 0, 0)
        resource.setrlimit(what, (amount, amount))

    top = tempfile.mkdtemp(prefix="magnet-test-")
    try:
        p = run(MAGNET, "record", "-o", top + "/t", *options, "--", PYTHON, "-c", PROGRAM, check=False,
                preexec_fn=limit)
        if p.returncode:
            check(p.stdout == "" and os.listdir(top) == [], f"nothing runs, and nothing is left: {p.stderr.strip()}")
            return p, None, ""
        check(p.stdout == f"{limits}\n", f"the program has its limits: {p.stdout.strip()}")
        return (p, json.loads(run(MAGNET, "report", "--json", top + "/t").stdout),
                run(MAGNET, "report", top + "/t").stdout)
    finally:
        shutil.rmtree(top)


def calls(r):
    return sum(c["n"] for c in r["calls"] if c["name"] in ("send", "recv"))


for what, amount, option in ((resource.RLIMIT_AS, 64 << 20, "-v"), (resource.RLIMIT_FSIZE, 2 << 20, "-f"),
                             (resource.RLIMIT_NOFILE, 40, "-n")):
    if what == resource.RLIMIT_AS and "ASAN_OPTIONS" in os.environ:
        continue  # a sanitizer takes more address space than that
    p, r, _ = recorded(what, amount, "--app-only")
    check(r and calls(r) == 600 and r["loss"]["app"] == 0, f"ulimit {option}: all calls are recorded")
for what, amount, option in ((resource.RLIMIT_FSIZE, 0, "-f"), (resource.RLIMIT_FSIZE, 512 << 10, "-f"),
                             (resource.RLIMIT_NOFILE, 10, "-n")):
    p, r, _ = recorded(what, amount, "--app-only")
    check(r is None and p.returncode == 1 and f"raise ulimit {option}" in p.stderr
          and p.stderr.count("\n") == 1, f"and less is told: {p.stderr.strip()}")
if KERNEL:
    for what, amount, option in ((resource.RLIMIT_AS, 64 << 20, "-v"), (resource.RLIMIT_NOFILE, 100, "-n")):
        p, r, text = recorded(what, amount)
        check(r and calls(r) == 600 and f"application side only" in p.stderr and f"raise ulimit {option}" in p.stderr
              and f"raise ulimit {option}" in text, f"what can be is recorded: {p.stderr.strip()}")
    p, r, text = recorded(resource.RLIMIT_FSIZE, 512 << 10)
    check(r and r["events"]["kernel"] > 1000 and "kernel side only" in p.stderr and "kernel side only" in text
          and "raise ulimit -f" in text, f"the kernel side alone, too: {p.stderr.strip()}")
    p, r, text = recorded(resource.RLIMIT_FSIZE, 8 << 20)
    check(r and calls(r) == 600 and r["events"]["kernel"] > 1000, "and both where both can be")
    p, r, text = recorded(resource.RLIMIT_AS, 300 << 20)
    check(r and calls(r) == 600 and r["events"]["kernel"] > 1000, "within 300 MB of address space, too")

if os.geteuid() == 0 and run("unshare", "-m", "true", check=False).returncode == 0:
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        run("unshare", "-m", "sh", "-c", f"mount -t tmpfs -o size=1m none /dev/shm && exec {MAGNET} record --app-only "
            f"-q -o {top}/t -- {PYTHON} -c '{PROGRAM.replace('300', '100000')}'")
        r = json.loads(run(MAGNET, "report", "--json", top + "/t").stdout)
        check(calls(r) + r["loss"]["app"] == 200000, f"/dev/shm of 1 MB: {calls(r)} calls")
