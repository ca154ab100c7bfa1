# SPDX-License-Identifier: MIT
"""
The Python package on real recordings: tables are what `magnet show --facts` prints; each figure is drawn,
from the numbers that magnet's own text and JSON have, with all of its texts within the picture; and
`magnet plot` writes picture and data.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
import fact_table
from python_package import need_modules

need_modules("numpy", "pandas", "matplotlib")
need_kernel_side()
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
import magnet  # noqa: E402
from magnet import plot  # noqa: E402
from magnet.plot import words  # noqa: E402

SINK = """
import socket, threading
s = socket.socket(); s.setsockopt(1, 2, 1); s.bind(("0.0.0.0", 5001)); s.listen(); print("ready", flush=True)
def drain(c):
    while c.recv(65536): pass
for _ in range(2): threading.Thread(target=drain, args=(s.accept()[0],)).start()
"""
SENDERS = """
import os, socket, sys, time
end = time.monotonic() + 1.2
kids = []
for i in range(3):
    kids.append(os.fork())
    if kids[-1]:
        continue
    if i == 2: # computes
        while time.monotonic() < end: pass
        os._exit(0)
    c = socket.create_connection((sys.argv[1], 5001))
    at = time.monotonic()
    while at < end:
        c.sendall(bytes(10240)); at += .02; time.sleep(max(0, at - time.monotonic()))
    os._exit(0)
for k in kids: os.waitpid(k, 0)
"""
ASKS = """
import os, socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
if os.fork() == 0: # answers in pieces that the client reads in smaller ones
    c, _ = s.accept(); c.setsockopt(6, 1, 1)
    for i in range(120):
        c.recv(100); time.sleep(.02 if i % 40 == 39 else .001); c.sendall(bytes(1380))
    os._exit(0)
c = socket.create_connection(s.getsockname()); c.setsockopt(6, 1, 1)
for i in range(120):
    c.sendall(b"x" * 100)
    n = 0
    while n < 1380: n += len(c.recv(418))
os.wait()
"""


MESSAGES = """
import socket
a, b = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for i in range(2))
a.bind(("127.0.0.1", 5963))
b.connect(("127.0.0.1", 5963))
for i in range(200):
    b.send(b"x" * 300)
    a.recv(1000)
