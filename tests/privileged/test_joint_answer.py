# SPDX-License-Identifier: MIT
"""
The answer of two hosts: a client and its server in recordings of their own, of one namespace each, that are
said to be of two hosts. What took the time is known, and is found, and the answer of one recording that has
both ends agrees with it; also after the other host's clock was changed by 50 ppm and 1 s (docs/method.md,
"The answer").
"""
import os
import shlex
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from delay import Delay
from fixture import *
from reclock import reclock

PORT, TIMES = 5137, 40
SERVER = f"""
import socket, sys, time
sleep, size = float(sys.argv[1]), int(sys.argv[2])
c, _ = socket.create_server(("", {PORT})).accept()
c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
while c.recv(1000, socket.MSG_WAITALL):
    time.sleep(sleep)
    c.sendall(b"y" * size)
"""
CLIENT = f"""
import socket, sys, time
host, size, times = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
s = socket.socket()
for _ in range(200):
    try:
        s.connect((host, {PORT}))
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for _ in range(times):
    s.sendall(b"x" * 1000)
    s.recv(size, socket.MSG_WAITALL)
    time.sleep(0.002)
"""


# the client ends its request by shutting its direction, some time after it wrote
HALF_SERVER = f"""
import socket, time
listener = socket.create_server(("", {PORT}))
for _ in range({TIMES}):
    c, _ = listener.accept()
    while c.recv(1000):
        pass
    time.sleep(0.02)
    c.sendall(b"y" * 1000)
    c.close()
"""
CONNECT = f"""
import socket, sys, time
def connect():
    for _ in range(200):
        s = socket.socket()
        try:
            s.connect((sys.argv[1], {PORT}))
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s
"""
HALF_CLIENT = CONNECT + f"""
for _ in range({TIMES}):
    s = connect()
    s.sendall(b"x" * 1000)
    time.sleep(0.05)
    s.shutdown(socket.SHUT_WR)
    s.recv(1000, socket.MSG_WAITALL)
    s.close()
"""
# the server answers before it has all of what the client takes for the request
EARLY_SERVER = f"""
import socket, time
c, _ = socket.create_server(("", {PORT})).accept()
c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
while c.recv(500, socket.MSG_WAITALL):
    time.sleep(0.03)
    c.sendall(b"z" * 10)
    c.recv(500, socket.MSG_WAITALL)
    c.sendall(b"y" * 990)
"""
EARLY_CLIENT = CONNECT + f"""
s = connect()
for _ in range({TIMES}):
    s.sendall(b"x" * 500)
    time.sleep(0.03)
    s.sendall(b"x" * 500)
    s.recv(1000, socket.MSG_WAITALL)
    time.sleep(0.002)
"""


class Scene:
    """A server that sleeps and sends so much, and a client that asks it, in a network; or other programs."""

    def __init__(self, net, top, server_ns, client_ns, address, sleep=0, size=1000, times=TIMES,
                 programs=(SERVER, CLIENT)):
        self.net, self.top = net, top
        self.server = net.inside(server_ns, PYTHON, "-c", programs[0], sleep, size)
        self.client = net.inside(client_ns, PYTHON, "-c", programs[1], address, size, times)
        self.times = times

    def apart(self, server_options=()):
        """Records each end alone. Returns the report of both."""
        a, b = self.top + "/client", self.top + "/server"
        other = subprocess.Popen([MAGNET, "record", "-q", "-o", b, *server_options, "--", *self.server])
        try:
            run(MAGNET, "record", "-q", "-o", a, "--", *self.client)
            check(other.wait(30) == 0, "both recordings were made")
        finally:
            stop(other)
        with open(b + "/session.json") as f:
            session = json.load(f)
        session["host"] = session["boot_id"] = "elsewhere"
        with open(b + "/session.json", "w") as f:
            json.dump(session, f)
        return self.report(a, b)

    def report(self, *order):
        return json.loads(run(MAGNET, "report", "--json", *(order or (self.top + "/client", self.top + "/server"))).stdout)

    def text(self):
        return run(MAGNET, "report", self.top + "/client", self.top + "/server").stdout

    def together(self):
        """Returns the answer of one recording of both ends."""
        quoted = [" ".join(map(shlex.quote, c)) for c in (self.server, self.client)]
        with Recording("sh", "-c", f"{quoted[0]} & {quoted[1]}; wait") as r:
            groups = [g for g in r.report()["exchanges"] if g["role"] == "client" and g["port"] == PORT]
        check(len(groups) == 1, "one recording has both ends")
        return groups[0]["answer"]


