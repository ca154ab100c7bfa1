# SPDX-License-Identifier: MIT
"""
one_of_each.py N [wait]: N round trips over each kind of socket on loopback, by one thread: TCP, UDP
(connected and not), ICMP echo by a datagram socket, UNIX datagrams. Every packet is one small segment.
With `wait` the sockets are made, a line is printed, and what they exchange waits for a line.
"""
import socket
import struct
import sys

SIZE = 128  # divides a page: TCP copies each send in one piece


def tcp_pair():
    with socket.create_server(("127.0.0.1", 0)) as l:
        a = socket.create_connection(l.getsockname())
        b, _ = l.accept()
    for s in a, b:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return a, b


def udp_pair():
    r, s = (socket.socket(type=socket.SOCK_DGRAM) for _ in range(2))
    r.bind(("127.0.0.1", 0))
    return r, s


def main():
    n = int(sys.argv[1])
    a, b = tcp_pair()
    (r, s), (free, sender) = udp_pair(), udp_pair()
    s.connect(r.getsockname())
    ping = socket.socket(type=socket.SOCK_DGRAM, proto=socket.IPPROTO_ICMP)
    x, y = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    if len(sys.argv) > 2:
        print("open", flush=True)
        sys.stdin.readline()
    for i in range(n):
        for one, other in ((a, b), (b, a)):
            one.sendall(bytes(SIZE))
            got = 0
            while got < SIZE:
                got += len(other.recv(SIZE))
        s.send(bytes(SIZE))
        r.recv(SIZE)
        sender.sendto(bytes(SIZE), free.getsockname())
        free.recv(SIZE)
        ping.sendto(struct.pack("!BBHHH", 8, 0, 0, 0, i & 0xffff), ("127.0.0.1", 0))
        ping.recv(SIZE)
        x.send(bytes(SIZE))
        y.recv(SIZE)
    a.close()
    b.recv(1)
    b.close()


main()
