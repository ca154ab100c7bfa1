# SPDX-License-Identifier: MIT
"""Descriptors that come from elsewhere are known at their first use, for what they are."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from lives import *

LISTENER = {"socket": 1, "bind": 1, "listen": 1}


def kinds(life, name):
    return [e["fields"]["kind"] for e in life.calls if e["event"] == "magnet:" + name]


def rights():
    """A socket, a file and a listener by SCM_RIGHTS, twice, with other meanings of the numbers."""
    with Life(LIVES, "rights") as life:
        life.check_calls({"socketpair": 1}, SINK, LISTENER, times(2, {
            "sendmsg": 1, "recvmsg": 1, "socket": 1, "connect": 1, "recv": 1, "accept": 1,
            "write": 2}), {"close": 1 + 2 + 2 * 3})
        check(sorted(kinds(life, "write")) == ["tcp", "tcp", "udp", "udp"], "files are no sockets")
        check(set(kinds(life, "accept")) == {"tcp"}, "a listener is accepted from")


def inherited():
    """As systemd does it."""
    with Life(LIVES, "inherit") as life:
        life.check_calls(SINK, LISTENER, {"socket": 1, "connect": 1, "accept": 1, "read": 2,
                                          "write": 3, "close": 1, "getsockopt": 1})
        check(kinds(life, "write").count("udp") == 2, "those to descriptor 3; 4 is a file")


def reused():
    """A number that is a socket, a file and a pipe in turn."""
    with Life(LIVES, "reuse") as life:
        life.check_calls(times(3, SINK), {"send": 4, "write": 1, "close": 2})


own_network()
for test in (rights, inherited, reused):
    print("---", test.__name__)
    test()
