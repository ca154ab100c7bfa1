# SPDX-License-Identifier: MIT
"""Tables of records as schema.json describes them: columns, and how each stands for "not known"."""
from dataclasses import dataclass, field
from typing import Any, List, Mapping, Optional, Tuple

import numpy as np

RX = "_rx"
ADDR, PORT, KNOWN = "_addr", "_port", "_known"


@dataclass(frozen=True)
class Column:
    """A column as it is stored."""

    name: str
    type: str
    dtype: str
    offset: int
    doc: str = ""
    unit: Optional[str] = None
    unknown: Any = None
    words: Tuple[Optional[str], ...] = ()
    names: Mapping[int, str] = field(default_factory=dict)

    @staticmethod
    def of(j: Mapping[str, Any]) -> "Column":
        """Return the column that an object of schema.json describes."""
        unknown = j.get("unknown")
        return Column(
            name=j["name"],
            type=j["type"],
            dtype=j["dtype"],
            offset=j["offset"],
            doc=j.get("doc", ""),
            unit=j.get("unit"),
            unknown=float("nan") if unknown == "nan" else unknown,
            words=tuple(j.get("words", ())),
            names={int(k): v for k, v in j.get("names", {}).items()},
        )


@dataclass(frozen=True)
class Layout:
    """A table as it is stored."""

    name: str
    kind: str
    doc: str
    file: str
    rows: int
    record_bytes: int
    columns: Tuple[Column, ...]

    @staticmethod
    def of(j: Mapping[str, Any]) -> "Layout":
        """Return the table that an object of schema.json describes."""
        return Layout(
            name=j["name"],
            kind=j["kind"],
            doc=j.get("doc", ""),
            file=j["file"],
            rows=j["rows"],
            record_bytes=j["record_bytes"],
            columns=tuple(Column.of(c) for c in j["columns"]),
        )

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The NumPy type of a record."""
        parts: Any = {
            "names": [c.name for c in self.columns],
            "formats": [c.dtype for c in self.columns],
            "offsets": [c.offset for c in self.columns],
            "itemsize": self.record_bytes,
        }
        return np.dtype(parts)

    def has(self, name: str) -> bool:
        """Return whether a column of this name is stored."""
        return any(c.name == name for c in self.columns)

    def is_address(self, c: Column) -> bool:
        """Return whether a column is an address, which has its port in a column of its own."""
        return c.name.endswith(ADDR) and self.has(c.name[: -len(ADDR)] + PORT)

    def shown_name(self, c: Column) -> str:
        """Return the name that users see."""
        return c.name[: -len(ADDR)] if self.is_address(c) else c.name

    def shown(self) -> List[Column]:
        """Return the columns that users see: those that are part of another one are left out."""
        parts = set()
        for c in self.columns:
            if c.type == "FLOW":
                parts.add(c.name + RX)
            elif self.is_address(c):
                parts.update(self.shown_name(c) + end for end in (PORT, KNOWN))
        return [c for c in self.columns if c.name not in parts]
