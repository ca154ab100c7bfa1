# SPDX-License-Identifier: MIT
"""
The formats of magnet export that are text: each of them is read back by a reader that is not ours (Python's csv
and json, a strict checker of ULM, ns-3's way of reading), and has as many rows and bytes as magnet show prints.
"""
import collections
import csv
import datetime
import re
import sys
import os

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
import golden


def exported(trace, form, to, *options):
    run(MAGNET, "export", trace, "--format", form, "-o", to, *options)
    return to


def facts(trace, name, *options):
    text = golden.output(MAGNET, "show", "--facts", name, *options, trace)
    names, rows = golden.table(text)
    return text, [{k.split(":")[0]: v for k, v in row.items()} for row in rows]


def tables(name, trace, top):
    """TSV is what magnet show prints; CSV is read by Python's own reader of RFC 4180."""
    tsv, comma = (exported(trace, form, f"{top}/{name}-{form}") for form in ("tsv", "csv"))
    for file in sorted(os.listdir(tsv)):
        table = file.removesuffix(".tsv")
        text, rows = facts(trace, table)
        with open(f"{tsv}/{file}") as f:
            same = f.read() == text
        with open(f"{comma}/{table}.csv", newline="") as f:
            data = f.read()
            same = same and data.count("\r\n") == data.count("\n") == len(rows) + 1
            f.seek(0)
            same = same and list(csv.DictReader(f, strict=True)) == rows
        if not same:
            check(False, f"{name}: {table}")
    check(len(os.listdir(tsv)) == len(os.listdir(comma)) > 25, f"{name}: TSV and CSV of {len(os.listdir(tsv))} tables are equal")


ULM_FIELD = re.compile(r"([A-Z][A-Z0-9.]*)=([^\s=\"][^\s\"]*)")


def ulm(name, trace, top):
    """Each line has the fields of ULM in their order, is in order of time, and is a row that magnet show prints."""
    with open(exported(trace, "ulm", f"{top}/{name}.ulm")) as f:
        lines = f.read().splitlines()
    rows = {(r["time_ns"], r["event"], r["tid"], r["flow"], r["offset"], r["length"])
            for r in golden.table(golden.output(MAGNET, "show", "--tsv", trace))[1]}
    with open(trace + "/session.json") as f:
        session = json.load(f)
    dates, calls = [], 0
    for line in lines:
        parts = [ULM_FIELD.fullmatch(p) for p in line.split(" ")]
        check_line = all(parts)
        fields = {p[1]: p[2] for p in parts if p}
        check_line = check_line and len(fields) == len(parts) and \
            list(fields)[:7] == ["DATE", "HOST", "PROG", "LVL", "NL.EVNT", "NS", "PID"] and \
            re.fullmatch(r"\d{14}\.\d{6}", fields["DATE"]) and fields["HOST"] == session["host"] and \
            fields["LVL"] in ("Usage", "Warning")
        row = (fields.get("NS"), fields.get("NL.EVNT"), fields.get("TID"), fields.get("FLOW", ""),
               fields.get("OFFSET", ""), fields.get("LENGTH", ""))
        if not check_line or row not in rows:
            check(False, f"{name}: {line}")
        dates.append(fields["DATE"])
        calls += fields["NL.EVNT"].startswith("magnet:")
    app = sum(r[1].startswith("magnet:") for r in rows)
    check(dates == sorted(dates) and calls == app and len(set(lines)) == len(lines) > 40,
          f"{name}: {len(lines)} lines are ULM and in order of time, {calls} of calls")
    seconds = (datetime.datetime.strptime(dates[0], "%Y%m%d%H%M%S.%f") -
               datetime.datetime.strptime(session["started"], "%Y-%m-%dT%H:%M:%S.%fZ")).total_seconds()
    check(-1 < seconds < 60, f"{name}: the first is {seconds:.1f} s after the recording began, by its time of day")


def writes(trace):
    """Begin and bytes of all calls that sent, by flow."""
    found = collections.defaultdict(list)
    for r in facts(trace, "call")[1]:
        if r["flow"].endswith("/tx") and r["bytes"] not in ("", "0"):
            found[r["flow"].replace("/", "-").replace(":", "-")].append((int(r["begin_ns"]), int(r["bytes"])))
    return {flow: sorted(w) for flow, w in found.items()}


def udp_trace_client(path):
    """As ns-3's UdpTraceClient loads a file: when each entry is sent after the first, ms, and its bytes."""
    entries, last, old = [], 0, 0
    with open(path) as f:
        for index, kind, time_ms, size in (line.split() for line in f):
            if int(index) == old or kind == "B":
                sys.exit(f"{path}: {index} would be left out")
            entries.append((int(time_ms) - last, int(size)))
            last, old = int(time_ms), int(index)
    return entries


def ns3(name, trace, top):
    at, sent = exported(trace, "ns3", f"{top}/{name}-ns3"), writes(trace)
    with open(at + "/flows.tsv") as f:
        listed = {r["flow"]: r for r in csv.DictReader(f, delimiter="\t")}
    first = min((w[0][0] for w in sent.values()), default=0)
    for flow, w in sent.items():
        with open(f"{at}/{flow}.csv") as f:
            bursts = [(int(a), float(b)) for a, b in csv.reader(f)]
        exact = [(n, ((w + w[-1:])[i + 1][0] - t) / 1e9) for i, (t, n) in enumerate(w)]
        row, udp = listed[flow], udp_trace_client(f"{at}/{flow}.udp")
        same = bursts == exact and [n for _, n in udp] == [n for _, n in w] and udp[0][0] == 1 and \
            all(d >= 0 for d, _ in udp) and \
            all(abs(sum(d for d, _ in udp[1:i + 1]) - (w[i][0] - w[0][0]) / 1e6) <= 0.5001 for i in range(len(w))) and \
            (int(row["writes"]), int(row["bytes"])) == (len(w), sum(n for _, n in w)) and \
            abs(float(row["start_s"]) - (w[0][0] - first) / 1e9) < 1e-9
        if not same:
            check(False, f"{name}: {flow}: {row} {bursts[:3]} {exact[:3]} {udp[:3]}")
    check(set(listed) == set(sent), f"{name}: ns-3 gets all {sum(map(len, sent.values()))} writes of {len(sent)} flows")


