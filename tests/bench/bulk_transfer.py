# SPDX-License-Identifier: MIT
"""iperf3 from one network namespace to another, through a pair of veth devices."""
from observers import *

SECONDS = 1  # of one transfer
PORT = 5300


def start_server(net, *before):
    """An iperf3 server in the second namespace; `before` is a command that starts it."""
    server = net.popen(net.b, *before, "iperf3", "-s", "-p", PORT, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, preexec_fn=die_with_parent)
    time.sleep(0.3)  # it must listen
    return server


class Transfer:
    """One iperf3 client that waits to be let go, so that an observer can be told its process."""

    def __init__(self, net, prefix=(), before=(), options=()):
        client = net.inside(net.a, *before, "iperf3", "-c", net.B, "-p", PORT, "-t", SECONDS, "-J", *options)
        self.p = start(*prefix, "sh", "-c", "read go; exec \"$@\"", "sh", *client,
                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.p.pid

    def go(self):
        """Returns the Gbit/s that arrived; `elapsed` is then the time it took, `bytes` what arrived."""
        began = time.monotonic()
        try:
            out, _ = self.p.communicate("\n", timeout=60)
        finally:
            stop(self.p)
        self.elapsed = time.monotonic() - began
        result = json.loads(out)
        if "error" in result:
            sys.exit("iperf3: " + result["error"])
        received = result["end"]["sum_received"]
        self.bytes = received["bytes"]
        return received["bits_per_second"] / 1e9
