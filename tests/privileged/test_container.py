# SPDX-License-Identifier: MIT
"""A program in network, mount and process namespaces of its own, and in more that it makes itself."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs", "contained.py")
COMMAND = ("unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", PYTHON, PROGRAM)


def layers(report, netns, direction):
    """{layer: (units, bytes)} of the UDP flows of a namespace."""
    found = {}
    for f in report["flows"]:
        if f["proto"] == "udp" and f["netns"] == netns and f["direction"] == direction:
            for l in f["layers"]:
                n, size = found.get(l["name"], (0, 0))
                found[l["name"]] = n + l["n"], size + l["bytes"]
    return found


need_kernel_side()
if run(*COMMAND[:-2], "true", check=False).returncode:
    skip("no namespaces can be made")
with undisturbed(lambda: Recording(*COMMAND, options=("--kernel-only",))) as rec:
    report = rec.report()
    said = [json.loads(line) for line in rec.p.stdout.splitlines()]
    check(len({s["netns"] for s in said}) == 3, "three namespaces have told")
    for s in said:
        n, size = s["counted"]["UdpOutDatagrams"], 300 * s["counted"]["UdpOutDatagrams"]
        for direction, names in (("tx", ("call", "copy", "tcp", "ip", "queue", "device", "driver")),
                                 ("rx", ("device", "ip", "copy", "call"))):
            seen = layers(report, s["netns"], direction)
            check(all(seen.get(name) == (n, size) for name in names),
                  f"namespace {s['netns']}, {direction}: {n} datagrams at each layer"
                  + ("" if all(seen.get(name) == (n, size) for name in names) else f": {seen}"))
        check(n == s["counted"]["UdpInDatagrams"] == 25, "as the program sent")
