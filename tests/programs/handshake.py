# SPDX-License-Identifier: MIT
"""
Connections whose third segment is lost, or ignored, so that data complete their handshake; one port a case.

  handshake.py server IPV4 IPV6 FILE     FILE is made when the client may go on
  handshake.py client IPV4 IPV6 FILE

The cases: a lost third segment over IPv4 and IPv6; TCP_DEFER_ACCEPT; two sockets at one port (SO_REUSEPORT); data
with the FIN; data for a request that finds the listener's queue full, and come again; a SYN cookie; TCP
Fast Open. With destination options of IPv6 nothing is lost. Each end prints JSON: {port: [[bytes, when the first call that moved data began or ended, ns], ...]}.
"""
import json
import os
import select
import socket
import sys
import time

LOST, LOST_6, DEFER, GROUP, FIN, FULL, COOKIE, FAST, OPTIONS = range(5601, 5610)
FIRST, REST, ANSWER = 900, 2100, 400
FASTOPEN, MSG_FASTOPEN = 23, 0x20000000
IPV6_DSTOPTS, PADDING = 59, b"\0\0\1\4\0\0\0\0"
OVER_6 = (LOST_6, OPTIONS)
COOKIES = "/proc/sys/net/ipv4/tcp_syncookies"

socket.setdefaulttimeout(60)
role, v4, v6, go_on = sys.argv[1:5]
said = {}


def write(path, value):
    with open(path, "w") as f:
        f.write(str(value))


def listen(port, *options, backlog=16):
    family = socket.AF_INET6 if port in OVER_6 else socket.AF_INET
    s = socket.socket(family)
    for level, option, value in ((socket.SOL_SOCKET, socket.SO_REUSEADDR, 1), *options):
        s.setsockopt(level, option, value)
    s.bind((v6 if port in OVER_6 else v4, port))
    s.listen(backlog)
    return s


def until(true):
    for _ in range(6000):
        if true():
            return
        time.sleep(0.01)
    sys.exit("waited in vain")


def requests(port):
    """Connections that wait for their third segment."""
    with open("/proc/net/tcp") as f:
        return sum(f":{port:04X} " in line and line.split()[3] == "03" for line in f)


def overflows():
    """How often a listener's queue was full."""
    with open("/proc/net/netstat") as f:
        names, values = (next(l for l in f if l.startswith("TcpExt:")).split() for _ in range(2))
    return int(values[names.index("ListenOverflows")])


def exchange(s, port):
    """The server's end of a connection."""
    size, first = 0, None
    while size < FIRST + REST:
        data = s.recv(65536)
        first = first or time.monotonic_ns()
        size += len(data) or sys.exit("the client has given up")
    if port in (FIN, COOKIE):  # before the client goes on
        write(COOKIES, 2 if port == FIN else 1)
    s.sendall(b"y" * ANSWER)
    said.setdefault(port, []).append([size, first])
    s.shutdown(socket.SHUT_WR)
    s.recv(1)
    s.close()


def serve():
    write("/proc/sys/net/ipv4/tcp_fastopen", 3)
    share = (socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listeners = [listen(LOST), listen(LOST_6), listen(DEFER, (socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 5)),
                 listen(GROUP, share), listen(GROUP, share), listen(FIN), listen(COOKIE),
                 listen(FAST, (socket.IPPROTO_TCP, FASTOPEN, 16)), listen(OPTIONS)]
    full, before = listen(FULL), overflows()
    left = 12
    while left:
        for l in select.select(listeners, [], [], 60)[0] or sys.exit("nobody connects"):
            exchange(l.accept()[0], l.getsockname()[1])
            left -= 1
    until(lambda: requests(FULL) == 2)
    full.listen(0)  # one of the two fits into the queue
    open(go_on, "w").close()
    until(lambda: overflows() > before)
    for _ in range(2):
        exchange(full.accept()[0], FULL)


def connect(port):
    for _ in range(200):
        s = socket.socket(socket.AF_INET6 if port in OVER_6 else socket.AF_INET)
        if port == OPTIONS:
            s.setsockopt(socket.IPPROTO_IPV6, IPV6_DSTOPTS, PADDING)
        try:
            s.connect((v6 if port in OVER_6 else v4, port))
            return s
        except ConnectionRefusedError:  # it does not listen yet
            time.sleep(0.05)
    sys.exit("nobody listens")


def send(s, port, ends=False):
    first = time.monotonic_ns()
    if ends:  # one segment has the last bytes and the FIN
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        s.sendall(b"x" * (FIRST + REST))
        s.shutdown(socket.SHUT_WR)
    else:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for size in (FIRST, REST):
            s.sendall(b"x" * size)
    said.setdefault(port, []).append([FIRST + REST, first])


def answer(s):
    size = 0
    while size < ANSWER:
        size += len(s.recv(65536))
    s.close()


def ask():
    for port in (LOST, LOST_6, DEFER, GROUP, GROUP, GROUP, GROUP, FIN, COOKIE, OPTIONS):
        s = connect(port)
        send(s, port, ends=port == FIN)
        answer(s)
    write("/proc/sys/net/ipv4/tcp_fastopen", 1)
    for _ in range(2):  # the first only gets a cookie
        s = socket.socket()
        s.settimeout(None)  # else it does not wait for the cookie
        first = time.monotonic_ns()
        s.sendto(b"x" * FIRST, MSG_FASTOPEN, (v4, FAST))
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        s.sendall(b"x" * REST)
        said.setdefault(FAST, []).append([FIRST + REST, first])
        answer(s)
    both = [connect(FULL), connect(FULL)]
    until(lambda: os.path.exists(go_on))
    for s in both:
        send(s, FULL)
    for s in both:
        answer(s)


if role == "server":
    serve()
else:
    ask()
sys.stdout.write(json.dumps({"role": role, "said": said}) + "\n")  # one write: the other end prints too
