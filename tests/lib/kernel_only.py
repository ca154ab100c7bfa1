# SPDX-License-Identifier: MIT
"""
Why calls are kernel-only: each must be explained by something strace saw in the same run. What the C
library calls within itself does not pass libmagnet.so; the sockets it opens show what for.
"""
import re

from strace import whole_calls

# whom the C library asks by a socket of its own
SERVICES = {"nscd": "/var/run/nscd/socket", "sssd": "/var/lib/sss/pipes/",
            "systemd": "/run/systemd/userdb/", "syslog": "/dev/log"}
USERS = "names of users and hosts: the C library asks nscd first (getpwuid(), getaddrinfo(), ...)"
SYSLOG = "syslog() of the C library"
ADDRESSES = "getaddrinfo() asks the kernel which addresses the machine has"
SORTING = "getaddrinfo() sorts what it found by the address that each would be reached from"
CLOSES = "closed without having been used since they were inherited: what they are was never asked"


def evidence(log):
    seen = {}
    for _, name, text in whole_calls(log):
        if name == "connect":
            for service, path in SERVICES.items():
                if f'sun_path="{path}' in text:
                    seen[service] = seen.get(service, 0) + 1
    return seen


def explain(log, kernel_only):
    """
    [(why, {call: number})] of {(call, kind): number}; what has no explanation comes with why "".
    """
    left, seen, found = dict(kernel_only), evidence(log), []

    def take(why, wanted):
        taken = {}
        for key in [k for k in left if wanted(*k)]:
            taken[key[0]] = taken.get(key[0], 0) + left.pop(key)
        if taken:
            found.append((why, taken))

    def asked(services, kind):
        count = sum(seen.get(s, 0) for s in services)
        return count and count == left.get(("connect", kind))

    if asked(("nscd", "sssd", "systemd"), "unix_stream"):
        closes = left.get(("close", "unix_stream"), 0) - left[("connect", "unix_stream")]
        left[("close", "unix_stream")] = left[("connect", "unix_stream")]
        take(USERS, lambda call, kind: kind == "unix_stream")
        if closes > 0:
            left[("close", "unix_stream")] = closes
    if asked(("syslog",), "unix_dgram"):
        take(SYSLOG, lambda call, kind: kind == "unix_dgram")
    take(ADDRESSES, lambda call, kind: kind == "netlink")
    if ("connect", "udp") in left:
        take(SORTING, lambda call, kind: kind == "udp" and call in ("socket", "connect", "close"))
    take(CLOSES, lambda call, kind: call == "close")
    for key in [k for k, n in left.items() if not n]:  # all of them were entered again
        del left[key]
    take("", lambda call, kind: True)
    return found
