# SPDX-License-Identifier: MIT
"""
A macvlan on a device of its own namespace: what is sent passes both, and is at each layer of its socket
once, as tests/kernels/test_stacked.py has it of devices that not every kernel can make.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from fixture import *
from once import TCP, UDP, exchange
from stacks import Stack

need_kernel_side()
with Stack("macvlan here") as t:
    b = t.address(t.b, False)
    exchange(t.a, t.b, b, b, TCP + UDP, "macvlan here")
