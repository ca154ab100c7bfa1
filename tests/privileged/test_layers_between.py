# SPDX-License-Identifier: MIT
"""Each layer against who else counts there, where a bridge, a router, a tunnel, or a macvlan lies
between the ends."""
import os
import sys

table = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "layers_table.py")
os.execv(sys.executable, [sys.executable, table, "bridge", "routed", "bridge here",
                          "vxlan", "macvlan"])
