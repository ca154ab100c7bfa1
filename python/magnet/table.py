# SPDX-License-Identifier: MIT
"""A table of facts or events, mapped into memory, and its forms in other libraries."""
from pathlib import Path
from typing import Any, Dict, List, Sequence

import numpy as np
from numpy.typing import NDArray

from .errors import MagnetError
from .schema import Layout
from .values import Values, values_of


class Table:
    """A fact, such as `call`, or an event, such as `event/tcp_send`: a row each time it occurred.

    `array` is the file as a NumPy structured array, with the numbers as they are stored;
    `table["bytes"]` is one column with unknown values as NaN, NaT or None, and words as texts.
    `to_pandas()`, `to_polars()` and `to_arrow()` give all columns, with words as categories.
    """

    def __init__(self, directory: Path, layout: Layout, strings: Sequence[str]) -> None:
        self.name = layout.name
        self.doc = layout.doc
        self.layout = layout
        self._path = directory / layout.file
        self._strings = strings
        self._array: Any = None

    def __repr__(self) -> str:
        return f"<magnet table {self.name}, {len(self)} rows>"

    def __len__(self) -> int:
        return self.layout.rows

    @property
    def array(self) -> NDArray[Any]:
        """The file as a structured array, read-only; nothing is read before it is used."""
        if self._array is None:
            if not len(self):
                self._array = np.zeros(0, dtype=self.layout.dtype)
            else:
                self._array = self._map()
        return np.asarray(self._array)

    def _map(self) -> Any:
        wanted = self.layout.rows * self.layout.record_bytes
        try:
            size = self._path.stat().st_size
            if size != wanted:
                raise MagnetError(f"{self._path}: has {size} bytes, and schema.json says {wanted}; export it again")
            return np.memmap(self._path, dtype=self.layout.dtype, mode="r", shape=(self.layout.rows,))
        except OSError as e:
            raise MagnetError(f"{self._path}: {e.strerror}") from e

    @property
    def strings(self) -> Sequence[str]:
        """The texts that numbers in columns of texts stand for."""
        return self._strings

    @property
    def columns(self) -> List[str]:
        """Names of the columns, as the other forms have them."""
        return [self.layout.shown_name(c) for c in self.layout.shown()]

    def describe(self) -> Dict[str, str]:
        """Return what each column means, with its unit."""
        return {
            self.layout.shown_name(c): c.doc + (f" [{c.unit}]" if c.unit else "")
            for c in self.layout.shown()
        }

    def values(self, name: str) -> Values:
        """Return a column with what is known of it; see `Values`."""
        for c in self.layout.shown():
            if name in (c.name, self.layout.shown_name(c)):
                return values_of(self.array, self.layout, c, self._strings)
        raise KeyError(f"{self.name} has no column {name}; it has {', '.join(self.columns)}")

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.values(name).numpy()

    def all_values(self) -> List[Values]:
        """Return every column."""
        return [values_of(self.array, self.layout, c, self._strings) for c in self.layout.shown()]

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame."""
        from . import frames

        return frames.to_pandas(self.all_values())

    def to_polars(self) -> Any:
        """Return a polars.DataFrame."""
        from . import frames

        return frames.to_polars(self.all_values())

    def to_arrow(self) -> Any:
        """Return a pyarrow.Table."""
        from . import frames

        return frames.to_arrow(self.all_values())