def shares(column):
    found = {}
    for c in column["causes"]:
        found[c["at"], c["cause"]] = found.get((c["at"], c["cause"]), 0) + c["share"]
    return found


def look(scene, report, at, cause, least, by_clocks_ns=None):
    """
    The cause takes the time, at this end; the causes sum to it. Where the clocks divide it, their relation is
    known to `by_clocks_ns`, which is a way's time.
    """
    hosts = report["hosts"]
    check(len(hosts["exchanges"]) == 1, "one client asked one server")
    e = hosts["exchanges"][0]
    check((e["exchanges"], e["client_exchanges"]) == (scene.times, scene.times), "all exchanges have both ends")
    check(e["by_clocks"] == (scene.times if by_clocks_ns else 0), f"{e['by_clocks']} by the relation of the clocks")
    if by_clocks_ns:
        check(0 < e["clock_half_width_ns"] < 1.5 * by_clocks_ns, f"known to {e['clock_half_width_ns']:.0f} ns")
        said(scene, "divided by the hosts' clocks")
    check((e["server_host"], e["port"]) == ("elsewhere", PORT), "the server is on the other host")
    for column in e["answer"]:
        total = sum(c["mean_ns"] for c in column["causes"])
        check(abs(total - column["mean_ns"]) <= 1e-9 * total, f"{column['title']}: the causes sum to the whole time")
        check(("network", "away") not in shares(column), "all of it is divided")
    found = shares(e["answer"][0])
    check(found.get((at, cause), 0) >= least, f"the median: {at}: {cause} took {found.get((at, cause), 0):.0%}")
    return e["answer"]


def agrees(one, two):
    """Both ways to record the exchanges put the time down to the same causes."""
    x, y = shares(one[0]), shares(two[0])
    for key in sorted(set(x) | set(y)):
        check(abs(x.get(key, 0) - y.get(key, 0)) < 0.12,
              f"{key[0]}, {key[1]}: {x.get(key, 0):.1%} in one recording, {y.get(key, 0):.1%} in two")


def said(scene, *words):
    first = "\n".join(scene.text().split("\n")[:20])
    check(first.startswith("Answer of both hosts: "), "the report begins with it")
    for w in words:
        check(w in first, f"it says: {w}")


def others(net, top):
    print("what has no answer of both:")
    scene = Scene(net, top, net.b, net.a, net.B, 0.001, 1000, times=5)
    scene.apart(server_options=("--app-only",))
    check(scene.text().startswith("No answer of both hosts: elsewhere has no states of TCP connections"),
          "a server without the kernel side: " + scene.text().split("\n")[0])


