# SPDX-License-Identifier: MIT
"""The Python package's tables in Polars and Arrow: values of each kind, and those that are not known, are equal."""
from viewers import *

need_viewers()
import numpy as np

from magnet import frames
from magnet.values import Values

KNOWN = np.array([True, False, True])
COLUMNS = [
    Values("count", "number", np.array([2 ** 63, 0, 3], "<u8"), KNOWN),
    Values("span", "number", np.array([1.5, 2.5, 0.0])),
    Values("time", "time", np.array([1500, 0, 7000]), KNOWN),
    Values("flag", "flag", np.array([1, 2, 0], "u1"), KNOWN),
    Values("word", "category", np.array([1, 0, 0], "i4"), KNOWN, ["tcp", "udp"]),
]
ROWS = {"count": [2 ** 63, None, 3], "span": [1.5, 2.5, 0.0], "flag": [True, None, False], "word": ["udp", None, "tcp"]}

arrow, polars = frames.to_arrow(COLUMNS), frames.to_polars(COLUMNS)
for name, wanted in ROWS.items():
    check(arrow.column(name).to_pylist() == wanted, f"Arrow: {name} is {wanted}")
    check(polars[name].to_list() == wanted, f"Polars: {name} is {wanted}")
check(arrow.column("time").cast("int64").to_pylist() == [1500, None, 7000], "Arrow: times are ns, null if not known")
check(polars["time"].dt.total_nanoseconds().to_list() == [1500, None, 7000], "Polars: so are they")
check(str(arrow.schema.field("time").type) == "duration[ns]" and "dictionary" in str(arrow.schema.field("word").type),
      "Arrow: durations and dictionaries")