def chrome(name, trace, top):
    with open(exported(trace, "chrome", f"{top}/{name}.json")) as f:
        events = json.load(f)["traceEvents"]
    counters(name, trace, events)
    kinds = collections.Counter((e["ph"], e.get("cat")) for e in events)
    calls = [r for r in facts(trace, "call")[1] if r["begin_ns"] and r["end_ns"]]
    found = [e for e in events if e["ph"] == "X" and e["cat"] == "call"]
    check(len(found) == len(calls) > 0 and
          sorted((round(e["ts"] * 1000), round(e["dur"] * 1000), e["tid"], str(e["args"].get("bytes", "")))
                 for e in found) ==
          sorted((int(r["begin_ns"]), int(r["end_ns"]) - int(r["begin_ns"]), int(r["tid"]), r["bytes"])
                 for r in calls), f"{name}: trace events of all {len(calls)} calls, with their bytes and times")
    waits = [r for r in facts(trace, "wait")[1] if r["begin_ns"] and r["end_ns"]]
    answered = [r for r in facts(trace, "exchange")[1] if r["answer"] == "answered" and r["request_first_ns"] and
                r["reply_last_ns"] and r["request_pid"]]
    check(kinds["X", "wait"] == len(waits) and kinds["b", "exchange"] == kinds["e", "exchange"] == len(answered),
          f"{name}: {len(waits)} waits and {len(answered)} exchanges")
    slices = {(e["tid"], round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)) for e in found}
    begins, ends = {(t, b) for t, b, _ in slices}, {(t, e) for t, _, e in slices}
    from_, to = ([(e["id"], (e["tid"], round(e["ts"] * 1000) + (ph == "f"))) for e in events if e["ph"] == ph]
                 for ph in "sf")
    crossed = {(r["sender"], r["begin_ns"], r["flow"], r["end_ns"]) for r in facts(trace, "crossing")[1]
               if r["begin_ns"] and r["end_ns"]}
    check([i for i, _ in from_] == [i for i, _ in to] and all(e in begins for _, e in from_) and
          all(e in ends for _, e in to) and len(from_) <= len(crossed) and bool(from_) == bool(crossed),
          f"{name}: {len(from_)} arrows from the call that sent to the call that received")


def counters(name, trace, events):
    """The counters of a Chrome trace are the samples of TCP's state, and buffers that events tell of."""
    shown = collections.Counter((e["name"], round(e["ts"] * 1000), *next(iter(e["args"].items())))
                                for e in events if e["ph"] == "C")
    wanted = collections.Counter()
    for r in facts(trace, "state")[1]:
        for what, unit, column in (("cwnd", "segments", "cwnd"), ("srtt", "us", "srtt_us"),
                                   ("not sent", "bytes", "notsent")):
            if r["time_ns"] and r["flow"] and r[column]:
                wanted[f"{what} {r['flow']}", int(r["time_ns"]), unit, int(r[column])] += 1
    for r in golden.table(golden.output(MAGNET, "show", "--tsv", "--event", "tcp_send,tcp_ready", trace))[1]:
        of = dict(f.split("=", 1) for f in r["fields"].split() if "=" in f)
        if r["flow"] and "wmem_queued" in of:
            wanted[f"send buffer {r['flow']}", int(r["time_ns"]), "bytes", int(of["wmem_queued"])] += 1
        elif r["flow"] and "copied_seq" in of:
            queued = (int(of["rcv_nxt"]) - int(of["copied_seq"])) % 2 ** 32
            wanted[f"receive queue {r['flow']}", int(r["time_ns"]), "bytes", queued] += 1
    check(shown == wanted, f"{name}: {sum(wanted.values())} counters are those of facts and events "
          f"{list((shown - wanted).items())[:2]} {list((wanted - shown).items())[:2]}")


def standard_output_and_errors(trace, top):
    p = run(MAGNET, "export", trace, "--format", "ulm", "-o", "-")
    with open(top + "/both.ulm") as f:
        check(p.stdout == f.read(), "-o - is standard output")
    p = run(MAGNET, "export", top + "/app", "--format", "ns3", "-o", top + "/none", check=False)
    check(p.returncode == 1 and "record the kernel side" in p.stderr and not os.path.exists(top + "/none"),
          f"ns-3 needs flows: {p.stderr.strip()}")
    for form in ("ulm", "chrome"):
        p = run(MAGNET, "export", trace, "--format", form, "-o", "/dev/full", check=False)
        check(p.returncode == 1 and p.stderr.count("\n") == 1 and "No space left" in p.stderr and
              os.path.exists("/dev/full"), f"{form}: a full disk: {p.stderr.strip()}")


with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
    for name in golden.TRACES:
        trace = golden.unpack(name, top)
        for form in (tables, ulm, *((ns3,) if name == "both" else ()), chrome):
            form(name, trace, top)
    standard_output_and_errors(top + "/both", top)
