# SPDX-License-Identifier: MIT
"""What a recorded program is given, and does, is what it would be without magnet."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

TOP = tempfile.mkdtemp(prefix="magnet-test-")
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


try:
    for test in (inherited,):
        print("---", test.__name__)
        test()
finally:
    shutil.rmtree(TOP)
