# SPDX-License-Identifier: MIT
"""A recorded program gets the same input, and does the same, as without magnet."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from lttng import LttngSession

LIBMAGNET = os.path.join(os.environ.get("MAGNET_BUILD", ""), "preload/libmagnet.so")
TOP = scratch()
TRACER = os.path.join(os.environ.get("MAGNET_BUILD", ""), "kernel-tracer/magnet-kernel-tracer")
INHERITED = "umask; grep -E 'SigBlk|SigIgn' /proc/self/status"


def record(*args, **kw):
    return run(MAGNET, "record", "-q", "-o", tempfile.mkdtemp(dir=TOP), "--", *args, **kw)


def inherited():
    # Python itself ignores SIGPIPE, and gives its children the default
    bare = run("sh", "-c", INHERITED).stdout
    check(record("sh", "-c", INHERITED).stdout == bare, "umask and signals are the program's own")
    held = ["env", "--ignore-signal=PIPE", "--block-signal=USR1"]
    check(run(*held, MAGNET, "record", "-q", "-o", TOP + "/held", "--", "sh", "-c", INHERITED).stdout
          == run(*held, "sh", "-c", INHERITED).stdout, "also where they are not the usual")
    if not no_kernel_side() and os.path.exists(TRACER):
        p = run(TRACER, "-o", TOP + "/kernel", "--", "sh", "-c", INHERITED)
        check(p.stdout == bare, "and under the kernel tracer alone")


FIRST_NUMBER = "import os; print(os.open('/dev/null', os.O_RDONLY))"
CLOSES_ALL = """
import os, socket, signal, time
{close}
a = socket.create_server(("127.0.0.1", 0))
ends = []
for i in range(8):
    ends += [socket.create_connection(a.getsockname()), a.accept()[0]]
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(2)
for s in ends:
    s.sendall(b"still here")
print([s.recv(100).decode() for s in ends].count("still here"), flush=True)
"""
VFORK = """
import os, socket, subprocess
a = socket.create_server(("127.0.0.1", 0))
b = socket.create_connection(a.getsockname())
c, _ = a.accept()
os.write(1, b"a file\\n")
subprocess.run(["/bin/true"], stdout=b.fileno(), stdin=subprocess.PIPE)
for i in range(20):
    os.write(1, b"a file\\n")
"""


def descriptors():
    """Those of LTTng's threads are out of the program's way, and not the program's to close."""
    check(record(PYTHON, "-c", FIRST_NUMBER).stdout == run(PYTHON, "-c", FIRST_NUMBER).stdout,
          "descriptors have the same numbers")
    for close in ("os.closerange(3, 2000)",
                  "for fd in range(3, 2000):\n    try: os.close(fd)\n    except OSError: pass"):
        script = CLOSES_ALL.format(close=close)
        p = subprocess.Popen([MAGNET, "record", "-q", "-o", tempfile.mkdtemp(dir=TOP), "--", PYTHON,
                              "-c", script], text=True, stdout=subprocess.PIPE)
        check(p.stdout.readline() == "ready\n", "a program closes all descriptors")
        p.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        p.send_signal(signal.SIGTERM)  # ends the recording, not the program
        p.wait(30)
        check(p.stdout.readline() == "16\n", "its later ones survive the end of the recording")


def descriptors_of_lttng():
    """The same where LTTng's threads are in the program, and the session ends before it."""
    if not shutil.which("lttng-sessiond"):
        return
    for close in ("os.closerange(3, 2000)", "os.system('true'); os.closerange(3, 100000)"):
        with LttngSession() as session:
            env = dict(os.environ, LD_PRELOAD=LIBMAGNET, **session.env)
            p = subprocess.Popen([PYTHON, "-c", CLOSES_ALL.format(close=close)], text=True, env=env,
                                 stdout=subprocess.PIPE)
            check(p.stdout.readline() == "ready\n", "a program closes all descriptors")
            session.end()
            check(p.stdout.readline() == "16\n", "its later ones survive the end of the session")
            check(p.wait(30) == 0, "and it ends as it should")


def vforked():
    """A child between vfork() and exec has its own descriptors, but the parent's memory."""
    d = TOP + "/vfork"
    with open(TOP + "/out", "w") as out:
        subprocess.run([MAGNET, "record", "-q", "--app-only", "-o", d, "--", PYTHON, "-c", VFORK],
                       stdout=out, check=True)
    calls = {c["name"] for c in json.loads(run(MAGNET, "report", "--json", d).stdout)["calls"]}
    check("socket" in calls and "write" not in calls, "what it does to them is not taken for ours")


try:
    for test in (inherited, descriptors, descriptors_of_lttng, vforked):
        print("---", test.__name__)
        test()
finally:
    shutil.rmtree(TOP)
