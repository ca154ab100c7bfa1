# SPDX-License-Identifier: MIT
"""
magnet report --html writes one page that loads nothing: its figures are those of `report --json`, the points
of its charts those of the facts; names that look like HTML stay text; what cannot be written is an error.
"""
import base64
import hashlib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fact_table import facts
from fixture import *
from page import outside, read_page

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
NAME = "<b>&amp;\"\'"
HOSTILE = "</script><script>alert(1)</script><!--magnet report-->"
PROGRAM = """
import os, socket, sys, threading, time
l = socket.create_server(("127.0.0.1", 5961))
def serve():
    s = l.accept()[0]
    for i in range(60):
        n = 0
        while n < 100:
            n += len(s.recv(100 - n))
        if i == 40:
            time.sleep(0.03)
        s.sendall(bytes(300 * i + 1))
    s.recv(1)
t = threading.Thread(target=serve)
t.start()
c = socket.create_connection(("127.0.0.1", 5961))
for i in range(60):
    c.sendall(bytes(100))
    n = 0
    while n < 300 * i + 1:
        n += len(c.recv(65536))
c.close()
t.join()
"""


def structure(page, path):
    check(not page.problems, f"every element is closed, without scripts and styles in attributes: {page.problems[:5]}")
    check(outside(page) == [], f"it loads nothing and links to nothing outside: {outside(page)}")
    hashes = ["'sha256-" + base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() + "'"
              for s in page.scripts]
    check(len(hashes) == 2 and all(h in page.policy for h in hashes) and "default-src 'none'" in page.policy,
          "its policy lets its own two scripts run, and nothing be loaded")
    check("script-src 'unsafe" not in page.policy, "and no others")
    size = os.stat(path).st_size
    library = sum(map(len, page.scripts))
    check(size < library + 600_000, f"{size:,} bytes, {library:,} of them scripts")
    for part in ("answer", "exchanges", "slowest", "one", "threads", "calls", "losses", "flows", "cost", "glossary"):
        check(part in page.ids, f"it has the part {part}")


def glossary(page):
    with open(os.path.join(ROOT, "docs", "method.md"), encoding="utf-8") as f:
        method = " ".join(f.read().split())
    with open(os.path.join(ROOT, "page", "page.html"), encoding="utf-8") as f:
        cited = [" ".join(c.split("</cite>")[0].split()) for c in f.read().split("<cite>")[1:]]
    sections = {c.split()[1].rstrip(";") for c in cited}
    check(len(cited) > 15 and all(c.startswith("method.md ") for c in cited) and
          all(f"## {s} " in method for s in sections), f"{len(cited)} words are explained, each with its section")


def figures(page, rec):
    same = json.loads(run(MAGNET, "report", "--json", "--slowest", 10, rec.dir).stdout)
    check(page.report == same, "its figures are those of report --json --slowest 10")
    text = run(MAGNET, "report", rec.dir, env={**os.environ, "COLUMNS": "88", "LC_ALL": "C.UTF-8"}).stdout
    answer = page.ids["answer"]
    lines = [line for line in text.splitlines()[:12] if line.strip()]
    missing = [line for line in lines if line not in answer]
    check(not missing, f"its first lines are those of the text: {missing[:2]}")
    check("40" in page.ids["whole"] and "Tracing overhead" in page.ids["whole"], "it has the whole text")


def points(page, rec):
    """The tracks against the facts, row by row."""
    packets = facts(rec, "packet")
    compared = 0
    for i in page.tracks("size"):
        t = page.index["tracks"][i]
        own = sorted((p["time_ns"], p["payload"]) for p in packets
                     if (p["flow"], p["layer"]) == (t["flow"], t["layer"]) and
                     t["flow"].endswith("/rx") == (p["flow"].endswith("/rx")))
        rows = sorted((r["time"], r["payload"]) for r in page.rows(i))
        # the relation of counter and time is known better at the end
        if len(own) != len(rows) or any(abs(a[0] - b[0]) > 1000 for a, b in zip(own, rows, strict=True)) or \
                sorted(p for _, p in own) != sorted(p for _, p in rows):
            check(False, f"{t}: {own[:3]} {rows[:3]}")
        compared += len(rows)
    check(compared > 500, f"{compared} points of sizes are those of the facts")
    for kind, fact, column in (("buffer", "buffer", "bytes"), ("cwnd", "state", "cwnd"), ("srtt", "state", "srtt_us")):
        own = sorted(f[column] for f in facts(rec, fact) if f[column] is not None)
        got = sorted(list(r.values())[1] for i in page.tracks(kind) for r in page.rows(i))
        check(own == got and len(own) > 60, f"{len(got)} points of {kind} are those of the facts")
    exchanges = [e for e in facts(rec, "exchange") if e["answer"] == "answered"]
    got = sorted(r["to_reply"] for i in page.tracks("exchange") for r in page.rows(i))
    own = sorted(e["to_reply_ns"] for e in exchanges)
    check(len(own) == len(got) == 120 and all(abs(a - b) < 2 + a / 1e4 for a, b in zip(own, got, strict=True)),
          f"{len(got)} exchanges, {min(got)} to {max(got)} ns")
    waits = [w for w in facts(rec, "wait") if w["begin_ns"] and w["end_ns"]]
    rows = [r for i in page.tracks("wait") for r in page.rows(i)]
    check(len(rows) == len(waits) and all(r["time"] <= (r["woken"] or r["time"]) <= r["end"] for r in rows),
          f"{len(rows)} waits of threads")
    check(any("blocked" not in r["why"] and "nanosleep" in r["why"] for r in rows), "one of them was in a sleep")


