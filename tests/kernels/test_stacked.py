# SPDX-License-Identifier: MIT
"""
Packets that pass several devices of one host, a VLAN's, another's it is in, a bond's and its ports, are
at each layer of their socket once, with the bytes the program moved.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from fixture import *
from once import TCP, UDP, exchange
from stacks import STACKS, Stack

need_kernel_side()
for place, v6 in zip(STACKS, (False, True)):
    with Stack(place, v6) as t:
        b = t.address(t.b, v6)
        exchange(t.a, t.b, b, b, TCP + UDP, place)
