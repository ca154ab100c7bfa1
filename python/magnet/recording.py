# SPDX-License-Identifier: MIT
"""A recording: its tables, figures and session."""
import json
import os
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Type

from . import program
from .errors import MagnetError
from .figures import Figures, wrap
from .program import PathLike
from .schema import Layout
from .table import Table


class Tables(Mapping[str, Table]):
    """The tables of one kind by name, also as attributes: `recording.facts.call`."""

    def __init__(self, tables: Dict[str, Table], kind: str) -> None:
        self._tables = tables
        self._kind = kind

    def __getitem__(self, name: str) -> Table:
        try:
            return self._tables[name]
        except KeyError:
            raise KeyError(f"no {self._kind} {name}; there are {', '.join(self._tables)}") from None

    def __getattr__(self, name: str) -> Table:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as e:
            raise AttributeError(e.args[0]) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __dir__(self) -> Any:
        return [*super().__dir__(), *self._tables]


class Recording:
    """An open recording: `facts` and `events` are tables, `figures` those of the report.

    A recording holds a temporary directory with its tables until `close()`, the end of a `with`
    block, or the end of the program.
    """

    def __init__(self, directory: PathLike, options: Sequence[str] = ()) -> None:
        self.directory = Path(directory)
        self._options = list(options)
        self._figures: Dict[Tuple[str, ...], Figures] = {}
        self._temporary: Optional[tempfile.TemporaryDirectory[str]] = None
        self._is_export = program.is_export(self.directory)
        if self._is_export:
            if options:
                raise MagnetError(f"{directory} is an export: filters are given to magnet export")
            self._load(self.directory)
        else:
            self._export()

    def _export(self) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="magnet-records-")
        out = os.path.join(self._temporary.name, "records")
        try:
            program.run("export", self.directory, "--format", "records", "-o", out, *self._options)
            self._load(Path(out))
        except BaseException:
            self.close()
            raise

    def _load(self, directory: Path) -> None:
        schema = _json(directory / "schema.json")
        if schema.get("schema") != 1 or "tables" not in schema:
            raise MagnetError(
                f"{directory}/schema.json is of a form that this version does not know: "
                "export the recording again, by the magnet that belongs to this package"
            )
        strings: List[str] = _json(directory / schema["strings"])
        self.records = directory
        self.session = wrap(schema.get("session"))
        self.utc_offset_ns: Optional[int] = schema.get("utc_offset_ns")
        facts: Dict[str, Table] = {}
        events: Dict[str, Table] = {}
        for layout in map(Layout.of, schema["tables"]):
            to = facts if layout.kind == "fact" else events
            to[layout.name.split("/", 1)[-1]] = Table(directory, layout, strings)
        self.facts = Tables(facts, "fact")
        self.events = Tables(events, "event")

    def __getitem__(self, name: str) -> Table:
        """Return a table by its name: "call", or "event/tcp_send"."""
        kind, _, rest = name.rpartition("/")
        return self.events[rest] if kind == "event" else self.facts[name]

    def __repr__(self) -> str:
        return f"<magnet recording {self.directory}>"

    @property
    def figures(self) -> Figures:
        """The figures of `magnet report --json --full`."""
        return self.figures_with()

    def figures_with(self, *on_demand: str) -> Figures:
        """Return the figures with statistics on demand, such as "idc", "spectrum", "goodput"."""
        if self._is_export:
            raise MagnetError(f"{self.directory} is an export, which has no figures: open the recording itself")
        if on_demand not in self._figures:
            more = ["--on-demand", ",".join(on_demand)] if on_demand else []
            read = program.run_json("report", "--json", "--full", *more, *self._options, self.directory)
            self._figures[on_demand] = Figures(read)
        return self._figures[on_demand]

    def close(self) -> None:
        """Remove the temporary directory; tables that were used stay readable."""
        if self._temporary:
            self._temporary.cleanup()
            self._temporary = None

    def __enter__(self) -> "Recording":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()


def _json(path: Path) -> Any:
    try:
        with path.open(encoding="utf-8") as f:
            return json.load(f)
    except OSError as e:
        raise MagnetError(f"{path}: {e.strerror}") from e
    except ValueError as e:
        raise MagnetError(f"{path} is not JSON: export the recording again") from e


def open_recording(directory: PathLike, *options: str) -> Recording:
    """Open a recording of `magnet record`, or a directory made by `magnet export --format records`.

    Options are filters, as magnet-report(1) has them: `magnet.open("trace", "--process", "4711")`.
    """
    if not Path(directory).is_dir():
        raise MagnetError(f"{directory}: no such directory; record one with: magnet record -o {directory} -- COMMAND")
    return Recording(directory, options)
