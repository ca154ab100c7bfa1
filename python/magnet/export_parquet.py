# SPDX-License-Identifier: MIT
"""`magnet export --format parquet`: facts and events as Parquet files, partitioned by host and day.

A recording adds OUT/TABLE/host=HOST/day=DAY/RECORDING.parquet, so that many recordings of many hosts
are one data set. Columns have the names and the values of `magnet export --format csv`. Added are `utc`,
the row's first time to the microsecond, and `recording`. Rows are converted a part at a time, so that
memory does not grow with the recording.
"""
import argparse
import contextlib
import os
import re
import sys
from datetime import datetime, timezone
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .errors import MagnetError
from .recording import Recording, open_recording
from .schema import Column, Layout
from .table import Table
from .values import TEXTS, address_text, flow_text, known_mask

ROWS = 1 << 17  # converted at once, and of a row group
DAY_NS = 86400 * 10**9
UNKNOWN = "unknown"

TEXT = pa.dictionary(pa.int32(), pa.string())
Array = Any  # of pyarrow, or of NumPy: neither has types of its own


def file_stem(name: str) -> str:
    """Return a table's name as file and SQL names take it: event/magnet:send is event_magnet_send."""
    return re.sub(r"[^A-Za-z0-9]", "_", name)


def column_name(c: Column, layout: Layout) -> str:
    """Return the name that CSV files have, too."""
    is_time = c.unit == "ns" and layout.kind == "fact"
    return layout.shown_name(c) + ("_ns" if is_time else "")


STACKS = {("fact", "stack", "user"), ("fact", "stack", "kernel"), ("fact", "frame", "stack")}


def arrow_type(c: Column, layout: Layout) -> Any:
    """Return the type of a column; numbers are signed, as Spark has no others, unless they need 64 bits."""
    if c.type == "FLOW" or layout.is_address(c) or c.type in TEXTS or c.words or c.names or c.dtype == "V16":
        return TEXT
    if c.type in ("FLAG", "MAYBE") and layout.kind == "fact":
        return pa.bool_()
    if c.dtype == "<f8":
        return pa.float64()
    if c.dtype != "<u8":
        return {"u1": pa.int16(), "<u2": pa.int32(), "<u4": pa.int64(), "i1": pa.int16(), "<i2": pa.int16(),
                "<i4": pa.int32(), "<i8": pa.int64()}[c.dtype]
    # addresses, numbers of stacks and plain fields of events may have all 64 bits
    wide = c.name == "address" or (layout.kind, layout.name, c.name) in STACKS or c.type in ("UINT", "HEX")
    return pa.uint64() if wide else pa.int64()


def texts(keys: Array, known: Optional[Array], text: Callable[[Any], str]) -> Array:
    """Return texts of keys, each of which is made once."""
    found = pa.array(keys, mask=None if known is None else ~known).dictionary_encode()
    made = pa.array([text(k) for k in found.dictionary.to_pylist()], pa.string())
    return pa.DictionaryArray.from_arrays(found.indices, made)


def end_text(key: bytes) -> str:
    """Return an address and its port."""
    host, port = address_text(key[:16]), int.from_bytes(key[16:], "little")
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def fixed(stored: Array, size: int) -> Array:
    """Return bytes as pyarrow's array of texts of this size."""
    buffer = pa.py_buffer(np.ascontiguousarray(stored).tobytes())
    return pa.Array.from_buffers(pa.binary(size), len(stored), [None, buffer])


def addresses(rows: Array, layout: Layout, c: Column) -> Array:
    """Return the ends of connections."""
    base = layout.shown_name(c)
    both = np.zeros(len(rows), dtype=[("addr", "V16"), ("port", "<u2")])
    both["addr"], both["port"] = rows[c.name], rows[base + "_port"]
    known = pa.array(rows[base + "_known"] != 0)
    found = pc.if_else(known, fixed(both, 18), pa.scalar(None, pa.binary(18))).dictionary_encode()
    made = pa.array([end_text(k) for k in found.dictionary.to_pylist()], pa.string())
    return pa.DictionaryArray.from_arrays(found.indices, made)


