# SPDX-License-Identifier: MIT
"""
Filters and sampling: what is chosen is recorded as completely as without them, and nothing else is.
"""
import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from tracer import TRACER, Tracer

PORTS = (5301, 5302)
UNBOUND = """
import socket
to = socket.socket(type=socket.SOCK_DGRAM)
to.bind(("127.0.0.1", 0))
for _ in range(40):
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        for _ in range(2):
            s.sendto(bytes(100), to.getsockname())
"""
# Servers at two ports; N connections to each in turn, from two addresses; then datagrams.
TALK = r"""
import socket, sys, threading
ports, n, family = [int(p) for p in sys.argv[1].split(",")], int(sys.argv[2]), sys.argv[3]
host = "::1" if family == "6" else "127.0.0.1"
servers = [socket.create_server((host, p), family=socket.AF_INET6 if family == "6" else
                                socket.AF_INET) for p in ports]
def serve(s):
    for _ in range(n):
        c, _ = s.accept()
        while c.recv(4096): pass
        c.close()
threads = [threading.Thread(target=serve, args=(s,)) for s in servers]
for t in threads: t.start()
for i in range(n):
    for p in ports:
        c = socket.socket(socket.AF_INET6 if family == "6" else socket.AF_INET)
        if family == "4": c.bind(("127.0.0.%d" % (1 + i % 2), 0))
        c.connect((host, p))
        c.sendall(b"x" * 1000)
        c.close()
for t in threads: t.join()
if family == "4":
    u = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in ports]
    for s, p in zip(u, ports): s.bind((host, p))
    for p in ports:
        k = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        k.connect((host, p))
        for i in range(n): k.send(b"y" * 100)
    for s in u:
        for i in range(n): s.recv(1000)
    a, b = socket.socketpair()
    a.send(b"z"); b.recv(10)
"""


def talk(n, *options, family=4):
    def recording():
        return Recording(PYTHON, "-c", TALK, ",".join(map(str, PORTS)), n, family,
                         options=("--kernel-only",) + options)
    with undisturbed(recording) as rec:
        report = rec.report()
        check(lost(report) == 0, f"{options}: nothing was lost")
        return report, list(rec.events())


def ends(f):
    return {int(e.rsplit(":", 1)[1]) for e in (f["local"], f["remote"]) if e}


def of(report, proto):
    return [f for f in report["flows"] if f["proto"] == proto]


def complete(flows, what):
    for f in flows:
        if f["coverage"] != 1:
            print({k: f[k] for k in ("id", "direction", "local", "remote", "bytes", "complete_bytes")})
    check(flows and all(f["coverage"] == 1 for f in flows), f"{what}: every byte has every boundary")


def by_port():
    for family in (4, 6):
        report, _ = talk(6, "--port", PORTS[1], family=family)
        tcp = of(report, "tcp")
        check(len(tcp) == 12 and all(PORTS[1] in ends(f) for f in tcp),
              f"IPv{family} --port: both ends of 6 connections, no other")
        complete(tcp, f"IPv{family} --port")
        if family == 4:
            udp = of(report, "udp")
            check({(f["direction"], f["bytes"]) for f in udp} == {("tx", 600), ("rx", 600)},
                  "and the datagrams of that port")
            check(not of(report, "unix_stream"), "and no socket without a port")


def repeated():
    report, _ = talk(6, "--port", PORTS[0], "--port", PORTS[1], "--protocol", "tcp")
    tcp = of(report, "tcp")
    check(len(tcp) == 24 and len([f for f in tcp if PORTS[0] in ends(f)]) == 12,
          "--port twice: the connections of both")


def not_namespaces():
    for path in ("/etc/passwd", "/proc/self/ns/uts"):
        with tempfile.TemporaryDirectory() as d:
            p = run(MAGNET, "record", "--netns", path, "-o", d + "/t", "--", "true", check=False)
            check(p.returncode == 2 and path in p.stderr and os.listdir(d) == [],
                  f"--netns with a file that is none: {p.stderr.strip()}")