"""


def series(picture, start, panel=None):
    """The series whose name begins so."""
    return next(s for s in picture.series if s.name.startswith(start) and panel in (None, s.panel))


def is_drawn(name, picture):
    """The picture has data, and every text lies within it."""
    check(sum(len(s.x) for s in picture.series) > 0, f"{name}: {len(picture.series)} series are drawn")
    canvas = FigureCanvasAgg(picture.figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    wide, tall = picture.figure.bbox.width, picture.figure.bbox.height
    whole = [(p.name or "the axes", p.axes.get_tightbbox(renderer)) for p in picture.panels]
    whole += [(t.get_text(), t.get_window_extent(renderer)) for t in picture.figure.texts]
    for what, box in whole: # with labels, ticks and legend
        if box.x0 < -2 or box.y0 < -2 or box.x1 > wide + 2 or box.y1 > tall + 2:
            check(False, f"{name}: {what} is cut off: {box} of {wide} x {tall}")
    for panel in picture.panels:
        has_y = panel.axes.get_ylabel() or panel.axes.get_yticklabels()
        if not (has_y and (panel.axes.get_xlabel() or panel is not picture.panels[-1])):
            check(False, f"{name}: axes have no label")
    return picture


def tables_are_equal(rec, opened):
    for name in ("call", "packet", "flow", "range", "exchange", "switch"):
        rows, df = fact_table.facts(rec, name), opened.facts[name].to_pandas()
        check(len(rows) == len(df), f"{name}: pandas has its {len(rows)} rows")
        for column in ("flow", "bytes", "offset", "length", "function", "program", "remote", "request", "cpu", "to"):
            if column in df and rows:
                wanted = [r[column] for r in rows]
                found = [None if pd.isna(v) else v for v in df[column].tolist()]
                check(found == wanted, f"{name}: {column} is the same in pandas")
        for column in ("begin", "time", "end", "first", "request_first"):
            if rows and column + "_ns" in rows[0]:
                check([r[column + "_ns"] for r in rows] ==
                      [None if np.isnat(v) else int(v.astype(int)) for v in opened.facts[name][column]],
                      f"{name}: {column} too")


def of_sent(rec, opened):
    """Figures of the recording of senders."""
    rows, report = fact_table.facts(rec, "packet"), run(MAGNET, "report", "--json", "--full", rec.dir, "--on-demand",
                                                       "idc,contract,spectrum,goodput").stdout
    report = json.loads(report)
    chosen = plot.select.choose(opened, None, "tx").id
    figures = next(f for f in report["flows"] if f["id"] == chosen)
    drawn = {n: is_drawn(n, plot.draw(n, opened, **({"flow": chosen} if plot.FIGURES[n].takes_flow else {})))
             for n in ("ftp", "send-buffer", "lifeline", "rate", "congestion", "tcp-state", "write-intervals",
                       "process-trace", "idc", "contract", "size-cdf", "spacing-cdf", "application-wire", "spectrum",
                       "waterfall")}
    of_flow = {layer: [r for r in rows if r["flow"] == chosen and r["layer"] == layer and r["payload"]]
               for layer in ("call", "device")}
    sizes = series(drawn["ftp"], "application").y
    check(len(sizes) > 20 and set(sizes) == {10240} == {r["payload"] for r in of_flow["call"]},
          f"ftp: {len(sizes)} writes of 10,240 bytes")
    for layer, in_legend in (("call", "call:"), ("device", "device:")):
        check(sorted(r["payload"] for r in of_flow[layer]) == series(drawn["size-cdf"], in_legend).x.tolist(),
              f"size-cdf: the {len(of_flow[layer])} sizes of the layer {layer}")
    statistics_are(drawn, figures, of_flow)
    processes_are(rec, drawn, rows)
    last = series(drawn["application-wire"], "network", "bytes so far").y[-1]
    fresh = sum(r["fresh"] or 0 for r in of_flow["device"])
    check(abs(last * {True: 1e6, False: 1e3}[fresh >= 1e6] - fresh) < 1, "application-wire: ends at the flow's bytes")
    windows = next(x for x in figures["on_demand"]["idc"]["layers"] if x["layer"] == "device")["windows"]
    check(series(drawn["idc"], "device").y.tolist() == [w["idc"] for w in windows if w["idc"] is not None],
          "idc: the report's values")
    stages = [s["mean_ns"] for s in figures["residence"]]
    bars = [series(drawn["waterfall"], words.stage(s["stage"], "tcp")).x[0] for s in figures["residence"]]
    check(abs(bars[1] / sum(bars) - stages[1] / sum(stages)) < 1e-9, "waterfall: the report's stages")
    goodput = figures["on_demand"]["goodput"]["rate_bit_s"]
    check(goodput is None or abs(series(drawn["rate"], "whole flow").y[0] * 1e6 - goodput) < 1, "rate: the report's")
    states = [r for r in fact_table.facts(rec, "state") if r["flow"] == chosen and r["cwnd"] is not None]
    check([r["cwnd"] for r in states] == series(drawn["tcp-state"], "congestion window").y.tolist() and states,
          f"tcp-state: {len(states)} congestion windows")
    buffered = [e["fields"] for e in rec.events("--event", "tcp_send") if e["flow"] == chosen]
    held = np.array([(int(f["seq"]) - int(f["snd_una"])) % 2 ** 32 for f in buffered])
    shown = series(drawn["send-buffer"], "written, not ack")
    times = plot.select.seconds(opened, np.array([int(e["time_ns"]) for e in rec.events("--event", "tcp_send")
                                                  if e["flow"] == chosen]))
    before = np.searchsorted(shown.x, times) - 1  # as it was when the write came
    most = shown.y.max() * (1e3 if "KB" in drawn["send-buffer"].panels[0].axes.get_ylabel() else 1)
    check(len(shown.x) > len(held) and most >= held.max(), f"send-buffer: {len(shown.x)} values, {len(held)} at writes")
    check(np.allclose(held[before >= 0], shown.y[before[before >= 0]] * (most / shown.y.max())),
          "send-buffer: at each write what TCP has for it")
    cost = [r for r in fact_table.facts(rec, "switch_cost") if r["decide"] is not None and r["reload"] is not None]
    if cost: # from Linux 6.15 on
        p = is_drawn("context-switches", plot.context_switches(opened))
        check(sum(len(s.y) for s in p.series) == len(cost), f"context-switches: all {len(cost)}")
    else:
        try:
            plot.context_switches(opened)
            check(False, "context-switches without durations are refused")
        except magnet.NotAvailable as e:
            check("--layers +switch" in str(e), f"context-switches: {e}")


def statistics_are(drawn, figures, of_flow):
    """Distributions of spacings, spectrum and contract show the facts, or what the report makes of them."""
    for layer in ("call", "device"):
        at = sorted(r["time_ns"] for r in of_flow[layer])
        check(np.allclose(series(drawn["spacing-cdf"], layer + ":").x, np.sort(np.diff(at)) / 1e6),
              f"spacing-cdf: the {len(at) - 1} spacings of the layer {layer}")
    spectrum = next(x for x in figures["on_demand"]["spectrum"]["layers"] if x["layer"] == "device")
    wanted = [o["y"] for o in spectrum["octaves"] or [] if o["y"] is not None]
    check(not wanted or series(drawn["spectrum"], "device", "energy at a layer").y.tolist() == wanted,
          f"spectrum: the report's {len(wanted)} octaves")
    contract = next(x for x in figures["on_demand"]["contract"]["layers"] if x["layer"] == "device")
    wanted = [b["bucket_bytes"] for b in contract["buckets"] or [] if b["bucket_bytes"] is not None]
    check(wanted and series(drawn["contract"], "device").y.tolist() == wanted,
          f"contract: the report's {len(wanted)} buckets")


def processes_are(rec, drawn, packets):
    """Congestion counts all payload; intervals are those between the calls of each process."""
    sent = {}
    for r in packets:
        if r["layer"] == "device" and r["flow"].endswith("/tx"):
            sent[r["flow"]] = sent.get(r["flow"], 0) + r["payload"]
    for s in (s for s in drawn["congestion"].series if s.panel == "rate"):
        unit = 1e6 if "[Mbit/s]" in s.y_label else 1e3
        check(abs(sum(s.y[:-1]) * unit * 0.1 / 8 - sent[s.name.split()[0]]) < 1,
              f"congestion: the rates of {s.name} are of its {sent[s.name.split()[0]]} bytes")
    writes = {}
    for r in fact_table.facts(rec, "call"):
        if r["flow"] and r["flow"].endswith("/tx") and r["bytes"]:
            writes.setdefault(r["pid"], []).append(r["begin_ns"])
    for pid, begins in writes.items():
        if len(begins) < 3:
            continue
        s = next(s for s in drawn["write-intervals"].series if f" {pid}: n = {len(begins) - 1}," in s.name)
        check(np.isclose(sum(s.y[:-1]), 100), f"write-intervals: all {len(begins) - 1} of process {pid}")
        between = np.diff(sorted(begins)) / 1e6
        shown = [s for s in drawn["process-trace"].series if s.name == f"writes of {pid}"]
        check(shown and np.abs(shown[0].y[:, None] - between).min(axis=1).max() < 1e-4,
              f"process-trace: intervals between writes of {pid}")


def words_are_the_reports():
    """Legends have the words of the report."""
    source = os.path.join(os.path.dirname(__file__), "..", "..", "correlate")
    with open(source + "/facts/stages.h") as f:
        stages = f.read().split("#define MG_TX_STAGES")[1].split("States")[0]
    wanted = dict(re.findall(r'X\(\w+, *"(\w+)", *"([^"]+)"\)', stages))
    check(words.STAGES == wanted, f"stages: {words.STAGES}, not {wanted}")
    with open(source + "/facts/facts.h") as f:
        parts = f.read().split("#define MG_EXCHANGE_PARTS")[1].split("#undef")[0]
    check(set(words.PARTS) == set(re.findall(r'"(\w+)"', parts)), "parts of exchanges")
    with open(source + "/render/names.c") as f:
        text = f.read()
    check(all(f'"{word}"' in text for word in words.MESSAGE_STAGES.values()), "stages of messages")


def of_requests(rec, opened):
    rows = [r for r in fact_table.facts(rec, "exchange") if r["answer"] == "answered" and r["role"] == "client"]
    p = is_drawn("exchanges", plot.exchanges(opened))
    check(len(series(p, "request").y) == len(rows) >= 100, f"exchanges: all {len(rows)} of the client")
    p = is_drawn("mp3", plot.mp3(opened))
    check(set(series(p, "IP").y) == {1380} and max(series(p, "application").y) == 418,
          "mp3: packets of 1380 bytes, reads of at most 418")
    p = is_drawn("lifeline", plot.lifeline(opened))
    check({s.name.split()[0] for s in p.series} == {"sent", "received", "acknowledged"}, "lifeline: both ends, and the ACK")
    acked = next(s for s in p.series if s.name.startswith("acknowledged"))
    upto = int(acked.name.split()[-1].rstrip(")"))
    rows = {r["flow"][-2:]: r for r in fact_table.facts(rec, "ack") if r["offset"] == upto}
    wanted = [t for t in (*(rows["rx"][c] for c in ("ip_ns", "device_ns")),
                          *(rows["tx"][c] for c in ("device_ns", "ip_ns", "tcp_ns"))) if t]
    unit = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[acked.x_label.split("[")[1].rstrip("]")]
    check(np.allclose(np.diff(acked.x) * unit, np.diff(wanted), atol=1) and len(wanted) >= 4,
          f"lifeline: the {len(wanted)} times of the ACK up to {upto}")
    check(all(np.diff(s.x).min() >= 0 for s in p.series), "lifeline: layers in order of time")


def of_messages():
    """Sockets without a cookie have the names of the report, and are drawn like others."""
    with Recording(PYTHON, "-c", MESSAGES) as rec, magnet.open(rec.dir) as r:
        report = rec.report()
        wanted = {f["id"] for f in report["flows"] if f["proto"] == "udp"}
        found = {f.id for f in plot.select.flows(r) if f.kind == "udp" and f.bytes}
        check(found == wanted and any(f.startswith("ino:") for f in found), f"udp: {found}, not {wanted}")
        for name in ("rate", "size-cdf", "waterfall", "application-wire", "lifeline", "mp3"):
            is_drawn(name, plot.draw(name, r))
    with Recording(PYTHON, "-c", MESSAGES, options=("--app-only",)) as rec, magnet.open(rec.dir) as r:
        for name in ("ftp", "exchanges", "waterfall"):
            try:
                plot.draw(name, r)
                check(False, f"{name}: the application side alone is refused")
            except magnet.NotAvailable as e:
                check("the kernel side was not recorded" in str(e), f"{name}: {e}")


def of_several(recs, opened):
    reports = [r.report() for r in recs]
    p = is_drawn("loss", plot.loss(opened))
    wanted = sorted(100 * r["loss"]["kernel"] / (r["loss"]["kernel"] + r["events"]["kernel"]) for r in reports)
    check(np.allclose(sorted(y for s in p.series for y in s.y), wanted), f"loss: {wanted} %")
    check(sorted(x for s in p.series for x in s.x) == [5, 50] and len(p.series) == 2, "loss: by interval and buffer")
    p = is_drawn("cpu", plot.cpu(opened))
    check(np.allclose(sorted(y for s in p.series for y in s.y),
                      sorted(100 * r["tracer"]["cpu_share"] for r in reports)), "cpu: the report's")
    p = is_drawn("goodput-ratio", plot.goodput_ratio(opened))
    check(np.isclose(p.series[0].x[0], 2 / 3), "goodput-ratio: two of three processes send")


def by_command(rec, top):
    def plot_command(*args):
        return run(MAGNET, "plot", *args, check=False)

    listed = [line.split()[0] for line in plot_command("--figure", "list").stdout.splitlines()]
    check(listed == list(plot.FIGURES), f"--figure list: {len(listed)} figures")
    read, write = os.pipe()
    os.close(read)
    p = subprocess.run([MAGNET, "plot", "--figure", "list"], stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    check(p.returncode and not p.stderr, f"a reader that has gone ends it in silence: {p.returncode} {p.stderr}")
    manual = open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "magnet-plot.1")).read()
    check([line[7:] for line in manual.split(".Sh FIGURES")[1].splitlines() if line.startswith(".It Cm ")] == listed,
          "the manual lists them")
    for kind in ("svg", "png", "pdf"):
        p = plot_command(rec.dir, "--figure", "ftp", "-o", f"{top}/x.{kind}")
        check(p.returncode == 0 and not p.stderr and os.path.getsize(f"{top}/x.{kind}") > 5000, f"{kind} is written")
    data = [line.split("\t") for line in open(f"{top}/x.tsv").read().splitlines()]
    check(data[0] == ["panel", "series", "x_is", "x", "y_is", "y"] and
          {r[5] for r in data if r[1].startswith("application")} == {"10240"}, "and its data")
    def sizes(*filters):
        p = plot_command(rec.dir, "--figure", "congestion", "-o", top + "/f.svg", *filters)
        rows = [line.rstrip("\n").split("\t") for line in open(top + "/f.tsv")][1:] if not p.returncode else []
        return p, {r[1] for r in rows if r[0] == "rate"}, [float(r[3]) for r in rows]

    _, every, _ = sizes()
    pids = sorted({r["pid"] for r in fact_table.facts(rec, "call") if r["flow"] and r["bytes"]})
    p, one, _ = sizes("--process", str(pids[0]), "--port", "5001", "--protocol", "tcp", "--direction", "sent")
    check(len(every) == 2 and len(one) == 1 and one < every, f"--process {pids[0]}: {one} of {every} {p.stderr}")
    p, _, at = sizes("--from", "0.5", "--to", "900ms")
    check(at and max(at) < 1.01 and min(at) > 0.39, f"--from, --to: {min(at, default=0)} to {max(at, default=0)} s {p.stderr}")
    for wrong in (("--port", "x"), ("--to", "0.1", "--from", "0.5"), ("--port", "1")):
        p, *_ = sizes(*wrong)
        check(p.returncode and p.stderr, f"{wrong}: {p.stderr.strip()}")
    for what, status, said in ((("--figure", "ftq", "-o", top + "/y.svg"), 2, "it is one of: ftp"),
                                (("--figure", "ftp", "-o", top + "/y.gif"), 2, ".svg, .pdf, .png"),
                                (("--figure", "ftp", "-o", top + "/none/y.svg"), 1, "No such file"),
                                (("--figure", "ftp", "-o", "/dev/full/y.svg"), 1, "Not a directory"),
                                (("--figure", "exchanges", "--flow", "1/tx", "-o", top + "/y.svg"), 2, "--flow"),
                                (("--figure", "ftp", "--flow", "1/tx", "-o", top + "/y.svg"), 1, "no flow 1/tx"),
                                (("--figure", "exchanges", "-o", top + "/y.svg"), 1, "no request with a reply")):
        p = plot_command(rec.dir, *what)
        check(p.returncode == status and p.stderr.count("\n") == 1 and said in p.stderr and
              not os.path.exists(what[-1]), f"{' '.join(what[:2])}: {p.stderr.strip()}")


words_are_the_reports()
of_messages()
with Network(rate="8mbit", burst="3200") as net, tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
    sink = net.popen(net.b, PYTHON, "-c", SINK, stdout=subprocess.PIPE)
    try:
        sink.stdout.readline()
        sent = Recording(*net.inside(net.a, PYTHON, "-c", SENDERS, net.B),
                         options=("--layers", "+switch", "--level", "full", "--drain", "5"))
        with sent, Recording(PYTHON, "-c", ASKS, options=("--drain", "50", "--buffer", "1M")) as asked:
            with magnet.open(sent.dir) as a, magnet.open(asked.dir) as b:
                tables_are_equal(asked, b)
                of_sent(sent, a)
                of_requests(asked, b)
                of_several((sent, asked), (a, b))
            by_command(sent, top)
    finally:
        sink.kill()
        sink.wait()