def convert(rows: Array, layout: Layout, c: Column, strings: Sequence[str]) -> Array:
    """Return a column of some rows."""
    if layout.is_address(c):
        return addresses(rows, layout, c)
    stored = np.ascontiguousarray(rows[c.name])
    known = known_mask(stored, c) if stored.dtype.kind != "V" else None
    if c.type == "FLOW":
        return texts(stored << np.uint64(1) | rows[c.name + "_rx"], known,
                     lambda key: flow_text(key >> 1, bool(key & 1)))
    if c.type in TEXTS:
        return texts(stored, known, lambda k: str(strings[k]))
    if c.words:
        return texts(stored, known, lambda k: str(c.words[k] or ""))
    if c.names:
        return texts(stored, known, lambda k: str(c.names.get(k, k)))
    if stored.dtype.kind == "V":
        found = fixed(stored, 16).dictionary_encode()
        made = pa.array([address_text(k) for k in found.dictionary.to_pylist()], pa.string())
        return pa.DictionaryArray.from_arrays(found.indices, made)
    kind = arrow_type(c, layout)
    array = pa.array(stored, mask=None if known is None else ~known)
    return array if array.type == kind else array.cast(kind)


class Dataset:
    """The directory that a recording is added to."""

    def __init__(self, to: str, recording: Recording, utc_offset_ns: Optional[int]) -> None:
        session = recording.session or {}
        self.to = to
        self.records = recording.records
        self.host = str(session.get("host") or UNKNOWN)
        boot, start = str(session.get("boot_id") or UNKNOWN), session.get("start_ns") or 0
        self.recording = f"{boot[:8]}-{start}"
        self.offset = utc_offset_ns
        self.start_utc = int(start) + utc_offset_ns if utc_offset_ns is not None and start else None

    def day(self, number: int) -> str:
        """Return a day by its number since 1970; -1: not known."""
        return UNKNOWN if number < 0 else datetime.fromtimestamp(number * 86400, timezone.utc).strftime("%Y-%m-%d")

    def path(self, table: str, day: int) -> str:
        """Return the file of a table's rows of one day."""
        return os.path.join(self.to, table, f"host={quote(self.host, safe='')}", f"day={self.day(day)}",
                            self.recording + ".parquet")


def hidden(path: str) -> str:
    """Return the name of a file until all are written: no reader takes it for one of the data set."""
    return os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.new")


