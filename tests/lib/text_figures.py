# SPDX-License-Identifier: MIT
"""
Compares the figures of the text report with those of the JSON one: each that is printed must be the
one of the same name, to the last digit that is printed.
"""
import math
import re
import sys

UNIT = {"ns": 1, "µs": 1e3, "us": 1e3, "ms": 1e6, "s": 1e9, "%": 0.01, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20,
        "GiB": 1 << 30, "MHz": 1e6, "GHz": 1e9, "": 1}
FIGURE = re.compile(r"^(?:~|≥|>=)? ?(-?[\d,]+(?:\.\d+)?) ?(ns|µs|us|ms|s|%|B|KiB|MiB|GiB|MHz|GHz|)\*?$")
NONE = ("", "n/a", "-")


class Compared:
    def __init__(self):
        self.n, self.wrong = 0, []

    def same(self, text, value, where):
        """A figure as text, and JSON's value of it, where None is "not available"."""
        self.n += 1
        if (text in NONE) != (value is None):
            # a figure that is 0 or empty may be left out of the text
            if not (text in NONE and value in (0, False)):
                self.wrong.append(f"{where}: the text says '{text}', JSON {value}")
            return
        if value is None:
            return
        m = FIGURE.match(text)
        if not m:
            self.wrong.append(f"{where}: '{text}' is no figure")
            return
        digits, unit = m.group(1).replace(",", ""), UNIT[m.group(2)]
        half = 0.5 * 10 ** -len(digits.partition(".")[2])
        if abs(float(digits) - value / unit) > half * 1.001 + 1e-5 * abs(value / unit):
            self.wrong.append(f"{where}: the text says '{text}', JSON {value}")


    def high(self, text, highest, value, where):
        """A 99th percentile, or what stands for it: "p87 3.1 ms", "max 3.1 ms"."""
        if highest is not None and highest < 0.6:  # the median, which stands beside it
            if text != "-":
                self.wrong.append(f"{where}: the text says '{text}', JSON the quantile {highest}")
            return
        said = re.match(r"(max|p\d+) (.*)$", text)
        wanted = None if highest in (None, 0.99) else "max" if highest == 1 else f"p{math.floor(highest * 100)}"
        if (said and said.group(1)) != wanted:
            self.wrong.append(f"{where}: the text says '{text}', JSON the quantile {highest}")
        self.same(said.group(2) if said else text, value, where)


def cells(line):
    return re.split(r"\s{2,}", line.strip())


def after(lines, begins):
    """The lines of a block: from the one after that which begins so, to the next empty one."""
    block = None
    for line in lines:
        if block is None and line.startswith(begins):
            block = []
        elif block is not None and not line.strip():
            return block
        elif block is not None:
            block.append(line)
    return block or []


def calls(c, lines, report):
    named = {}
    for call in report["calls"]:
        kind = call["flow_kind"]
        if kind.startswith("unix_"):
            kind = "unix " + kind[5:8]
        named[call["name"], kind[:9] + (" *" if call["kernel_only"] else "")] = call
    for line in after(lines, "System calls"):
        row = cells(line)
        call = named.get(tuple(row[:2]))
        if not call or len(row) < 9:
            continue
        larger = max("overhead_ns", "overhead_blocking_ns", key=lambda k: call[k]["n"])
        over = call[larger]
        blocked = call["blocked_n"] / call["complete"] if call["blocked_n"] is not None else None
        where = " ".join(row[:2])
        for text, value, what in zip(row[2:8], (
                call["n"], call["bytes"], blocked, call["total_ns"]["p50"], over["p50"],
                over["uncertainty"]), (
                "calls", "bytes", "blocked", "total p50", "overhead", "uncertainty")):
            c.same(text, value, f"{where} {what}")
        c.high(row[8], over["highest"], over["at_highest"], f"{where} p99")
        if row[6] not in NONE and row[6].startswith("~") != over["below_uncertainty"]:
            c.wrong.append(f"{where}: '{row[6]}', below its uncertainty: {over['below_uncertainty']}")


LABELS = {"call to copy": "call", "send buffer": "send_buffer", "IP": "ip", "queue (qdisc)": "qdisc",
          "driver": "driver", "device to IP": "device_to_ip", "TCP receive processing": "ip_to_tcp",
          "IP to socket queue": "ip_to_socket", "in order (head of line)": "in_order",
          "socket queue: reader absent": "reader_absent", "socket queue: until woken": "wake",
          "run queue": "run_queue",
          "woken before, until the call": "poll_return",
          "call, until the copy": "copy", "call and copy": "copy",
          "copy and return": "return", "return to the program": "return"}


