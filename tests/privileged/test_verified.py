# SPDX-License-Identifier: MIT
"""
No BPF program makes the verifier walk through many more instructions than now: older kernels walk through more
of the same program, and a start takes as long. The objects for older kernels are loaded here, too.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

VERIFIED, BUILD = sys.argv[1], os.environ["MAGNET_BUILD"]
PROGRAMS = ("on_dev_recv", "on_dev_gro", "on_dev_queue", "on_dev_xmit", "on_drop", "on_sys_enter", "on_sys_exit",
            "on_tcp_recv", "on_tcp_send", "on_sock_state")
# the present counts, and half as many more
MOST = {"cast": 60000, "plain": 65000, "old": 190000}

need_kernel_side()
for kind, most in MOST.items():
    said = run(VERIFIED, f"{BUILD}/kernel-tracer/magnet_{kind}.bpf.o", *PROGRAMS).stdout
    walked = {name: int(n) for name, n in map(str.split, said.splitlines())}
    if not any(walked.values()):
        skip("this kernel does not count them")
    check(max(walked.values()) < most, f"{kind}: less than {most} instructions: {walked}")
