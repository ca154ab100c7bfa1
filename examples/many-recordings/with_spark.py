#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Runs queries.sql over a data set of `magnet export --format parquet` by Spark: with_spark.py DATASET [QUERY...]
by hand, on two threads of this machine; or `spark-submit --py-files queries.py --files queries.sql with_spark.py`
on a cluster, with a DATASET that all of its machines read.
"""
import os

from pyspark.sql import SparkSession

from queries import main, tables


def run(dataset, asked):
    spark = (SparkSession.builder.appName("magnet").master(os.environ.get("SPARK_MASTER", "local[2]"))
             .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").config("spark.sql.shuffle.partitions", "4").getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    try:
        for name in tables(dataset, asked):
            (spark.read.option("mergeSchema", "true").option("basePath", f"{dataset}/{name}")
             .parquet(f"{dataset}/{name}").createOrReplaceTempView(name))
        for name, sql in asked.items():
            found = spark.sql(sql)
            yield name, found.columns, [tuple(row) for row in found.collect()]
    finally:
        spark.stop()


if __name__ == "__main__":
    main(run)
