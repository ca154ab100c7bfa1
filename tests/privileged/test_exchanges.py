# SPDX-License-Identifier: MIT
"""
Exchanges against a server and a client that time themselves (programs/asked.py): the time in the
program is the server's own for every request, and lies between the same clock readings.
"""
import os
import re
import subprocess
import sys
from types import SimpleNamespace

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fact_table import facts
from fixture import *

ASKED = os.path.join(os.path.dirname(__file__), "..", "programs", "asked.py")
PORT, ROUNDS = 5140, 60
# Between a call and a clock reading lie some lines of Python, and whatever interrupts the thread.
USUALLY_NS, AT_MOST_NS = 30_000, 300_000 * SLOWER
FLAGS = ("overlaps", "several_peers", "begun_before", "lost")
WAY = ("part_request_way_ns", "part_program_ns", "part_reply_way_ns")


def own_times(text, who):
    """Clock readings that a program printed, in the order of its requests."""
    rows = (line.split() for line in text.splitlines())
    return sorted(tuple(map(int, row[1:])) for row in rows if row[0] == who)


class Asked:
    """A recording of a scene: of both ends, or of one; the other end runs beside it."""

    def __init__(self, scene, who="both"):
        other, untraced = {"server": "client", "client": "server"}.get(who), None
        if other:
            untraced = subprocess.Popen([PYTHON, ASKED, other, scene, str(PORT), str(ROUNDS)],
                                        stdout=subprocess.PIPE, text=True)
        if other == "server":
            untraced.stdout.readline()  # "ready"
        try:
            self.rec = Recording(PYTHON, ASKED, who, scene, PORT, ROUNDS)
            said = self.rec.p.stdout + (untraced.communicate(timeout=60)[0] if untraced else "")
        finally:
            if untraced:
                stop(untraced)
        self.what = f"{scene}, {who} recorded"
        self.server, self.client = own_times(said, "server"), own_times(said, "client")
        self.report = self.rec.report()
        self.bound = self.report["clock"]["max_error_ns"] + (self.report["clock"]["cpu_offset_ns"] or 0)

    def __enter__(self):
        self.all = facts(self.rec, "exchange")
        self.waits = facts(self.rec, "wait")
        return self

    def __exit__(self, *unused):
        self.rec.__exit__()

    def of(self, role):
        return sorted((e for e in self.all if e["role"] == role and e["answer"] == "answered"),
                      key=lambda e: e["request_last_ns"])

    def group(self, role):
        found = [g for g in self.report["exchanges"] if g["role"] == role]
        check(len(found) == 1 and found[0]["port"] == PORT, f"{self.what}: one group of the {role}'s")
        return found[0]

    def waited(self, tid, begin, end):
        """For how long the thread was off the CPU meanwhile."""
        return sum(max(0, min(w["end_ns"], end) - max(w["begin_ns"], begin)) for w in self.waits
                   if w["tid"] == tid and w["begin_ns"] and w["end_ns"])

    def close_to(self, pairs, what):
        """That each time lies before the other, by what some lines of Python take."""
        apart = [(after - before, self.waited(tid, before, after)) for tid, before, after in pairs]
        least = min(a for a, _ in apart)
        # nine of ten: now and then the hypervisor takes the CPU in between
        most = sorted(a - w for a, w in apart)[len(apart) * 9 // 10]
        middle = sorted(a for a, _ in apart)[len(apart) // 2]
        check(least >= -self.bound and middle < USUALLY_NS * SLOWER and most < AT_MOST_NS,
              f"{self.what}: {what}: {least / 1000:.2f} to {most / 1000:.1f} µs and waits, median "
              f"{middle / 1000:.2f} µs; clocks agree within {self.bound:.0f} ns")


def server_times(a):
    """Each exchange at the server has the server's own times."""
    # by the thread that read: of two threads, the one that reads first may look at the clock last
    own = sorted(a.server, key=lambda o: (o[2], o[0]))
    seen = sorted(a.of("server"), key=lambda e: (e["request_tid"], e["request_last_ns"]))
    check(len(seen) == len(own) == ROUNDS, f"{a.what}: {len(seen)} exchanges, {len(own)} requests")
    check(not any(e[flag] for e in seen for flag in FLAGS), f"{a.what}: all of them are certain")
    check(all((e["request_tid"], e["reply_tid"]) == o[2:] for e, o in zip(seen, own)),
          f"{a.what}: by the threads that read and wrote")
    a.close_to([(o[2], e["request_last_ns"], o[0]) for e, o in zip(seen, own)],
               "from the read's return to the server's first clock reading")
    a.close_to([(o[3], o[1], e["reply_first_ns"]) for e, o in zip(seen, own)],
               "from the server's second clock reading to the write's begin")
    check(all(abs(e["in_program_ns"] - (e["reply_first_ns"] - e["request_last_ns"])) <= 2 for e in seen),
          f"{a.what}: the time in the program is that between both")
    check(all(e["arrived_ns"] - a.bound <= e["request_last_ns"] and e["reply_first_ns"] <= e["departed_ns"] + a.bound
              for e in seen), f"{a.what}: requests arrive before they are read, replies leave after they are written")


def client_times(a, number=ROUNDS):
    own, seen = a.client, a.of("client")
    check(len(seen) == len(own) == number, f"{a.what}: {len(seen)} exchanges, {len(own)} questions")
    a.close_to([(e["request_tid"], o[0], e["request_last_ns"]) for e, o in zip(seen, own)],
               "from the client's first clock reading to its write")
    a.close_to([(e["reply_tid"], e["reply_first_ns"], o[1]) for e, o in zip(seen, own)],
               "from the return of its read to the second")


def split(a):
    """The client's time is the ways and the time in the program, which is the server's."""
    at_server, at_client = a.of("server"), a.of("client")
    for e in at_client:
        parts = [e[part] for part in WAY]
        if None in parts or min(parts) < -a.bound or abs(sum(parts) - e["to_reply_ns"]) > 1:
            check(False, f"{a.what}: {parts} make {e['to_reply_ns']}")
    # each is rounded on its own: in one of 60 of some milliseconds, the last digit may be another
    times = zip(sorted(e["part_program_ns"] for e in at_client), sorted(e["in_program_ns"] for e in at_server))
    check(len(at_client) == len(at_server) and all(abs(x - y) <= 1 for x, y in times),
          f"{a.what}: of {len(at_client)} exchanges ways and time in the program make the time to the "
          f"reply, and the latter is the server's")


def quantile(values, q):
    return sorted(values)[max(0, -int(-q * len(values) // 1) - 1)]


def figures(a, role):
    """The report's figures are those of the facts."""
    seen, group = a.of(role), a.group(role)
    check(group["answered"] == len(seen) and not group["unsure"], f"{a.what}: {len(seen)} are reported")
    for name in ("in_program_ns", "to_reply_ns"):
        values, said = [e[name] for e in seen if e[name] is not None], group[name]
        check(said["n"] == len(values), f"{a.what}: {len(values)} have {name}")
        if not values:
            continue
        near(said["max"], max(values), 1e-5, f"{a.what}: {role}'s {name}, the longest")
        near(said["mean"], sum(values) / len(values), 1e-5, f"{a.what}: the mean")
        near(said["p50"], quantile(values, 0.5), 1 / 32, f"{a.what}: the median")
        bins = group[name[:-3] + "_histogram"]
        check(sum(b["n"] for b in bins) == len(values) and abs(bins[-1]["below"] - 1) < 1e-9 and all(
            sum(v < b["to_ns"] * 31 / 32 for v in values) <= b["below"] * len(values) + 1e-6
            <= sum(v < b["to_ns"] * 33 / 32 for v in values) + 1e-5 for b in bins),
              f"{a.what}: {len(bins)} bins of the histogram hold all of them")
    check(group["request_bytes"] == sum(e["request_bytes"] for e in seen)
          and group["reply_bytes"] == sum(e["reply_bytes"] for e in seen), f"{a.what}: bytes of all")


def slowest(a):
    """
    The slowest are those of the facts, and their lives are shown without any id given. Each of the facts' two
    times is a whole number of ns.
    """
    wanted = sorted((e["reply_last_ns"] - e["request_first_ns"] for e in a.of("client")), reverse=True)[:10]
    said = [s["whole_ns"] for s in a.report["slowest"]]
    check(len(said) == 10 and all(abs(s - w) <= 2 for s, w in zip(said, wanted)),
          f"{a.what}: the ten slowest are the slowest of all facts: {list(zip(said, wanted))}")
    first = a.report["slowest"][0]
    text = run(MAGNET, "show", a.rec.dir, "--slowest", 1).stdout
    last = first["request_offset"] + first["request_bytes"] - 1
    check(first["request"] in text and f"{last}" in text and "in the program" in text,
          f"magnet show --slowest 1 has byte {last} of {first['request']}")
    one(a, a.of("client")[7])
    text = a.rec.text("--histogram")
    check(f":{PORT}, in the program" in text and "shorter than" in text,
          "magnet report --histogram has the server's")
    text = a.rec.text("--slowest", "3")
    check(text.count("in the program ") >= 3 and "Slowest exchanges" in text, "magnet report --slowest 3 has three")


def one(a, wanted):
    """One exchange is chosen by any byte of it, and nothing else is shown."""
    bytes_of = {end: f"{wanted[end]} {wanted[end + '_offset']}+{wanted[end + '_bytes']}" for end in ("request", "reply")}
    heads = []
    for end in bytes_of:
        byte = wanted[end + "_offset"] + wanted[end + "_bytes"] - 1
        text = run(MAGNET, "show", a.rec.dir, "--exchange", f"{wanted[end]}@{byte}").stdout
        heads.append([line for line in text.splitlines() if "; request " in line])
        check("in the program" in text and text.count("since first") == 2, f"{a.what}: byte {byte} of its {end} shows it")
    check(heads[0] == heads[1] and len(heads[0]) == 1 and
          heads[0][0].endswith(f"request {bytes_of['request']}, reply {bytes_of['reply']}"), f"it alone: {heads}")
    for name, why in ((f"{wanted['request']}@{1 << 40}", "no exchange has byte"), ("1/tx@0", "there is no flow 1/tx")):
        p = run(MAGNET, "show", a.rec.dir, "--exchange", name, check=False)
        check(p.returncode == 1 and why in p.stderr and not p.stdout, f"{name}: {p.stderr.strip()}")


def one_at_a_time():
    with Asked("one") as a:
        server_times(a)
        client_times(a)
        split(a)
        figures(a, "server")
        figures(a, "client")
        slowest(a)
    with Asked("one", "server") as a:
        server_times(a)
        figures(a, "server")
    with Asked("one", "client") as a:
        client_times(a)
        check(all(e["in_program_ns"] is None for e in a.of("client")),
              f"{a.what}: the time in the server is not known")
        figures(a, "client")


def ended_by_the_client():
    with Asked("half") as a:
        server_times(a)
        client_times(a)
        split(a)
        check(all(e["half_closed"] for e in a.all), f"{a.what}: the client's end is part of the request")


def written_together():
    with Asked("pipelined") as a:
        server_times(a)
        client_times(a, ROUNDS // 4)
        late = sum(e["pipelined"] == 1 for e in a.of("server"))
        check(late == ROUNDS * 3 // 4 == a.group("server")["pipelined"],
              f"{a.what}: {late} had come before the reply to the one before")
        check(all(e["in_program_ns"] is None for e in a.of("client")),
              f"{a.what}: the client, that divides the bytes otherwise, has no part of it")


def answered_by_others():
    with Asked("pool") as a:
        server_times(a)
        split(a)
        check(any(e["request_tid"] != e["reply_tid"] for e in a.of("server")), f"{a.what}: another thread wrote")


def by_a_library():
    with Asked("http") as a:
        server_times(a)
        client_times(a)
        split(a)


def datagrams():
    with Asked("datagrams") as a:
        server_times(a)
        client_times(a)
        split(a)


def one_way():
    with Asked("one_way") as a:
        found = [(e["role"], e["answer"]) for e in a.all]
        check(sorted(found) == [(r, w) for r in ("client", "server") for w in ("unanswered", "unasked")],
              f"{a.what}: {found}")
        check(all(e[t] is None for e in a.all for t in ("in_program_ns", "to_reply_ns"))
              and all(g["to_reply_ns"]["max"] is None for g in a.report["exchanges"]), "they have no times")
        for e in a.all:
            end, why = ("request", "no reply was recorded") if e["answer"] == "unanswered" else ("reply", "no request")
            text = run(MAGNET, "show", a.rec.dir, "--exchange", f"{e[end]}@{e[end + '_offset']}").stdout
            check(why in text, f"{a.what}: the {e['role']}'s is shown: {why}")


OPEN = f"""
import os, socket, time
l = socket.create_server(("127.0.0.1", {PORT + 1}))
if os.fork() == 0:
    s, _ = l.accept()
    while s.recv(200):
        time.sleep(0.003)
        s.sendall(b"y" * 1000)
    os._exit(0)
c = socket.create_connection(l.getsockname())
print(flush=True)
for _ in range(5000):
    c.sendall(b"x" * 200)
    c.recv(1000, socket.MSG_WAITALL)
"""


def open_before():
    """Both ends of a connection that is in use while the hooks are attached, one by one."""
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top, \
            subprocess.Popen([PYTHON, "-c", OPEN], stdout=subprocess.PIPE, text=True) as p:
        try:
            p.stdout.readline()
            run(MAGNET, "record", "-q", "-o", top + "/trace", "--all", "--duration", "1")
            run(MAGNET, "record", "-q", "-o", top + "/hidden", "--pid", p.pid, "--duration", "0.5", "--anonymize")
        finally:
            p.kill()
        rows = [e for e in facts(SimpleNamespace(dir=top + "/trace"), "exchange")
                if f":{PORT + 1}" in (e["local"] or "") + (e["remote"] or "")]
        client = [e for e in rows if e["role"] == "client"]
        known = sum(e["server_reply_first_ns"] is not None for e in client)
        check(len(client) > 50 and known > 0.9 * len(client), f"of {len(client)} the server's times, of {known}")
        check(all(e["local"].endswith(f":{PORT + 1}") for e in rows if e["role"] == "server"), "the server is who listens")
        said = run(MAGNET, "report", top + "/trace").stdout
        hidden = facts(SimpleNamespace(dir=top + "/hidden"), "exchange")
        check(len(hidden) > 20, "exchanges do not need the ports to be known")
        calls = said[said.index("System calls"):].splitlines()[1:3] if "System calls" in said else []
        check(sorted(line.split()[0] for line in calls) == ["recvfrom", "sendto"], f"its system calls: {calls}")
        answer = said[said.index("Answer:"):].split("Exchanges")[0]
        check("server: the program itself, blocked in clock_nanosleep" in answer and "not recorded" not in answer,
              "the server slept: " + answer)


FAST = """
import os, socket, sys
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
if os.fork() == 0:
    s, _ = listener.accept()
    while s.recv(100):
        s.send(b"a" * 1000)
    os._exit(0)
s = socket.create_connection(listener.getsockname())
for _ in range(int(sys.argv[2])):
    s.send(b"q" * 100)
    s.recv(1000)
s.close()
os.wait()
"""


def untimed(rec):
    """Answered exchanges, and those of which a time at the device is missing."""
    rows = [e for e in facts(rec, "exchange") if e["answer"] == "answered"]
    return rows, [e for e in rows if e["arrived_ns"] is None or e["departed_ns"] is None]


def past_the_library():
    """Programs that libmagnet.so does not see, beside one that it does: their calls are settled later."""
    with Recording("sh", "-c", f"unset LD_PRELOAD; exec {PYTHON} -c '{FAST}' {PORT + 2} 700") as rec:
        rows, missing = untimed(rec)
        check(len(rows) >= 1400 and not missing, f"of {len(rows)} exchanges {len(missing)} have no time at the device")
        answer = rec.text()
        answer = answer[answer.index("Answer:"):].split("Exchanges")[0]
        check(not re.search(r"(sending|receiving) +0 ns", answer), f"nothing takes no time: {answer}")


def cut_off():
    """The kernel side ends at once on all CPUs, and what it did not see is not divided."""
    with Recording(PYTHON, "-c", FAST, PORT + 3, 4000, options=("-q", "--max-size", "300K")) as rec:
        rows, missing = untimed(rec)
        unseen = [e for e in missing if e["unseen"]]
        check(len(rows) > 300 and len(missing) - len(unseen) <= 2,
              f"of {len(rows)} exchanges {len(missing)} have no time at the device, {len(unseen)} were not recorded whole")


need_kernel_side()
for scene in (past_the_library, cut_off, one_at_a_time, ended_by_the_client, written_together, answered_by_others, by_a_library,
              datagrams, one_way, open_before):
    patiently(scene)
