#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
layers_table.py [--write FILE] [PLACE...]

What magnet sees at each layer of the kernel, for each protocol, IP version and way, beside what others
count: the programs themselves, the kernel's counters, the queues', the interfaces' and a capture.
Prints each inequality, writes the Markdown table on request, and fails if anything differs. Needs
root; leaves nothing behind.
"""
import argparse
import json
import os
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from counters import Capture
from fixture import *
from layer_recording import PHASES, UNIX_PHASES, LayerRecording, Phase
from layer_table import internet_rows, middle_rows, unix_rows
from topology import PLACES, Topology

WORKLOAD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "workload.py")
LAYERS = "syscall,socket,tcp,ip,netfilter,device,gro"
TRIES = 8


def one_run(topology, v6, phases, top):
    """[rows of a phase], or why the recording cannot be used."""
    devices = {}
    for ns, dev in topology.captured():
        devices.setdefault(ns, []).append(dev)
    spec = {"a": topology.a, "b": topology.b, "m": topology.m, "v6": v6, "devices": devices,
            "unix": f"{top}/socket", "phases": phases,
            "address": {end: topology.address(getattr(topology, end), v6) for end in "ab"}}
    for name in os.listdir(top):
        os.unlink(f"{top}/{name}")
    with open(f"{top}/spec", "w") as f:
        json.dump(spec, f)
    with Capture(topology, top) as capture:
        with LayerRecording(topology, (PYTHON, WORKLOAD), f"{top}/spec", LAYERS) as rec:
            why = rec.skipped()
            if why:
                return why
            captured, rows, told = capture.end(), [], json.loads(rec.p.stdout)
            if captured is None:
                return "tcpdump was not done with what it got"
            if any(c["TcpOutRsts"] for said in told for c in said["counters"].values()):
                return "a segment came after the end of its connection"  # sent again too soon
            for said in told:
                phase = Phase(rec, said, topology, captured, v6)
                if phase.name.startswith("unix"):
                    rows += unix_rows(phase)
                    continue
                for ns in topology.interface:
                    rows += internet_rows(phase, ns)
                if len(topology.captured()) > len(topology.interface):
                    rows += middle_rows(phase)
            return rows


def measure(place, v6, phases, top):
    with Topology(place, v6) as topology:
        for _ in range(TRIES):
            rows = one_run(topology, v6, phases, top)
            if not isinstance(rows, str):
                return rows
            print(f"{rows}: once more", flush=True)
    sys.exit(f"events were missed in each of {TRIES} recordings")


HEAD = """<!-- made by tests/layers_table.py --write docs/layers.md: do not edit -->
# Every layer, counted twice

Small exchanges of each kind of socket are recorded with all layers. magnet's counts at each layer are
compared with other counts there: those of the program itself, of the network namespace (`nstat`,
`/proc/net/snmp`, `snmp6`), of queues (`tc -s qdisc`) and interfaces (`ip -s link`), TCP_INFO, and a
capture by tcpdump. A cell is *recorded by magnet / counted by the other*. Made on {date} with magnet
{magnet}, Linux {kernel} by

    {command}

which fails if any of the {comparisons:,} comparisons differs; {unequal} do.

TCP: two connections by two processes, several writes. UDP: two processes; sockets bound, connected,
and neither; empty datagrams, sendmmsg(), MSG_MORE, UDP_SEGMENT, and datagrams larger than the MTU of
1500, which become fragments. ICMP echo by raw sockets and by sockets of type datagram, the largest in
fragments. The program is `tests/programs/workload.py`. Bridges and routers are separate namespaces between
those of the two ends; with *bridge here* the first end's own address is on a bridge. The *vxlan* tunnel and
its contents have different versions of IP; both *macvlan* devices are on one interface in a separate namespace.

*sent* rows are the packets that one end sends, *received* rows those that the other end gets; for ICMP the
first end also receives, since the second end is the kernel, which answers. The counts in the other direction
are compared as well, but are not in the tables. Three segments of a connection's opening are not compared,
because they belong to no flow: the answer to the SYN where it is sent, the SYN where it arrives, and the
acknowledgement of the answer.

- With *GRO* frames arrive singly and are merged; without GRO they stay super-segments over veth.
- A super-segment is one packet at IP, driver, and capture. At the queue (`frames`) and in TCP's counters
  (`segments`) it counts as the number of segments it stands for.
