# SPDX-License-Identifier: MIT
"""
The page of `magnet report --html` in Chromium: on a desktop, a telephone, in the dark and on paper nothing is cut or
lies on something else, all charts show one part of the time, mouse and keys work, its numbers are those of the
JSON, and a page of a million points is drawn at once. MAGNET_TEST_PICTURES names a directory for the pictures.
"""
import math
import re
import zlib

from browser import Browser
from viewers import *

HERE = os.path.dirname(os.path.abspath(__file__))
KEEP = os.environ.get("MAGNET_TEST_PICTURES")
PROGRAM = """
import random, socket, threading, time
random.seed(1)
sizes = [random.choice((200, 3000, 20000)) for i in range(150)]
l = socket.create_server(("127.0.0.1", 5962))
def exact(s, n):
    while n:
        n -= len(s.recv(n))
def serve():
    s = l.accept()[0]
    for i in range(150):
        exact(s, 100)
        if i % 20 == 7:
            time.sleep(0.01)
        s.sendall(bytes(sizes[i]))
    s.close()
def sink():
    s = l.accept()[0]
    while s.recv(20000):
        time.sleep(0.0005)
t = threading.Thread(target=serve)
t.start()
c = socket.create_connection(("127.0.0.1", 5962))
for i in range(150):
    c.sendall(bytes(100))
    exact(c, sizes[i])
c.close()
t.join()
t = threading.Thread(target=sink)
t.start()
c = socket.create_connection(("127.0.0.1", 5962))
for i in range(200):
    c.sendall(bytes(10240))
c.close()
t.join()
"""
# elements with text of their own that lie on each other, are cut, or leave the page
CROWDED = r"""
const seen = [...document.querySelectorAll("h1,h2,h3,p,th,td,summary,dt,dd,.dygraph-axis-label,.legend > *,label,nav a")]
  .filter((e) => e.textContent.trim() && e.offsetParent && e.getClientRects().length);
const boxes = seen.map((e) => ({e, r: e.getBoundingClientRect()})).filter(({r}) => r.width && r.height);
const wide = document.documentElement.clientWidth;
const found = [];
for (const {e, r} of boxes) {
  const scrolls = e.closest(".scroll, pre");
  if (!scrolls && (r.right > wide + 1 || r.left < -1)) found.push(`leaves the page: ${e.textContent.slice(0, 40)}`);
  if (!scrolls && e.scrollWidth > e.clientWidth + 2 && getComputedStyle(e).overflowX !== "visible")
    found.push(`is cut: ${e.textContent.slice(0, 40)}`);
}
boxes.sort((a, b) => a.r.top - b.r.top);
for (let i = 0; i < boxes.length; i++)
  for (let k = i + 1; k < boxes.length && boxes[k].r.top < boxes[i].r.bottom - 2; k++) {
    const [a, b] = [boxes[i], boxes[k]];
    if (a.e.contains(b.e) || b.e.contains(a.e)) continue;
    if (a.e.closest("#bar, header") || b.e.closest("#bar, header")) continue;
    const inside = (x) => { const s = x.e.closest(".scroll"); return s ? s.getBoundingClientRect() : {left: -1e9, right: 1e9}; };
    const left = Math.max(a.r.left, b.r.left, inside(a).left, inside(b).left);
    const right = Math.min(a.r.right, b.r.right, inside(a).right, inside(b).right);
    const down = Math.min(a.r.bottom, b.r.bottom) - Math.max(a.r.top, b.r.top);
    if (right - left > 2 && down > 2) found.push(`${a.e.textContent.slice(0, 30)} | ${b.e.textContent.slice(0, 30)}`);
  }
return found;
"""
# every chart is drawn once it was seen
SEEN = "document.querySelectorAll('.plot').forEach((p) => p.scrollIntoView()); scrollTo(0, 0)"
CHARTS = """
return [...document.querySelectorAll('.chart')].map((c) => ({
  title: c.querySelector('h3').textContent, note: c.querySelector('.note')?.textContent ?? '',
  labels: [...c.querySelectorAll('.dygraph-axis-label-y')].map((l) => l.textContent),
  times: [...c.querySelectorAll('.dygraph-axis-label-x')].map((l) => l.textContent),
  keys: [...c.querySelectorAll('.legend > *')].map((l) => l.textContent),
  table: c.querySelector('details') !== null, linked: !c.querySelector('.static'),
  drawn: c.querySelector('canvas') !== null }))
"""
FIGURES = "return [...document.querySelectorAll('[data-figure]')].map((e) => [e.dataset.figure, e.textContent])"
UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "B": 1, "KiB": 1024, "MiB": 1024 ** 2, "GiB": 1024 ** 3,
         "%": 0.01, "": 1}


