# SPDX-License-Identifier: MIT
"""
A connection between two recordings, of one namespace each. Their clocks are the same, which is found;
then one recording's are changed by 50 ppm and 1 s, as another host's would be, and that is found, each
within its bound; and so are the times bytes were under way (docs/method.md, "Clock", "Hosts").
"""
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from page import Elements, outside, read_page
from reclock import reclock

PORT, TIMES, SIZE = 5137, 300, 1000
SERVER = f"""
import socket
c, _ = socket.create_server(("", {PORT})).accept()
for _ in range({TIMES}):
    c.sendall(c.recv({SIZE}, socket.MSG_WAITALL))
"""
CLIENT = f"""
import socket, time
s = socket.socket()
for _ in range(200):
    try:
        s.connect(("{Network.B}", {PORT}))
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for _ in range({TIMES}):
    s.sendall(b"x" * {SIZE})
    s.recv({SIZE}, socket.MSG_WAITALL)
    time.sleep(0.004)
"""


def both(net, top):
    """A client's recording and a server's, made at the same time."""
    other = subprocess.Popen([MAGNET, "record", "-q", "-o", top + "/b", "--",
                              *net.inside(net.b, PYTHON, "-c", SERVER)])
    try:
        run(MAGNET, "record", "-q", "-o", top + "/a", "--", *net.inside(net.a, PYTHON, "-c", CLIENT))
        check(other.wait(30) == 0, "both recordings were made")
    finally:
        stop(other)


def set_host(trace, name):
    with open(trace + "/session.json") as f:
        session = json.load(f)
    session["host"] = session["boot_id"] = name
    with open(trace + "/session.json", "w") as f:
        json.dump(session, f)


def page(top):
    """One page of both, which has the pages of each within."""
    if not os.path.exists(os.path.join(os.environ.get("MAGNET_BUILD", ""), "page", "two-hosts.html")):
        return print("built without pages")
    name = 'b <"&>'
    set_host(top + "/b", name)
    path = top + "/both.html"
    run(MAGNET, "report", "--html", path, top + "/a", top + "/b")
    made = read_page(path, Elements)
    check(not made.problems and not outside(made), f"a page, which loads nothing: {made.problems} {outside(made)}")
    text = run(MAGNET, "report", top + "/a", top + "/b", env={**os.environ, "COLUMNS": "88", "LC_ALL": "C.UTF-8"})
    begin = text.stdout.split("\n\n", 2)[:2]
    missing = [line for line in "\n".join(begin).splitlines() if line not in made.ids["of-both"]]
    check(len(begin[1]) > 100 and not missing, f"it begins as the text does: {missing}")
    check(name in made.ids["of-both"], "with the hosts' names")
    reports = [json.loads(run(MAGNET, "report", "--json", "--slowest", 10, top + d).stdout) for d in ("/a", "/b")]
    check([p.report["flows"] for p in made.within] == [r["flows"] for r in reports] and
          [p.report["session"]["host"] for p in made.within] == [socket.gethostname(), name], "and has the page of each host")
    check(all(p.tracks("exchange") and not p.problems for p in made.within), "with its charts")
    check(all(h in made.policy for p in made.within for h in p.policy.split() if h.startswith("'sha256-")),
          "and lets their scripts and styles pass")
    p = run(MAGNET, "report", "--html", "/dev/full", top + "/a", top + "/b", check=False)
    check(p.returncode == 1 and "cannot write /dev/full" in p.stderr, p.stderr.strip())


def events_of(trace):
    with subprocess.Popen([MAGNET, "show", "--tsv", trace], text=True, stdout=subprocess.PIPE) as p:
        yield from csv.DictReader(p.stdout, delimiter="\t", quoting=csv.QUOTE_NONE)


def passed(trace, flow_id, event):
    """
    Byte -> when it passed; segments are not cut on their way here. What passed more than once is left
    out: which copy of it arrived is not known.
    """
    found = {}
    for e in events_of(trace):
        if e["event"] == event and e["flow"] == flow_id and e["length"] not in ("", "0"):
            found.setdefault(int(e["offset"]), []).append((int(e["time_ns"]), int(e["length"])))
    return {offset: times[0] for offset, times in found.items() if len(times) == 1}


def transit(top, crossing):
    """By both ends' own events, on the one clock they were made with."""
    sender, receiver = ("a", "b") if crossing["direction"] == "to_other" else ("b", "a")
    sent = passed(f"{top}/{sender}", crossing["sent_as"], "dev_xmit")
    came = passed(f"{top}/{receiver}", crossing["received_as"], "dev_recv")
    both_saw = [(came[o][0] - t, n) for o, (t, n) in sent.items() if o in came]
    check(len(both_saw) > 0.9 * TIMES, f"{len(both_saw)} segments were seen by both")
    return sum(ns * n for ns, n in both_saw) / sum(n for _, n in both_saw)


def search(f, low, high):
    """Where a concave function is largest."""
    for _ in range(200):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (a, high) if f(a) < f(b) else (low, b)
    return (low + high) / 2


def bounds(to_b, to_a, slack, at):
    """
    Computes by how much B's clock is ahead at most and at least, by another way than the report: for a
    given rate the offset lies between two bounds, and what they give at an instant is searched over the rates.
    """
    room = [((x - at) / 1e9, y - x + slack) for x, y in to_b]  # seconds, ns
    need = [((x - at) / 1e9, y - x - slack) for x, y in to_a]

    def most(rate):  # ns a second
        return min(v - rate * u for u, v in room)

    def least(rate):
        return max(v - rate * u for u, v in need)

    middle = search(lambda r: most(r) - least(r), -1e6, 1e6)
    ends = []
    for end in (-1e6, 1e6):
        inside, outside = middle, end
        for _ in range(100):
            half = (inside + outside) / 2
            inside, outside = (half, outside) if most(half) >= least(half) else (inside, half)
        ends.append(inside)
    return most(search(most, *ends)), least(search(lambda r: -least(r), *ends))