class TableWriter:
    """Writes the rows of a table, a file for each day."""

    def __init__(self, dataset: Dataset, table: Table) -> None:
        self.dataset, self.table, self.layout = dataset, table, table.layout
        self.name = file_stem(table.name)
        self.columns = table.layout.shown()
        self.schema = pa.schema(
            [pa.field("utc", pa.timestamp("us", "UTC")), pa.field("recording", TEXT)]
            + [pa.field(column_name(c, self.layout), arrow_type(c, self.layout)) for c in self.columns]
        )
        self.paths: List[str] = []
        self.files: Dict[int, Any] = {}
        self.rows = 0

    def _file(self, day: int) -> Any:
        if day not in self.files:
            path = self.dataset.path(self.name, day)
            self.paths.append(path)  # before there is anything of it to remove
            os.makedirs(os.path.dirname(path), exist_ok=True)
            texts_ = [f.name for f in self.schema if f.type == TEXT]
            self.files[day] = pq.ParquetWriter(
                hidden(path), self.schema, compression="zstd", use_dictionary=texts_, store_schema=False)
        return self.files[day]

    def _utc(self, rows: Array) -> Array:
        """Return the first time that each row has, ns since 1970; -1: not known."""
        times = [c for c in self.columns if c.type in ("TIME", "NS")]
        first = np.zeros(len(rows), np.int64)
        for c in times:
            first = np.where(first == 0, rows[c.name].astype(np.int64), first)
        if self.dataset.offset is None:
            return np.full(len(rows), -1)
        return np.where(first == 0, -1, first + self.dataset.offset)

    def _parts(self, rows: Array, utc: Array) -> Iterator[Tuple[int, Array, Array]]:
        """Divide rows by the day; rows without a time are of the recording's first day."""
        start = self.dataset.start_utc
        days = np.where(utc < 0, -1 if start is None else start // DAY_NS, utc // DAY_NS)
        for day in np.unique(days).tolist():
            chosen = days == day
            yield (day, rows, utc) if chosen.all() else (day, rows[chosen], utc[chosen])

    def _write(self, day: int, rows: Array, utc: Array) -> None:
        constant = pa.array([self.dataset.recording], pa.string())
        columns = [
            pa.array(utc // 1000, pa.timestamp("us", "UTC"), mask=utc < 0),
            pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(rows), np.int32)), constant),
        ]
        columns += [convert(rows, self.layout, c, self.table.strings) for c in self.columns]
        self._file(day).write_table(pa.Table.from_arrays(columns, schema=self.schema), row_group_size=ROWS)
        self.rows += len(rows)

    def write(self) -> None:
        """Write all rows; an empty table of facts has a file, too, since queries name it."""
        with open(os.path.join(self.dataset.records, self.layout.file), "rb") as f:
            # read, not mapped: mapped pages count as memory of the process until somebody else needs them
            while len(rows := np.fromfile(f, self.layout.dtype, ROWS)):
                for part in self._parts(rows, self._utc(rows)):
                    self._write(*part)
        if self.rows != self.layout.rows:
            raise MagnetError(f"{self.layout.file} has not the rows that schema.json says; export it again")
        if not self.rows and self.layout.kind == "fact":
            start = self.dataset.start_utc
            self._file(-1 if start is None else start // DAY_NS)

    def finish(self) -> None:
        """Write the ends of the files."""
        for writer in self.files.values():
            writer.close()

    def keep(self) -> None:
        """Give the files their names."""
        for path in self.paths:
            os.replace(hidden(path), path)

    def discard(self) -> None:
        """Remove the files, and the directories that have nothing else."""
        for writer in self.files.values():
            with contextlib.suppress(OSError, pa.ArrowException):  # a full disk refuses the end, too
                writer.close()
        for path in self.paths:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(hidden(path))
            place = path
            with contextlib.suppress(OSError):
                for _ in ("day", "host", "table"):
                    place = os.path.dirname(place)
                    os.rmdir(place)


def export(records: str, to: str) -> int:
    """Add the records of `magnet export --format records` to a data set. Return the number of rows."""
    rows = 0
    with open_recording(records) as recording:
        dataset = Dataset(to, recording, recording.utc_offset_ns)
        writers: List[TableWriter] = []
        try:
            for table in (*recording.facts.values(), *recording.events.values()):
                writers.append(TableWriter(dataset, table))
                writers[-1].write()
                writers[-1].finish()
                rows += writers[-1].rows
        except BaseException:
            for w in writers:
                w.discard()
            raise
        for w in writers:
            w.keep()
    return rows


def main(args: Optional[Sequence[str]] = None) -> None:
    """Run as `python3 -m magnet.export_parquet RECORDS -o OUT`."""
    parser = argparse.ArgumentParser(prog="magnet export --format parquet")
    parser.add_argument("records")
    parser.add_argument("-o", "--output", required=True)
    o = parser.parse_args(args)
    if o.output == "-":
        sys.exit("magnet: standard output cannot be a directory: give -o one")
    try:
        export(o.records, o.output)
    except OSError as e:
        sys.exit(f"magnet: cannot write {e.filename or o.output}: {e.strerror}")
    except (MagnetError, pa.ArrowException) as e:
        sys.exit(f"magnet: {e}")


if __name__ == "__main__":
    main()
