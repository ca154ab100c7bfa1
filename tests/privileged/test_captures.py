# SPDX-License-Identifier: MIT
"""
Captures and recordings of the same packets: what magnet export writes is what tcpdump saw, and magnet annotate
finds in captures of this host and of the other one every packet, whatever their clocks show; magnet report takes
such a capture as a layer.
"""
import json
import os
import re
import signal
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *  # noqa: E402
from fact_table import facts  # noqa: E402
import pcapng  # noqa: E402
from page import read_page  # noqa: E402

need_kernel_side()
need_program("tcpdump", "ip", "nsenter")
TALK = os.path.join(os.path.dirname(__file__), "..", "programs", "captured.py")
PORTS = (7001, 7002)
COMMENT = pcapng.COMMENT


class Tcpdump:
    """tcpdump on a device, from when it listens to the end of the block."""

    def __init__(self, path, device, prefix=(), precision="nano"):
        self.p = subprocess.Popen([*prefix, "tcpdump", "-Z", "root", "-U", "--immediate-mode", "-s", "128",
                                   "--time-stamp-precision", precision, "-w", path, "-i", device,
                                   "port 7001 or port 7002"], stderr=subprocess.PIPE, text=True)
        for line in self.p.stderr:
            if "listening on" in line:
                return
        sys.exit("tcpdump does not listen")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        time.sleep(0.3)  # what it has not read yet
        self.p.send_signal(signal.SIGINT)
        self.said = self.p.stderr.read()
        self.p.wait(10)


def key(f):
    """Fields by which a packet is the same in both captures; others are not recorded."""
    return tuple(f.get(k) for k in ("proto", "from", "to", "sport", "dport", "seq", "ack", "flags", "length",
                                    "payload")) + ((f["id"],) if f["proto"] == 17 else ())


def of_talk(path):
    return [f for f in map(pcapng.parsed, pcapng.packets(path))
            if f and {f.get("sport"), f.get("dport")} & set(PORTS)]


def as_pcapng(path):
    """tcpdump writes pcap: a copy in pcapng, by this reader of its own."""
    with open(path, "rb") as f:
        raw = f.read()
    magic, link = struct.unpack_from("<I", raw)[0], struct.unpack_from("<I", raw, 20)[0]
    parts, at = [], 24
    while at < len(raw):
        s, part, captured, original = struct.unpack_from("<4I", raw, at)
        parts.append((s * 10 ** 9 + part * (1 if magic == 0xa1b23c4d else 1000), raw[at + 16:at + 16 + captured],
                      original))
        at += 16 + captured
    pcapng.written(path + "ng", link, parts)
    return path + "ng"


def export(rec, out):
    run(MAGNET, "export", rec.dir, "--format", "pcapng", "-o", out)
    return of_talk(out)


def compare(exported, captured, what):
    check(len(captured) > 60, f"{what}: tcpdump has {len(captured)} packets")
    missing = sorted(map(key, captured), key=str) != sorted(map(key, exported), key=str)
    check(not missing, f"{what}: the {len(exported)} exported packets have the addresses, ports, numbers, flags, "
                       "lengths and identifications that tcpdump saw")
    check(all(f["sum"] % 0xffff == 0 for f in exported if "sum" in f), f"{what}: IPv4's checksums are right")
    check([f["ns"] for f in exported] == sorted(f["ns"] for f in exported), f"{what}: they are in order of time")


def compare_events(rec, path, exported, what):
    """The exported packets against the events; loopback's packets have two, and comments of both ends."""
    events = {"dev_xmit": [], "dev_recv": []}
    for e in rec.events():
        # those of a handshake have no flow at the server: its socket is made later
        if e["event"] in events and e["fields"]["via"] == "own" and (e["flow"] or e["fields"]["proto"] == "tcp"):
            events[e["event"]].append(int(e["fields"]["len"]))
    twice = [pcapng.parsed(p)["payload"] for p in pcapng.packets(path) if len(p.comments()) == 2]
    sent, received = events["dev_xmit"], events["dev_recv"]
    check(len(exported) == len(sent) + len(received) - len(twice),
          f"{what}: {len(sent)} sent and {len(received)} received, of which {len(twice)} are both")
    check(sum(f["payload"] for f in exported) == sum(sent) + sum(received) - sum(twice),
          f"{what}: {sum(f['payload'] for f in exported)} bytes, as the events have")
    return len(twice)