def compare_bounds(top, hosts, slack):
    """The report's bounds against those found from both recordings' events."""
    points = {}
    for c in hosts["flows"]:
        sender, receiver = ("a", "b") if c["direction"] == "to_other" else ("b", "a")
        sent = passed(f"{top}/{sender}", c["sent_as"], "dev_xmit")
        came = passed(f"{top}/{receiver}", c["received_as"], "dev_recv")
        points[c["direction"]] = [(sent[o][0], came[o][0]) if sender == "a" else (came[o][0], sent[o][0])
                                  for o in sent if o in came]
    for end in ("begin", "end"):
        w = hosts["clock"][0][end]
        most, least = bounds(points["to_other"], points["from_other"], slack, w["at_ns"])
        check(abs(w["ahead_ns"] - (most + least) / 2) < 2 and abs(w["half_width_ns"] - (most - least) / 2) < 2,
              f"at the {end} the bounds are {least:.0f} to {most:.0f} ns, found in another way too")


def look(top, clock, true_transit):
    """The report of both, against what is true."""
    report = json.loads(run(MAGNET, "report", "--json", top + "/a", top + "/b").stdout)
    hosts = report["hosts"]
    check([w["state"] for w in hosts["clock"]] == ["related"], "the clocks are related, by one line")
    check(min(hosts["passings"].values()) > 0.9 * TIMES, f"by {hosts['passings']} passings")
    for end in ("begin", "end"):
        w = hosts["clock"][0][end]
        off = w["ahead_ns"] - (clock(w["at_ns"]) - w["at_ns"])
        check(abs(off) <= w["half_width_ns"] + 1,
              f"at the {end}: off by {off:.0f} ns, bound {w['half_width_ns']:.0f}")
        check(w["half_width_ns"] < 1e6, "which is less than a millisecond")
    for crossing in hosts["flows"]:
        t = crossing["transit_ns"]
        mean = true_transit[crossing["direction"]]
        check(abs(t["mean"] - mean) <= t["half_width"] + 1,
              f"{crossing['direction']}: {t['mean']:.0f} ns under way, truly {mean:.0f}, "
              f"bound {t['half_width']:.0f}")
        check(crossing["bytes"] == TIMES * SIZE, "all bytes are known")
        calls = crossing["call_to_return_ns"]
        check(calls["bytes"] > 0.9 * TIMES * SIZE and calls["mean"] > t["mean"] - t["half_width"],
              f"from call to return {calls['mean']:.0f} ns")
    check({c["direction"] for c in hosts["flows"]} == {"to_other", "from_other"}, "in both directions")
    check(hosts["other"]["flows"] and report["flows"], "both recordings are reported")
    compare_bounds(top, hosts, sum(r["clock"]["cpu_offset_ns"] or 0 for r in (report, hosts["other"])))
    return hosts


need_kernel_side()
with Network(gso_max_segs=1) as net, tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
    both(net, top)
    one = json.loads(run(MAGNET, "report", "--json", top + "/a", top + "/b").stdout)
    check("hosts" not in one, "recordings of one host are one")
    set_host(top + "/b", "elsewhere")
    hosts = json.loads(run(MAGNET, "report", "--json", top + "/a", top + "/b").stdout)["hosts"]
    check(len(hosts["flows"]) == 2, "a connection lies between the two")
    true_transit = {c["direction"]: transit(top, c) for c in hosts["flows"]}
    print("as recorded:")
    same = look(top, lambda ns: ns, true_transit)

    # without session.json the clocks, which are those of boots, tell hosts apart
    shutil.copytree(top + "/b", top + "/bare")
    os.remove(top + "/bare/session.json")
    boot = json.load(open(top + "/a/session.json"))["boot_id"]
    for side in ("kernel", "app"):
        with open(f"{top}/bare/{side}/metadata", "r+b") as f:
            text = f.read()
            check(boot.encode() in text, f"the {side} side's clock has the boot's identity")
            f.seek(0)
            f.write(text.replace(boot.encode(), b"0" * 8 + boot[8:].encode()))
    bare = json.loads(run(MAGNET, "report", "--json", top + "/a", top + "/bare").stdout)
    check(len(bare["hosts"]["flows"]) == 2, "of which one is without session.json")

    def clock(ns):
        return ns + ns * 50 // 1_000_000 + 1_000_000_000

    reclock(top + "/b", clock)
    print("50 ppm and 1 s off:")
    changed = look(top, clock, true_transit)
    near(changed["clock"][0]["skew"] - same["clock"][0]["skew"], 50e-6, 0.02, "the difference of rates")
    text = run(MAGNET, "report", top + "/a", top + "/b").stdout
    check("Between " in text and " ppm faster (" in text, "people are told so")
    page(top)
    p = run(MAGNET, "report", top + "/a", top + "/b", "--flow", "1/tx", check=False)
    check(p.returncode == 2 and "leave out --flow" in p.stderr, p.stderr.strip())
    p = run(MAGNET, "show", top + "/a", top + "/b", check=False)
    check(p.returncode == 2 and "give those of one" in p.stderr, p.stderr.strip())
