# SPDX-License-Identifier: MIT
"""Reads a table of facts, as `magnet show --facts` prints it."""
from fixture import MAGNET, check, run


def read(kind, to):
    return {"bool": lambda x: x == "1", "text": str, "f64": float}.get(kind, int)(to)


def facts(rec, name, *options):
    """Rows of a fact table; what is empty is None."""
    text = run(MAGNET, "show", rec.dir, "--facts", name, *options).stdout
    head, *rows = text.splitlines()
    columns = [c.rsplit(":", 1) for c in head.split("\t")]
    kinds = {kind for _, kind in columns}
    check(kinds <= {"u64", "i64", "f64", "bool", "text"}, f"{name}: {len(rows)} rows, {len(columns)} "
          f"typed columns")
    return [{c: read(kind, v) if v else None for (c, kind), v in zip(columns, row.split("\t"), strict=True)}
            for row in rows]
