# SPDX-License-Identifier: MIT
"""
unusual.py WAY PORT: connections whose bytes are not simply the program's calls'. Prints JSON: what the
calls sent, [offset, length] each.

  fastopen   data in the SYN (RFC 7413), in two ways; net.ipv4.tcp_fastopen must have 0x207
  refused    writes until the send buffer is full, waits, writes again: [.., ["gap", SECONDS]]
  mptcp      a socket of MPTCP
  ktls       TLS in the kernel; exits with 77 where there is none
"""
import json
import socket
import struct
import sys
import time

MSG_FASTOPEN, TCP_FASTOPEN, TCP_FASTOPEN_CONNECT = 0x20000000, 23, 30
TCP_ULP, SOL_TLS = 31, 282
WAY, HERE = sys.argv[1], ("127.0.0.1", int(sys.argv[2]))


def listen(protocol=0):
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(HERE)
    s.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN, 16) if not protocol else None
    s.listen(16)
    return s


def read(s, n):
    s.recv(n, socket.MSG_WAITALL)


def fastopen():
    said, l = [], listen()
    for deferred in (False, True):
        s, calls = socket.socket(), []
        if deferred:  # connect() does nothing, and the first write opens
            s.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1)
            s.connect(HERE)
            n = s.send(b"x" * 3000)
        else:
            n = s.sendto(b"x" * 700, MSG_FASTOPEN, HERE)
        calls.append([0, n])
        peer, _ = l.accept()
        read(peer, n)
        calls.append([n, s.send(b"y" * 500)])
        read(peer, 500)
        peer.send(b"z" * 50)
        read(s, 50)
        said.append(calls)
        s.close()
        peer.close()
    return said


def refused():
    l, said = listen(), []
    s = socket.create_connection(HERE)
    peer, _ = l.accept()
    s.setblocking(False)
    at = taken = 0
    for wait in (0.03, 0.06):
        while True:
            before = time.monotonic()
            try:
                n = s.send(b"x" * 100000)
            except BlockingIOError:
                break
            said.append([at, n])
            at += n
        since = time.monotonic()
        for _ in range(4):  # it is tried again at once, too
            try:
                s.send(b"x")
                sys.exit("not refused")
            except BlockingIOError:
                pass
        time.sleep(wait)
        read(peer, at - taken)
        taken = at
        least = time.monotonic() - since
        n = s.send(b"y" * 1000)
        said += [["gap", [least, time.monotonic() - before]], [at, n]]
        at += n
    read(peer, at - taken)
    return said


def mptcp():
    l = listen(262)
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
    s.connect(HERE)
    peer, _ = l.accept()
    for _ in range(20):
        s.sendall(b"x" * 1000)
        read(peer, 1000)
    return []


def ktls():
    l = listen()
    s = socket.create_connection(HERE)
    peer, _ = l.accept()
    s.send(b"hello")
    read(peer, 5)
    try:
        s.setsockopt(socket.IPPROTO_TCP, TCP_ULP, b"tls")
    except OSError:
        sys.exit(77)
    # TLS 1.2, AES-GCM-128
    s.setsockopt(SOL_TLS, 1, struct.pack("=HH", 0x303, 51) + b"k" * 36)
    for _ in range(5):
        s.sendall(b"x" * 1000)
    time.sleep(0.05)
    return []


print(json.dumps(globals()[WAY]()))
