# SPDX-License-Identifier: MIT
"""How far reading is: told on a terminal if it takes long, gone at the end; nowhere else."""
import fcntl
import os
import pty
import struct
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

EXCHANGE = (PYTHON, os.path.join(os.path.dirname(__file__), "..", "programs", "exchange.py"))
ERASE = "\r\x1b[K"


def filled(pipe):
    """Waits until nothing more goes into it."""
    before, now = -1, 0
    while now < 30000 or now > before:
        time.sleep(0.1)
        before, now = now, struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


def on_terminal(reader, wait, *args):
    """
    Returns what the command prints on a terminal. Its list goes to a pipe nobody empties for so many seconds
    after it was full: it comes no further meanwhile, however fast or slow the machine.
    """
    ours, theirs = pty.openpty()
    with subprocess.Popen([MAGNET, *args], stdout=subprocess.PIPE, stderr=theirs,
                          env=dict(os.environ, MAGNET_READER=reader)) as p:
        os.close(theirs)
        if wait:
            filled(p.stdout)
        time.sleep(wait)
        listed = p.stdout.read().count(b"\n")
    said = b""
    try:
        while data := os.read(ours, 65536):
            said += data
    except OSError:  # the other side is closed
        pass
    os.close(ours)
    check(p.returncode == 0 and listed > 1000, f"{reader}: {' '.join(args[:2])}: {listed} lines")
    return said.decode()


with Recording(*EXCHANGE, "4000", options=("-q", "--app-only")) as rec:
    for reader, says in (("direct", " % of "), ("babeltrace2", " events")):
        said = on_terminal(reader, 1.1, "show", "--tsv", rec.dir)
        check("reading: " in said and says in said, f"it is told: {said!r}")
        check(said.startswith(ERASE) and said.endswith(ERASE) and "\n" not in said,
              "in one line, of which nothing is left")
        began = time.monotonic()
        said = on_terminal(reader, 0, "show", "--tsv", rec.dir)
        check(said == "" or time.monotonic() - began > 1, "what is read at once needs none")
        p = subprocess.Popen([MAGNET, "show", "--tsv", rec.dir], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=dict(os.environ, MAGNET_READER=reader))
        time.sleep(1.5)
        check(p.communicate()[1] == b"", "where there is no terminal nothing is told")