def no_complaint(browser, what):
    log = browser.log()
    check(not log, f"{what}: the console got nothing {log[:3]}")


def see_all(browser):
    for at in range(0, browser.js("return document.documentElement.scrollHeight"), 600):
        browser.js("scrollTo(0, arguments[0])", at)
        time.sleep(0.05)
    browser.js("scrollTo(0, 0)")
    time.sleep(0.3)


def pictures(path, top):
    for name, width, dark in (("desktop", 1280, False), ("phone", 360, False), ("dark", 1280, True)):
        with Browser(width, 900, dark) as b:
            b.open(path)
            see_all(b)
            wide = b.js("return document.documentElement.scrollWidth")
            check(wide <= width, f"{name}: the page is {wide} of {width} pixels wide")
            found = b.js(CROWDED)
            check(not found, f"{name}: nothing is cut, and nothing lies on something else {found[:5]}")
            back = b.js("return getComputedStyle(document.body).backgroundColor")
            dark_is = sum(map(int, re.findall(r"\d+", back)[:3])) < 200
            check(dark_is == dark, f"{name}: its ground is {back}")
            b.picture(f"{top}/{name}.png")
            check(os.path.getsize(f"{top}/{name}.png") > 50_000, f"{name}: a picture")
            no_complaint(b, name)
            if name == "desktop":
                b.paper(f"{top}/page.pdf")
                check(os.path.getsize(f"{top}/page.pdf") > 50_000, "it can be printed")
                printed(b)


def drawn_on_paper(pdf):
    """Return how many pictures of a PDF file are not empty, and as wide as its charts."""
    with open(pdf, "rb") as f:
        data, n = f.read(), 0
    for m in re.finditer(rb"<<((?:(?!>>\s*stream).)*?/Subtype\s*/Image.*?)>>\s*stream\r?\n", data, re.S):
        width, length = (int(re.search(rb"/%s (\d+)" % k, m[1])[1]) for k in (b"Width", b"Length"))
        if b"/SMask" in m[1] and width >= 2000:
            n += any(zlib.decompress(data[m.end():m.end() + length]))
    return n


def on_paper(path, top):
    """All charts are printed, though none was looked at before."""
    with Browser(1280, 900) as b:
        b.open(path)
        plots = b.js("return document.querySelectorAll('.plot').length")
        b.paper(f"{top}/unseen.pdf")
        drawn = drawn_on_paper(f"{top}/unseen.pdf")
        check(plots > 5 and drawn == plots, f"{drawn} of {plots} charts are on paper")
        left = b.js("return document.querySelectorAll('.plot img').length")
        check(left == 0, "and their pictures are gone afterwards")


def printed(b):
    """On paper a field says what was chosen, and what could be opened is not there."""
    b.medium("print")
    chosen, option = b.js("return [document.getElementById('chosen').innerText, "
                          "document.getElementById('flow').selectedOptions[0].textContent]")
    shown = b.js("return [...document.querySelectorAll('.chart summary')].filter((s) => s.checkVisibility()).length")
    check(chosen and chosen == option and not shown, f"on paper the flow is named: {chosen}; {shown} closed tables")
    b.medium("")


def charts(b):
    see_all(b)
    got = b.js(CHARTS)
    titles = [c["title"] for c in got]
    for title in ("Exchanges over time", "Application against wire", "Send buffer and receive queue",
                  "Congestion window, segments", "Round-trip time", "Sizes", "Spacings", "What each thread did"):
        check(title in titles, f"there is the chart {title}")
    for c in got:
        if not (c["note"] and c["keys"] and c["table"] and c["drawn"]):
            check(False, f"note, legend, table, picture: {c}")
        units = all(re.search(r"[0-9] (ns|µs|ms|s|B|KiB|MiB|%)$", y) or "segments" in c["title"] for y in c["labels"])
        if c["title"] != "What each thread did" and not (len(c["labels"]) > 1 and len(c["times"]) > 1 and units):
            check(False, f"labels with units: {c}")
    check(True, f"{len(got)} charts have a note, a legend, labels with units and a table")