def by_protocol():
    report, events = talk(3, "--protocol", "udp")
    check({f["proto"] for f in report["flows"]} == {"udp"}, "--protocol udp: nothing else")
    check(sum(f["bytes"] for f in report["flows"] if f["direction"] == "tx") == 600,
          "all its bytes")
    check({c["flow_kind"] for c in report["calls"]} == {"udp"}, "and no calls on other sockets")
    check(not any(e["event"] in ("tcp_send", "sock_state") for e in events), "nor events of TCP")


def raw_of_tcp():
    """A raw socket that gets TCP's segments is none of TCP's."""
    program = """
import socket
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
l = socket.create_server(("127.0.0.1", 0))
c = socket.create_connection(l.getsockname())
for _ in range(10):
    c.send(b"x")
    raw.recv(1000)
"""
    with Recording(PYTHON, "-c", program, options=("--kernel-only", "--protocol", "raw")) as rec:
        copied = [e for e in rec.events() if e["event"] == "sock_copy"]
    check(len(copied) == 10, f"of 10 messages {len(copied)} are copied")


def by_address():
    report, _ = talk(6, "--address", "127.0.0.2/32", "--protocol", "tcp")
    tcp = of(report, "tcp")
    check(len(tcp) == 12 and all("127.0.0.2:" in f["local"] + f["remote"] for f in tcp),
          "--address: the 6 connections of that address, both ends")
    complete(tcp, "--address")
    report, _ = talk(2, "--address", "10.0.0.0/8")
    check(not report["flows"], "--address of nobody: no flows")


def by_sample():
    n = 60
    report, _ = talk(n, "--sample", 4, "--protocol", "tcp")
    tcp = of(report, "tcp")
    # 120 connections, 1 in 4: the chance of fewer than 8 or more than 60 is below 1 in a million
    check(8 <= len(tcp) / 2 <= 60, f"--sample 4 keeps {len(tcp) / 2:g} of {2 * n} connections")
    complete(tcp, "--sample")
    check(all(f["peer"] for f in tcp if f["direction"] == "rx"), "both ends agree which")
    check(all(f["bytes"] == 1000 for f in tcp), "each with all its bytes")
    # a socket gets its port as it sends first: until then nobody can tell whether it passes
    with Recording(PYTHON, "-c", UNBOUND, options=("--sample", 3)) as rec:
        check("\nrecorded with --sample 3: the kernel side has only" in rec.text(), "the report says how it was recorded")
        sent = [f for f in rec.report()["flows"] if f["direction"] == "tx" and f["bytes"]]
        check(len(sent) < 40 and all(f["bytes"] == 200 for f in sent),
              f"{len(sent)} of 40 senders, with all they sent")


SERVE = r'''
import socket, threading, time
l = socket.create_server(("127.0.0.1", 0))
def serve():
    for _ in range(40):
        c, _ = l.accept()
        while c.recv(100): c.send(b"y")
        c.close()
t = threading.Thread(target=serve)
t.start()
for _ in range(40):
    c = socket.create_connection(l.getsockname())
    for _ in range(3):
        c.send(b"x"); c.recv(1); time.sleep(0.0005)
    c.close()
t.join()
'''
WATCHED_TASKS = ("sched_switch", "sched_waking", "softirq_entry", "softirq_exit")


def scheduler_of_those_that_serve():
    """The scheduler is recorded of threads that use a kept connection, and of no others."""
    for sample, layers, some in ((1 << 30, "syscall,tcp,sched", False), (1, "syscall,tcp,sched", True),
                                 (1 << 30, "tcp,sched", True)):
        with Recording(PYTHON, "-c", SERVE,
                       options=("--kernel-only", "--sample", sample, "--layers", layers)) as rec:
            events = {e["event"] for e in rec.events()}
            check("task_exit" in events, "tasks are told of")
            check(events.isdisjoint(WATCHED_TASKS) != some,
                  f"--sample {sample} --layers {layers}: {sorted(events.intersection(WATCHED_TASKS))}")


