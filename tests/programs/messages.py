# SPDX-License-Identifier: MIT
"""
Messages through sockets other than TCP's, of each family, sent and received in each way. Says what
each call returned, as JSON: by socket (its inode's number) [bytes or negative errno, flags], in order.
"""
import json
import os
import socket
import tempfile

PEEK, DONTWAIT = socket.MSG_PEEK, socket.MSG_DONTWAIT
said = {}


def of(s):
    kind = f"{s.family.name} {s.type.name}"
    return said.setdefault(str(os.fstat(s.fileno()).st_ino),
                           {"kind": kind, "sent": [], "received": [], "pages": 0})


def call(s, what, flags, function, *args):
    try:
        n = function(*args)
        n = n if isinstance(n, int) else len(n)
    except OSError as e:
        n = -e.errno
    of(s)[what].append([n, flags])
    return n


def send(s, size, flags=0, to=None):
    data = b"\0" * 12 + b"\x88\xb5" + b"x" * (size - 14)  # an Ethernet header, for whom it may concern
    return call(s, "sent", 0, s.sendto, data, flags, to) if to else call(s, "sent", 0, s.send, data, flags)


def receive(s, size=65536, flags=0):
    kernels = flags | (DONTWAIT if s.gettimeout() == 0 else 0)
    return call(s, "received", kernels, s.recv, size, flags)


def talk(s, r, to=None):
    """All that is received has been sent before, but where nothing is there."""
    for i in range(20):
        send(s, 100 + i, to=to)
        send(s, 300 + i, to=to)
        receive(r, 50, PEEK)
        receive(r, 1000)
        receive(r, 1000)
        receive(r, 1000, DONTWAIT)
    r.setblocking(False)
    receive(r)
    r.setblocking(True)
    send(s, 64, to=to)
    call(r, "received", 0, os.read, r.fileno(), 1000)
    if not to:
        call(s, "sent", 0, os.write, s.fileno(), b"y" * 70)
        receive(r)


def pages(s, r, file):
    """sendfile(): how many messages that is differs, the bytes do not."""
    of(s)["pages"] = os.sendfile(s.fileno(), file.fileno(), 0, 3000)
    receive(r)


def internet(family, address):
    r = socket.socket(family, socket.SOCK_DGRAM)
    r.bind((address, 0))
    s = socket.socket(family, socket.SOCK_DGRAM)
    talk(s, r, r.getsockname())
    s.connect(r.getsockname())
    talk(s, r)
    return s, r


def main(file):
    s, r = internet(socket.AF_INET, "127.0.0.1")
    pages(s, r, file)
    s, r = internet(socket.AF_INET6, "::1")
    s, r = internet(socket.AF_INET6, "::ffff:127.0.0.1")
    for kind in socket.SOCK_DGRAM, socket.SOCK_SEQPACKET:
        talk(*socket.socketpair(socket.AF_UNIX, kind))
    s, r = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    for i in range(20):
        send(s, 400 + i)
        receive(r, 100, PEEK)
        receive(r, 150)
        receive(r, 1000)
        receive(r, 1000, DONTWAIT)
    pages(s, r, file)
    s.close()
    receive(r)
    s = socket.socket(socket.AF_INET, socket.SOCK_RAW, 253)  # for experiments
    r = socket.socket(socket.AF_INET, socket.SOCK_RAW, 253)
    r.bind(("127.0.0.1", 0))
    talk(s, r, ("127.0.0.1", 0))
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    for _ in range(3):  # RTM_GETLINK of device 1
        request = bytes([32, 0, 0, 0, 18, 0, 1, 0, *[0] * 8, *[0] * 4, 1, 0, 0, 0, *[0] * 8])
        call(s, "sent", 0, s.send, request)
        receive(s)
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    s.bind(("lo", 0x88b5))  # for experiments, too
    for i in range(5):
        send(s, 200 + i)
        receive(s, 100, PEEK)
        receive(s)
    print(json.dumps(said))


with tempfile.TemporaryFile() as f:
    f.write(b"z" * 5000)
    f.flush()
    main(f)
