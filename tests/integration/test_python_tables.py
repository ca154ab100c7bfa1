# SPDX-License-Identifier: MIT
"""
The Python package's tables, of records that this test writes: values of each type, and those that are not known,
in NumPy and pandas; and what is refused.
"""
import json
import os
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import check
from python_package import need_modules

need_modules("numpy", "pandas")
import magnet  # noqa: E402

NONE = 2 ** 64 - 1
COLUMNS = (
    ("begin", "TIME", "<u8", {"unknown": 0, "unit": "ns"}),
    ("bytes", "COUNT", "<u8", {"unknown": NONE}),
    ("total", "SPAN", "<f8", {"unknown": "nan", "unit": "ns"}),
    ("cpu", "CPU", "<i4", {"unknown": -1}),
    ("complete", "MAYBE", "u1", {"unknown": 2}),
    ("kind", "WORD", "u1", {"unknown": 255, "words": ["tcp", "udp"]}),
    ("flow", "FLOW", "<u8", {"unknown": 0}),
    ("flow_rx", "FLAG", "u1", {}),
    ("function", "FUNCTION", "<u4", {"unknown": 0}),
    ("remote_addr", "ADDRESS", "V16", {}),
    ("remote_port", "PORT", "<u2", {}),
    ("remote_known", "FLAG", "u1", {}),
    ("state", "INT", "i1", {"names": {"-1": "closed", "7": "open"}}),
)
V4 = bytes(10) + b"\xff\xff" + bytes((10, 0, 0, 1))
V6 = b"\xfd\x77" + bytes(13) + b"\x00"  # ends in a zero, which no text may lose
ROWS = (
    (1500, 2 ** 63, 12.5, 1, 1, 1, 4097 + (1 << 44), 1, 1, V4, 80, 1, -1),
    (0, NONE, float("nan"), -1, 2, 255, 0, 0, 0, bytes(16), 0, 0, 7),
    (3000, 0, 0.0, 0, 0, 0, 2 ** 62 + 5, 0, 2, V6, 443, 1, 3),
)


def write(top, schema=1):
    columns, offset, form = [], 0, "<"
    for name, kind, dtype, more in COLUMNS:
        size = struct.calcsize("<" + {"<u8": "Q", "<f8": "d", "<i4": "i", "u1": "B", "i1": "b", "<u4": "I",
                                      "V16": "16s", "<u2": "H"}[dtype])
        form += {"<u8": "Q", "<f8": "d", "<i4": "i", "u1": "B", "i1": "b", "<u4": "I", "V16": "16s",
                 "<u2": "H"}[dtype]
        columns.append({"name": name, "type": kind, "dtype": dtype, "offset": offset, "doc": name + "'s doc", **more})
        offset += size
    empty = {"name": "drop", "kind": "fact", "doc": "", "file": "drop.bin", "rows": 0, "record_bytes": offset,
             "columns": columns}
    with open(top + "/schema.json", "w") as f:
        json.dump({"schema": schema, "magnet": "0", "session": {"host": "h"}, "strings": "strings.json",
                   "tables": [{**empty, "name": "call", "file": "call.bin", "rows": len(ROWS)}, empty]}, f)
    with open(top + "/strings.json", "w") as f:
        json.dump(["", "send", "Grüße"], f)
    with open(top + "/call.bin", "wb") as f:
        for row in ROWS:
            f.write(struct.pack(form, *row))
    open(top + "/drop.bin", "wb").close()


def refused(what, act):
    try:
        act()
    except magnet.MagnetError as e:
        check(len(str(e).splitlines()) == 1, f"{what} is refused in one line: {e}")
        return
    check(False, f"{what} is refused")


def numpy_columns(call):
    import numpy as np
    check(call.array["begin"].tolist() == [1500, 0, 3000] and isinstance(call.array.base, np.memmap),
          "the array has the stored numbers, and is mapped")
    check(str(call["begin"].tolist()) == "[1500, None, 3000]" and np.isnat(call["begin"][1]),
          "a time that is not known is NaT")
    check(call["bytes"][0] == 2.0 ** 63 and np.isnan(call["bytes"][1]), "a number that is not known is NaN")
    for name, wanted in (("kind", ["udp", None, "tcp"]), ("flow", ["4097.2/rx", None, "ino:5/tx"]),
                         ("function", ["send", None, "Grüße"]), ("state", ["closed", "open", "3"]),
                         ("remote", ["10.0.0.1:80", None, "[fd77::]:443"])):
        check(call[name].tolist() == wanted, f"{name} has the words {wanted}")
    check(call.describe()["total"] == "total's doc [ns]", "columns are described, with units")


def pandas_columns(call, drop):
    import pandas as pd
    df = call.to_pandas()
    check(list(df.columns) == ["begin", "bytes", "total", "cpu", "complete", "kind", "flow", "function", "remote",
                               "state"], "pandas has each column once")
    check(df["bytes"].tolist()[::2] == [2 ** 63, 0] and df["bytes"][1] is pd.NA, "counts keep all 64 bits")
    check(df["begin"][0] == pd.Timedelta(1500, "ns") and df["begin"][1] is pd.NaT, "times are durations")
    check(df["complete"].tolist() == [True, pd.NA, False], "flags may be unknown")
    check(df.isna().sum().tolist() == [1] * 9 + [0], "the second row is unknown, except for its state")
    check(all(isinstance(df[c].dtype, pd.CategoricalDtype) for c in ("kind", "flow", "function", "remote", "state")),
          "words are categories")
    check(len(drop.to_pandas()) == 0 and list(drop.to_pandas().columns) == list(df.columns), "an empty table has columns")


with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
    write(top)
    with magnet.open(top) as recording:
        check(recording.session.host == "h" and list(recording.facts) == ["call", "drop"], "session and tables are there")
        numpy_columns(recording.facts.call)
        pandas_columns(recording.facts.call, recording["drop"])
        refused("figures of an export", lambda: recording.figures)
    with open(top + "/call.bin", "ab") as f:
        f.write(b"x")
    refused("a file of another length", lambda: magnet.open(top).facts.call.array)
    write(top, schema=2)
    refused("another schema", lambda: magnet.open(top))
    refused("a directory that is not there", lambda: magnet.open(top + "/none"))
