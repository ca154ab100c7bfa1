# SPDX-License-Identifier: MIT
"""
The first screen names what made requests slow: servers and clients with one hidden cause each, of
which the program, the kernel's timers or the shaped link are known to take nearly all of the time.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fact_table import facts
from fixture import *

SLOWED = os.path.join(os.path.dirname(__file__), "..", "programs", "slowed.py")
PORT, N = 5470, 40


def script(cause, net, number):
    if not net:
        clients = 2 if cause == "busy" else 1
        return f"{PYTHON} {SLOWED} server {cause} 127.0.0.1 {PORT} {number} & " + \
            f"{PYTHON} {SLOWED} client {cause} 127.0.0.1 {PORT} {number} & " * clients + "wait"
    inside = "nsenter --net=/run/netns/"
    return (f"{inside}{net.a} {PYTHON} {SLOWED} server {cause} {net.A} {PORT} {number} & "
            f"{inside}{net.b} {PYTHON} {SLOWED} client {cause} {net.A} {PORT} {number}; wait")


def sums(report):
    """The causes sum to the time, which is that of the facts."""
    for g in report["exchanges"]:
        for column in g["answer"]:
            total = sum(c["mean_ns"] for c in column["causes"])
            if abs(total - column["mean_ns"]) > 1e-6 * column["mean_ns"] + 1:
                check(False, f"{column['title']}: {total} of {column['mean_ns']}")
    for s in report["slowest"]:
        total = sum(c["mean_ns"] for c in s["causes"])
        if s["causes"] and abs(total - s["whole_ns"]) > 1e-6 * total + 1:
            check(False, f"slowest: {total} of {s['whole_ns']}")
    check(True, "causes sum to the time of each column, and of each slow exchange")


def group(report, role):
    return next(g for g in report["exchanges"] if g["role"] == role)


def named(report, role, title, *wanted):
    column = next(c for c in group(report, role)["answer"] if c["title"].startswith(title))
    first = column["causes"][0]
    said = f"{first['at']} {first['cause']}"
    check(said in wanted, f"{role}, {title}: {first['share']:.0%} {said}, of {column['mean_ns'] / 1e6:.2f} ms")
    return column


def life_of_the_slowest(rec, answer):
    """The command that the answer names shows its slowest exchange, and no other one."""
    text = " ".join(" ".join(answer).split())
    command = re.search(r"magnet show (\S+) --exchange (\S+)", text)
    slowest = re.search(r"the slowest: (\S+ \S+ at \S+ s)", text)
    check(command and slowest and command[1] == rec.dir, "with the command that shows the life of the slowest")
    lines = run(MAGNET, "show", rec.dir, "--exchange", command[2]).stdout.splitlines()
    times = [line.strip() for line in lines if re.match(r"  \S+ \S+ at \S+ s, ", line)]
    check(len(times) == 1 and times[0].startswith(slowest[1]), f"{slowest[1]}: {times}")
    return slowest[1]


def screen(rec, words, remedy):
    """Checks the first 24 lines, at 80 columns."""
    text = run(MAGNET, "report", rec.dir, env={**os.environ, "COLUMNS": "80"}).stdout
    first = text.splitlines()[:24]
    answer = [line for line in first[next(i for i, l in enumerate(first) if l.startswith("Answer")):]]
    check(words in " ".join(" ".join(answer).split()), f"the first screen says: {words}")
    check(not remedy or remedy in "\n".join(first), f"and what to do: {remedy}")
    end = answer.index("") if "" in answer else len(answer)
    rows = [line.strip() for line in answer[1:end]]
    check(rows[0].startswith("mean of") and rows[1].startswith("whole exchange ") and
          not any("request to reply" in row for row in rows),
          "its times are those of whole exchanges; request to reply is another time")
    life_of_the_slowest(rec, answer[:20])
    check(all(len(line) <= 80 for line in answer[:end]), "in 80 columns")


def scene(cause, at, words, remedy="", number=N, role="client", net=None, slow=None):
    print(f"-- {cause}")
    with Recording("sh", "-c", script(cause, net, number)) as rec:
        report = rec.report()
        sums(report)
        check(group(report, role)["answered"] >= number, f"{group(report, role)['answered']} exchanges")
        if at:
            named(report, role, "median", *at)
        named(report, role, "slowest", *(slow or at))
        screen(rec, words, remedy)
        if cause in ("busy", "reader"):
            at_client = cause == "reader" and role == "client"
            check_parts(rec, "before_read", "client" if at_client else "server", "arrived_ns",
                        "reply_first_ns" if at_client else "request_last_ns", number)
        if cause in ("streamed", "reader"):
            at = "server" if cause == "streamed" else "client"
            check_parts(rec, "during_reply", at, "reply_first_ns", "reply_last_ns", number)
        if cause == "sleep":
            check_whole(rec, report)
            named(report, "server", "median", "server program")


def check_parts(rec, fact, role, begin, end, number):
    """The facts of what a program's threads did sum to the time that they divide."""
    exchanges = {(e["request"], e["ordinal"]): e for e in facts(rec, "exchange") if e["role"] == role}
    summed = {}
    for row in facts(rec, fact):
        key = row["request"], row["ordinal"]
        if key in exchanges:
            summed[key] = summed.get(key, 0) + row["time_ns"]
    off = [abs(t - (exchanges[k][end] - exchanges[k][begin])) - 1e-6 * t
           for k, t in summed.items()]  # times are given by the clock at each, spans by its mean rate
    check(len(off) >= number / 2 and max(off) < 2, f"{fact} of {len(off)} exchanges at the {role} sum to that time")


