# SPDX-License-Identifier: MIT
"""
Programs in a namespace of processes know other numbers of themselves than the kernel: their calls are
joined with the kernel's all the same, also those of threads and children.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PROGRAM = """
import os, socket, threading, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
s.connect(s.getsockname())
def send(n):
    for i in range(n):
        s.send(b"x"); s.recv(9)
    time.sleep(0.5)
t = threading.Thread(target=send, args=(20,))
t.start()
child = os.fork()
send(10)
if not child:
    os._exit(0)
t.join()
os.waitpid(child, 0)
assert os.getpid() < 20
"""

need_kernel_side()
for how in (("--mount-proc",), ()):
    command = ("unshare", "--pid", "--fork", *how, PYTHON, "-c", PROGRAM)
    if run(*command, check=False).returncode:
        skip("no namespaces can be made")
    with Recording(*command) as rec:
        ours, kernels = {}, {}
        for e in rec.events():
            key = e["pid"], e["tid"]
            if e["event"] == "magnet:send":
                ours[key] = ours.get(key, 0) + 1
            elif e["event"] == "sys_enter" and e["fields"]["call"] == "sendto":
                kernels[key] = kernels.get(key, 0) + 1
        check(sorted(ours.values()) == [10, 10, 20], f"{how}: sends of two processes and a thread")
        check(ours == kernels, f"each by whom the kernel names {ours} {kernels}")
        calls = [c for c in rec.report()["calls"] if c["name"] in ("send", "sendto")]
        check([c["n"] for c in calls] == [40] and calls[0]["overhead_ns"]["p50"],
              "and each call is one, with its system call")