def waterfall(c, block, flow):
    stages = {s["stage"]: s for s in flow["residence"]}
    where = flow.get("id", "together")
    for line in block:
        row = cells(line)
        row[0] = row[0].split("; tail may be steal")[0]
        if row[0].startswith("total"):
            for text, value in zip(row[1:3], (flow["residence_total_ns"], flow["residence_total_p50_ns"])):
                c.same(text, value, f"{where} total")
            c.high(row[3], flow["residence_total_highest"], flow["residence_total_at_highest_ns"], f"{where} total")
        elif row[0] == "tracing overhead":
            c.same(row[1], flow["probes_ns"], f"{where} own events")
        elif row[0] in LABELS and len(row) >= 4:
            s = stages[LABELS[row[0]]]
            with_events = s["compensated_mean_ns"] is None  # where their cost is not known
            of = "" if with_events else "compensated_"
            for text, what in zip(row[1:3], ("mean_ns", "p50_ns")):
                c.same(text, s[of + what], f"{where} {row[0]} {what}")
            c.high(row[3], s["highest"], s[of + "at_highest_ns"], f"{where} {row[0]} p99")
            if ("; tail may be steal" in line) != bool(s["tail_may_be_steal"]):
                c.wrong.append(f"{where} {row[0]}: {line}, and JSON says {s['tail_may_be_steal']}")
        elif m := re.search(r"(?:±|\+-)(.*?) after tracing overhead", line):
            c.same(m.group(1), flow["residence_uncertainty_ns"], f"{where} uncertainty")
        elif m := re.search(r"first layer here: mean (.*)$", line):
            c.same(m.group(1), flow["transit_ns"]["mean"], f"{where} transit")
        elif m := re.search(r"last byte had passed: mean (.*), p50 (.*), (?:p99 )?(.*) \((.*) call", line):
            last = flow["residence_last_byte"]
            mean, median, high, n = m.groups()
            for text, value in ((mean, last["mean_ns"]), (median, last["p50_ns"]), (n, last["n"])):
                c.same(text, value, f"{where} last byte")
            c.high(high, last["highest"], last["at_highest_ns"], f"{where} last byte")


ROWS = {"tx": {"call": "call", "TCP to IP": "tcp", "device": "device", "IP": "tcp", "socket": "copy"},
        "rx": {"call": "call", "TCP": "tcp", "device": "device", "IP": "ip", "socket": "copy"}}


def layers(c, block, flow):
    named = {x["name"]: x for x in flow["layers"]}
    m = flow["modulation"]
    above = None
    for line in block:
        row = cells(line)
        name = ROWS[flow["direction"]].get(row[0])
        if row[0].startswith("as ") and above:
            frames = above["frames"] - above["repeated_frames"]
            c.same(row[1], frames, f"{flow['id']} {row[0]}")
            c.same(row[2], above["bytes"] / frames, f"{flow['id']} {row[0]} mean size")
        elif row[0] == "repeated":
            c.same(row[1], above["repeated_n"], f"{flow['id']} {row[0]}")
        elif name and len(row) >= 7:
            above = named[name]
            for text, what in zip(row[1:7], ("n", "mean_size", "cov_size", "mean_spacing_ns",
                                             "p50_spacing_ns", "cov_spacing")):
                c.same(text, above[what], f"{flow['id']} {row[0]} {what}")
        for pattern, what in ((r"shift J = (.*?)(?:,|$)", "J_ns"), (r"tau = (.*?),", "tau_ns"),
                              (r"M = J/tau = (\S+)$", "M"), (r" S = (\S+) ", "S"),
                              (r"sender blocked (.*?) of", "blocked_share"),
                              (r"W1 = (.*?)(?:;|$)", "w1_spacing_ns")):
            if x := re.search(pattern, line):
                c.same(x.group(1), m[what], f"{flow['id']} {what}")
        if x := re.search(r"goodput (.*? %)", line):
            c.same(x.group(1), m["goodput_ratio"], f"{flow['id']} goodput")


def scheduler(c, text, report):
    s = report["scheduler"]
    for pattern, of in ((r"wakeup latency p50 (.*?) p99 (.*?) max (.*?) \((.*?) wakeups\)", "wakeup_ns"),
                        (r"wakeup until on a run queue: p50 (.*?) p99 (.*?)$()()", "queueing_ns"),
                        (r"waits for a CPU: p50 (.*?) p99 (.*?), ()(?:.*) in all \((.*?) waits\)", "run_queue_ns")):
        if m := re.search(pattern, text, re.M):
            for figure, what in zip(m.groups(), ("p50", "p99", "max", "n")):
                if figure:
                    c.same(figure, s[of][what], f"{of} {what}")
    if m := re.search(r"waits for a CPU: .*, (.*) in all", text):
        c.same(m.group(1), s["run_queue_total_ns"], "run queue in all")
    if m := re.search(r"migrations ((?:≥ |>= )?\S+)", text):
        c.same(m.group(1), s["migrations"], "migrations")


def head(c, text, report):
    first = text.splitlines()[0]
    if m := re.search(r"counter (\S+ [MG]Hz)", first):
        c.same(m.group(1), report["session"]["tsc_hz"], "counter's rate")
    c.same(re.search(r"(?:^|   )([\d.]+ (?:ns|µs|us|ms|s))(?:   |$)", "\n".join(text.splitlines()[:2]), re.M).group(1),
           report["session"]["duration_ns"], "duration")
    for words, key in (("clocks agree within", "max_error_ns"), ("CPUs within", "cpu_offset_ns")):
        if m := re.search(words + r" ([\d.]+ \S+?)(?:,|$)", text, re.M):
            c.same(m.group(1), report["clock"][key], key)
    m = re.search(r"Tracing overhead: (.*) per call, (.*) per kernel event, (.*) of one CPU(?:; (.*) of CPU time)?", text)
    for figure, key in zip(m.groups(), ("app_cost_ns_per_call", "kernel_cost_ns_per_event", "cpu_share",
                                        "setup_cpu_ns")):
        c.same(figure or "n/a", report["tracer"][key], key)


def compare(text, report):
    """The number of figures compared, and what differs."""
    c, lines, flows = Compared(), text.splitlines(), {f["id"]: f for f in report["flows"]}
    head(c, text, report)
    calls(c, lines, report)
    scheduler(c, text, report)
    for i, line in enumerate(lines):
        m = re.search(r"flow (\S+)$", line) or re.match(r"Traffic by layer, flow (\S+)", line)
        if not m:
            continue
        block = after(lines[i:], line)
        if line.startswith("Latency by stage"):
            waterfall(c, block, flows[m.group(1)])
        else:
            layers(c, block, flows[m.group(1)])
    return c.n, c.wrong
