#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
zerocopy.py sink tcp|udp ADDRESS DELAY       says its port, and reads when something has been there for
                                             DELAY seconds
zerocopy.py send tcp|udp ADDRESS PORT N SIZE [plain]
                                             N sends with MSG_ZEROCOPY; what its own clock says of
                                             how long each was held, as JSON. plain: without
                                             SO_ZEROCOPY, so that the flag says nothing
"""
import json
import select
import socket
import struct
import sys
import threading
import time

MSG_ZEROCOPY, SO_ZEROCOPY, SO_SNDBUFFORCE = 0x4000000, 60, 32
ORIGIN_ZEROCOPY = 5
KINDS = {"tcp": socket.SOCK_STREAM, "udp": socket.SOCK_DGRAM}


def sink(kind, address, delay):
    s = socket.socket(type=KINDS[kind])
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    s.bind((address, 0))
    if kind == "tcp":
        s.listen()
    print(s.getsockname()[1], flush=True)
    if kind == "tcp":
        s = s.accept()[0]
    select.select([s], [], [])
    time.sleep(float(delay))
    while s.recv(65536):
        pass


class Notifications(threading.Thread):
    """Reads the error queue as soon as there is something in it."""

    def __init__(self, s, count):
        super().__init__(daemon=True)
        self.s, self.count, self.done = s, count, {}

    def read(self):
        try:
            _, control, _, _ = self.s.recvmsg(0, 512, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        now = time.monotonic_ns()
        for _, _, data in control:
            _, origin, _, code, _, first, last = struct.unpack("IBBBBII", data[:16])
            assert origin == ORIGIN_ZEROCOPY
            self.done.update((n, (now, code & 1)) for n in range(first, last + 1))

    def run(self):
        p = select.poll()
        p.register(self.s, 0)
        while len(self.done) < self.count and p.poll(60000):
            self.read()


def send(kind, address, port, n, size, plain=""):
    n, data, returned = int(n), bytes(int(size)), []
    s = socket.socket(type=KINDS[kind])
    s.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 8 << 20)
    if not plain:
        s.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
    s.connect((address, int(port)))
    notifications = Notifications(s, 0 if plain else n)
    notifications.start()
    for _ in range(n):
        assert s.send(data, MSG_ZEROCOPY) == len(data)
        returned.append(time.monotonic_ns())
    notifications.join()
    done = notifications.done
    held = [max(done[i][0] - returned[i], 0) for i in sorted(done)]
    print(json.dumps({"n": len(held), "copied": sum(code for _, code in done.values()),
                      "mean": sum(held) / max(len(held), 1), "max": max(held, default=0)}))
    s.send(b"") if kind == "udp" else s.shutdown(socket.SHUT_WR)


{"sink": sink, "send": send}[sys.argv[1]](*sys.argv[2:])
