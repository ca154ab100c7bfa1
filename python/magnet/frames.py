# SPDX-License-Identifier: MIT
"""The same columns for pandas, Polars and Arrow.

Numbers keep their type, and what is not known is NA or null; times are durations since the machine's
start (CLOCK_MONOTONIC) in nanoseconds; words are categories.
"""
import importlib
from typing import Any, List

import numpy as np

from .errors import MagnetError
from .values import Values


def _library(name: str, package: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as e:
        raise MagnetError(f"{name} is not installed: install {package}") from e


def _unknown(v: Values) -> Any:
    return None if v.known is None or v.known.all() else ~v.known


def to_pandas(columns: List[Values]) -> Any:
    """Return a pandas.DataFrame of the columns."""
    pd = _library("pandas", "python3-pandas, or pandas by pip")

    def series(v: Values) -> Any:
        mask = np.zeros(len(v.values), np.bool_) if v.known is None else ~v.known
        if v.kind == "category":
            codes = np.where(mask, -1, v.values)
            words = list(dict.fromkeys(v.categories or []))
            if len(words) != len(v.categories or []):
                codes = np.where(mask, -1, np.array([words.index(w) for w in v.categories or []])[v.values])
            return pd.Categorical.from_codes(codes, categories=words)
        if v.kind == "time":
            return pd.array(v.numpy(), dtype="timedelta64[ns]")
        if v.kind == "flag":
            return pd.arrays.BooleanArray(v.values.astype(np.bool_), mask) if v.known is not None else v.numpy()
        if v.known is None or v.values.dtype.kind == "f":
            return np.asarray(v.values)
        return pd.arrays.IntegerArray(np.array(v.values), mask)

    return pd.DataFrame({v.name: series(v) for v in columns}, copy=False)


def to_arrow(columns: List[Values]) -> Any:
    """Return a pyarrow.Table of the columns."""
    pa = _library("pyarrow", "pyarrow by pip")

    def array(v: Values) -> Any:
        mask = _unknown(v)
        if v.kind == "category":
            index = pa.array(v.values.astype(np.int32), mask=mask)
            return pa.DictionaryArray.from_arrays(index, pa.array(v.categories or [], pa.string()))
        if v.kind == "time":
            return pa.array(v.values.astype("timedelta64[ns]"), mask=mask)
        if v.kind == "flag":
            return pa.array(v.values.astype(np.bool_), mask=mask)
        return pa.array(np.ascontiguousarray(v.values), mask=mask)

    return pa.table({v.name: array(v) for v in columns})


def to_polars(columns: List[Values]) -> Any:
    """Return a polars.DataFrame of the columns."""
    pl = _library("polars", "polars by pip")

    def series(v: Values) -> Any:
        if v.kind == "category":
            made = pl.Series(v.name, v.numpy().tolist(), dtype=pl.Utf8).cast(pl.Categorical)
        elif v.kind == "time":
            made = pl.Series(v.name, v.values.astype(np.int64)).cast(pl.Duration("ns"))
        elif v.kind == "flag":
            made = pl.Series(v.name, v.values.astype(np.bool_))
        else:
            made = pl.Series(v.name, np.ascontiguousarray(v.values))
        mask = _unknown(v)
        if mask is None or v.kind == "category":
            return made
        return pl.select(pl.when(pl.Series("known", ~mask)).then(made).otherwise(None).alias(v.name)).to_series()

    return pl.DataFrame([series(v) for v in columns])