def distributions(b):
    """Drag, keys and the pointer on a chart of distribution functions, whose axis is its own."""
    axis = """return [...document.querySelector('#distributions .chart').querySelectorAll('.dygraph-axis-label-x')]
        .map((l) => l.textContent).join()"""
    b.js("document.querySelector('#distributions .plot').scrollIntoView({block: 'center'})")
    time.sleep(0.5)
    times, whole = view(b), b.js(axis)
    x, y, wide, high = b.js("const r = document.querySelector('#distributions .plot').getBoundingClientRect(); "
                            "return [r.left, r.top, r.width, r.height]")
    b.mouse(("move", x + 0.4 * wide, y + high / 2), "down", ("move", x + 0.5 * wide, y + high / 2),
            ("move", x + 0.6 * wide, y + high / 2), "up")
    zoomed = changed(b, axis, whole)
    b.mouse(("move", x + 0.5 * wide, y + high / 2))
    read = b.until("return document.querySelector('#distributions .readout').textContent")
    check(re.search(r"%; at most [\d.]+ (B|KiB)$", read), f"sizes from {whole} to {zoomed}; the pointer reads {read}")
    b.js("document.querySelector('#distributions .plot').focus()")
    b.keys("right")
    moved = changed(b, axis, zoomed)
    b.keys("-")
    wider = changed(b, axis, moved)
    b.keys("home")
    check(changed(b, axis, wider) == whole, f"keys move, zoom and show all: {moved}; {wider}")
    check(view(b) == times, "the charts over time stay")


def changed(b, script, before):
    """The value of a script once it is another one."""
    for _ in range(50):
        now = b.js(script)
        if now != before:
            return now
        time.sleep(0.1)
    raise RuntimeError(f"this stays: {before}")


def value_of(report, place):
    for key in place.split("."):
        report = report[int(key)] if isinstance(report, list) else report[key]
        if report is None:
            return None
    return report


COLOURS = """return [...document.querySelectorAll('#slowest .legend .swatch')].map((s) =>
    getComputedStyle(s).backgroundColor)"""


def without_kernel_side(top):
    """A page of calls alone says of the rest that it is not available, not that there was none."""
    with Recording(PYTHON, "-c", PROGRAM, options=("--app-only",)) as rec, Browser(1280, 900) as b:
        run(MAGNET, "report", "--html", top + "/app.html", rec.dir)
        b.open(top + "/app.html")
        for part in ("exchanges", "slowest", "one", "threads", "losses", "flows"):
            said = b.js("return document.getElementById(arguments[0]).innerText", part)
            check("Not available: the kernel side was not recorded." in said and "No " not in said,
                  f"{part} of the application side alone: {said}")
        check("recv" in b.js("return document.getElementById('calls').innerText"), "its calls are there")
        no_complaint(b, "application side alone")


def numbers(b):
    report = b.js("return JSON.parse(document.getElementById('report').textContent)")
    shown = b.js(FIGURES)
    for place, text in shown:
        value = value_of(report, place)
        if value is None:
            right = text == "n/a"
        elif text.startswith("<"):
            right = 0 < value < 0.0005
        else:
            number, unit = re.fullmatch(r"(-?[\d.,]+)(?: (\S+))?", text).groups()
            made = float(number.replace(",", "")) * UNITS[unit or ""]
            # as many digits as are shown; shares have two, or one below 1 %
            loose = 0.06 if unit == "%" and value >= 0.01 else 0.5 if unit == "%" else 0.0051
            right = math.isclose(made, value, rel_tol=loose, abs_tol=0.06)
        if not right:
            check(False, f"{place}: {value} is shown as {text}")
    check(len(shown) > 150, f"{len(shown)} numbers are those of the JSON")
    # the times of a flow's stages are those of the text, without the overhead of tracing
    places = [place for place, _ in shown if ".residence." in place]
    of = {place.split(".residence.")[0] for place in places}
    parts = sum(value_of(report, place) for place in places if place.endswith(".compensated_mean_ns"))
    check(len(of) == 1 and f"{min(of)}.probes_ns" in dict(shown), f"a flow's stages and the overhead: {of}")
    check(math.isclose(parts + value_of(report, min(of) + ".probes_ns"), value_of(report, min(of) + ".residence_total_ns"),
                       rel_tol=1e-6), "together they are the total")


