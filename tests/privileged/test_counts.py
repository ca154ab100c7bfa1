# SPDX-License-Identifier: MIT
"""
The same things counted by others: calls by strace, segments and bytes by TCP's own counters, packets
and bytes by the interface. With nothing lost they must agree exactly.
"""
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

TRANSFER = os.path.join(os.path.dirname(__file__), "..", "programs", "transfer.py")
BYTES, SIZE = 3_000_000 // SLOWER, 20_000
PORT = 5103


def interface(net, ns):
    stats = json.loads(run("ip", "-n", ns, "-s", "-j", "link", "show", ns).stdout)[0]["stats64"]
    return {k: stats[k] for k in ("rx", "tx")}


def still(net, v6):
    """No packets but the program's: neighbours are known, and IPv6 is off unless it is tested."""
    mac = {}
    for ns in (net.a, net.b):
        if not v6:
            run(*net.inside(ns, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1"))
        mac[ns] = json.loads(run("ip", "-n", ns, "-j", "link", "show", ns).stdout)[0]["address"]
    for ns, other, addresses in ((net.a, net.b, (net.B, net.B6)), (net.b, net.a, (net.A, net.A6))):
        for address in addresses[v6:v6 + 1]:
            run("ip", "-n", ns, "neigh", "replace", address, "lladdr", mac[other], "dev", ns,
                "nud", "permanent")
    time.sleep(0.5)  # what IPv6 has to say on a new link


def data_events(events, name, flow_id):
    return [e for e in events if e["event"] == name and e["flow"] == flow_id and int(e["length"])]


def total(events, field="length"):
    return sum(int(e[field] if field in e else e["fields"][field]) for e in events)


def strace_counts(path):
    """Calls and bytes on TCP sockets, by strace -yy, which names what a descriptor is."""
    counts, begun = {}, {}  # a call another thread came in between of has two lines
    for line in open(path, errors="replace"):
        m = re.match(r"(\d+) +(\w+)\(\d+<TCP(?:v6)?:", line)
        if m and "<unfinished" in line:
            begun[m[1]] = m[2]
            continue
        if not m:
            m = re.match(r"(\d+) +<\.\.\. (\w+) resumed>", line)
            if not m or begun.pop(m[1], None) != m[2]:
                continue
        n, size = counts.get(m[2], (0, 0))
        counts[m[2]] = (n + 1, size + max(0, int(re.match(r"-?\d+", line.rsplit(" = ", 1)[1])[0])))
    return counts


def segments(net, b, v6):
    """Both ends recorded; TCP's counters of both ends beside it."""
    still(net, v6)
    before = {}

    def recording():
        before.update({ns: interface(net, ns) for ns in (net.a, net.b)})
        return Recording("sh", "-c", script)

    # the server comes late: the client is refused first, and its SYNs then are its socket's, too
    script = (f"{{ sleep 0.3; nsenter --net=/run/netns/{net.b} "
              f"{PYTHON} {TRANSFER} server {b} {PORT}; }} & "
              f"nsenter --net=/run/netns/{net.a} {PYTHON} {TRANSFER} client {b} {PORT} {BYTES} {SIZE}"
              "; wait")
    with undisturbed(recording) as rec:
        said = {("client" if "sent" in j else "server"): j
                for j in map(json.loads, rec.p.stdout.splitlines())}
        after = {ns: interface(net, ns) for ns in (net.a, net.b)}
        report = rec.report()
        check(lost(report) == 0, "nothing was lost")
        count = report["events"]
        check(f"magnet: {count['app']} application and {count['kernel']} kernel events" in rec.p.stderr,
              "the recorder counts as the report does: " + rec.p.stderr.strip())
        run(MAGNET, "export", rec.dir, "--format", "pcapng", "-o", rec.top + "/packets")
        if shutil.which("tcpdump"):
            read = run("tcpdump", "-nn", "-r", rec.top + "/packets").stdout.count("\n")
            check(read > 100, f"tcpdump reads an export with both devices: {read} packets")
        events = list(rec.events())
        tx, rx = flow(report, "tx", PORT, bytes=BYTES), flow(report, "rx", PORT, bytes=BYTES)
        client, server = said["client"]["tcp_info"], said["server"]["tcp_info"]

        out = data_events(events, "ip_out", tx["id"])
        check(total(out, "segs") == client["data_segs_out"],
              f"{client['data_segs_out']} data segments left TCP, the trace has "
              f"{total(out, 'segs')}")
        check(total(out) == client["bytes_sent"], f"{client['bytes_sent']} bytes left TCP")
        check(tx["retransmits"] == client["total_retrans"], "retransmissions: "
              f"{client['total_retrans']}")
        check(sum(l["repeated_bytes"] for l in tx["layers"] if l["name"] == "tcp")
              == client["bytes_retrans"], f"{client['bytes_retrans']} bytes were sent again")
        came = data_events(events, "ip_in", rx["id"])
        check(total(came, "segs") == server["data_segs_in"],
              f"{server['data_segs_in']} data segments reached TCP, the trace has "
              f"{total(came, 'segs')}")
        # TCP counts the FIN too
        check(rx["bytes"] == server["bytes_received"] - 1 == BYTES, f"{BYTES} bytes were received")
        check(tx["bytes"] == BYTES, f"{BYTES} bytes were sent")
        for f in (tx, rx):
            check(f["coverage"] == 1 and f["closure_error_cycles"] == 0,
                  f"{f['id']}: every byte has every boundary, and closes to 0")

        # every packet of the client's end, also those without payload, passed its interface
        sent = [e for e in events if e["event"] == "dev_xmit"
                and e["fields"]["via"] == "own" and e["flow"].split("/")[0] == tx["id"].split("/")[0]]
        counted = {k: after[net.a]["tx"][k] - before[net.a]["tx"][k] for k in ("packets", "bytes")}
        check(len(sent) == counted["packets"],
              f"the interface counts {counted['packets']} packets out, the trace {len(sent)}")
        syns = sum(1 for e in sent if int(e["fields"]["tcp_flags"], 16) & 2)
        check(syns == said["client"]["refused"] + 1, f"{syns} of them to connect")
        frames = total(sent, "len") + total(sent, "headers")
        check(frames == counted["bytes"], f"and {counted['bytes']} bytes, the trace {frames}")

        calls = {c["name"]: c for c in report["calls"] if c["flow_kind"] == "tcp"}
        check(calls["send"]["n"] == said["client"]["send_calls"] + 1, "every send() is there")
        check(calls["recv"]["n"] == said["client"]["recv_calls"] + said["server"]["recv_calls"],
              "every recv() is there")
        check(report["unjoined_calls"] == 0, "every call was joined to its system call")
        check(report["state_sum_mismatches"] == 0, "every call's states sum to its total")


def calls_by_strace():
    """strace watches the same run."""
    log = tempfile.NamedTemporaryFile(prefix="magnet-test-")
    script = (f"{PYTHON} {TRANSFER} server 127.0.0.1 {PORT} & "
              f"{PYTHON} {TRANSFER} client 127.0.0.1 {PORT} {400_000 // SLOWER} 5000; wait")
    with Recording("strace", "-f", "-yy", "-qq", "-o", log.name, "-e",
                   "trace=sendto,recvfrom,read,write,accept4,connect,shutdown,close",
                   "sh", "-c", script) as rec:
        by_strace = strace_counts(log.name)
        calls = {}
        for c in rec.report()["calls"]:
            if c["flow_kind"] == "tcp":
                name = {"send": "sendto", "recv": "recvfrom"}.get(c["name"], c["name"])
                n, size = calls.get(name, (0, 0))
                calls[name] = (n + c["n"], size + c["bytes"])
        for name, (n, size) in sorted(by_strace.items()):
            check(calls.get(name, (0, 0))[0] == n, f"strace counts {n} {name} calls on TCP sockets, "
                  f"magnet {calls.get(name, (0, 0))[0]}")
            if name in ("sendto", "recvfrom"):
                check(calls[name][1] == size, f"and {size} bytes")


need_kernel_side()
need_program("strace")
CASES = ((None, False), (None, True), (1, False), (1, True))
for gso, v6 in CASES if SLOWER == 1 else CASES[::3]:
    with Network(gso_max_segs=gso) as net:
        print(f"--- IPv{6 if v6 else 4}, {'one segment' if gso else 'many segments'} a packet")
        segments(net, net.B6 if v6 else net.B, v6)
print("--- loopback, strace")
calls_by_strace()
