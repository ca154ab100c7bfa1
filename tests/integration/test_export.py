# SPDX-License-Identifier: MIT
"""
magnet export: each format of the golden traces, read back by a reader of its own, has what magnet show
prints. Bad input is refused in one line.
"""
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
import golden
from records import Records, flow


def exported(trace, form, to, *options):
    run(MAGNET, "export", trace, "--format", form, "-o", to, *options)
    return to


def facts_are_equal(name, trace, records, *options):
    """Each fact table, value by value."""
    for table in records.tables.values():
        if table["kind"] != "fact":
            continue
        names, rows = golden.table(golden.output(MAGNET, "show", "--facts", table["name"], trace, *options))
        shown = [list(row.values()) for row in rows]
        if records.text(table["name"]) != shown or table["rows"] != len(shown):
            found = records.text(table["name"])
            check(False, f"{name}: {table['name']}: {next(((a, b) for a, b in zip(found, shown) if a != b), len(found))}")
    check(True, f"{name}: records of all facts are what magnet show prints")


def field(column, value, strings):
    """As magnet show --tsv prints a field."""
    if column["type"] == "TEXT":
        return strings[value].replace(" ", "_")
    if str(value) in column.get("names", {}):
        return column["names"][str(value)]
    return f"0x{value:x}" if column["type"] == "HEX" else str(value)


def events_are_equal(name, trace, records):
    """Each event, with all that annotates it, and its fields as far as they are numbers and texts."""
    shown = {}
    for row in golden.table(golden.output(MAGNET, "show", "--tsv", trace))[1]:
        shown.setdefault(row["event"], []).append(row)
    for event, rows in shown.items():
        found, columns = records.rows("event/" + event), records.tables["event/" + event]["columns"]
        own = [c for c in columns[12:] if c["type"] != "BYTES" and c["name"] not in ("ret", "option")]
        same = len(found) == len(rows)
        for a, b in zip(found, rows):
            none = a["offset"] == 2 ** 64 - 1
            has = dict(f.split("=", 1) for f in b["fields"].split(" ") if "=" in f)
            same = same and [str(a["time"]), "" if a["cycles"] == 0 else str(a["cycles"]), str(a["pid"]),
                             str(a["tid"]), "" if a["cpu"] < 0 else str(a["cpu"]),
                             flow(a["flow"], a["flow_rx"]) if a["flow"] else "",
                             "" if none else str(a["offset"]), "" if none else str(a["length"])] == \
                [b[k] for k in ("time_ns", "cycles", "pid", "tid", "cpu", "flow", "offset", "length")]
            for c in own:
                key = c["name"].removeprefix("field_")
                same = same and field(c, a[c["name"]], records.strings) == has[key]
            if not same:
                check(False, f"{name}: {event}: {a} is {b}")
    count = sum(t["rows"] for t in records.tables.values() if t["kind"] == "event")
    check(count == sum(map(len, shown.values())) and count > 40, f"{name}: so are those of all {count} events")


def records_are_equal(name, trace, top):
    records = Records(exported(trace, "records", f"{top}/{name}-records"))
    facts_are_equal(name, trace, records)
    events_are_equal(name, trace, records)
    with open(trace + "/session.json") as f:
        check(records.schema["session"] == json.load(f) and records.schema["schema"] == 1, f"{name}: session.json is in them")


def filters_choose(trace, top):
    pid = Records(f"{top}/both-records").rows("call")[0]["pid"]
    some = Records(exported(trace, "records", f"{top}/some", "--process", pid, "--to", "0.5"))
    for table in ("call", "packet", "flow"):
        shown = golden.output(MAGNET, "show", "--facts", table, "--process", str(pid), "--to", "0.5", trace)
        check(some.tables[table]["rows"] == shown.count("\n") - 1 and some.tables[table]["filtered"],
              f"filters choose facts: {table}")
    check(not some.tables["hook"]["filtered"], "facts that tell of no process are all there, and said to be so")


def refused(status, words, *args, **env):
    p = run(MAGNET, "export", *args, check=False, env=dict(os.environ, **env))
    check(p.returncode == status and p.stderr.count("\n") == 1 and words in p.stderr, f"{args[-4:]}: {p.stderr.strip()}")


def bad_input(trace, top):
    refused(2, "records", trace, "--format", "nothing", "-o", top + "/x")
    refused(2, "--format", trace, "-o", top + "/x")
    refused(2, "-o", trace, "--format", "records")
    refused(1, "No such file", top + "/none", "--format", "records", "-o", top + "/x")
    check(not os.path.exists(top + "/x"), "nothing is left of what could not be read")
    refused(1, "not empty", trace, "--format", "records", "-o", trace)
    refused(1, "No such file", trace, "--format", "records", "-o", top + "/none/x")
    with open(top + "/file", "w"):
        pass
    refused(1, "Not a directory", trace, "--format", "records", "-o", top + "/file")


with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
    for name in golden.TRACES:
        trace = golden.unpack(name, top)
        records_are_equal(name, trace, top)
    filters_choose(top + "/both", top)
    bad_input(top + "/both", top)
