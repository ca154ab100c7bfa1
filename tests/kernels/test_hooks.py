# SPDX-License-Identifier: MIT
"""On every kernel each event that magnet's figures rest on has a hook; of the others it says why not."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

own_network()
# what a kernel may have no hook for; no figure is wrong without it, only less can be said
MAY_BE_MISSING = {"tcp_cong", "sched_cost", "irq_entry", "irq_exit", "zerocopy_done"}
NEEDED = {"syscall", "socket", "tcp", "ip", "device", "sched"}

found = json.loads(run(MAGNET, "doctor", "--json", check=False).stdout)
check(found["kernel_side"]["works"],
      f"the kernel side works on Linux {found['machine']['kernel']}: {found['kernel_side']['why']}")
outcome = {}
for h in found["hooks"]:
    key = (h["layer"], h["hook"])
    if key not in outcome or h["status"] == 0:
        outcome[key] = h
for (layer, event), h in outcome.items():
    text = h["by"] if h["status"] == 0 else "none: " + h["why"]
    if layer in NEEDED and event.split()[0] not in MAY_BE_MISSING:
        check(h["status"] == 0, f"{layer} {event}: {text}")
    else:
        check(h["by"] if h["status"] == 0 else h["why"], f"{layer} {event}: {text}")
for event in ("tcp_send", "sock_copy", "sock_sent", "sock_received", "tcp_recv", "tcp_ready",
              "tcp_retransmit", "ip_out", "ip_post", "ip_in", "dev_queue", "dev_xmit", "dev_recv",
              "sched_switch", "sys_enter", "sys_exit"):
    check(any(key[1].split()[0] == event for key in outcome), f"{event} is told of")

REFUSED = """
import socket
s = socket.socket()
assert s.connect_ex(("127.0.0.1", 9))
"""
with Recording(PYTHON, "-c", REFUSED) as rec:
    drops = [e for e in rec.events() if e["event"] == "drop" and e["fields"]["proto"] == "tcp"]
    ids = {e["flow"] for e in rec.events() if e["event"] == "sock_state"}
check([e["flow"] for e in drops] == list(ids), f"the SYN that is refused is dropped, of its own connection: {drops}")
check(all(name.split("/")[0].isdigit() for name in ids), f"which has a number: {ids}")

with Recording(PYTHON, "-c", "import time\nfor _ in range(5): time.sleep(0.02)",
               options=("--kernel-only",)) as rec:
    table = run(MAGNET, "show", "--facts", "wait", rec.dir).stdout.splitlines()
names = [n.partition(":")[0] for n in table[0].split("\t")]
calls = [dict(zip(names, line.split("\t")))["call"] for line in table[1:]]
check(sum(c in ("clock_nanosleep", "select", "pselect6") for c in calls) >= 5,
      f"a thread that blocks says in which call: {sorted(set(calls))}")
