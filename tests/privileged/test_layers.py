# SPDX-License-Identifier: MIT
"""Each layer against who else counts there: loopback, a veth pair, also with GRO, and UNIX
sockets."""
import os
import sys

table = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "layers_table.py")
os.execv(sys.executable, [sys.executable, table, "loopback", "veth", "veth GRO", "unix"])