def view(b):
    """Tell which times the charts show, by their labels."""
    return b.js("""return [...document.querySelectorAll('.chart')].filter((c) => !c.querySelector('.static'))
        .map((c) => [...c.querySelectorAll('.dygraph-axis-label-x')].map((l) => l.textContent).join())
        .filter((l) => l)""")


def settled(b, before):
    for _ in range(100):
        see_all(b)
        now = view(b)
        if now != before and len(set(now)) == 1:
            return now
    raise RuntimeError(f"charts show different times: {now}")


def interaction(b):
    whole = settled(b, None)
    b.js("document.querySelector('#exchanges .plot').scrollIntoView({block: 'center'})")
    box = b.js("const r = document.querySelector('#exchanges .plot').getBoundingClientRect(); return [r.left, r.top, r.width, r.height]")
    x, y = box[0] + box[2] / 2, box[1] + box[3] / 2
    b.mouse(("move", x - 100, y), "down", ("move", x, y), ("move", x + 60, y), "up")
    zoomed = settled(b, whole)
    check(True, f"a drag zooms all {len(zoomed)} charts from {whole[0]} to {zoomed[0]}")
    b.js("document.querySelector('#exchanges .plot').scrollIntoView({block: 'center'})")
    b.mouse(("move", x + 10, y))
    read = b.until("return document.querySelector('#exchanges .readout').textContent")
    check(re.search(r": [\d.]+ (ns|µs|ms) at [\d.]+ s, exchange \d+ of ", read), f"the pointer reads values: {read[:90]}")
    lines = b.js("return [...document.querySelectorAll('.cursor')].filter((c) => !c.hidden).length")
    check(lines >= 1, f"and its time is marked in the {lines} charts that are seen")
    b.js("document.querySelector('#exchanges .plot').focus()")
    b.keys("right")
    moved = settled(b, zoomed)
    b.keys("-")
    wider = settled(b, moved)
    b.keys("home")
    check(settled(b, wider) == whole, f"keys move, zoom and show all: {moved[0]}; {wider[0]}")
    b.js("document.querySelector('#exchanges .plot').focus()")
    b.keys("shift", "right")
    check(b.until("return document.querySelector('#exchanges .readout').textContent"), "keys read values")
    b.js("document.querySelector('#exchanges details').open = true")
    rows = b.until("return document.querySelectorAll('#exchanges details tbody tr').length")
    check(rows == 300, f"the table behind the chart has {rows} rows")
    b.js("document.querySelector('#slowest td button').click()")
    settled(b, whole)
    check(True, "the time of a slow exchange is shown at a click")
    b.js("document.getElementById('all').click()")
    flows = b.js("return [...document.getElementById('flow').options].map((o) => o.value)")
    b.js("const s = document.getElementById('flow'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))", flows[1])
    b.until("return document.querySelectorAll('#connection .chart').length")
    check(len(flows) >= 4, f"another of {len(flows)} flows can be chosen")
    no_complaint(b, "after all this")


