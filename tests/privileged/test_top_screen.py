# SPDX-License-Identifier: MIT
"""
magnet top on terminals of 80 x 24 and 200 x 50: what is on them, its keys, another size, terminals
without colour, and that the terminal is given back as it was, also after signals.
"""
import fcntl
import os
import pty
import re
import select
import shutil
import struct
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

try:
    import pyte
except ImportError: # a distribution's module is its own python's
    if sys.executable != PYTHON:
        os.execv(PYTHON, [PYTHON, *sys.argv])
    skip("pyte is not installed")

ASK = """
import socket, threading, time
s = socket.create_server(("127.0.0.1", 0))
def serve(c):
    while c.recv(100): c.sendall(b"r" * 2000)
def accept():
    while True: threading.Thread(target=serve, args=(s.accept()[0],), daemon=True).start()
threading.Thread(target=accept, daemon=True).start()
all = [socket.create_connection(s.getsockname()) for _ in range(3)]
print("COMMAND prints this", flush=True)
end = time.monotonic() + %g
while time.monotonic() < end:
    for i, c in enumerate(all):
        c.sendall(b"q" * 100 * (i + 1)); c.recv(2000, socket.MSG_WAITALL); time.sleep(0.003)
"""
KEYS = {80: "q quit  Enter one  s sort  r reverse  / filter  i idle  w save  p pause  ? help"}


