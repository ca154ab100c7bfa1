# SPDX-License-Identifier: MIT
"""
Whose a flow is: the program a process executed, whatever thread uses the socket or forks, also of static
programs, of those that a filter lets in only when they use a socket, without system calls, and from
inside another PID namespace. And with whom sockets that are bound to no address exchange datagrams.
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
        if not options:
            calls = 60 if program == NAMED else 120
            static = f"not seen by libmagnet.so, but by the kernel side: {calls} calls of {os.path.basename(STATIC)}\n"
            check(static in rec.p.stderr, f"what it says at the end: {rec.p.stderr.strip()}")
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


FAR = """
import json, socket, sys
family, anywhere, here = getattr(socket, sys.argv[1]), sys.argv[2], sys.argv[3]
def bound(port=0):
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.bind((anywhere, port))
    return s, s.getsockname()[1]
server, server_port = bound()
busy, busy_port = bound()
client, client_port = bound()
came = []
for _ in range(5):
    client.sendto(b"q" * 100, (here, server_port))
    came.append(server.recvfrom(1000)[1][:2])
    server.sendto(b"r" * 50, came[-1])
    client.recvfrom(1000)
for _ in range(50):
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.sendto(b"z" * 20, (here, busy_port))
    busy.recv(100)
print(json.dumps({"server": server_port, "busy": busy_port, "client": client_port, "from": came}))
"""


def far_ends(family, anywhere, here):
    """Where datagrams go, and come from, is told of sockets that are bound to no address."""
    def address(ip, port):
        return f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"

    with undisturbed(lambda: Recording(PYTHON, "-c", FAR, family, anywhere, here)) as rec:
        said, report, text = json.loads(rec.p.stdout), rec.report(), rec.text()
        at = {(int(f["local"].rsplit(":", 1)[1]), f["direction"]): f for f in report["flows"]
              if f["proto"] == "udp" and f["local"]}
        expected = address(*said["from"][0])
        check(len({tuple(a) for a in said["from"]}) == 1 and said["from"][0][1] == said["client"],
              f"the server is asked by {expected}")
        for who, far, direction in (("server", expected, "rx"), ("server", expected, "tx"),
                                    ("client", address(here, said["server"]), "tx"),
                                    ("client", address(here, said["server"]), "rx")):
            f = at[said[who], direction]
            check((f["remote"], f["several_remotes"]) == (far, False),
                  f"{who}'s {direction}: {f['remote']} is {far}")
        check(at[said["busy"], "rx"]["several_remotes"] is True, "of several it is said that they are")
        told = [e for e in rec.events() if e["event"] == "sock_peer" and
                e["flow"] == at[said["busy"], "rx"]["id"]]
        check(len(told) == 32, f"not all 50 of them are told of, but {len(told)}")
        check(f"peer {expected}" in text or f"from {expected}" in text, "the text has the address")
    with Recording(PYTHON, "-c", FAR, family, anywhere, here, options=["--anonymize"]) as rec:
        check(not any(e["event"] == "sock_peer" for e in rec.events()), "but not where it must not")


need_kernel_side()
far_ends("AF_INET", "0.0.0.0", "127.0.0.1")
far_ends("AF_INET6", "::", "::1")
executed_by_a_shell(STATIC)
executed_by_a_shell(NAMED)
executed_by_a_shell(STATIC, ("--layers", "socket,tcp,ip,device"))
met_by_a_filter()
in_a_namespace()
