# SPDX-License-Identifier: MIT
"""
Datagrams that an XDP program drops as the device has them, in the driver and in the stack: each is told,
though no layer of the receiver's ever had it. Which devices have a program in the driver, where frames of
other drivers' would be dropped unseen, the doctor says.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

OBJECT, PORT, SENT, SIZE = sys.argv[1], 5555, 10, 200
RECEIVER = f"""
import socket
s = socket.socket(type=socket.SOCK_DGRAM)
s.bind(("{Network.B}", {PORT}))
print("ready", flush=True)
s.settimeout(1)
try:
    s.recv(1000)
    raise SystemExit("it was not dropped")
except TimeoutError:
    pass
"""
SENDER = f"""
import socket, sys
sys.stdin.readline()
s = socket.socket(type=socket.SOCK_DGRAM)
s.connect(("{Network.B}", {PORT}))
for _ in range({SENT}):
    s.send(b"x" * {SIZE})
"""


def told_by_doctor(net, how):
    device = net.b if how == "xdpdrv" else "none"
    found = json.loads(run(*net.inside(net.b, MAGNET, "doctor", "--json")).stdout)["not_observable"]
    mine = [one["why"] for one in found if "native" in one["what"]]
    check(len(mine) == 1 and mine[0].endswith(f"that have one now: {device}"), f"{how}: the doctor says: {mine}")
    check(f"not observable: frames that a driver's own (native) XDP program drops: {mine[0]}\n"
          in run(*net.inside(net.b, MAGNET, "doctor", "-v")).stdout, f"{how}: in one line")


def dropped(how):
    with Network() as net:
        p = run("ip", "-n", net.b, "link", "set", "dev", net.b, how, "obj", OBJECT, "sec", "xdp", check=False)
        if p.returncode:
            skip("no XDP program can be attached: " + p.stderr.strip())
        told_by_doctor(net, how)
        enter = "nsenter --net=/run/netns/"
        with Recording("sh", "-c", f"{enter}{net.b} {PYTHON} -c '{quoted(RECEIVER)}' | "
                       f"{enter}{net.a} {PYTHON} -c '{quoted(SENDER)}'") as rec:
            report, text = rec.report(), rec.text()
        rx = [f for f in report["flows"] if f["direction"] == "rx" and str(PORT) in (f["local"] or "")]
        check(len(rx) == 1, f"{how}: the flow that got nothing is told")
        told = [(d["layer"], d["n"], d["bytes"]) for d in rx[0]["drops"]]
        check(told == [("device", SENT, SENT * SIZE)], f"{how}: {SENT} datagrams of {SIZE} bytes: {rx[0]['drops']}")
        layers = [layer["name"] for layer in rx[0]["layers"]]
        check(layers == ([] if how == "xdpdrv" else ["device"]), f"{how}: what had them: {layers}")
        check(f"{SENT} packets dropped" in text, f"{how}: the text says so:\n{text[:600]}")


def quoted(program):
    return program.replace("'", "'\\''")


need_kernel_side()
dropped("xdpdrv")
dropped("xdpgeneric")
