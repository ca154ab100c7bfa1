# SPDX-License-Identifier: MIT
"""The queries of queries.sql, the tables of a data set, and how rows are printed."""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def queries():
    """Return the SQL of each query by its name."""
    with open(os.path.join(HERE, "queries.sql"), encoding="utf-8") as f:
        parts = re.split(r"^-- name: (\w+)\n", f.read(), flags=re.M)
    return {name: sql.strip().rstrip(";") for name, sql in zip(parts[1::2], parts[2::2])}


def tables(dataset, asked):
    """Return the names of those tables of a data set that the queries read."""
    there = sorted(name for name in os.listdir(dataset) if os.path.isdir(os.path.join(dataset, name)))
    return [name for name in there if re.search(rf"\b(?:FROM|JOIN)\s+{name}\b", " ".join(asked.values()))]


def main(engine):
    """Print the rows of all queries, or of those that are named: DATASET [QUERY...]."""
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} DATASET [{'|'.join(queries())} ...]")
    known = queries()
    asked = {name: known[name] for name in sys.argv[2:] or known if name in known}
    if len(asked) != len(sys.argv[2:] or known):
        sys.exit(f"{sys.argv[0]}: there is no such query: it is one of {', '.join(known)}")
    for name, columns, rows in engine(sys.argv[1], asked):
        print(f"== {name}", *["\t".join(map(str, row)) for row in (columns, *rows)], sep="\n")