def hooks_of_tcp():
    """Where only TCP passes, programs that are for other sockets are not attached."""
    others = {"sock_sent", "sock_received"}

    def attached(t):
        said = json.loads(run(TRACER, "ctl", "--pid", t.pid, "--json", "status").stdout)
        return {h["hook"] for h in said["hooks"] if h["status"] == 0}

    def counted(t):
        """Programs at the end of system calls."""
        found = 0
        for fd in os.listdir(f"/proc/{t.pid}/fdinfo"):
            try:
                with open(f"/proc/{t.pid}/fdinfo/{fd}") as f:
                    found += "tp_name:\tsys_exit\n" in f.read()
            except FileNotFoundError:  # closed meanwhile
                pass
        return found

    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        with Tracer(top + "/t", "--all", "--layers", "light").ready() as t:
            check("tcp_recv" in attached(t) and not others & attached(t), "light alone has hooks of TCP only")
            check(counted(t) == 0, "and none at system calls")
            run(TRACER, "ctl", "--pid", t.pid, "set", "layers=socket,tcp,device")
            check(others < attached(t) and counted(t) == 1, "the same layers by their names have all of them")
            run(TRACER, "ctl", "--pid", t.pid, "set", "layers=light")
            check(not others & attached(t) and counted(t) == 0, "light again has not")
            run(TRACER, "ctl", "--pid", t.pid, "set", "protocol=any")
            check(others < attached(t) and counted(t) == 1, "all of them when others pass")
            with socket.socket(type=socket.SOCK_DGRAM) as s, socket.socket(type=socket.SOCK_DGRAM) as to:
                to.bind(("127.0.0.1", 0))
                for _ in range(3):
                    s.sendto(b"x" * 100, to.getsockname())
            run(TRACER, "ctl", "--pid", t.pid, "set", "protocol=tcp")
            check(not others & attached(t) and counted(t) == 0, "and then not any more")
            run(TRACER, "ctl", "--pid", t.pid, "set", "layers=socket,tcp,device")
            check(not others & attached(t), "a protocol that was chosen stays")
            run(TRACER, "ctl", "--pid", t.pid, "set", "protocol=any")
            run(TRACER, "ctl", "--pid", t.pid, "set", "layers=light")
            check(others < attached(t), "also where any was chosen")
            t.end()
            notes = [line.split("\t")[9] for line in run(MAGNET, "show", "--tsv", top + "/t").stdout.splitlines()
                     if line.split("\t")[5] == "change"]
            notes = [n for n in notes if "protocol" in n]
            check(len(notes) == 5 and "any" in notes[0] and "tcp" in notes[1],
                  f"what light does to the protocols is noted like what ctl set does: {notes}")
            port = [f for f in json.loads(run(MAGNET, "report", "--json", top + "/t").stdout)["flows"]
                    if f["proto"] == "udp" and f["direction"] == "tx" and f["bytes"] == 300]
            check(len(port) == 1, "datagrams are recorded while they pass")


def by_netns():
    with Network() as net:
        script = " ; ".join(
            f"nsenter --net=/run/netns/{ns} {PYTHON} -c '{TALK.replace(chr(39), chr(34))}' {PORTS[0]} 2 4"
            for ns in (net.a, net.b))
        with Recording("sh", "-c", script, options=("--kernel-only", "--netns", net.b)) as rec:
            inum = os.stat(f"/run/netns/{net.b}").st_ino
            flows = [f for f in rec.report()["flows"] if f["proto"] == "tcp"]
            check(len(flows) == 4 and all(f["netns"] == inum for f in flows),
                  "--netns: the connections of that namespace only")


def by_interface():
    report, events = talk(2, "--interface", "nosuch0", "--protocol", "tcp")
    check(not any(e["event"] in ("ip_out", "dev_xmit", "dev_recv", "ip_in") for e in events),
          "--interface: no packets at others")
    report, events = talk(2, "--interface", "lo", "--protocol", "tcp")
    check(any(e["event"] == "dev_xmit" for e in events), "and those at it")
    complete(of(report, "tcp"), "--interface lo")