def slow_server(net, top):
    print("a server that sleeps:")
    scene = Scene(net, top, net.b, net.a, net.B, 0.02, 1000)
    report = scene.apart()
    answer = look(scene, report, "server", "program", 0.8)
    said(scene, "server: the program itself", "clock_nanosleep", "The program asked to sleep.")
    check("The answer of both hosts, at the beginning" in scene.text(), "the client's own answer refers to it")
    swapped = scene.report(top + "/server", top + "/client")["hosts"]["exchanges"]
    check(swapped[0]["answer"][0]["mean_ns"] == answer[0]["mean_ns"], "the order of the directories is of no account")
    agrees(scene.together(), answer)

    reclock(top + "/server", lambda ns: ns + ns * 50 // 1_000_000 + 1_000_000_000)
    again = look(scene, scene.report(), "server", "program", 0.8)
    program = [next(c["mean_ns"] for c in x[0]["causes"] if c["cause"] == "program") for x in (answer, again)]
    near(program[1] / program[0] - 1, 50e-6, 0.5, "the other clock's rate changes the server's part")
    near(again[0]["mean_ns"], answer[0]["mean_ns"], 1e-6, "and not the whole, which is the client's, ns")


def slow_network(net, top):
    print("a long way:")
    with Delay(net, 0.012):
        scene = Scene(net, top, net.b, net.a, Delay.B, 0.001, 1000)
        report = scene.apart()
        answer = look(scene, report, "network", "network", 0.8)
        said(scene, "network")
        there_and_back = sum(c["transit_ns"]["mean"] for c in report["hosts"]["flows"])
        network = next(c["mean_ns"] for c in answer[0]["causes"] if c["cause"] == "network")
        # the offset of the clocks has no part in the sum; the median is not the mean
        near(network, there_and_back, 0.1, "what is left to the network is what bytes took there, ns")
        agrees(scene.together(), answer)


def slow_link(net, top):
    print("a server's shaped link:")
    scene = Scene(net, top, net.a, net.b, net.A, 0.001, 300_000, times=25)
    answer = look(scene, scene.apart(), "server", "qdisc", 0.5)
    said(scene, "server: waiting in the device's queue (qdisc)")
    agrees(scene.together(), answer)


def lost_replies(net, top):
    print("the first copy of each reply is lost:")
    with Delay(net, 0.001, "segments"):
        scene = Scene(net, top, net.b, net.a, Delay.B, 0.001, 1000, times=15)
        answer = look(scene, scene.apart(), "network", "lost", 0.8)
        said(scene, "waiting for a retransmission")
        agrees(scene.together(), answer)


def dropped_on_arrival(net, top, ns, first, at):
    """Each third packet of a size is dropped as it comes to a host, which the other one cannot know."""
    print(f"{at}'s host drops what comes:")
    rule = f"add table ip t; add chain ip t c {{ type filter hook input priority 0; }}; " \
           f"add rule ip t c ip length > 500 numgen inc mod 3 < 1 drop"
    run(*net.inside(ns, "nft", rule))
    scene = Scene(net, top, net.b, net.a, net.B, 0.001, 1000, times=25)
    report = scene.apart()
    slowest = look(scene, report, "server", "program", 0)[-1]
    check(shares(slowest)["network", "lost"] >= 0.8, "the slowest waited for a retransmission")
    said(scene, "Packets were lost on", "netfilter")
    # its own answer, too
    own = json.loads(run(MAGNET, "report", "--json", f"{top}/{at}").stdout)
    answers = [g["answer"] for g in own["exchanges"] if g["port"] == PORT]
    check(shares(answers[0][-1]).get(("network", "lost"), 0) >= 0.8, f"{at} alone says so, {first}")


def client_drops(net, top):
    dropped_on_arrival(net, top, net.a, "of replies", "client")


def server_drops(net, top):
    dropped_on_arrival(net, top, net.b, "of requests", "server")


def lost_acknowledgements(net, top):
    print("the server's acknowledgements are lost, and requests are sent again for nothing:")
    with Delay(net, 0.001, "acks"):
        scene = Scene(net, top, net.b, net.a, Delay.B, 0.35, 1000, times=8)
        answer = look(scene, scene.apart(), "server", "program", 0.8)
        agrees(scene.together(), answer)


def half_closed(net, top):
    print("requests that end as the client shuts its direction:")
    with Delay(net, 0.005):
        scene = Scene(net, top, net.b, net.a, Delay.B, programs=(HALF_SERVER, HALF_CLIENT))
        answer = look(scene, scene.apart(), "client", "writing", 0.5, 5e6)
        found = shares(answer[0])
        whole = answer[0]["mean_ns"]
        check(found["server", "program"] * whole >= 20e6, "the server slept 20 ms")
        check(found["network", "network"] * whole >= 10e6, "both ways took 10 ms")
        agrees(scene.together(), answer)


def divided_otherwise(net, top):
    print("a server that answers half of what the client takes for the request:")
    with Delay(net, 0.02):
        scene = Scene(net, top, net.b, net.a, Delay.B, programs=(EARLY_SERVER, EARLY_CLIENT))
        answer = look(scene, scene.apart(), "client", "writing", 0.3, 20e6)
        # the client had written half of it 30 ms before; the server slept for as long, 20 ms later
        for at, cause in (("server", "program"), ("network", "network")):
            ms = shares(answer[0]).get((at, cause), 0) * answer[0]["mean_ns"] / 1e6
            check(18 < ms < 27, f"{at}: {cause} took {ms:.1f} ms, truly 20")
        reclock(top + "/server", lambda ns: ns + ns * 50 // 1_000_000 + 1_000_000_000)
        again = look(scene, scene.report(), "client", "writing", 0.3, 20e6)
        agrees(again, answer)


need_kernel_side()
need_program("nft")
for name, scene, kw in (("a", slow_server, {}), ("b", slow_network, {}), ("d", lost_replies, {}),
                        ("e", lost_acknowledgements, {}), ("f", half_closed, {}), ("g", divided_otherwise, {}),
                        ("j", others, {}), ("h", client_drops, {}), ("i", server_drops, {}),
                        ("c", slow_link, {"rate": "40mbit", "burst": "10kb"})):
    with Network(name=name, **kw) as net, tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        scene(net, top)