def annotate(capture, rec, out):
    return json.loads(run(MAGNET, "annotate", capture, rec.dir, "-o", out, "--json").stdout)


def compare_comments(rec, out, result, what):
    packets = pcapng.packets(out)
    told = [p for p in packets if any(c.startswith("magnet: flow ") for c in p.comments())]
    check(result["matched"] == result["packets"] == len(packets) == len(told),
          f"{what}: all {len(packets)} packets are found and have comments")
    calls = {}
    for row in facts(rec, "call"):
        if row["flow"] and row["bytes"] and row["offset"] is not None:
            calls.setdefault(row["flow"], set()).add((row["offset"], row["bytes"], row["function"]))
    seen = 0
    for p in told:
        for c in p.comments():
            m = re.search(r"magnet: flow (\S+), bytes (\d+)-(\d+);.* process (\d+), thread \d+, (\w+)\(\) of bytes "
                          r"(\d+)-(\d+)", c)
            if m:
                seen += 1
                first, last = int(m[6]), int(m[7])
                check_quietly((first, last - first + 1, m[5]) in calls[m[1]] and first <= int(m[3])
                              and last >= int(m[2]), f"{what}: {c}")
    check(seen >= 60, f"{what}: {seen} comments name calls that magnet show has")


def check_quietly(ok, what):
    if not ok:
        check(ok, what)


def is_disturbed(rec, *captures):
    """Whether an event or a captured packet is missing, or TCP sent again, so that counts need not agree."""
    report = rec.report()
    return report["loss"]["kernel"] or unseen(rec) or any(f["retransmits"] for f in report["flows"]) or any(
        "\n0 packets dropped by kernel" not in c.said for c in captures)


def between_hosts(address, net, top):
    what = address
    here, there = top + "/here", top + "/there"
    with net.popen(net.b, PYTHON, TALK, "server", address, stdout=subprocess.PIPE) as server:
        server.stdout.readline()
        with Tcpdump(here, net.a, net.inside(net.a)) as near, Tcpdump(there, net.b, net.inside(net.b), "micro") as far:
            rec = Recording(*net.inside(net.a, PYTHON, TALK, "client", address), options=("--kernel-only",))
        server.wait(10)
    with rec:
        if is_disturbed(rec, near, far):
            return False
        exported = export(rec, top + "/exported")
        here_ng, there_ng = as_pcapng(here), as_pcapng(there)
        compare(exported, of_talk(here_ng), what)
        compare_events(rec, top + "/exported", exported, what)
        acknowledgements(rec, of_talk(here_ng), what)
        read_by_tcpdump(top + "/exported", len(exported), what)
        same_host = annotate(here_ng, rec, top + "/annotated")
        compare_comments(rec, top + "/annotated", same_host, what + ", this host")
        clock = same_host["clock"]
        # the wall clock may have been slewed since the recording noted it
        check(abs(clock["ahead_ns"]) <= clock["error_ns"] + 1000000,
              f"{what}: tcpdump's clock is the recording's: ahead by {clock['ahead_ns']:.0f} ns, "
              f"within {clock['error_ns']:.0f} ns")
        other_host = annotate(there, rec, top + "/annotated")
        compare_comments(rec, top + "/annotated", other_host, what + ", other host, as pcap")
        on_the_wire(rec, there, of_talk(there_ng), other_host["clock"], what)
        clocks_are_found(rec, here_ng, clock, top, what)
    return True


def at_the_server(address, net, top):
    """The end that is connected to: its socket is made when the handshake is complete."""
    what = f"server at {address}"
    path = top + "/server"
    listens = "until grep -q ':1B59 .* 0A ' /proc/net/tcp /proc/net/tcp6; do sleep 0.05; done"  # on port 7001
    client = [*net.inside(net.b, "sh", "-c", listens + '; exec "$@"', "sh", *net.inside(net.a, PYTHON, TALK, "client", address))]
    with Tcpdump(path, net.b, net.inside(net.b)) as tcpdump, subprocess.Popen(client, stdout=subprocess.DEVNULL):
        rec = Recording(*net.inside(net.b, PYTHON, TALK, "server", address), options=("--kernel-only",))
    with rec:
        if is_disturbed(rec, tcpdump):
            return False
        exported = export(rec, top + "/exported")
        compare(exported, of_talk(as_pcapng(path)), what)
        opening = [f["flags"] & 0x12 for f in exported if f["proto"] == 6][:3]
        check(opening == [0x02, 0x12, 0x10], f"{what}: SYN, SYN-ACK and ACK are there")
        of_tcp = run(MAGNET, "export", rec.dir, "--format", "pcapng", "--port", "7001", "-o", top + "/tcp")
        check(not of_tcp.stderr and [key(f) for f in of_talk(top + "/tcp")] == [key(f) for f in exported if f["proto"] == 6],
              f"{what}: a filter takes the handshake with its connection")
        result = annotate(path, rec, top + "/annotated")
        compare_comments(rec, top + "/annotated", result, what)
    return True