- IPv4 reassembles fragments before its last hook, IPv6 after it: for IPv6 *IP packets* are fragments.
"""
NAMES = {"tcp": "TCP", "udp": "UDP", "raw": "raw ICMP", "ping": "ICMP datagram"}


DIRECTIONS = {"send": "sent: ", "forward": "", "receive": "received: "}
ORDER = {"send": ("system call", "socket", "transport", "netfilter", "IP", "queue", "driver"),
         "receive": ("GRO", "device", "netfilter", "IP", "transport", "socket queue", "copy",
                     "system call")}


def shown(r):
    """Sent by the first end, received by the other; between them; both ends in one namespace."""
    there = "a" if r.protocol in ("raw", "ping") or r.direction == "send" else "b"
    return r.end in ("both", "between", there)


def cells(columns):
    """A Markdown table of [(title, rows)]: each row of the first has its match in the others."""
    at = [{(r.direction, r.layer, r.what): r for r in rows if shown(r)} for _, rows in columns]
    keys = list(dict.fromkeys(k for rows in at for k in rows))
    yield "| layer | what | counted by | " + " | ".join(title for title, _ in columns) + " |\n"
    yield "| --- | --- | --- |" + " ---: |" * len(columns) + "\n"
    for key in sorted(keys, key=lambda k: (list(DIRECTIONS).index(k[0]),
                                           ORDER[k[0]].index(k[1]) if k[0] in ORDER else 0)):
        row = [rows.get(key) for rows in at]
        whom = ", ".join(dict.fromkeys(r.whom for r in row if r))
        yield "| {}{} | {} | {} | {} |\n".format(
            DIRECTIONS[key[0]], *key[1:], whom,
            " | ".join(f"{r.seen:,} / {r.counted:,}" if r else "" for r in row))


def table(measured):
    everything = [r for rows in measured.values() for r in rows]
    yield HEAD.format(
        command=" ".join(["tests/layers_table.py", *sys.argv[1:]]), date=time.strftime("%Y-%m-%d"),
        magnet=run(MAGNET, "--version").stdout.split()[-1], kernel=os.uname().release.split("-")[0],
        comparisons=len(everything), unequal=sum(r.seen != r.counted for r in everything) or "none")
    for place in dict.fromkeys(place for place, _ in measured):
        yield f"\n## {place[0].upper() + place[1:]}\n\n"
        versions = [(v6, rows) for (p, v6), rows in measured.items() if p == place]
        protocols = dict.fromkeys(r.protocol for _, rows in versions for r in rows)
        yield from cells([
            (NAMES.get(p, p) + ("" if place == "UNIX" else f" IPv{6 if v6 else 4}"),
             [r for r in rows if r.protocol == p]) for p in protocols for v6, rows in versions])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", metavar="FILE")
    parser.add_argument("place", nargs="*", help=f"of {', '.join(PLACES)}, unix; default: all")
    args = parser.parse_args()
    need_kernel_side()
    need_program("tcpdump", "tc")
    signal.signal(signal.SIGTERM, lambda *unused: sys.exit(1))
    rows, failed = {}, False
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        for place in args.place or (*PLACES, "unix"):
            for v6 in (False, True) if place != "unix" else (False,):
                name = place if place != "unix" else "UNIX"
                what = f"{name}, IPv{6 if v6 else 4}" if place != "unix" else name
                phases = list(PHASES) if place != "unix" else UNIX_PHASES
                started = time.monotonic()
                found = measure(place if place != "unix" else "loopback", v6, phases, top)
                rows[name, v6] = found
                wrong = [r for r in found if r.seen != r.counted]
                print(f"--- {what}: {len(found)} comparisons, {len(wrong)} unequal; "
                      f"{time.monotonic() - started:.1f} s", flush=True)
                for r in wrong:
                    print(f"FAILED: {what}: {r.protocol} at {r.end}, {r.direction}, {r.layer}, "
                          f"{r.what}: {r.seen}, but {r.whom} has {r.counted}")
                failed = failed or bool(wrong)
    if args.write:
        with open(args.write, "w") as f:
            f.writelines(table(rows))
    sys.exit(failed)


if __name__ == "__main__":
    main()