class Terminal:
    """magnet top on a terminal of this size."""

    def __init__(self, columns, lines, *args, term="xterm-256color", **env):
        self.master, slave = pty.openpty()
        self.screen, self.raw = pyte.Screen(columns, lines), b""
        self.stream = pyte.ByteStream(self.screen)
        self.size(columns, lines)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.p = subprocess.Popen([MAGNET, "top", "--interval", "300ms", *args], stdin=slave, stdout=slave,
                                  stderr=slave, start_new_session=True,
                                  env={**os.environ, "TERM": term, "LC_ALL": "C.UTF-8", **env})

    def size(self, columns, lines):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def resize(self, columns, lines):
        self.screen.resize(lines, columns)
        self.size(columns, lines)
        os.kill(self.p.pid, 28)

    def read(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end and select.select([self.master], [], [], max(0, end - time.monotonic()))[0]:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            self.raw += data
            self.stream.feed(data)

    def shown(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def processes(self):
        """Tell what magnet top and its recorder's processes do, for a screen that does not change."""
        if self.p.poll() is not None:
            return f"magnet top has ended with {self.p.returncode}"
        return run("ps", "-e", "-o", "pid,ppid,sid,stat,wchan:24,etimes,args", "--forest").stdout

    def wait(self, pattern, seconds=20 * SLOWER):
        """Reads until the pattern is on the screen. Returns the screen."""
        end = time.monotonic() + seconds
        while not re.search(pattern, self.shown(), re.S):
            if time.monotonic() > end:
                check(False, f"the screen shows {pattern!r}:\n{self.shown()}\n{self.processes()}")
            self.read(0.1)
        return self.shown()

    def press(self, keys, pattern):
        os.write(self.master, keys.encode())
        return self.wait(pattern)

    def end(self, status=0):
        for _ in range(100):
            self.read(0.1)
            if self.p.poll() is not None:
                break
        self.read(0.3)
        check(self.p.wait() == status, f"it exits with {status}: {self.p.returncode}")
        check(termios.tcgetattr(self.slave) == self.before, "the terminal's settings are those of before")
        check(b"\x1b[?1049h" not in self.raw or self.raw.rindex(b"\x1b[?1049l") > self.raw.rindex(b"\x1b[?1049h"),
              "the screen of before is back")
        os.close(self.master)
        os.close(self.slave)


def whole(text, columns):
    """Whether the lines that are the same at any time are there, and nothing is cut."""
    lines = text.split("\n")
    for part in ("magnet top: ", " s", "sent ", "received ", "exchanges ", "(last ", "retransmits ", "drops ",
                 "events lost: 0 app, ", " late", "CPU: top ", "recorders ", "recording: temporary", "rows: last "):
        check(part in "\n".join(lines[:5]), f"{columns} columns: the head has '{part}'")
    check(all(len(line) <= columns for line in lines), "no line is wider")


def narrow(place):
    """The head takes more lines, and what is below begins later; lines are divided, not cut."""
    t = Terminal(60, 20, "--", PYTHON, "-c", ASK % 60, TMPDIR=place)
    text = t.wait(r"\nCPU: top [^\n]*\n(rows[^\n]*\n)?too narrow for: [^\n]*\n +PEER[^\n]*\n[> ]+127\..*help \(all keys\)$")
    check(re.search(r"events lost: \d+ app, \d+ kernel, \d+ late\n", text), "the lines of the head are whole")
    text = t.press("\r", r"\nConnection \d+ .*\n 127.*in all\n.*reply p50 [^\n]*\n retransmits .*round trip.*"
                         r"Where its bytes wait.*\nEsc back  g size or delay  \+ - time  q quit$")
    check(re.search(r"congestion window (n/a|\d+ segments)\n", text), f"and so are those of a connection:\n{text}")
    t.press("q", "COMMAND prints this")
    t.end()


def small(place):
    t = Terminal(80, 24, "--", PYTHON, "-c", ASK % 60, TMPDIR=place)
    text = t.wait(r"p\d\d \d")
    whole(text, 80)
    lines = text.split("\n")
    check(lines[-1] == KEYS[80], f"the keys are in the last line: {lines[-1]}")
    for header in ("PEER", "SENT/s", "RECV/s", "BYTES WAIT IN", "P50", "P99"):
        check(header in lines[5], f"80 columns have {header}: {lines[5]}")
    for header in ("RETR", "M", "PROGRAM[PID]"):
        check(header in lines[5].split() or header in lines[4], f"80 columns have {header}, or say that they do not")
    rows = [line for line in lines if "127.0.0.1:" in line]
    check(len(rows) == 6 and all(re.search(r"[\d.]+([KM]i)?B +[\d.]+([KM]i)?B .* \d+% ", r) for r in rows),
          "six rows with units:\n" + "\n".join(rows))
    t.press("?", "any key goes back.*PROTO")
    t.press("x", "BYTES WAIT IN")
    t.press("s", "sorted by RECV/s")
    t.press("\x1b[B\x1b[B", "\n> 127")
    text = t.press("\r", r"Connection \d+ \(tcp\) of python3\[\d+\].*Where its bytes wait.*Size of calls.*\* sent +"
                         r"o received.* B\|.*\d+ s ago +now\nEsc back")
    check("*" in text.split("Size of calls")[1] and "KiB" in text or "B|" in text, "the picture has points")
    t.press("g", r"Delay of bytes.*(µs|ms|ns)\|")
    t.press("+", "20 s ago")
    t.press("\x1b", "BYTES WAIT IN")
    t.press("/", "filter: _")
    t.press("nothing", "filter: nothing_.*6 by the filter")
    t.press("\x1b", r"127\.0\.0\.1:\d+ ")
    t.press("/python\r", r"filter: python\n.*127\.0\.0\.1")
    t.press("p", "PAUSED")
    t.press("p", "s *\nsent")
    t.resize(200, 50)
    text = t.wait("PROTO")
    whole(text, 200)
    header = text.split("\n")[5]
    for column in ("PROGRAM[PID]", "RETR", " M ", "RTT", "LOCAL", "PROTO"):
        check(column in header, f"200 columns have {column}")
    check("too narrow" not in text and re.search(r"python3\[\d+\]", text), "all columns are there")
    t.resize(40, 10)
    t.wait("at least 60 x 20")
    t.resize(80, 24)
    t.wait(re.escape(KEYS[80]))
    t.press("w", "will be saved")
    t.press("q", "the recording is in magnet-top-")
    check("COMMAND prints this" in t.shown(), "what COMMAND printed is shown at the end")
    t.end()
    saved = [d for d in os.listdir(".") if d.startswith("magnet-top-")]
    check(len(saved) == 1 and json.loads(run(MAGNET, "report", "--json", saved[0]).stdout)["flows"],
          "w has saved a recording that can be read")
    check(not os.listdir(place), "nothing temporary is left")


def timed(place):
    """With the kernel's timestamps alone, what they tell has a column, and the rest is not available."""
    t = Terminal(200, 50, "--layers", "timestamps", "--", PYTHON, "-c", ASK % 60, TMPDIR=place)
    text = t.wait(r"TO ACK.* network \d+%")
    check("received n/a" in text and "exchanges n/a" in text and "retransmits n/a, drops n/a" in text,
          f"what is not recorded is not available:\n{text}")
    t.wait(r"network \d+% +n/a +n/a +[\d.]+.s ")  # of 20 sends and more
    t.resize(80, 24)
    text = t.wait(r"too narrow for: [^\n]*RECV/s")
    header = next(line for line in text.split("\n") if "PEER" in line)
    check("TO ACK" in header and "PROGRAM[PID]" in header and "RETR" not in header,
          f"a narrow terminal leaves out first what no row has: {header}")
    t.resize(200, 50)
    t.wait("PROTO")
    text = t.press("\r", r"Connection \d+ \(tcp\) of python3.*send to acknowledgement p50 [\d.]+.?s.*"
                         r"sent network, until the ACK .*#")
    check(re.search(r"received n/a +exchanges n/a|received n/a\n exchanges n/a", text), f"also of a connection:\n{text}")
    t.press("g", r"Delay of bytes.*(µs|ms|ns)\|")
    t.press("q", "COMMAND prints this")
    t.end()


def ended(place):
    for number, status in ((15, 0), (11, -11)):
        t = Terminal(80, 24, "--", PYTHON, "-c", ASK % 30, TMPDIR=place)
        t.wait("BYTES WAIT IN.*127")
        os.kill(t.p.pid, number)
        t.end(status)
    for term in ("vt100", "dumb", "linux"):
        t = Terminal(80, 24, "--count", "3", "--", PYTHON, "-c", ASK % 30, term=term, NO_COLOR="1", TMPDIR=place)
        t.read(3)
        t.end()
    t = Terminal(80, 24, "1", term="no-such-terminal")
    t.wait("nothing is known of the terminal 'no-such-terminal'")
    t.end(1)


need_kernel_side()
place = scratch()
os.chdir(place)
os.mkdir("tmp")
try:
    narrow(place + "/tmp")
    small(place + "/tmp")
    timed(place + "/tmp")
    ended(place + "/tmp")
finally:
    os.chdir("/")
    shutil.rmtree(place)
