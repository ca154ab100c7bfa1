#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs queries.sql over a data set of `magnet export --format parquet` by DuckDB: with_duckdb.py DATASET [QUERY...]"""
import duckdb

from queries import main, tables


def run(dataset, asked):
    con = duckdb.connect()
    for name in tables(dataset, asked):
        files = f"{dataset}/{name}/*/*/*.parquet".replace("'", "''")
        con.execute(f"CREATE VIEW \"{name}\" AS SELECT * FROM read_parquet('{files}', "
                    "hive_partitioning = true, union_by_name = true)")
    for name, sql in asked.items():
        found = con.execute(sql)
        yield name, [c[0] for c in found.description], found.fetchall()


if __name__ == "__main__":
    main(run)