def buffers(rec):
    """Bytes in the buffers, against the calls of the program."""
    of = {"tx": [], "rx": []}
    for b in facts(rec, "buffer"):
        of[b["flow"].rsplit("/")[1]].append(b)
    check(all(b["unsent"] is None or b["unsent"] <= b["bytes"] for b in of["tx"] if b["bytes"] is not None),
          "no more was unsent than was written")
    most = max(b["bytes"] for b in of["rx"] if b["bytes"] is not None)
    check(0 < most <= 300 * 59 + 1, f"at most one reply was in a receive queue: {most} bytes")
    check(max(b["bytes"] or 0 for b in of["tx"]) <= 300 * 59 + 1, "and in a send buffer")
    last = {}
    for b in sorted(of["rx"], key=lambda b: b["time_ns"]):
        last[b["flow"]] = b["bytes"]
    check(last and all(n == 0 for n in last.values()), f"all was read in the end: {last}")


def distributions(page):
    for d in page.index["distributions"]:
        for key in ("sizes", "spacings"):
            curve = d[key]
            if curve and (curve["shares"] != sorted(curve["shares"]) or curve["values"] != sorted(curve["values"])):
                check(False, f"{d['flow']} {d['layer']} {key}: {curve}")
    calls = next(d for d in page.index["distributions"] if d["layer"] == "call" and d["sizes"]["n"] >= 60 and
                 d["sizes"]["values"][-1] == 100)
    check(set(calls["sizes"]["values"]) == {100}, "each request is one call of 100 bytes")


def hostile(page, rec):
    check("</script><script>alert(1)" in page.ids["answer"] and any(NAME in t for t in page.index["texts"]) and
          HOSTILE in page.report["session"]["command"] and all(f["comm"] == NAME for f in page.report["flows"]),
          "a command and a program's name that look like HTML are texts")


def filtered(rec, path):
    run(MAGNET, "report", "--html", path, "--port", "5961", rec.dir)
    page = read_page(path)
    check(page.tracks("size") and not page.tracks("wait"),
          "with a filter of sockets there are no threads, whose waits belong to none")


def refusals(rec, top):
    def fails(status, text, *args):
        p = run(MAGNET, "report", *args, check=False)
        check(p.returncode == status and text in p.stderr and p.stderr.count("\n") == 1, p.stderr.strip())

    fails(1, "cannot write /dev/full: No space left", "--html", "/dev/full", rec.dir)
    fails(1, "none/p.html: No such file", "--html", top + "/none/p.html", rec.dir)
    fails(2, "--html excludes", "--html", top + "/q.html", "--json", rec.dir)
    fails(2, "--html excludes", "--html", top + "/q.html", "--flow", "1/tx", rec.dir)
    check(not os.path.exists(top + "/q.html"), "nothing was written")


need_kernel_side()
if not os.path.exists(os.path.join(os.environ.get("MAGNET_BUILD", ""), "page", "page.html")):
    print("ok: built without pages")
    p = run(MAGNET, "report", "--html", "/tmp/none", check=False)
    check(p.returncode == 1 and "install libjs-dygraphs" in p.stderr, p.stderr)
    sys.exit(0)
with tempfile.TemporaryDirectory(prefix="magnet-test-") as directory:
    os.symlink(PYTHON, f"{directory}/{NAME}")
    with open(directory + "/p.py", "w") as f:
        f.write(PROGRAM)
    made = undisturbed(lambda: Recording("./" + NAME, "p.py", HOSTILE, options=("--level", "full"), cwd=directory))
with made as recording:
    page_path = recording.top + "/p.html"
    run(MAGNET, "report", "--html", page_path, recording.dir)
    made = read_page(page_path)
    structure(made, page_path)
    glossary(made)
    figures(made, recording)
    points(made, recording)
    buffers(recording)
    distributions(made)
    hostile(made, recording)
    filtered(recording, page_path)
    refusals(recording, recording.top)
