# SPDX-License-Identifier: MIT
"""
The golden traces in tests/data, and what a reader must make of them: of each column of the events and of
each fact table the number of rows and a digest of the values, and the totals of the report. What is added,
a field, a column, a figure, changes nothing of that.
"""
import json
import os
import subprocess
import tarfile
import zlib

from fixture import MAGNET

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")
TRACES = ("both", "app")
EXPECTED = os.path.join(DATA, "expected.json")
FACTS = ("call", "range", "packet", "wait", "switch", "state", "flow", "drop", "retransmit", "mark", "loss")
TOTALS = {"events": ("app", "kernel"), "loss": ("app", "kernel"), "clock": ("source",),
          "calls": ("name", "flow_kind", "n", "bytes", "joined"),
          "flows": ("id", "proto", "direction", "bytes", "coverage", "tx_call_n")}


def unpack(name, to):
    with tarfile.open(f"{DATA}/{name}.tar.xz") as tar:
        tar.extractall(to)
    return f"{to}/{name}"


def output(*command, **env):
    return subprocess.run(command, capture_output=True, check=True, text=True, timeout=120,
                          env=dict(os.environ, TZ="UTC", LC_ALL="C.UTF-8", **env)).stdout


def digest(values):
    return f"{zlib.crc32(chr(10).join(values).encode()):08x}"


def columns(rows):
    """Digests of the columns of rows that are alike, dicts of text."""
    names = dict.fromkeys(name for r in rows for name in r)
    return {"rows": len(rows), **{name: digest(r.get(name, "") for r in rows) for name in names}}


def table(text):
    head, *rows = text.splitlines()
    names = head.split("\t")
    return names, [dict(zip(names, row.split("\t"), strict=True)) for row in rows]


def of_events(text):
    """All events, and by kind their fields, which are its own."""
    rows, kinds = table(text)[1], {}
    for row in rows:
        fields = dict(f.split("=", 1) for f in row.pop("fields").split(" ") if "=" in f)
        kinds.setdefault(row["event"], []).append(fields)
    return {"all": columns(rows), **{kind: columns(of) for kind, of in kinds.items()}}


def of_facts(text):
    names, rows = table(text)
    return columns(rows) if rows else {"rows": 0, **dict.fromkeys(names, digest(()))}


def totals(report):
    def some(value, names):
        return [some(v, names) for v in value] if isinstance(value, list) else {n: value[n] for n in names}
    return {key: some(report[key], names) for key, names in TOTALS.items()}


def said(trace, reader):
    """Events, facts and totals that a reader of magnet's makes of a trace."""
    def magnet(*words):
        return output(MAGNET, *words, trace, MAGNET_READER=reader)
    return {"events": of_events(magnet("show", "--tsv")),
            "facts": {name: of_facts(magnet("show", "--facts", name)) for name in FACTS},
            "report": totals(json.loads(magnet("report", "--json")))}


def differences(expected, found, at=""):
    """Where something that is expected is not so; what else was found does not count."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return [d for k, v in expected.items() for d in differences(v, found.get(k), f"{at}.{k}")]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [d for i, (a, b) in enumerate(zip(expected, found)) for d in differences(a, b, f"{at}.{i}")]
    return [] if expected == found else [f"{at[1:]}: {found}, not {expected}"]
