# SPDX-License-Identifier: MIT
"""
Reads what `magnet export --format records` writes by schema.json alone, with Python's own library, and
prints it as `magnet show` prints facts and events.
"""
import ipaddress
import json
import math
import os
import struct

LETTERS = {"u1": "B", "i1": "b", "<u2": "H", "<i2": "h", "<u4": "I", "<i4": "i", "<u8": "Q", "<i8": "q",
           "<f8": "d", "V16": "16s"}


class Records:
    def __init__(self, directory):
        self.directory = directory
        self.schema = self.json("schema.json")
        self.strings = self.json(self.schema["strings"])
        self.tables = {t["name"]: t for t in self.schema["tables"]}

    def json(self, name):
        with open(os.path.join(self.directory, name), encoding="utf-8") as f:
            return json.load(f)

    def rows(self, name):
        """Rows as dicts of numbers and bytes."""
        table = self.tables[name]
        with open(os.path.join(self.directory, table["file"]), "rb") as f:
            data = f.read()
        if len(data) != table["rows"] * table["record_bytes"]:
            raise ValueError(f"{table['file']} has {len(data)} bytes")
        whole = ["\0"] * table["record_bytes"]
        form = "<" + "".join(LETTERS[c["dtype"]] for c in table["columns"])
        at = [struct.calcsize("<" + "".join(LETTERS[c["dtype"]] for c in table["columns"][:i]))
              for i in range(len(table["columns"]))]
        if at != [c["offset"] for c in table["columns"]] or struct.calcsize(form) != len(whole):
            raise ValueError(f"{name}: the columns do not fill the record")
        names = [c["name"] for c in table["columns"]]
        return [dict(zip(names, row)) for row in struct.iter_unpack(form, data)]

    def is_unknown(self, column, value):
        unknown = column.get("unknown")
        return math.isnan(value) if unknown == "nan" else unknown is not None and value == unknown

    def text(self, name):
        """A table of facts as magnet show --facts prints it, a list for each row."""
        columns = self.tables[name]["columns"]
        return [[self.cell(columns, i, row) for i, c in enumerate(columns)
                 if not c["name"].endswith(("_rx", "_port", "_known")) or self.is_own(columns, i)]
                for row in self.rows(name)]

    def is_own(self, columns, i):
        """Whether it is a column of its own, and not a part of the one before: _known is never_sent_known, too."""
        return not any(columns[k]["type"] in ("FLOW", "ADDRESS") and
                       columns[i]["name"] in [columns[k]["name"] + "_rx",
                                              *(columns[k]["name"].removesuffix("_addr") + e for e in ("_port", "_known"))]
                       for k in range(max(0, i - 2), i))

    def cell(self, columns, i, row):
        c = columns[i]
        value, kind = row[c["name"]], c["type"]
        if kind == "ADDRESS":
            stem = c["name"].removesuffix("_addr")
            return address(value, row[stem + "_port"]) if row[stem + "_known"] else ""
        if self.is_unknown(c, value):
            return ""
        if kind == "FLOW":
            return flow(value, row[c["name"] + "_rx"])
        if kind in ("TEXT", "FUNCTION", "EVENTS", "LAYERS"):
            return self.strings[value].replace(" ", "_")
        if kind == "WORD":
            return c["words"][value] or ""
        if kind == "SPAN":
            return f"{value:.1f}"
        return f"{value:.12g}" if kind == "NUMBER" else str(value)


def flow(sock, rx):
    for bit, prefix in ((62, "ino:"), (61, "lttng:")):
        if sock >> bit & 1:
            return f"{prefix}{sock & ~(1 << bit)}/{'rx' if rx else 'tx'}"
    before, cookie = divmod(sock, 1 << 44)
    return f"{cookie}{f'.{before + 1}' if before and not sock >> 61 else ''}/{'rx' if rx else 'tx'}"


def address(packed, port):
    a = ipaddress.IPv6Address(packed)
    return f"{a.ipv4_mapped}:{port}" if a.ipv4_mapped else f"[{a}]:{port}"