def by_cgroup():
    top = tempfile.mkdtemp(prefix="magnet-test-")
    group = top + "/cgroup/magnet-test-%d" % os.getpid()
    os.mkdir(top + "/cgroup")
    if run("mount", "-t", "cgroup2", "none", top + "/cgroup", check=False).returncode:
        print("no cgroup v2 hierarchy here: --cgroup is not tested")
        shutil.rmtree(top)
        return
    inside = outside = None
    try:
        os.mkdir(group)
        code = ("import socket, time\n"
                "l = socket.create_server(('127.0.0.1', int(__import__('sys').argv[1])))\n"
                "while True:\n"
                "    c = socket.create_connection(l.getsockname()); s, _ = l.accept()\n"
                "    c.send(b'x' * 100); s.recv(1000); c.close(); s.close(); time.sleep(0.02)\n")
        inside = subprocess.Popen([PYTHON, "-c", code, str(PORTS[0])])
        outside = subprocess.Popen([PYTHON, "-c", code, str(PORTS[1])])
        with open(group + "/cgroup.procs", "w") as f:
            f.write(str(inside.pid))
        run(MAGNET, "record", "-q", "-o", top + "/t", "--duration", 1, "--cgroup", group)
        report = json.loads(run(MAGNET, "report", "--json", top + "/t").stdout)
        check(report["flows"] and all(PORTS[0] in ends(f) for f in report["flows"]),
              "--cgroup: what its tasks do, no others'")
        check({f["comm"] for f in report["flows"]} <= {"python3", ""}, "by name")
    finally:
        for p in (inside, outside):
            if p:
                stop(p)
        if os.path.isdir(group):
            os.rmdir(group)
        run("umount", top + "/cgroup")
        shutil.rmtree(top)


def unknown_interface():
    where = tempfile.gettempdir() + f"/magnet-test-{os.getpid()}-interface"
    p = run(MAGNET, "record", "-q", "-o", where, "--interface", "none0", "true", check=False)
    check(p.returncode == 0 and "there is no interface none0" in p.stderr,
          "--interface with no such interface here says so, and records")
    shutil.rmtree(where, ignore_errors=True)


def all_open():
    """With --all and a filter, and without the layer syscall, sockets that are open are met all the same."""
    servers = [socket.socket(type=socket.SOCK_DGRAM) for _ in range(2)]
    for s in servers:
        s.bind(("127.0.0.1", 0))
    port = servers[0].getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        with Tracer(top + "/t", "--all", "--port", port, "--layers", "ip").ready() as t:
            with socket.socket(type=socket.SOCK_DGRAM) as client:
                for s in servers * 5:
                    client.sendto(b"x" * 100, s.getsockname())
            t.end()
        flows = json.loads(run(MAGNET, "report", "--json", top + "/t").stdout)["flows"]
    for s in servers:
        s.close()
    check([(f["direction"], f["local"], f["bytes"]) for f in flows] == [("rx", f"127.0.0.1:{port}", 500)],
          "--all --port: a server that was open before, and no other")


def own_door():
    """In a namespace of processes libmagnet asks for its memory by a socket: that is not the program's."""
    program = "import socket; a, b = socket.socketpair(); a.send(b'x'); b.recv(1)"
    found = {}
    for layers in ("syscall,socket,ip", "socket,ip"):
        with Recording("unshare", "-pf", "--mount-proc", PYTHON, "-c", program,
                       options=("-q", "--layers", layers)) as rec:
            found[layers] = sorted(e["fields"]["kind"] for e in rec.events() if e["event"] == "sock_new")
    check(len(set(map(str, found.values()))) == 1 and "unix_stream" in str(found),
          f"the same sockets with and without the layer syscall: {found}")


def wrong_values():
    for option, value in (("--port", "x"), ("--address", "nowhere"), ("--protocol", "sctp"),
                          ("--netns", "no-such"), ("--sample", "0"), ("--cgroup", "/no/such"),
                          ("--cgroup", "")):
        where = tempfile.gettempdir() + f"/magnet-test-{os.getpid()}-wrong"
        what = ["--kernel-only", "true"] if option != "--cgroup" else []
        p = run(MAGNET, "record", "-o", where, option, value, *what, check=False)
        check(p.returncode in (1, 2) and len(p.stderr.splitlines()) == 1,
              f"{option} {value}: {p.stderr.strip()}")
        shutil.rmtree(where, ignore_errors=True)


need_kernel_side()
wrong_values()
unknown_interface()
by_port()
repeated()
not_namespaces()
by_protocol()
raw_of_tcp()
by_address()
by_sample()
scheduler_of_those_that_serve()
hooks_of_tcp()
by_netns()
by_interface()
by_cgroup()
all_open()
own_door()
