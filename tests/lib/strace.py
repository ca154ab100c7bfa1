# SPDX-License-Identifier: MIT
"""System calls on sockets as strace counts them, and as magnet does, in one run."""
import os
import re
import subprocess
import tempfile
import time

from fixture import MAGNET, Recording

# those magnet follows; send() and recv() of the C library are sendto and recvfrom
CALLS = ("read write readv writev preadv2 pwritev2 sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg "
         "sendfile splice connect accept accept4 shutdown close socket socketpair bind listen setsockopt "
         "getsockopt").split()
MOVES = set(CALLS[:14])
OPTIONS = ("-f", "-yy", "-e", "trace=" + ",".join(CALLS), "-e", "signal=none", "-v", "-s", "32")
SAME = {"send": "sendto", "recv": "recvfrom", "splice_in": "splice"}

SOCKET = r"\d+<(?:TCP|UDP|UNIX|NETLINK|RAW|PING|VSOCK|SCTP|socket:)"
ON_SOCKET = re.compile(rf"{SOCKET}|(?:socket|socketpair)\(|splice\(.*, NULL, {SOCKET}")
LINE = re.compile(r"(\d+) +(\w+)\((.*)")
RESUMED = re.compile(r"(\d+) +<\.\.\. (\w+) resumed>(.*)")
RESULT = re.compile(r".*\) += (-?\d+)")


def strace_counts(path):
    """{call: (number, bytes)} of what was called on a socket and returned."""
    counts, begun = {}, {}
    for line in open(path, errors="replace"):
        m = LINE.match(line)
        if m and "<unfinished ...>" in line:  # a call another thread came in between of has two lines
            begun[m[1]] = m
            continue
        text = m[3] if m else ""
        if not m:
            rest = RESUMED.match(line)
            m = rest and begun.pop(rest[1], None)
            if not m or m[2] != rest[2]:
                continue
            text = m[3] + rest[3]
        first = text if m[2] == "splice" else text.split(",", 1)[0].split(")", 1)[0] + ","
        of_socket = m[2] in ("socket", "socketpair") or re.match(SOCKET, first) or (
            m[2] == "splice" and re.search(rf", NULL, {SOCKET}", first))
        result = RESULT.match(text)
        if not of_socket or not result or "ERESTART" in text:
            continue
        size = int(result[1])
        if m[2] in ("sendmmsg", "recvmmsg"):
            size = sum(map(int, re.findall(r"msg_len=(\d+)", text)[:max(size, 0)]))
        n, total = counts.get(m[2], (0, 0))
        counts[m[2]] = (n + 1, total + (max(0, size) if m[2] in MOVES else 0))
    return counts


def magnet_counts(report):
    """The same from a report, and how many of them the kernel side alone has seen."""
    counts, alone = {}, {}
    for c in report["calls"]:
        name = SAME.get(c["name"], c["name"])
        n, size = counts.get(name, (0, 0))
        counts[name] = (n + c["n"], size + (c["bytes"] if name in MOVES else 0))
        if c["kernel_only"]:
            alone[name] = alone.get(name, 0) + c["n"]
    return counts, alone


GATE = 'echo $$ >$0/pid.new; mv $0/pid.new $0/pid; until [ -e $0/go ]; do sleep 0.02; done; exec "$@"'


class WatchedRecording(Recording):
    """A recording that strace watches, from outside: what strace itself does is not part of it."""

    def __init__(self, *command, options=(), timeout=120, **kw):
        self.top = tempfile.mkdtemp(prefix="magnet-test-")
        self.dir = self.top + "/trace"
        self.log = self.top + "/strace.log"
        record = subprocess.Popen(
            [MAGNET, "record", "-q", "-o", self.dir, *options, "--", "sh", "-c", GATE, self.top,
             *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kw)
        while not os.path.exists(self.top + "/pid") and record.poll() is None:
            time.sleep(0.02)
        strace = None
        if record.poll() is None:
            pid = open(self.top + "/pid").read().strip()
            strace = subprocess.Popen(["strace", "-p", pid, *OPTIONS, "-o", self.log],
                                      stderr=subprocess.PIPE, text=True)
            strace.stderr.readline()  # it says so when it is attached
            open(self.top + "/go", "w").close()
        out, err = record.communicate(timeout=timeout)
        if strace:
            strace.communicate(timeout=30)
        self.p = subprocess.CompletedProcess(record.args, record.returncode, out, err)
