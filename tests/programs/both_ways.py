# SPDX-License-Identifier: MIT
"""
both_ways.py HERE THERE BIND ADDRESS [DATAGRAMS [BACK]]: from the one network namespace to the other,
where a server binds to BIND, known here as ADDRESS. TCP: SENT bytes, then ANSWERS messages each way;
UDP: that many datagrams of SIZES (all), and that many of BACK_SIZES (none) back. Ends when all have
arrived.
"""
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))

PORT = 5270  # and of UDP the next one
SENT, ANSWERS, ANSWER = 60_000, 10, 50
SIZES = (100, 1400, 4000, 1, 700) * 3
BACK_SIZES = (3000, 90, 1200)


def receive(s, size):
    while size:
        data = s.recv(min(size, 65536))
        if not data:
            sys.exit("the connection ended early")
        size -= len(data)


def server(family, bind, ready, datagrams, back):
    listener = socket.create_server((bind, PORT), family=family)
    u = socket.socket(family, socket.SOCK_DGRAM)
    u.bind((bind, PORT + 1))
    ready()
    s, _ = listener.accept()
    for sock in (s, u):
        sock.settimeout(60)
    receive(s, SENT)
    for _ in range(ANSWERS):
        receive(s, ANSWER)
        s.sendall(b"y" * ANSWER)
    for _ in range(datagrams):
        _, client_address = u.recvfrom(65536)
    for size in BACK_SIZES[:back]:
        u.sendto(b"v" * size, client_address)
    s.sendall(b"z")
    s.recv(1)  # the end


def client(family, address, datagrams, back):
    s = socket.socket(family)
    s.settimeout(60)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    s.connect((address, PORT))
    s.sendall(b"x" * SENT)
    for _ in range(ANSWERS):
        s.sendall(b"x" * ANSWER)
        receive(s, ANSWER)
    u = socket.socket(family, socket.SOCK_DGRAM)
    u.connect((address, PORT + 1))
    for size in SIZES[:datagrams]:
        u.send(b"u" * size)
    u.settimeout(60)
    for _ in range(back):
        u.recv(65536)
    receive(s, 1)


def main():
    from topology import enter
    here, there, bind, address = sys.argv[1:5]
    datagrams = int(sys.argv[5]) if len(sys.argv) > 5 else len(SIZES)
    back = int(sys.argv[6]) if len(sys.argv) > 6 else 0
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    r, w = os.pipe()
    child = os.fork()
    if child == 0:
        enter(there)
        server(family, bind, lambda: os.write(w, b"x"), datagrams, back)
        os._exit(0)
    os.close(w)
    enter(here)
    if os.read(r, 1):
        client(family, address, datagrams, back)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    main()