def on_the_wire(rec, capture, packets, clock, what):
    """The capture as a layer of the report: its counts are those of the capture, and sums are exact."""
    report = json.loads(run(MAGNET, "report", "--json", "--full", rec.dir, "--pcap", capture).stdout)
    wire = report["wire"]
    check(wire["packets"] == wire["found"] == len(packets) == sum(f["packets"] for f in wire["flows"]),
          f"{what}: all {len(packets)} packets of the wire are those of {len(wire['flows'])} flows")
    check(sum(f["bytes"] for f in wire["flows"]) == sum(p["payload"] for p in packets), f"{what}: with their payload")
    check(abs(wire["clock"]["half_width_ns"] - clock["error_ns"]) < 0.01, f"{what}: the bound is that of magnet annotate")
    flows = {f["id"]: f for f in report["flows"]}
    told = facts(rec, "wire", "--pcap", capture)
    one = facts(rec, "wire", "--pcap", capture, "--flow", wire["flows"][0]["flow"])
    check({r["flow"] for r in one} == {wire["flows"][0]["flow"]}, f"{what}: --flow leaves those of one flow")
    for f in wire["flows"]:
        device, call, total = (f[k] for k in ("device_ns", "call_ns", "total_ns"))
        check(f["bytes"] == device["bytes"] == call["bytes"] == total["bytes"] == flows[f["flow"]]["bytes"],
              f"{what}: each of the {f['bytes']} bytes of {f['flow']} has its times")
        check(abs(device["mean"] + call["mean"] - total["mean"]) < 1e-6 * total["mean"],
              f"{what}: {device['mean']:.0f} ns and {call['mean']:.0f} ns sum to {total['mean']:.0f} ns")
        check(0 < device["half_width"] <= clock["error_ns"], f"{what}: within {device['half_width']:.0f} ns")
        ranges = [r for r in told if r["flow"] == f["flow"]]
        sent = f["flow"].endswith("/tx")
        check(sum(r["length"] for r in ranges) == f["bytes"] and all(r["call_ns"] for r in ranges)
              and sorted(r["offset"] for r in ranges)[0] == 0, f"{what}: {len(ranges)} ranges have each byte of {f['flow']}")
        for of, key in ((lambda r: r["wire_ns"] - r["device_ns"], "device_ns"),
                        (lambda r: r["device_ns"] - r["call_ns"], "call_ns")):
            mean = sum(r["length"] * max(of(r) if sent else -of(r), 0) for r in ranges) / f["bytes"]
            check(abs(mean - f[key]["mean"]) < 1, f"{what}: their mean {key} is the report's, {mean:.1f} ns")
        check(abs(max(r["error"] for r in ranges) - f["device_ns"]["half_width"]) < 0.01, f"{what}: and so is the bound")
    check([f["wire"] for f in report["flows"] if f["wire"]] == sorted(wire["flows"], key=lambda f: list(flows).index(f["flow"])),
          f"{what}: the flows have the same")
    closed = [abs(sum(s["mean_ns"] or 0 for s in f["residence"]) / f["residence_total_ns"] - 1) for f in report["flows"]
              if f["residence_total_ns"]]
    check(closed and max(closed) < 1e-9, f"{what}: the stages of {len(closed)} flows sum to their totals, without the wire, within {max(closed)}")
    text = run(MAGNET, "report", rec.dir, "--pcap", capture, "--all").stdout
    check("On the wire" in text and all(f["flow"] in text.split("On the wire")[1] for f in wire["flows"]),
          f"{what}: the text has the same flows")
    check("driver to wire, not in the total (+-" in text, f"{what}: and has its time below the stages of one in full")
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        p = run(MAGNET, "report", rec.dir, "--pcap", capture, "--html", top + "/page", check=False)
        if p.returncode:
            check("dygraphs" in p.stderr, f"{what}: no page: {p.stderr.strip()}")
        else:
            check([f["wire"] for f in read_page(top + "/page").report["flows"]] == [f["wire"] for f in report["flows"]],
                  f"{what}: the page has it for each flow")


