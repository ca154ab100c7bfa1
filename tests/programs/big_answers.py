# SPDX-License-Identifier: MIT
"""
big_answers.py HERE THERE BIND ADDRESS N SIZE: a client in one network namespace asks a server in the
other, which binds to BIND and is known as ADDRESS, for a datagram of SIZE bytes, N times.
"""
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from topology import enter

PORT = 5280
AT_ONCE = 12  # so that many buffers are in use


def main():
    here, there, bind, address = sys.argv[1:5]
    n, size = int(sys.argv[5]), int(sys.argv[6])
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    r, w = os.pipe()
    child = os.fork()
    if child == 0:
        enter(there)
        s = socket.socket(family, socket.SOCK_DGRAM)
        s.settimeout(60)
        s.bind((bind, PORT))
        os.write(w, b"x")
        for _ in range(n):
            s.sendto(b"v" * size, s.recvfrom(1)[1])
        os._exit(0)
    os.close(w)
    enter(here)
    if os.read(r, 1):
        s = socket.socket(family, socket.SOCK_DGRAM)
        s.settimeout(60)
        s.connect((address, PORT))
        for _ in range(n // AT_ONCE):
            for _ in range(AT_ONCE):
                s.send(b"?")
            for _ in range(AT_ONCE):
                s.recv(65536)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    main()
