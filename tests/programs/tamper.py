# SPDX-License-Identifier: MIT
"""
A recorded program that does all the harm it can: tries to cut off, and to write over, whatever rings
it can open or has mapped; `all` also writes over what it can open.

  tamper.py SECONDS [all]
"""
import ctypes
import glob
import os
import re
import socket
import sys
import time

libc = ctypes.CDLL(None)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
KEEP_SIZE, PUNCH_HOLE = 1, 2


def rings():
    """Paths by which they may be opened."""
    for path in [*glob.glob("/proc/[0-9]*/fd/*"), *glob.glob("/proc/self/map_files/*")]:
        try:
            if "magnet-rings" in os.readlink(path):
                yield path
        except OSError:
            pass
    for place in ("/dev/shm", "/tmp"):
        yield from glob.glob(place + "/magnet-rings-*/*")
    if os.environ.get("MAGNET_RINGS"):
        yield os.environ["MAGNET_RINGS"].rsplit(":", 1)[-1]


def cut_off(fd, write):
    for size in (0, 4096, 1 << 50):
        try:
            os.ftruncate(fd, size)
        except OSError:
            pass
    if not write:
        return
    libc.fallocate(fd, PUNCH_HOLE | KEEP_SIZE, 0, 1 << 30)
    for at in range(0, 1 << 20, 4096):
        os.pwrite(fd, os.urandom(64), at)


def write_over_mapped():
    """The program's own pool: the heads of the rings, and their first records."""
    with open("/proc/self/maps") as f:
        for line in f:
            if "magnet-rings" in line:
                begin, end = (int(n, 16) for n in re.match("(\\w+)-(\\w+)", line).groups())
                for at in range(begin, min(begin + (1 << 20), end), 64):
                    ctypes.memmove(at, os.urandom(64), 64)


a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    for path in rings():
        try:
            fd = os.open(path, os.O_RDWR)
        except OSError:
            continue
        cut_off(fd, "all" in sys.argv)
        os.close(fd)
    write_over_mapped()
    try:
        a.send(b"x", socket.MSG_DONTWAIT)
        b.recv(9, socket.MSG_DONTWAIT)
    except OSError:
        pass
    time.sleep(0.001)
print("tampered")