def acknowledgements(rec, captured, what):
    """Facts of the TCP connection against the numbers in the capture, which was taken where the device is."""
    flows = {f["flow"]: f for f in facts(rec, "flow") if f["kind"] == "tcp"}
    told = facts(rec, "ack")
    tcp = [p for p in captured if p["proto"] == 6]
    check(len(flows) == 2 and {a["flow"] for a in told} == set(flows), f"{what}: both directions are acknowledged")
    for flow, f in flows.items():
        sent = flow.endswith("/tx")
        port = int(f["local"].rsplit(":", 1)[1])
        isn = f["isn"] if sent else f["irs"]
        upto, wanted = 0, []
        for p in tcp:
            # who received the bytes acknowledges them; a FIN has a number, too
            offset = min((p["ack"] - isn - 1) % 2 ** 32, f["bytes"])
            if (p["sport"] == port) == sent or p["flags"] & 2 or offset <= upto:
                continue
            wanted.append((offset, offset - upto, p["ns"]))
            upto = offset
        mine = [a for a in told if a["flow"] == flow]
        check([(a["offset"], a["length"]) for a in mine] == [w[:2] for w in wanted] and len(mine) > 10,
              f"{what}: {len(mine)} acknowledgements of {flow} have the capture's numbers")
        check(sum(a["length"] for a in mine) == f["bytes"], f"{what}: of all {f['bytes']} bytes")
        # what is captured has passed the device, and comes to IP, or the other way round; the clocks may be apart by
        # what is between, and by a little as one of them may be slewed
        first, last = ("device_ns", "ip_ns") if sent else ("ip_ns", "device_ns")
        ahead = [(w[2] - a[last], w[2] - a[first]) for w, a in zip(wanted, mine)]
        between = min(b for _, b in ahead) - max(a for a, _ in ahead)
        check(between > -20000, f"{what}: captured between {first} and {last} ({between} ns)")
        if sent:
            processed = [a for a in mine if a["tcp_ns"]]
            check(len(processed) > 10 and all(a["ip_ns"] <= a["tcp_ns"] for a in processed),
                  f"{what}: {len(processed)} were processed by TCP while the connection was established")


def clocks_are_found(rec, capture, plain, top, what):
    """A clock that is an hour ahead and 300 ppm fast, and one that is years behind and 40 ppm slow."""
    packets = pcapng.packets(capture)
    middle = (packets[0].ns + packets[-1].ns) // 2
    for offset, ppm, order in ((3600 * 10 ** 9 + 123456789, 300, ">"), (-3 * 10 ** 16, -40, "<")):
        def shown(ns, offset=offset, ppm=ppm):
            return ns + offset + round((ns - middle) * ppm / 1e6)

        pcapng.rewritten(capture, top + "/shifted", shown, order, extra=((COMMENT, b"kept"), (0x8bad, b"odd")))
        result = annotate(top + "/shifted", rec, top + "/annotated")
        clock = result["clock"]
        away = abs(clock["ahead_ns"] - plain["ahead_ns"] - offset)
        # both relations have their bounds, and each was made at the middle of the packets
        check(away <= clock["error_ns"] + plain["error_ns"],
              f"{what}: a clock set by {offset} ns and {ppm} ppm fast is found back {away:.0f} ns away, "
              f"within {clock['error_ns']:.0f} ns")
        check(abs(clock["rate_ppm"] - plain["rate_ppm"] - ppm) <= clock["rate_error_ppm"] + plain["rate_error_ppm"],
              f"{what}: its rate is found as {clock['rate_ppm']:.3f} ppm, within {clock['rate_error_ppm']:.3f} ppm")
        compare_comments(rec, top + "/annotated", result, f"{what}, {ppm} ppm")
        is_kept(top + "/shifted", top + "/annotated", what)


