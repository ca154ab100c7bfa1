# SPDX-License-Identifier: MIT
"""
magnet export --format parquet: recordings of two hosts are one data set, which pyarrow, DuckDB, Polars and Spark
read. Its rows are those of the CSV files, and the queries of examples/many-recordings have the same results in
DuckDB and Spark.
"""
import csv
import datetime
import glob

from viewers import *

need_viewers("java")
import duckdb
import polars
import pyarrow.parquet

import golden
from magnet import export_parquet
from magnet.recording import open_recording

EXAMPLE = os.path.join(HERE, "..", "..", "examples", "many-recordings")
NUMBERS = {"missing_share", "missing_time", "clock_error", "clock_error_over", "clock_rate_error", "cpus_error", "hz", "share"}


def as_csv(name, value):
    """A value as magnet prints it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return f"{value:.12g}" if name in NUMBERS else f"{value:.1f}"
    return str(value).replace(" ", "_")


def rows_of(dataset, table, host):
    files = glob.glob(f"{dataset}/{table}/host={host}/*/*.parquet")
    return [row for f in files for row in pyarrow.parquet.ParquetFile(f).read().to_pylist()]


def facts_are_equal(dataset, host, trace, top):
    run(MAGNET, "export", trace, "--format", "csv", "-o", top + "/csv")
    count = 0
    for file in sorted(os.listdir(top + "/csv")):
        with open(f"{top}/csv/{file}", newline="") as f:
            shown = list(csv.DictReader(f))
        rows = rows_of(dataset, file.removesuffix(".csv"), host)
        found = [{k: as_csv(k, v) for k, v in r.items() if k not in ("utc", "recording")} for r in rows]
        if found != shown:
            wrong = [(a, b) for a, b in zip(found, shown) if a != b][:1]
            check(False, f"{file}: {len(found)} rows, {len(shown)}: {[(k, a[k], b.get(k)) for a, b in wrong for k in a if a[k] != b.get(k)]}")
        count += len(shown)
    check(count > 300, f"pyarrow reads all {count} facts as CSV has them")


def events_are_equal(dataset, host, trace, top):
    run(MAGNET, "export", trace, "--format", "records", "-o", top + "/records")
    with open_recording(top + "/records") as r:
        for name, table in r.events.items():
            found = rows_of(dataset, "event_" + export_parquet.file_stem(name), host)
            same = len(found) == len(table)
            for c in table.layout.columns:
                if same and c.type in ("UINT", "INT", "HEX") and not c.names:
                    same = [row[c.name] for row in found] == table.array[c.name].tolist()
            if not same or [row["time"] for row in found] != table.array["time"].tolist():
                check(False, f"events {name}: {len(found)} {len(table)}")
        first = min((t.array["time"].min() for t in r.events.values() if len(t)))
        utc = min(row["utc"] for row in rows_of(dataset, "call", host))
        exact = (int(r["call"].array["begin"].min()) + r.utc_offset_ns) // 1000
        check(utc == datetime.datetime.fromtimestamp(0, datetime.timezone.utc) + datetime.timedelta(microseconds=exact),
              f"and the fields of all events; times of day are to the microsecond: {utc}")
        return int(first)


def days_divide(top, dataset):
    """Rows on both sides of midnight are in two files, and none is lost."""
    with open(top + "/records/schema.json") as f:
        schema = json.load(f)
    with open_recording(top + "/records") as r:
        times = sorted(r["call"].array["begin"].tolist())
    middle = times[len(times) // 2]
    schema["utc_offset_ns"] = 20000 * export_parquet.DAY_NS - middle
    with open(top + "/records/schema.json", "w") as f:
        json.dump(schema, f)
    export_parquet.export(top + "/records", dataset)
    found = duckdb.sql(f"""SELECT CAST(day AS VARCHAR), count(*), min(utc)::VARCHAR
        FROM read_parquet('{dataset}/call/*/*/*.parquet', hive_partitioning = true) GROUP BY ALL ORDER BY ALL""").fetchall()
    before = sum(t < middle for t in times)
    check([f[:2] for f in found] == [("2024-10-03", before), ("2024-10-04", len(times) - before)], f"days divide rows: {found}")


def engines_agree(dataset, hosts):
    said = {}
    for engine in ("duckdb", "spark"):
        p = run(sys.executable, f"{EXAMPLE}/with_{engine}.py", dataset, env=dict(os.environ, SPARK_LOCAL_IP="127.0.0.1"))
        said[engine] = p.stdout
    check(said["duckdb"] == said["spark"] and said["duckdb"].count("== ") == 7 and
          all(f"\n{h}\t" in said["duckdb"] for h in hosts), f"{said['duckdb'].count(chr(10))} lines of results are the same in DuckDB and Spark")
    p = run(sys.executable, f"{EXAMPLE}/with_duckdb.py", dataset, "nothing", check=False)
    check(p.returncode == 1 and "it is one of recordings," in p.stderr, p.stderr.strip())
    bytes_ = polars.scan_parquet(f"{dataset}/flow/**/*.parquet", hive_partitioning=True).select(polars.col("bytes").sum()).collect()
    sums = duckdb.sql(f"SELECT sum(bytes) FROM read_parquet('{dataset}/flow/*/*/*.parquet')").fetchall()[0]
    check(bytes_["bytes"][0] == sums[0] > 0, f"Polars sums the same {sums[0]} bytes")


def numbers_of_stacks(top):
    """They have all 64 bits."""
    os.mkdir(top)
    if no_kernel_side():
        return
    exchange = os.path.join(HERE, "..", "programs", "exchange.py")
    with Recording(PYTHON, exchange, 100, options=("--stacks",)) as rec:
        run(MAGNET, "export", rec.dir, "--format", "parquet", "-o", top + "/data")
        with open(rec.dir + "/session.json") as f:
            facts_are_equal(top + "/data", json.load(f)["host"], rec.dir, top)
    wide = [r["stack"] for host in os.listdir(top + "/data/frame") for r in rows_of(top + "/data", "frame", host.removeprefix("host="))]
    check(any(n >= 1 << 63 for n in wide), f"{len(wide)} frames of stacks, with numbers of 64 bits")


def bad_input(trace, top):
    p = run(MAGNET, "export", trace, "--format", "parquet", "-o", "/dev/null/x", check=False)
    check(p.returncode == 1 and p.stderr.count("\n") == 1 and "cannot write" in p.stderr, p.stderr.strip())
    if run(PYTHON, "-c", "import pyarrow", check=False).returncode:
        p = run(MAGNET, "export", trace, "--format", "parquet", "-o", top + "/x", check=False,
                env=dict(os.environ, MAGNET_PYTHON=PYTHON))
        check(p.returncode == 1 and p.stderr.count("\n") == 1 and "pip install" in p.stderr, p.stderr.strip())


def full_disk(trace, top):
    os.mkdir(top)
    if run("mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", top, check=False).returncode:
        print("no tmpfs can be mounted: a full disk is not tried")
        return
    try:
        p = run(MAGNET, "export", trace, "--format", "parquet", "-o", top, check=False)
        check(p.returncode == 1 and p.stderr.count("\n") == 1 and not os.listdir(top),
              f"a full disk is told, and nothing left on it: {p.stderr.strip()} {os.listdir(top)}")
    finally:
        run("umount", top)


with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
    os.environ["TMPDIR"] = top
    trace = golden.unpack("both", top)
    other = top + "/other"
    shutil.copytree(trace, other)
    with open(other + "/session.json") as f:
        session = json.load(f)
    host = session["host"]
    session.update(host="another host", boot_id="0" * 36)
    with open(other + "/session.json", "w") as f:
        json.dump(session, f)
    for recording in (trace, other, trace):  # once more changes nothing
        run(MAGNET, "export", recording, "--format", "parquet", "-o", top + "/data")
    check(not [f for f in os.listdir(top) if f.startswith("magnet-")] and
          not glob.glob(top + "/data/**/.*", recursive=True), "no file is left that is not of the data set")
    facts_are_equal(top + "/data", host, trace, top)
    events_are_equal(top + "/data", host, trace, top)
    engines_agree(top + "/data", (host, "another host"))
    days_divide(top, top + "/days")
    numbers_of_stacks(top + "/stacks")
    bad_input(trace, top)
    full_disk(trace, top + "/small")
