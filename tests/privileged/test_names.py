# SPDX-License-Identifier: MIT
"""
Whose a flow is: the program a process executed, whatever thread uses the socket or forks, also of static
programs, of those that a filter lets in only when they use a socket, without system calls, and from
inside another PID namespace.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from tracer import Tracer

NAMED, STATIC = sys.argv[1:3]
PORT, KINDS = 5120, ("first thread", "thread", "forked by a thread", "forked", "renamed")


def names(report, base):
    """{port less `base`: names of the flows of the connection to it}"""
    found = {}
    for f in report["flows"]:
        if f["proto"] == "tcp" and f["local"]:
            ports = [int(end.rsplit(":", 1)[1]) for end in (f["local"], f["remote"])]
            for port in ports:
                if base <= port < base + 20:
                    found.setdefault(port - base, set()).add(f["comm"])
    return found


def expect(report, base, program, what):
    found = names(report, base)
    for n, kind in enumerate(KINDS):
        check(found.get(n) == {program}, f"{what}, {kind}: {found.get(n)} is {program}")


def executed_by_a_shell(program, options=()):
    """Also what it executes itself, from a thread."""
    name = os.path.basename(program)
    with undisturbed(lambda: Recording("bash", "-c", f"{program} {PORT} {STATIC}; true",
                                       options=options)) as rec:
        report = rec.report()
        expect(report, PORT, name, f"{name} {' '.join(options)}")
        expect(report, PORT + 5, os.path.basename(STATIC), "what it executes")
        check(not options == () or "calls of ?" not in rec.p.stderr, rec.p.stderr.strip())
        for u in report["unseen"] or []:
            check(u["comm"] == os.path.basename(STATIC), f"not seen: {u['calls']} calls of {u['comm']}")
        groups = {g["comm"] for g in report["together"]}
        check(groups <= {name, os.path.basename(STATIC)}, f"groups are those of programs: {groups}")


def met_by_a_filter():
    ports = ",".join(str(PORT + n) for n in range(len(KINDS)))
    top = tempfile.mkdtemp(prefix="magnet-test-")
    try:
        with Tracer(top + "/t", "--all", "--port", ports).ready() as t:
            run("bash", "-c", f"{STATIC} {PORT}; true")
            t.end()
        report = json.loads(run(MAGNET, "report", "--json", top + "/t").stdout)
        expect(report, PORT, os.path.basename(STATIC), "--all --port")
    finally:
        shutil.rmtree(top)


def in_a_namespace():
    command = ("unshare", "--pid", "--fork", "--mount-proc", STATIC, PORT)
    if run(*command, check=False).returncode:
        print("no PID namespace can be made")
        return
    with undisturbed(lambda: Recording(*command)) as rec:
        expect(rec.report(), PORT, os.path.basename(STATIC), "in a PID namespace")


need_kernel_side()
executed_by_a_shell(STATIC)
executed_by_a_shell(NAMED)
executed_by_a_shell(STATIC, ("--layers", "socket,tcp,ip,device"))
met_by_a_filter()
in_a_namespace()
