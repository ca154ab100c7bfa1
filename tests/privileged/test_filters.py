# SPDX-License-Identifier: MIT
"""
Filters of report and show against a selection made here, from all rows and all facts, of a recording
with two processes, several ports, TCP, UDP and UNIX sockets. Parts sum to the whole.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fact_table import facts
from fixture import *

PROGRAM = os.path.join(os.path.dirname(__file__), "..", "programs", "selected.py")
PORTS, UDP = (5161, 5162, 5163), 5164
KINDS = {"tcp": ("tcp",), "udp": ("udp",), "unix": ("unix_stream",)}
CALLS = ("sys_enter", "sys_exit")


def sock(flow):
    return flow.split("/")[0] if flow else None


def end(address):
    return int(address.rsplit(":", 1)[1]) if address else None


class All:
    """All that the recording has, and what it says of each socket."""

    def __init__(self, rec):
        self.rec = rec
        self.rows = list(rec.events())
        self.report = rec.report()
        self.first = min(int(r["time_ns"]) for r in self.rows)
        self.last = max(int(r["time_ns"]) for r in self.rows)
        self.calls, self.ranges, self.waits, self.exchanges, self.flows = (
            facts(rec, kind) for kind in ("call", "range", "wait", "exchange", "flow"))
        self.ends = {sock(f["flow"]): f for f in self.flows}
        words = rec.p.stdout.split()
        self.client, self.server = int(words[1]), int(words[3])

    def used_by(self, pid):
        return {sock(c["flow"]) for c in self.calls if c["flow"] and c["pid"] == pid} | \
            {sock(f["flow"]) for f in self.flows if f["pid"] == pid}

    def with_port(self, port):
        sockets = {s for s, f in self.ends.items()
                   if port in (end(f["local"]), end(f["remote"]), end(f["first_remote"]))}
        return sockets | {listener for s, listener in self.accepted().items() if s in sockets}

    def accepted(self):
        """{socket: the listening one}: the first socket of a call on the descriptor that accept() returned."""
        returned, accepted = {}, {}
        for r in self.rows:
            f = r["fields"]
            if r["event"] == "sys_exit" and f["call"].startswith("accept") and int(f["ret"]) >= 0:
                returned[r["pid"], f["ret"]] = sock(r["flow"])
            elif r["event"] == "sys_enter" and (r["pid"], f["fd"]) in returned and r["flow"]:
                accepted[sock(r["flow"])] = returned.pop((r["pid"], f["fd"]))
        return accepted

    def of_kind(self, kinds):
        """Listening sockets among them, of which there are calls, but no bytes."""
        return {s for s, f in self.ends.items() if f["kind"] in kinds} | \
            {sock(c["flow"]) for c in self.calls if c["flow"] and c["kind"] in kinds}

    def json(self, *options):
        return json.loads(run(MAGNET, "report", "--json", "--full", self.rec.dir, *options).stdout)


def key(row):
    return tuple(str(row[c]) for c in ("time_ns", "tid", "event", "flow", "offset", "length", "fields"))


def same(what, shown, wanted):
    shown, wanted = sorted(map(key, shown)), sorted(map(key, wanted))
    differ = [r for r in wanted if r not in shown] + [r for r in shown if r not in wanted] if shown != wanted else []
    check(shown == wanted != [], f"show {what}: {len(shown)} rows, as selected here {differ[:3]}")


def rows(a):
    """Rows of `magnet show` with each filter."""
    def shown(*options):
        return list(a.rec.events(*map(str, options)))

    def of(sockets):
        return [r for r in a.rows if sock(r["flow"]) in sockets]

    check(len(of(a.with_port(PORTS[0]))) > 100 and len(a.with_port(PORTS[0])) >= 2, "both ends have a port")
    same("--port", shown("--port", PORTS[0]), of(a.with_port(PORTS[0])))
    check(any(r["event"] == "sys_enter" and r["fields"]["call"].startswith("accept")
              for r in shown("--port", PORTS[0])), "accept() is of the port of what it accepts")
    for direction, ending in (("sent", "/tx"), ("received", "/rx")):
        same(f"--direction {direction}", shown("--direction", direction),
             [r for r in a.rows if r["flow"] and r["flow"].endswith(ending)])
    same("--port of two", shown("--port", f"{PORTS[0]},{UDP}"), of(a.with_port(PORTS[0]) | a.with_port(UDP)))
    for name, kinds in KINDS.items():
        same(f"--protocol {name}", shown("--protocol", name), of(a.of_kind(kinds)))
    at = [s for s, f in a.ends.items() if f["remote"] == f"127.0.0.1:{PORTS[1]}"]
    check(len(at) == 1, "one socket has the server's address as its peer")
    same("--peer", shown("--peer", f"127.0.0.1:{PORTS[1]}"), of(at))
    same("--peer of a prefix", shown("--peer", "127.0.0.0/8", "--port", PORTS[1]), of(
        {s for s in a.with_port(PORTS[1]) if (a.ends.get(s, {}).get("remote") or "").startswith("127.")}))
    check(not shown("--port", PORTS[0], "--event", "lost"), "nothing was lost of these")
    same("--event", shown("--event", "tcp_recv,ip_out"), [r for r in a.rows if r["event"] in ("tcp_recv", "ip_out")])
    same("--event and --port", shown("--event", "tcp_recv", "--port", PORTS[2]),
         [r for r in of(a.with_port(PORTS[2])) if r["event"] == "tcp_recv"])
    same("--layer", shown("--layer", "syscall"), [r for r in a.rows if r["event"] in (*CALLS, "zerocopy_sent")])
    begin, until = 50_000_000, (a.last - a.first) // 2
    same("--from and --to", shown("--from", "50ms", "--to", f"{until / 1e9:.9f}"),
         [r for r in a.rows if begin <= int(r["time_ns"]) - a.first < until])
    threads = {w["tid"] for w in a.waits if w["pid"] == a.server} | \
        {c["tid"] for c in a.calls if c["pid"] == a.server}
    named = ("prev_tid", "next_tid", "wakee_tid", "moved_tid", "task_tid", "child_tid")

    def takes(row):
        """Calls by their thread, other rows by their socket, and rows without one by the threads they name."""
        is_call = row["event"] in CALLS or row["event"].startswith("magnet:")
        if row["flow"] and not is_call:
            return sock(row["flow"]) in used
        return int(row["pid"]) == a.server or any(int(row["fields"].get(n, 0)) in threads for n in named)

    used = a.used_by(a.server)
    same("--process", shown("--process", a.server), [r for r in a.rows if takes(r)])


def kept(a, what, report, calls, sockets, waits=None):
    """A report with a filter has exactly these calls, flows and waits."""
    check(report["filter"]["calls"] == sum(c["n"] for c in report["calls"]) == len(calls) > 0 and
          report["filter"]["all_calls"] == len(a.calls), f"{what}: {len(calls)} of {len(a.calls)} calls")
    for c in report["calls"]:
        own = [x for x in calls if (x["function"], x["kind"]) == (c["name"], c["flow_kind"]) and
               (x["seen_by"] == "kernel") == c["kernel_only"]]
        if (c["n"], c["bytes"]) != (len(own), sum(x["bytes"] or 0 for x in own)):
            check(False, f"{what}: {c['name']}: {c['n']} calls, {c['bytes']} bytes, {len(own)} here")
    check({sock(f["id"]) for f in report["flows"]} == sockets & {sock(f["id"]) for f in a.report["flows"]},
          f"{what}: {len(report['flows'])} of {report['filter']['all_flows']} flows")
    all_flows = {f["id"]: f for f in a.report["flows"]}
    for f in report["flows"]:
        if report["filter"]["from_ns"] is None and f != all_flows[f["id"]]:
            check(False, f"{what}: {f['id']} differs: {[k for k in f if f[k] != all_flows[f['id']][k]]}")
    if waits is not None:
        n = report["scheduler"]["run_queue_ns"]["n"]
        check(n == sum(bool(w["end_ns"] and (w["woken_ns"] or w["why"] == "preempted")) for w in waits),
              f"{what}: {n} waits for a CPU")
    else:
        check(report["scheduler"] is None, f"{what}: waits belong to no socket")
    answered = [e for e in a.exchanges if e["answer"] == "answered" and
                (sock(e["request"]) in sockets) and
                (waits is None or {e["request_tid"], e["reply_tid"]} & {c["tid"] for c in calls})]
    check(sum(g["answered"] for g in report["exchanges"]) == len(answered), f"{what}: {len(answered)} exchanges, "
          f"{[g['answered'] for g in report['exchanges']]}")


def reports(a):
    """Figures with each filter."""
    for port in (*PORTS, UDP):
        mine = a.with_port(port)
        kept(a, f"--port {port}", a.json("--port", port), [c for c in a.calls if sock(c["flow"]) in mine], mine)
    for name, kinds in KINDS.items():
        mine = a.of_kind(kinds)
        kept(a, f"--protocol {name}", a.json("--protocol", name),
             [c for c in a.calls if sock(c["flow"]) in mine], mine)
    for pid in (a.client, a.server):
        kept(a, f"--process {pid}", a.json("--process", pid), [c for c in a.calls if c["pid"] == pid],
             a.used_by(pid), [w for w in a.waits if w["pid"] == pid])
    tid = next(c["tid"] for c in a.calls if c["pid"] == a.server and c["tid"] != a.server)
    kept(a, "--thread", a.json("--thread", tid), [c for c in a.calls if c["tid"] == tid],
         {sock(c["flow"]) for c in a.calls if c["tid"] == tid}, [w for w in a.waits if w["tid"] == tid])
    both = [a.json("--process", pid) for pid in (a.client, a.server)]
    check(sum(r["filter"]["calls"] for r in both) == len(a.calls), "both processes make all calls")
    port, process = a.with_port(PORTS[0]), a.used_by(a.server)
    got = a.json("--port", PORTS[0], "--process", a.server)
    check({sock(f["id"]) for f in got["flows"]} <= port & process and got["flows"] and
          got["filter"]["calls"] == sum(c["pid"] == a.server and sock(c["flow"]) in port for c in a.calls),
          "--port and --process: what both keep")
    check(a.json("--process", "python3")["filter"]["calls"] == len(a.calls), "a program by its name")


def windows(a):
    """Windows that follow each other sum to the whole."""
    third = (a.last - a.first) // 3
    edges = [None, third, 2 * third, None]
    parts = []
    for begin, until in zip(edges, edges[1:]):
        options = (*(("--from", f"{begin}ns") if begin else ()), *(("--to", f"{until}ns") if until else ()))
        parts.append(a.json(*options))
        mine = [c for c in a.calls if (begin or 0) <= max(0, c["begin_ns"] - a.first) < (until or 1 << 62)]
        check(parts[-1]["filter"]["calls"] == len(mine), f"{' '.join(options)}: {len(mine)} calls")
        check(all(f["unsent_bytes"] is None for f in parts[-1]["flows"] if "unsent_bytes" in f),
              "bytes never sent are not those of a window")

    def sums(what, of):
        whole, divided = of(a.report), [of(p) for p in parts]
        check(sum(divided) == whole > 0 and min(divided) < whole, f"{what}: {divided} make {whole}")

    sums("calls", lambda r: sum(c["n"] for c in r["calls"]))
    sums("bytes", lambda r: sum(f["bytes"] for f in r["flows"]))
    sums("followed bytes", lambda r: sum(f["complete_bytes"] or 0 for f in r["flows"]))
    sums("bytes in stages", lambda r: sum(s["bytes"] for f in r["flows"] for s in f["residence"]))
    sums("packets at the device", lambda r: sum(x["n"] for f in r["flows"] for x in f["layers"] if x["name"] == "device"))
    sums("exchanges", lambda r: sum(g["answered"] for g in r["exchanges"]))
    sums("waits", lambda r: r["scheduler"]["run_queue_ns"]["n"])
    waited = [p["scheduler"]["run_queue_total_ns"] for p in parts]
    near(sum(waited), a.report["scheduler"]["run_queue_total_ns"], 1e-6, "time off the CPU")


def table_of_facts(a):
    """`magnet show --facts` has the same selection."""
    mine = a.with_port(PORTS[1])
    got = facts(a.rec, "range", "--port", PORTS[1])
    check(got == [r for r in a.ranges if sock(r["flow"]) in mine] != [], f"--facts range: {len(got)} rows")
    got = facts(a.rec, "wait", "--process", a.client)
    check(got == [w for w in a.waits if w["pid"] == a.client] != [], f"--facts wait: {len(got)} rows")
    begins = sorted(e["request_first_ns"] - a.first for e in a.exchanges if e["request_first_ns"])
    half = begins[len(begins) // 2]
    got = facts(a.rec, "exchange", "--from", f"{half}ns")
    check(got == [e for e in a.exchanges if (e["request_first_ns"] or a.first) - a.first >= half] != [],
          f"--facts exchange: {len(got)} rows")


def words(a):
    """The text of both commands, and the options they refuse."""
    lines = run(MAGNET, "show", a.rec.dir).stdout.splitlines()
    check(lines[1].split()[3] not in ("hook", "clock_sync", "sock_new") and
          not any(line.split()[2] in ("hook", "clock_sync") for line in lines), "show begins with a flow")
    check(any(" hook " in line for line in run(MAGNET, "show", a.rec.dir, "--setup").stdout.splitlines()),
          "--setup has the hooks")
    head = [line for line in a.rec.text("--port", str(PORTS[0])).splitlines()[:3] if line.startswith("ONLY")]
    check(len(head) == 1 and head[0].startswith(f"ONLY --port {PORTS[0]}: ") and " of " in head[0], head[0])
    window = a.rec.text("--to", "5ms").splitlines()
    window = next(line for line in window if line.startswith("ONLY"))
    check(re.search(r", 5\.?0* ms of [\d.]{1,4} (ms|s)$", window), f"the length of a window: {window}")
    check("n/a: the filter chooses connections" in a.rec.text("--port", str(PORTS[0])), "the scheduler says why")
    check(a.report["filter"] is None, "without a filter JSON has none")
    for command, options, said in (
            ("show", ("--event", "nonsense"), "sys_enter sys_exit"), ("show", ("--layer", "x"), "ip netfilter device"),
            ("report", ("--protocol", "x"), "tcp, udp, unix"), ("report", ("--port", "0"), "1 to 65535"),
            ("report", ("--peer", "10.0.0"), "10.0.0.0/8"), ("report", ("--from", "2", "--to", "1s"), "not before"),
            ("show", ("--from", "1000s"), "after the last event"),
            ("report", ("--from", "1000s", "--protocol", "tcp"), "after the last event"),
            ("show", ("--facts", "wait", "--port", "80"), "no sockets"), ("report", ("--from", "x"), "0.5"),
            ("report", ("--port", "1", "--flow", "1/tx"), "--flow"), ("report", ("--port", "1"), "nothing")):
        p = run(MAGNET, command, a.rec.dir, *options, check=False)
        check(p.returncode and said in p.stderr and len(p.stderr.splitlines()) == 1, p.stderr.strip()[:120])


need_kernel_side()
with undisturbed(lambda: Recording(PYTHON, PROGRAM, UDP, *PORTS)) as recording:
    everything = All(recording)
    for part in (words, rows, reports, windows, table_of_facts):
        part(everything)
