# SPDX-License-Identifier: MIT
"""System calls on sockets as strace counts them, and as magnet does, in one run."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from fixture import MAGNET, PYTHON, Recording, skip, stop

FAMILY = os.path.join(os.path.dirname(__file__), "..", "programs", "family.py")

# those magnet follows; send() and recv() of the C library are sendto and recvfrom
MOVES = ("read write readv writev preadv2 pwritev2 sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg "
         "sendfile splice").split()
CALLS = MOVES + ("connect accept accept4 shutdown close socket socketpair bind listen setsockopt "
                 "getsockopt tee vmsplice io_uring_enter").split()
# -y names what a descriptor is as the call begins; the data is left out, as it might look like more
OPTIONS = ("-f", "-y", "-e", "trace=rt_sigreturn," + ",".join(CALLS), "-e", "signal=none", "-v",
           "-s", "0")
SAME = {"send": "sendto", "recv": "recvfrom", "splice_in": "splice"}
ALWAYS = ("socket", "socketpair", "io_uring_enter")

OTHER_DESCRIPTORS = ("sendfile", "splice", "sendmsg", "sendmmsg")

ERESTARTSYS = -512

SOCKET = r"\d+<socket:"
LINE = re.compile(r"(\d+) +(\w+)\((.*)")
RESUMED = re.compile(r"(\d+) +<\.\.\. (\w+) resumed>(.*)")
LOOKS_ONLY = re.compile(r"\bMSG_(PEEK|ERRQUEUE)\b")  # the data stay in the queue, or are not received
RESULT = re.compile(r".*\) += (-?\d+)")


def whole_calls(path, killed=None):
    """
    (thread, call, its arguments and result) of each call that ended, in the order of their ends. Those
    in which their thread was killed are put into `killed`: strace does not learn what they returned.
    """
    begun = {}
    for line in open(path, errors="replace"):
        m = LINE.match(line)
        # a call another thread came in between of has two lines; a killed one has no result
        if m and ("<unfinished ...>" in line or line.endswith("= ?\n")):
            begun[m[1]] = m
        elif m:
            yield m[1], m[2], m[3]
        else:
            rest = RESUMED.match(line)
            m = rest and begun.get(rest[1])
            if m and m[2] == rest[2] and not rest[3].endswith("= ?"):
                del begun[rest[1]]
                yield m[1], m[2], m[3] + rest[3]
    if killed is not None:
        killed.update({thread: (m[2], m[3]) for thread, m in begun.items()})


def on_socket(name, text):
    if name in ALWAYS or re.match(SOCKET, text):
        return True
    return name == "splice" and re.search(rf", NULL, {SOCKET}", text)


# by which libmagnet.so learns what an inherited socket is: one after another, of the same socket
QUESTIONS = re.compile(r"(\S+), SOL_SOCKET, SO_(DOMAIN|TYPE|PROTOCOL),")


class Questions:
    """Which calls are libmagnet.so's own, that magnet does not count."""

    def __init__(self):
        self.asked = {}  # of each thread, the last of them in a row: the socket, which questions

    def complete(self, thread, name, text):
        """Whether this call is the last of the three."""
        m = name == "getsockopt" and QUESTIONS.match(text)
        fd, before = self.asked.pop(thread, (None, ()))
        if not m:
            return False
        row = (*before, m[2]) if m[1] == fd else (m[2],)
        if row == ("DOMAIN", "TYPE", "PROTOCOL"):
            return True
        if row in (("DOMAIN",), ("DOMAIN", "TYPE")):
            self.asked[thread] = m[1], row
        return False


