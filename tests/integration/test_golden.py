# SPDX-License-Identifier: MIT
"""
Traces that were recorded once and are kept (tests/data) are read as they were then by every reader: what is
stored in traces keeps its meaning. Those of other formats are refused. tests/data/make renews what is kept.
"""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
import golden

PLUGINS = "--plugin-path=" + os.environ["MAGNET_BUILD"] + "/correlate"
READERS = ["direct"] + (["babeltrace2"] if shutil.which("babeltrace2") else [])
NAMES = {"app": ("kind", "option"),
         "both": ("kind", "call", "family", "proto", "old", "now", "opener", "context", "via", "status", "side")}


def by_magnet(name, trace, expected):
    for reader in READERS:
        wrong = golden.differences(expected, golden.said(trace, reader))
        check(not wrong, f"{name}: events, facts and totals read by {reader} are those of then {wrong[:5]}")
    for way in (("show",), ("report",), ("report", "--json"), ("report", "--json", "--on-demand", "all")):
        texts = [golden.output(MAGNET, *way, trace, MAGNET_READER=r) for r in READERS]
        check(len(set(texts)) == 1 and len(texts[0]) > 400, f"{name}: {' '.join(way)} is the same by all readers")


def own_fields(name, trace):
    """An option's value is no length."""
    fields = [line.split("\t")[9] for line in golden.output(MAGNET, "show", "--tsv", trace).splitlines()
              if "\tmagnet:setsockopt\t" in line]
    check(any("option=TCP_NODELAY value=1 waited=0" in f for f in fields) and
          all(" asked=0 " in f" {f}" for f in fields), f"{name}: options have their value: {fields[-1:]}")


def report_text(name, trace, expected):
    """The text has what JSON has of it."""
    text = golden.output(MAGNET, "report", "--all", trace)
    total = expected["report"]["events"]
    check(f"nothing lost: {total['app']} application and {total['kernel']} kernel events" in text,
          f"{name}: the text tells {total}")
    calls = text[text.index("\nSystem calls "):].splitlines()[2:]
    most = [c["name"] for c in expected["report"]["calls"][:10]]
    check([line.split()[0] for line in calls[:10]] == most, f"{name}: and the most frequent calls: {most}")


def against(name, trace):
    """A recording compared with itself: nothing differs."""
    found = json.loads(golden.output(MAGNET, "report", "--json", "--against", trace, trace))["comparison"]
    text = golden.output(MAGNET, "report", "--against", trace, trace)
    pairs = [(f["before"], f["now"]) for f in found["figures"]]
    check(pairs and all(a == b for a, b in pairs) and not found["exceeding_n"] and not found["only_now"] and
          "Summary: one recording on each side cannot tell" in " ".join(text.split()), f"{name}: {len(pairs)} figures are compared with themselves: no difference")


def by_babeltrace(name, trace, expected):
    plain = golden.output("babeltrace2", trace).splitlines()
    stored = expected["events"]["all"]["rows"]
    check(len(plain) == stored, f"{name}: babeltrace2 alone prints {len(plain)} of {stored} events")
    for field in NAMES[name]:
        named = {v for line in plain for v in re.findall(rf'\b{field} = \( ([^:]*) : container', line)}
        named.discard("<unknown>")  # a number that has no name, such as protocol 0 of a UNIX socket
        check(named and all('"' in v for v in named), f"{name}: and names in place of numbers: {field} {sorted(named)}")
    session = f'session="{trace}/session.json"'

    def by_plugin(component, params):
        return golden.output("babeltrace2", PLUGINS, trace, "--component=" + component, f"--params={params}{session}")
    for form, words in (("json", ("report", "--json")), ("text", ("report", "--all")), ("tsv", ("show", "--tsv"))):
        ours, given = golden.output(MAGNET, *words, trace), by_plugin("sink.magnet." + words[0], f'format="{form}",')
        if form == "text":  # babeltrace2 does not say from which directory it reads
            ours, given = (" ".join(text.replace(trace, "DIR").split()) for text in (ours, given))
        check(given == ours, f"{name}: sink.magnet.{words[0]} gives the {form}")
    first = expected["report"]["flows"][0]["id"] if expected["report"]["flows"] else None
    if first:
        lines = by_plugin("filter.magnet.flow", f'flow="{first}",').splitlines()
        check(0 < len(lines) < len(plain), f"{name}: filter.magnet.flow lets {len(lines)} events of {first} pass")
    joined = by_plugin("filter.magnet.join", "").splitlines()
    made = {m for line in joined for m in re.findall(r"magnet:(?:joined_call|atom_[tr]x)\b", line)}
    check(bool(made) == (name == "both"), f"{name}: filter.magnet.join makes {sorted(made)} of them")


def of_schema(name, trace):
    try:
        import jsonschema
    except ImportError:
        print("python3-jsonschema is not installed")
        return
    with open(os.environ["MAGNET_BUILD"] + "/docs/report.schema.json") as f:
        validator = jsonschema.Draft202012Validator(json.load(f))
    for more in ((), ("--on-demand", "all"), ("--against", trace)):
        report = json.loads(golden.output(MAGNET, "report", "--json", *more, trace))
        wrong = [e.message[:200] for e in validator.iter_errors(report)]
        check(not wrong, f"{name}: the report{' '.join(('', *more[:1]))} is of the schema's form {wrong[:3]}")


def other_formats(name, trace, number):
    """One line, with both numbers, by all readers."""
    for other in (1, number - 1, number + 1):
        d = f"{TOP}/{name}-{other}"
        shutil.copytree(trace, d)
        for at, _, files in os.walk(d):
            if "metadata" in files:
                with open(at + "/metadata", "r+") as f:
                    text = f.read()
                    f.seek(0)
                    f.truncate()
                    f.write(text.replace(f"trace_format = {number};", f"trace_format = {other};"))
        for reader in READERS:
            for way in (("report",), ("show",)):
                p = run(MAGNET, *way, d, check=False, env=dict(os.environ, MAGNET_READER=reader))
                line = p.stderr
                check(p.returncode == 1 and not p.stdout and line.count("\n") == 1 and
                      f"trace format {other}, and this magnet reads {number}" in line,
                      f"{name}: {way[0]} by {reader} refuses another format: {line.strip().replace(TOP, '')}")


def is_small():
    size = sum(os.path.getsize(os.path.join(golden.DATA, f)) for f in os.listdir(golden.DATA))
    check(size < 100_000, f"all of it is {size} bytes")


TOP = scratch()
try:
    with open(golden.EXPECTED) as f:
        kept = json.load(f)
    is_small()
    for name in golden.TRACES:
        trace = golden.unpack(name, TOP)
        with open(f"{trace}/app/metadata") as f:
            number = int(re.search(r"trace_format = (\d+);", f.read())[1])
        by_magnet(name, trace, kept[name])
        own_fields(name, trace)
        report_text(name, trace, kept[name])
        against(name, trace)
        of_schema(name, trace)
        if len(READERS) > 1:
            by_babeltrace(name, trace, kept[name])
        other_formats(name, trace, number)
finally:
    shutil.rmtree(TOP)
