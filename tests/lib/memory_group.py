# SPDX-License-Identifier: MIT
"""A control group that bounds memory, of whichever version of control groups has that controller here."""
import os

from control_groups import hierarchy

FILES = {"cgroup": ("memory.limit_in_bytes", "memory.usage_in_bytes", "-1"),
         "cgroup2": ("memory.max", "memory.current", "max")}


class MemoryGroup:
    """Removed at the end, by when nobody may be in it. `why` says why there is none, else it is empty."""

    def __init__(self):
        self.why, self.path = "", None
        version, at = hierarchy("memory")
        if not version:
            self.why = at
            return
        self.limit_name, self.usage_name, self.none = FILES[version]
        try:
            os.mkdir(f"{at}/magnet-test-{os.getpid()}")
            self.path = f"{at}/magnet-test-{os.getpid()}"
        except OSError as e:
            self.why = f"{at}: {e.strerror}"

    def _write(self, name, value):
        with open(f"{self.path}/{name}", "w") as f:
            f.write(str(value))

    def add(self, pid):
        self._write("cgroup.procs", pid)

    def usage(self):
        with open(f"{self.path}/{self.usage_name}") as f:
            return int(f.read())

    def limit(self, size):
        """Bytes; None for no limit."""
        self._write(self.limit_name, self.none if size is None else size)

    def remove(self):
        if self.path:
            os.rmdir(self.path)