def is_kept(before, after, what):
    """Everything but the added comments is there, in the same byte order."""
    a, b = pcapng.blocks(before), pcapng.blocks(after)
    check([x.type for x in a] == [x.type for x in b] and a[0].order == b[0].order,
          f"{what}: all {len(a)} blocks are kept, in their order and byte order")
    for x, y in zip(a, b):
        if x.type == pcapng.PACKET:
            check_quietly((x.ticks, x.interface, x.original, x.data) == (y.ticks, y.interface, y.original, y.data)
                          and y.options[:len(x.options)] == x.options, f"{what}: a packet is kept")
        elif x.type != pcapng.SECTION:
            check_quietly(x.raw == y.raw, f"{what}: a block is kept as it was")


def read_by_tcpdump(path, count, what):
    lines = run("tcpdump", "-nn", "-r", path).stdout.splitlines()
    check(len(lines) == count, f"{what}: tcpdump reads {len(lines)} packets")


def on_loopback(top):
    path = top + "/lo"
    with Tcpdump(path, "lo") as tcpdump:
        rec = Recording(PYTHON, TALK, "both", "127.0.0.1")
    with rec:
        if is_disturbed(rec, tcpdump):
            return False
        exported = export(rec, top + "/exported")
        compare(exported, of_talk(as_pcapng(path)), "loopback")
        twice = compare_events(rec, top + "/exported", exported, "loopback")
        check(twice == len(exported), "loopback: a packet is written once, with comments for both ends")
        result = annotate(path, rec, top + "/annotated")
        compare_comments(rec, top + "/annotated", result, "loopback")
    return True


def refused(top):
    with Recording(PYTHON, TALK, "both", "127.0.0.1", options=("--kernel-only",)) as rec:
        p = run(MAGNET, "show", rec.dir, "--facts", "wire")
        check(p.stdout.count("\n") == 1 and "give --pcap FILE" in p.stderr, f"without a capture: {p.stderr.strip()}")
        for args, says in ((("--facts", "call", "--pcap", top), "--pcap is for --facts wire"),
                           (("--pcap", top), "--pcap is for --facts wire"),
                           (("--facts", "wire", "--pcap", top + "/none"), "No such file")):
            p = run(MAGNET, "show", rec.dir, *args, check=False)
            check(p.returncode in (1, 2) and says in p.stderr and p.stderr.count("\n") == 1,
                  f"show {' '.join(args[:2])} is refused in a line: {p.stderr.strip()}")


def hostile(top):
    """Captures that are none, cut off or damaged end with one line and leave no file."""
    with Recording(PYTHON, TALK, "both", "127.0.0.1", options=("--kernel-only",)) as rec:
        good = top + "/good"
        run(MAGNET, "export", rec.dir, "--format", "pcapng", "-o", good)
        with open(good, "rb") as f:
            raw = f.read()
        first = len(pcapng.blocks(good)[0].raw)
        for name, data, says in (
                ("empty", b"", "no capture"), ("text", b"this is a text\n" * 9, "no capture"),
                ("cut", raw[:first + 10], "ends within a block"),
                ("long", raw[:first + 4] + b"\xfc\xff\xff\x7f" + raw[first + 8:], "longer than 64 MB"),
                ("short", raw[:first + 4] + b"\x08\0\0\0" + raw[first + 8:], "not possible"),
                ("lengths", raw[:-4] + b"\0\0\0\0", "two lengths differ")):
            with open(top + "/bad", "wb") as f:
                f.write(data)
            p = run(MAGNET, "annotate", top + "/bad", rec.dir, "-o", top + "/none", check=False)
            check(p.returncode == 1 and len(p.stderr.splitlines()) == 1 and says in p.stderr
                  and not [n for n in os.listdir(top) if n.startswith("none")],
                  f"{name}: {p.stderr.strip()}")
        p = run(MAGNET, "annotate", good, rec.dir, "-o", "/dev/full", check=False)
        check(p.returncode == 1 and "No space left" in p.stderr, f"a full disk: {p.stderr.strip()}")


def scenes(top):
    with Network() as net:
        for address in (net.B, net.B6):
            for scene in (between_hosts, at_the_server):
                if not any(scene(address, net, top) for _ in range(5)):
                    sys.exit("each of 5 recordings was disturbed")
    if not any(on_loopback(top) for _ in range(5)):
        sys.exit("each of 5 recordings was disturbed")
    refused(top)
    hostile(top)


with tempfile.TemporaryDirectory(prefix="magnet-test-") as directory:
    scenes(directory)