def many_points(path, top):
    """A page whose largest track is repeated until it has a million points: made by the same numbers' format."""
    import base64
    import zlib
    n = 1_000_000
    with open(path, encoding="utf-8") as f:
        text = f.read()
    index = json.loads(re.search(r'id="index">(.*?)</script>', text, re.S).group(1))
    number = next(i for i, t in enumerate(index["tracks"]) if t["kind"] == "exchange")
    index["tracks"] = [dict(t, rows=n, seen=n) if i == number else t for i, t in enumerate(index["tracks"])]
    step = (index["end_ns"] - index["begin_ns"]) // n

    def packed(values):
        out = bytearray()
        for v in values:
            while v > 127:
                out.append(v & 127 | 128)
                v >>= 7
            out.append(v)
        return out

    data = packed([2 * step] * n) + packed(1 + 50_000 + i * 7919 % 40_000 for i in range(n)) + \
        packed(1 for _ in range(n)) + packed(i + 1 for i in range(n))
    data = base64.b64encode(zlib.compress(bytes(data), 5)).decode()
    text = re.sub(r'id="index">.*?</script>',
                  lambda _: f'id="index">{json.dumps(index)}</script>', text, count=1, flags=re.S)
    text = re.sub(rf'id="track-{number}">.*?</script>', lambda _: f'id="track-{number}">{data}</script>', text,
                  count=1, flags=re.S)
    with open(top + "/many.html", "w", encoding="utf-8") as f:
        f.write(text)
    with Browser(1280, 900) as b:
        b.open(top + "/many.html")
        first = float(b.js("return document.documentElement.dataset.first"))
        b.js("document.querySelector('#exchanges .plot').scrollIntoView({block: 'center'})")
        time.sleep(0.5)
        times = []
        for key in "+++++++---+++++":
            b.js("document.querySelector('#exchanges .plot').focus()")
            b.keys(key)
            time.sleep(0.1)
            times.append(float(b.js("return document.documentElement.dataset.redraw")))
        legend = b.js("return document.querySelector('#exchanges .legend').textContent")
        check("1,000,000" in legend, f"{legend}: {os.path.getsize(top + '/many.html'):,} bytes")
        times.sort()
        print(f"1,000,000 points: first chart after {first:.0f} ms, a zoom takes {times[len(times) // 2]:.1f} ms "
              f"(median of {len(times)}), {times[-1]:.1f} ms at most")
        no_complaint(b, "a million points")


def two_hosts(rec, path, top):
    """The page of two hosts shows one part at a time; each host's page is complete within it."""
    shutil.copytree(rec.dir, top + "/other")
    with open(top + "/other/session.json", encoding="utf-8") as f:
        session = json.load(f)
    session["host"] = session["boot_id"] = "another"
    with open(top + "/other/session.json", "w", encoding="utf-8") as f:
        json.dump(session, f)
    run(MAGNET, "report", "--html", path, rec.dir, top + "/other")
    for name, width in (("two-hosts", 1280), ("two-hosts-phone", 360)):
        with Browser(width, 900) as b:
            b.open(path, "return [...document.querySelectorAll('iframe')].every("
                         "(f) => f.contentDocument?.documentElement.dataset.ready)")
            for part in ("both", "first", "other"):
                b.js(f"document.getElementById('{part}').click()")
                shown = b.js("return [...document.querySelectorAll('main > *')].filter((e) => "
                             "getComputedStyle(e).visibility === 'visible').map((e) => e.id)")
                check(shown == ["of-" + part], f"{name}: shows {shown}")
                b.picture(f"{top}/{name}-{part}.png")
            drawn = b.js("return [...document.querySelectorAll('iframe')].map((f) => "
                         "[...f.contentDocument.querySelectorAll('.plot canvas')].filter((c) => c.clientWidth > 200).length)")
            check(min(drawn) > 0, f"{name}: each host has its charts: {drawn}")
            size = b.js("return [document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
            check(size[0] <= width and size[1] <= 900, f"{name}: fits the window: {size}")
            no_complaint(b, name)


need_program("chromium", "chromedriver")
need_kernel_side()
if not os.path.exists(os.path.join(os.environ.get("MAGNET_BUILD", ""), "page", "page.html")):
    skip("built without pages: install libjs-dygraphs")
with undisturbed(lambda: Recording(PYTHON, "-c", PROGRAM, options=("--level", "full"))) as rec:
    at = KEEP or rec.top
    run(MAGNET, "report", "--html", at + "/page.html", rec.dir)
    pictures(at + "/page.html", at)
    on_paper(at + "/page.html", at)
    with Browser(1280, 900) as browser:
        browser.open(at + "/page.html")
        charts(browser)
        numbers(browser)
        found = browser.js(COLOURS)
        check(found and len(set(found)) == len(found), f"each cause has a colour of its own: {found}")
        distributions(browser)
        interaction(browser)
    two_hosts(rec, at + "/two.html", at)
    without_kernel_side(at)
    many_points(at + "/page.html", at)
