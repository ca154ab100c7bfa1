# SPDX-License-Identifier: MIT
"""A control group with a CPU quota, of whichever version of control groups has that controller here."""
import os
import subprocess
import tempfile

from control_groups import hierarchy


class CpuGroup:
    """Removed at the end, by when nobody may be in it. `why` says why there is none, else it is empty."""

    def __init__(self, quota_us, period_us):
        self.why, self.path, self.mounted = "", None, None
        self.version, at = hierarchy("cpu")
        if not self.version:
            self._mount()
            self.version, at = hierarchy("cpu")
        if not self.version:
            self.why = at
            self.remove()
            return
        path = f"{at}/magnet-test-{os.getpid()}"
        try:
            os.mkdir(path)
            self.path = path
            if self.version == "cgroup2":
                self._write("cpu.max", f"{quota_us} {period_us}")
            else:
                self._write("cpu.cfs_period_us", period_us)
                self._write("cpu.cfs_quota_us", quota_us)
        except OSError as e:
            self.why = f"{path}: {e.strerror}"
            self.remove()

    def _mount(self):
        """Mounts the hierarchy of version 2, where nobody has."""
        at = tempfile.mkdtemp(prefix="magnet-test-")
        if subprocess.run(["mount", "-t", "cgroup2", "none", at], stderr=subprocess.DEVNULL).returncode:
            os.rmdir(at)
        else:
            self.mounted = at

    def _write(self, name, value):
        with open(f"{self.path}/{name}", "w") as f:
            f.write(str(value))

    def throttled(self):
        """(number of times, their sum in ns), as the kernel counts."""
        with open(f"{self.path}/cpu.stat") as f:
            stat = {name: int(value) for name, value in (line.split() for line in f)}
        return stat["nr_throttled"], stat.get("throttled_time", 1000 * stat.get("throttled_usec", 0))

    def remove(self):
        if self.path:
            os.rmdir(self.path)
        if self.mounted:
            subprocess.run(["umount", self.mounted])
            os.rmdir(self.mounted)
        self.path = self.mounted = None
