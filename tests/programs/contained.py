# SPDX-License-Identifier: MIT
"""
Datagrams within a network namespace, and within two more that processes make for themselves without
running another program. Each prints what the kernel has counted there.
"""
import json
import os
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from counters import two_lines
from topology import CLONE_NEWNET, LIBC

DATAGRAMS, SIZE = 25, 300


def talk():
    subprocess.run(["ip", "link", "set", "dev", "lo", "up"], check=True)
    r = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    r.bind(("127.0.0.1", 5400))
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    time.sleep(0.5)  # the namespace is new: its hooks come now
    before = two_lines("/proc/net/snmp")
    for _ in range(DATAGRAMS):
        s.sendto(b"x" * SIZE, r.getsockname())
        r.recv(2 * SIZE)
    counted = {k: v - before[k] for k, v in two_lines("/proc/net/snmp").items() if v != before[k]}
    netns = int(os.readlink("/proc/self/ns/net")[5:-1])
    sys.stdout.write(json.dumps({"netns": netns, "counted": counted}) + "\n")
    sys.stdout.flush()


for _ in range(2):
    if os.fork() == 0:
        if LIBC.unshare(CLONE_NEWNET):
            os._exit(1)
        talk()
        os._exit(0)
talk()
while True:
    try:
        if os.wait()[1]:
            sys.exit(1)
    except ChildProcessError:
        break