def check_whole(rec, report):
    """The slowest is the slowest of the facts, of which the time is the same."""
    spans = [e["reply_last_ns"] - e["request_first_ns"] for e in facts(rec, "exchange")
             if e["role"] == "client" and e["answer"] == "answered"]
    near(report["slowest"][0]["whole_ns"], max(spans), 1e-6, "the slowest is that of the facts, ns")
    shortest = min(e["in_program_ns"] for e in facts(rec, "exchange") if e["role"] == "server" and e["in_program_ns"])
    p50 = group(report, "server")["in_program_ns"]["p50"]
    check(p50 > shortest - 2, f"no quantile of the time in the program, {p50:.0f} ns, is below the shortest, {shortest} ns")


DATAGRAMS = f"""
import os, socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", {PORT}))
if os.fork() == 0:
    while (got := s.recvfrom(500))[0] != b"end":
        s.sendto(got[0] + b"answer", got[1])
        time.sleep(0.02)
    os._exit(0)
s.close()
clients = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(8)]
for i in range(40):
    clients[i % 8].sendto(b"ask", ("127.0.0.1", {PORT}))
    clients[i % 8].recvfrom(500)
clients[0].sendto(b"end", ("127.0.0.1", {PORT}))
os.wait()
"""


def datagrams():
    """Many clients of one server's socket, which has received from others by the time a client asks again."""
    print("-- datagrams")
    with Recording(PYTHON, "-c", DATAGRAMS) as rec:
        report = rec.report()
        sums(report)
        column = named(report, "client", "median", "server reader")
        check(column["causes"][0]["share"] > 0.8, "nearly all of the time")
        screen(rec, "server: data were there, but were not read", "Use more workers")


SERVICES = f"""
import os, socket, time
def service(port, seconds):
    l = socket.create_server(("127.0.0.1", port))
    if os.fork() == 0:
        s = l.accept()[0]
        while s.recv(100):
            time.sleep(seconds)
            s.send(b"answer")
        os._exit(0)
    l.close()
    return socket.create_connection(("127.0.0.1", port))
steady, rare = service({PORT + 1}, 0.02), service({PORT + 2}, 0.06)
for i in range(30):
    for s in (steady, rare) if i % 10 == 0 else (steady,):
        s.send(b"ask")
        s.recv(100)
"""


def services():
    """The service whose requests wait longest in all is not that of the slowest requests."""
    print("-- services")
    with Recording(PYTHON, "-c", SERVICES) as rec:
        lines = run(MAGNET, "report", rec.dir).stdout.splitlines()
        answer = lines[next(i for i, l in enumerate(lines) if l.startswith("Answer")):]
        slowest = rec.report()["slowest"][0]
        check(str(PORT + 1) in answer[0] and 50e6 < slowest["whole_ns"],
              f"the answer is of :{PORT + 1}, and the slowest of all took {slowest['whole_ns'] / 1e6:.1f} ms")
        said = life_of_the_slowest(rec, answer[:20])
        check(float(said.split()[0]) < 0.9 * slowest["whole_ns"] / 1e6, f"{said}: that of the service")
        window = run(MAGNET, "report", "--port", PORT + 1, "--from", "0.05", rec.dir).stdout.splitlines()
        life_of_the_slowest(rec, window)


need_kernel_side()
need_program("tc")
patiently(services)
patiently(datagrams)
patiently(lambda: scene("nagle", ["server nagle"], "server: Nagle's algorithm", "TCP_NODELAY"))
patiently(lambda: scene("sleep", ["server program"], "the program itself, blocked in clock_nanosleep",
                        "asked to sleep"))
patiently(lambda: scene("kinds", ["server program"], "the program itself, blocked in clock_nanosleep",
                        "asked to sleep", slow=["server reader"]))
patiently(lambda: scene("rare", None, "the program itself, blocked in clock_nanosleep", slow=["server program"]))
patiently(lambda: scene("stopped", None, "server: kernel's receive path; the reader was stopped by a",
                        "SIGSTOP", slow=["server receive"]))
patiently(lambda: scene("reader", ["client reader"], "client: data were there, but were not read",
                        "Read before that", number=10))
patiently(lambda: scene("streamed", ["server writing"], "server: the program, from its first to its last write,",
                        "asked to sleep", number=10))
patiently(lambda: scene("busy", ["server reader", "server program"], "server: data were there",
                        "Use more workers"))
with Network(rate="20mbit", burst=3028) as shaped:
    patiently(lambda: scene("rate", ["server qdisc"], "server: waiting in the device's queue", "rate limit",
                            number=4, net=shaped))