def strace_counts(path, events=None):
    """
    {call: (number, bytes it moved)} of what the program called on a socket and returned. A call that a signal
    interrupts strace shows as to be restarted; whether it is, or ends with EINTR, is known when the
    handler is done. Of a call in which its thread was killed nobody but the kernel side knows whether
    it moved something first: `events`, of magnet, are asked for those only.
    """
    counts, interrupted = {}, {}
    killed, calls_of, questions = {}, {}, Questions()

    def add(name, size):
        n, total = counts.get(name, (0, 0))
        counts[name] = (n + 1, total + (max(0, size) if name in MOVES else 0))

    for thread, name, text in whole_calls(path, killed):
        if name == "rt_sigreturn":
            call = interrupted.pop(thread, None)
            if call and "EINTR" in text:
                add(call[0], -1)
            continue
        if not on_socket(name, text):
            continue
        calls_of[thread] = calls_of.get(thread, 0) + 1
        this = name, text.split(">", 1)[0]
        if interrupted.get(thread) == this:
            del interrupted[thread]
        if "ERESTART" in text:
            interrupted[thread] = this
            continue
        result = RESULT.match(text)
        if not result:
            continue
        # closed by another thread, after strace has looked and before the kernel did
        if name not in OTHER_DESCRIPTORS and re.search(r"\) += -1 (EBADF|ENOTSOCK)", text):
            continue
        size = int(result[1])
        if name in ("sendmmsg", "recvmmsg"):
            size = sum(map(int, re.findall(r"msg_len=(\d+)", text)[:max(size, 0)]))
        add(name, 0 if LOOKS_ONLY.search(text) else size)
        if questions.complete(thread, name, text):
            n, total = counts["getsockopt"]
            counts["getsockopt"] = (n - 3, total)
    if counts.get("getsockopt") == (0, 0):
        del counts["getsockopt"]
    killed = {thread: name for thread, (name, text) in killed.items() if on_socket(name, text)}
    for thread, (entered, ret, size) in ended_by_kernel(killed, events).items():
        if entered == calls_of.get(thread, 0) + 1 and ret is not None:
            add(killed[thread], size if "mmsg" in killed[thread] else ret)
    return counts


def ended_by_kernel(killed, events):
    """{thread: (calls entered, what the last returned, bytes of its messages)} of these threads."""
    found = {}
    for e in events() if killed and events else ():
        entered = found.get(e["tid"], (0,))[0]
        if e["tid"] not in killed:
            continue
        if e["event"] == "sys_enter":
            found[e["tid"]] = entered + 1, None, 0
        elif e["event"] == "sys_exit" and int(e["fields"]["ret"]) > ERESTARTSYS:
            found[e["tid"]] = entered, int(e["fields"]["ret"]), int(e["fields"]["bytes"])
    return found


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


class WatchedRecording(Recording):
    """
    A recording that strace watches, from outside: what strace itself does is not part of it. It ends
    when all that COMMAND started has ended.
    """

    def __init__(self, *command, options=(), timeout=120, **kw):
        self.top = tempfile.mkdtemp(prefix="magnet-test-")
        self.dir = self.top + "/trace"
        self.log = self.top + "/strace.log"
        record = subprocess.Popen(
            [MAGNET, "record", "-q", "-o", self.dir, *options, "--", PYTHON, FAMILY, self.top,
             *map(str, command)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, **kw)
        strace = None
        try:
            while not os.path.exists(self.top + "/pid") and record.poll() is None:
                time.sleep(0.02)
            if record.poll() is None:
                pid = open(self.top + "/pid").read()
                strace = subprocess.Popen(["strace", "-p", pid, *OPTIONS, "-o", self.log],
                                          stderr=subprocess.PIPE, text=True)
                said = strace.stderr.readline()
                if "attached" not in said:
                    skip("strace cannot watch here: " + said)
                open(self.top + "/go", "w").close()
            out, err = record.communicate(timeout=timeout)
            if strace:
                strace.communicate(timeout=30)
        except BaseException as e:
            stop(record)  # which has family.py end all
            if strace:
                stop(strace)
            shutil.rmtree(self.top, ignore_errors=True)
            if isinstance(e, subprocess.TimeoutExpired):
                sys.exit(f"{command}: has not ended in {timeout} s")
            raise
        self.p = subprocess.CompletedProcess(record.args, record.returncode, out, err)

    def by_strace(self):
        return strace_counts(self.log, self.events)
