# SPDX-License-Identifier: MIT
"""An LTTng session apart from any session daemon of the machine's own."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from fixture import need_program

SCRIPT = """
set -e
if [ $(id -u) = 0 ]; then mkdir -p /run/lttng; mount -t tmpfs tmpfs /run/lttng; fi
export LTTNG_HOME={top}/home
lttng-sessiond --no-kernel --apps-sock=$LTTNG_HOME/.lttng/lttng-ust-sock-8 >/dev/null 2>&1 &
daemon=$!
trap 'kill $daemon; wait $daemon' EXIT
until lttng list >/dev/null 2>&1; do kill -0 $daemon; sleep 0.05; done
lttng create t {create}
lttng enable-channel --userspace --buffers-uid --num-subbuf 8 --subbuf-size {subbuf} c
lttng enable-event --userspace --channel c {events}
{more}
lttng start
echo ready
read line
lttng stop
lttng destroy
"""


class LttngSession:
    """Programs with `env` are recorded into `trace`; end() stops, so that it can be read."""

    def __init__(self, events="'magnet:*'", subbuf="1M", more="", create=""):
        need_program("lttng-sessiond", "lttng", "babeltrace2")
        self.top = tempfile.mkdtemp(prefix="magnet-test-")
        os.mkdir(self.top + "/home", 0o711)
        os.mkdir(self.top + "/home/.lttng", 0o711)
        os.chmod(self.top, 0o711)
        self.trace = self.top + "/app"
        self.env = {"LTTNG_HOME": self.top + "/home"}
        command = ["sh", "-c", SCRIPT.format(top=self.top, events=events, subbuf=subbuf, more=more,
                                               create=create or f"--output={self.top}/app")]
        if os.geteuid() == 0:
            command = ["unshare", "-m"] + command
        self.p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  start_new_session=True)
        while (line := self.p.stdout.readline()) and line != "ready\n":
            pass
        if not line:
            self.__exit__()
            sys.exit("no LTTng session could be made")

    def end(self):
        self.p.communicate("stop\n", timeout=60)

    def kill(self):
        """Daemons that wait for what a program that was killed has begun to write never end."""
        os.killpg(self.p.pid, signal.SIGKILL)
        self.p.wait()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.p.poll() is None:
            try:
                self.end()
            except (subprocess.TimeoutExpired, ValueError):
                self.kill()
        shutil.rmtree(self.top, ignore_errors=True)
