# SPDX-License-Identifier: MIT
"""ftrace beside magnet: an instance of its own, stamped with the cycle counter, gone at the end."""
import collections
import os
import re
import subprocess
import sys
import tempfile

from fixture import run, skip

Switch = collections.namedtuple("Switch", "cpu cycles prev next")
Pair = collections.namedtuple("Pair", "cpu theirs ours")
LINE = re.compile(r".*\[(\d+)\].*? (\d+): sched_switch: .*?prev_pid=(\d+) .*? ==> .*?next_pid=(\d+)")


class Ftrace:
    BUFFER_KB = 16384

    def __init__(self, *events):
        self.events = events

    @staticmethod
    def need():
        """In a mount namespace of its own, where tracefs is at hand whoever has mounted it."""
        if os.environ.get("MAGNET_TEST_TRACEFS"):
            return
        at = "/sys/kernel/tracing"
        mounted = f"mountpoint -q {at} || mount -t tracefs none {at}"
        p = run("unshare", "-m", "sh", "-c", mounted, check=False)
        if p.returncode != 0:
            skip("tracefs cannot be mounted: " + p.stderr.strip())
        os.environ["MAGNET_TEST_TRACEFS"] = at
        sys.stdout.flush()
        os.execvp("unshare", ["unshare", "-m", "sh", "-c", f'{mounted}; exec "$0" "$@"',
                              sys.executable, *sys.argv])

    def __enter__(self):
        top = os.environ["MAGNET_TEST_TRACEFS"] + "/instances"
        if not os.path.isdir(top):
            skip("this tracefs has no instances")
        self.dir = f"{top}/magnet-test-{os.getpid()}"
        os.mkdir(self.dir)
        try:
            with open(self.dir + "/trace_clock") as f:
                if "x86-tsc" not in f.read():
                    skip("ftrace cannot stamp with the cycle counter here")
            self._set("trace_clock", "x86-tsc")
            self._set("buffer_size_kb", self.BUFFER_KB)
            self._set("options/event-fork", 1)
            self._set("set_event_pid", 1 << 22)  # nobody, until follow_me()
            for e in self.events:
                self._set(f"events/{e}/enable", 1)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _set(self, name, value):
        with open(f"{self.dir}/{name}", "w") as f:
            f.write(str(value))

    def follow_me(self):
        """Returns shell code that has its own events, and those of its children, recorded."""
        return f"echo $$ >{self.dir}/set_event_pid; "

    def switches(self):
        """In the order of each CPU."""
        with open(self.dir + "/trace") as f:
            for line in f:
                m = LINE.match(line)
                if m:
                    yield Switch(*map(int, m.groups()))

    def __exit__(self, *unused):
        for e in self.events:
            self._set(f"events/{e}/enable", 0)
        os.rmdir(self.dir)


def matched(theirs, ours):
    """
    Their switches with ours, CPU by CPU in order: pairs, and those of theirs that we do not have.
    We may have more, from before and after.
    """
    by_cpu = collections.defaultdict(list)
    for e in ours:
        by_cpu[int(e["cpu"])].append(
            (int(e["cycles"]), int(e["fields"]["prev_tid"]), int(e["fields"]["next_tid"])))
    at = collections.Counter()
    pairs, alone = [], []
    for s in theirs:
        row, i = by_cpu[s.cpu], at[s.cpu]
        # what comes long before it is none of theirs
        while i < len(row) and (row[i][1:] != (s.prev, s.next) or row[i][0] < s.cycles - 100000):
            if row[i][0] > s.cycles + 1000000:
                i = len(row)
                break
            i += 1
        if i == len(row):
            alone.append(s)
            continue
        pairs.append(Pair(s.cpu, s.cycles, row[i][0]))
        at[s.cpu] = i + 1
    return pairs, alone
