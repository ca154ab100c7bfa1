# SPDX-License-Identifier: MIT
"""
A stream through several TCP stacks, as in Table III of the MAGNeT papers: a source, relays that
write on what they have read, and a sink, each in a network namespace of its own; a token bucket in
front of each hop. All hops lie in one recording, and a relay changes no byte: so byte b of the source
is byte b of every hop, and what all stacks up to one have made of the source's own timing is known.
"""
import os

from fixture import *

PORT = 5200
SOURCE = """
import random, socket, sys, time
host, port, writes, size, gap, seed = sys.argv[1], *map(int, sys.argv[2:4]), *map(float, sys.argv[4:6]), int(sys.argv[6])
rand = random.Random(seed)
s = socket.create_connection((host, port))
at = time.monotonic()
for _ in range(writes):
    s.sendall(bytes(max(1, round(rand.uniform(0.4, 1.6) * size))))
    at += rand.expovariate(1 / gap)
    time.sleep(max(0, at - time.monotonic()))
s.shutdown(socket.SHUT_WR)
s.recv(1)
"""
RELAY = """
import socket, sys
listener = socket.create_server(("", int(sys.argv[1])))
print("ready", flush=True)
a, _ = listener.accept()
b = socket.create_connection((sys.argv[2], int(sys.argv[3])))
while data := a.recv(65536):
    b.sendall(data)
b.shutdown(socket.SHUT_WR)
b.recv(1)
"""
SINK = """
import socket, sys
listener = socket.create_server(("", int(sys.argv[1])))
print("ready", flush=True)
a, _ = listener.accept()
while a.recv(65536):
    pass
"""
# what `magnet record` runs: all programs, each in its namespace, from the sink up to the source
ALL = """
import subprocess, sys
started = []
for command in eval(sys.argv[1]):
    p = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    started.append(p)
    if p.stdout.readline() == "" and len(started) < len(eval(sys.argv[1])):
        sys.exit("a relay did not start")
sys.exit(max(p.wait() for p in started))
"""


class Chain:
    """Namespaces in a row, joined by veth; a bucket shapes each hop towards the sink."""

    def __init__(self, rates_mbit, burst=3200):
        self.rates, self.burst = rates_mbit, burst
        self.names = [f"mg{os.getpid()}r{i}" for i in range(len(rates_mbit) + 1)]

    def __enter__(self):
        for name in self.names:
            p = run("ip", "netns", "add", name, check=False)
            if p.returncode:
                self.__exit__()
                skip("no network namespace can be made: " + p.stderr.strip())
            run("ip", "-n", name, "link", "set", "lo", "up")
        for i, rate in enumerate(self.rates):
            here, there = self.names[i], self.names[i + 1]
            run("ip", "link", "add", f"{here}e", "netns", here, "type", "veth",
                "peer", "name", f"{there}w", "netns", there)
            for ns, dev, addr in ((here, f"{here}e", f"10.78.{i}.1/24"),
                                  (there, f"{there}w", f"10.78.{i}.2/24")):
                run("ip", "-n", ns, "addr", "add", addr, "dev", dev)
                run("ip", "-n", ns, "link", "set", dev, "gso_max_segs", 1)
                run("ip", "-n", ns, "link", "set", dev, "up")
            run("tc", "-n", here, "qdisc", "add", "dev", f"{here}e", "root", "tbf",
                "rate", f"{rate}mbit", "burst", self.burst, "latency", "2s")
        return self

    def __exit__(self, *unused):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)

    def record(self, writes, size, gap, seed=1):
        """A Recording of `writes` writes of about `size` bytes, about `gap` seconds apart."""
        hops, commands = len(self.rates), []
        for i in range(hops, -1, -1):
            to = (f"10.78.{i}.2", PORT + i)
            listen = PORT + i - 1
            program = ([SOURCE, *to, writes, size, gap, seed] if i == 0 else
                       [SINK, listen] if i == hops else [RELAY, listen, *to])
            commands.append(["nsenter", f"--net=/run/netns/{self.names[i]}", PYTHON, "-c",
                             *map(str, program)])
        return Recording(PYTHON, "-c", ALL, repr(commands))


def passages(recording, hop):
    """A hop's flow, and when each of its bytes first left the host: [(offset, end, ns)], in order."""
    report = recording.report()
    f = next(f for f in report["flows"] if f["direction"] == "tx" and f["remote"]
             and f["remote"].endswith(f":{PORT + hop}"))
    seen, reach = [], 0
    for e in recording.events("--flow", f["id"]):
        if e["event"] != "dev_xmit" or not e["length"] or not int(e["length"]):
            continue
        a, b = int(e["offset"]), int(e["offset"]) + int(e["length"])
        if b > reach:
            seen.append((max(a, reach), b, int(e["time_ns"])))
            reach = b
    return f, seen


def shift(first, second):
    """J of two layers, ns: mean |D - median D| over the bytes, D = second less first."""
    delays, j = [], 0
    for a, b, t in first:
        while j < len(second) and second[j][1] <= a:
            j += 1
        k = j
        while k < len(second) and second[k][0] < b:
            lo, hi = max(a, second[k][0]), min(b, second[k][1])
            delays.append((second[k][2] - t, hi - lo))
            k += 1
    delays.sort()
    total, below, median = sum(n for _, n in delays), 0, 0
    for d, n in delays:
        below += n
        if 2 * below >= total:
            median = d
            break
    return sum(abs(d - median) * n for d, n in delays) / total, total


def row(name, units):
    sizes, times = [b - a for a, b, _ in units], [t for _, _, t in units]
    return {"name": name, "n": len(units), "mean_size": sum(sizes) / len(sizes),
            "mean_spacing_ns": (times[-1] - times[0]) / max(1, len(times) - 1)}


def table(recording, hops):
    """Rows of Table III: the application, then each stack's frames; J and M of all stacks so far."""
    hz = recording.report()["session"]["tsc_hz"]
    source, device = passages(recording, 0)
    calls = []  # an event tells the call's end; when it began, on the counter
    for e in recording.events("--flow", source["id"]):
        if e["event"].startswith("magnet:") and e["length"] and int(e["length"]):
            back = (int(e["cycles"]) - int(e["fields"]["enter"], 0)) * 1e9 / hz
            calls.append((int(e["offset"]), int(e["offset"]) + int(e["length"]),
                          int(e["time_ns"]) - back))
    rows = [row("application", calls)]
    tau = rows[0]["mean_spacing_ns"]
    for hop in range(hops):
        if hop:
            _, device = passages(recording, hop)
        r = row(f"stack {hop + 1}", device)
        r["J_ns"], r["bytes"] = shift(calls, device)
        r["M"] = r["J_ns"] / tau
        rows.append(r)
    return rows, source
