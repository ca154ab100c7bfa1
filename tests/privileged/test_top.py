# SPDX-License-Identifier: MIT
"""
magnet top --json and magnet show --follow on a transfer that loses packets: the figures of all
intervals add up to those of the report, and what is followed is what is read afterwards. Then what
becomes of them when COMMAND, the recorder or magnet top is killed.
"""
import glob
import os
import re
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

TRANSFER = os.path.join(os.path.dirname(__file__), "..", "programs", "transfer.py")
PORT, BYTES = 5493, 6_000_000 // SLOWER
SUMS = ("bytes_sent", "bytes_received", "calls_sent", "calls_received", "exchanges", "retransmits", "drops")
ASK = """
import socket, threading, time
s = socket.create_server(("127.0.0.1", 0))
def serve():
    c, _ = s.accept()
    while c.recv(100): c.sendall(b"r" * 2000)
threading.Thread(target=serve, daemon=True).start()
c = socket.create_connection(s.getsockname())
end = time.monotonic() + %g
while time.monotonic() < end:
    c.sendall(b"q" * 100); c.recv(2000, socket.MSG_WAITALL); time.sleep(0.005)
"""


def top(*args, **kw):
    return subprocess.Popen([MAGNET, "top", *args], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kw)


def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]


def temporary(where):
    return glob.glob(where + "/magnet-top-*")


def add_up(lines, report):
    """The sums over all intervals, by socket, against the report's flows."""
    sums = {}
    for line in lines:
        for c in line["connections"]:
            of = sums.setdefault(c["socket"], dict.fromkeys(SUMS, 0))
            for key in SUMS:
                of[key] += c[key]
        for key in SUMS:
            told = sum(c[key] for c in line["connections"])
            if told != (line["total"][key] or 0) and key != "drops":  # some drops have no socket
                check(False, f"interval {line['interval']}: {key} of all is {line['total'][key]}, of each {told}")
    flows = [f for f in report["flows"] if f["bytes"]]
    for f in flows:
        sock, direction = f["id"].split("/")
        own = sums.get(int(sock), dict.fromkeys(SUMS, 0))
        told = own["bytes_sent" if direction == "tx" else "bytes_received"]
        if told != f["bytes"] or (f["retransmits"] is not None and own["retransmits"] != f["retransmits"]):
            check(False, f"{f['id']}: {own}, the report has {f['bytes']} bytes and {f['retransmits']} retransmits")
    check(flows, f"bytes and retransmits of {len(flows)} flows are those of the report")
    return sum(f["retransmits"] or 0 for f in flows)


def followed(net, where):
    """One recording, made by magnet top, followed by magnet show, read by the report."""
    script = (f"{' '.join(net.inside(net.b, PYTHON, TRANSFER, 'server', net.B, PORT))} & sleep 0.5; "
              f"{' '.join(net.inside(net.a, PYTHON, TRANSFER, 'client', net.B, PORT, BYTES, 4000))}; wait")
    trace = where + "/trace"
    p = top("--json", "--interval", "300ms", "-o", trace, "--", "sh", "-c", script)
    while not os.path.exists(trace):
        time.sleep(0.02)
    options = ([], ["--facts", "retransmit"], ["--port", str(PORT), "--event", "tcp_retransmit"])
    shows = [subprocess.Popen([MAGNET, "show", "-f", trace, "--tsv", *o], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) for o in options]
    seen = [show.communicate() for show in shows]
    out, err = p.communicate()
    check(p.returncode == 0, f"magnet top ends well: {err.strip()[-300:]}")
    lines = lines_of(out)
    check(len(lines) > 2 and lines[-1]["final"] and not any(l["final"] for l in lines[:-1]),
          f"{len(lines)} lines, of which the last is final")
    check(all(a["to_ns"] == b["from_ns"] for a, b in zip(lines, lines[1:])), "intervals follow each other")
    check(not lines[-1]["late"], "no event came late")
    report = json.loads(run(MAGNET, "report", "--json", "--full", trace).stdout)
    if not lines[-1]["lost_kernel"]:
        again = add_up(lines, report)
        check(again > 0, f"{again} segments were sent again")
    largest = max((c for l in lines for c in l["connections"]), key=lambda c: c["bytes_sent"])
    check(largest["remote"] == f"{net.B}:{PORT}" and largest["protocol"] == "tcp", "the sender is named")
    check(largest["waits_in"] == "send_buffer" and largest["waits_share"] > 0.5 and largest["modulation"] > 0 and
          largest["srtt_us"] > 0, "its bytes wait in the send buffer; M and the round trip are known")
    shares = [l["cpu_share"] for l in lines if l["cpu_share"] is not None]
    check(shares and all(0 <= s < 1 for s in shares), f"its own CPU share is {max(shares):.1%} at most")
    for o, show, (text, said) in zip(options, shows, seen):
        check(show.returncode == 0 and not said, f"show -f {o} ends by itself: {said}")
        check(text == run(MAGNET, "show", trace, "--tsv", *o).stdout,
              f"show -f {o} printed the {len(text.splitlines())} lines that show prints")
    return lines


def documented(lines):
    with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "magnet-top.1")) as f:
        page = set(re.findall(r"^\.It Va (\w+)", f.read(), re.M))
    used = {key for l in lines for key in l} | {key for l in lines for c in l["connections"] for key in c}
    check(used == page, f"the manual has every field: {used ^ page}")


def gone(pid):
    """Whether a process ends soon."""
    for _ in range(100 * SLOWER):
        if not os.path.exists(f"/proc/{pid}"):
            return True
        with open(f"/proc/{pid}/stat") as f:
            if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        time.sleep(0.1)
    return False


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(n) for n in f.read().split()]


def paused(where):
    """While the recording is paused, nothing is known, and that is said."""
    d = where + "/paused"
    talker = subprocess.Popen([PYTHON, "-c", ASK % 30])
    rec = subprocess.Popen([MAGNET, "record", "-q", "-o", d, "--pid", str(talker.pid)])
    while not os.path.exists(d + "/session.json") and rec.poll() is None:
        time.sleep(0.02)
    p = top("--json", "--interval", "300ms", d)
    try:
        while not (line := json.loads(p.stdout.readline()))["connections"]:
            pass
        check(line["paused"] is False and line["total"]["bytes_sent"], "it records")
        tracer = next(c for c in children(rec.pid) if "tracer" in os.readlink(f"/proc/{c}/exe"))
        run(MAGNET, "ctl", "--pid", tracer, "pause")
        lines = [json.loads(p.stdout.readline()) for _ in range(6)]
        check(all(lines[-1]["total"][key] is None for key in SUMS) and lines[-1]["paused"] is True,
              f"paused: {lines[-1]['total']}")
        run(MAGNET, "ctl", "--pid", tracer, "resume")
        lines = [json.loads(p.stdout.readline()) for _ in range(6)]
        check(lines[-1]["total"]["bytes_sent"] > 0 and lines[-1]["paused"] is False, "and it goes on")
    finally:
        stop(p)
        stop(rec)
        stop(talker)


def killed(where):
    env = {**os.environ, "TMPDIR": where}

    def begin():
        """Returns magnet top, its recorder, and COMMAND, once the latter talks."""
        p = top("--json", "--interval", "200ms", "--", PYTHON, "-c", ASK % 30, env=env)
        line = json.loads(p.stdout.readline())
        while not line["connections"]:
            line = json.loads(p.stdout.readline())
        recorder = children(p.pid)[0]
        command = next(c for c in children(recorder) if os.readlink(f"/proc/{c}/exe") ==
                       os.path.realpath(PYTHON))
        return p, recorder, command

    p, _, command = begin()
    os.kill(command, 9)
    out, err = p.communicate()
    check(p.returncode == 0 and lines_of(out)[-1]["final"], f"COMMAND killed: the last line is final {err}")
    check(not temporary(where), "the temporary directory is gone")

    p, recorder, command = begin()
    os.kill(recorder, 9)
    out, err = p.communicate()
    check(p.returncode == 1 and lines_of(out)[-1]["final"] and "recorder was killed" in err,
          f"recorder killed: the last line is final, and it is said: {err.strip()}")
    check(not temporary(where), "the temporary directory is gone")
    os.kill(command, 9)

    talker = subprocess.Popen([PYTHON, "-c", ASK % 30])
    p = top("--json", "--interval", "200ms", str(talker.pid), env=env)
    while not json.loads(p.stdout.readline())["connections"]:
        pass
    tracer = next(c for c in children(children(p.pid)[0]) if "tracer" in os.readlink(f"/proc/{c}/exe"))
    os.kill(tracer, 9)
    out, err = p.communicate()
    check(p.returncode == 1 and lines_of(out)[-1]["final"] and "the recorder failed" in err and "signal 9" in err,
          f"tracer killed: the last line is final, and it is said: exit {p.returncode} {err.strip()}")
    stop(talker)

    for number in (2, 15, 1):
        p, recorder, command = begin()
        p.send_signal(number)
        out, err = p.communicate()
        check(p.returncode == 0 and lines_of(out)[-1]["final"] and gone(command) and gone(recorder),
              f"signal {number}: all end, the last line is final {err}")
        check(not temporary(where), "the temporary directory is gone")

    p, recorder, command = begin()
    p.kill()
    p.communicate()
    check(gone(recorder) and gone(command), "magnet top killed: recorder and COMMAND end")
    check(temporary(where), "its directory is left")
    p = top("--json", "--count", "2", "--interval", "300ms", "--", PYTHON, "-c", ASK % 30, env=env)
    out, err = p.communicate()
    check(p.returncode == 0 and len(lines_of(out)) >= 2, f"--count ends it: {err}")
    check(not temporary(where), "the next one has removed that directory")


def attached():
    """A process that runs already, and a directory of somebody else's recording."""
    with subprocess.Popen([PYTHON, "-c", ASK % 30]) as asking:
        p = top("--json", "--count", "4", "--interval", "500ms", str(asking.pid))
        out, err = p.communicate()
        lines = lines_of(out)
        check(p.returncode == 0 and any(c["pid"] == asking.pid for l in lines for c in l["connections"]),
              f"a process that runs is attached to {err}")
        check(asking.poll() is None, "and goes on when magnet top has ended")
        stop(asking)


def timed(where):
    """Only sends by the kernel's timestamps: what is not recorded is null, and the sent bytes are the report's."""
    def compare(trace, *of):
        p = top("--json", "--interval", "500ms", "--layers", "timestamps", "-o", trace, *of)
        out, err = p.communicate()
        check(p.returncode == 0, f"magnet top ends well: {err.strip()[-300:]}")
        seen = [c for line in lines_of(out) for c in line["connections"]]
        with open(trace + "/session.json") as f:
            why = [h["why"] for h in json.load(f)["kernel_side"]["hooks"] if h["layer"] == "timestamps" and h["status"]]
        if why:
            print(f"not tried: {why[0]}")
            return
        for key in set(SUMS) - {"bytes_sent"}:
            check({c[key] for c in seen} == {None}, f"{key} is not known")
        flows = [f for f in json.loads(run(MAGNET, "report", "--json", "--full", trace).stdout)["flows"]
                 if f["direction"] == "tx"]
        for f in flows:
            told = sum(c["bytes_sent"] for c in seen if str(c["socket"]) == f["id"].split("/")[0])
            unfinished = f["timed_sends"]["unfinished"]  # of these it is told when the recording has ended
            check(told == f["bytes"] > 0 or unfinished and 0 < told <= f["bytes"],
                  f"{f['id']}: {told} bytes, the report has {f['bytes']}")
        check(len(flows) == 2, "of both ends")
        check(any(c["ack_p50_ns"] > 0 and c["waits_in"] in ("send_buffer", "queue", "network") and c["srtt_us"] > 0
                  for c in seen if c["ack_p50_ns"]), "the time to the acknowledgement and its largest stage are known")

    compare(where + "/timed", "--", PYTHON, "-c", ASK % 2)
    with subprocess.Popen([PYTHON, "-c", ASK % 30]) as asking:  # what was sent before does not count
        time.sleep(1)
        compare(where + "/attached", "--count", "4", str(asking.pid))
        stop(asking)


def refused(where):
    for args, why in ((["4194304"], "no process 4194304"), (["nothing"], "no process number and no directory"),
                      (["--sort", "x", "1"], "a column: program remote sent"), ([where], "there is no recording"),
                      (["--rotate", "5s", "1"], "--rotate is an option of magnet record"),
                      (["--flight=1M", "1"], "--flight is an option of magnet record"),
                      (["--layers", "tcp", where], "leave them out with DIR"),
                      (["--layers", "bogus", "1"], "bad value 'bogus'"), (["1", "2"], "too many arguments"), (["--"], "no command"),
                      (["--", "/nonexistent/x"], "cannot run"), (["--interval", "0", "1"], "--interval")):
        p = run(MAGNET, "top", "--json", *args, check=False)
        began = args[0] == "--" and len(args) > 1  # a line may have been printed before the recorder failed
        check(p.returncode in (1, 2) and why in p.stderr and (began or not p.stdout), f"{args}: {p.stderr.strip()}")
    p = run(MAGNET, "top", "1", check=False)
    check(p.returncode == 1 and "not a terminal" in p.stderr, p.stderr.strip())
    p = run(MAGNET, "show", "-f", where + "/nothing", check=False)
    check(p.returncode == 1 and "No such file" in p.stderr, p.stderr.strip())


need_kernel_side()
need_program("nft")
place = scratch()
try:
    with Network(rate="100mbit", burst="32k") as t:
        run(*t.inside(t.b, "nft", "add table inet t; add chain inet t i { type filter hook input priority 0; }; "
                      f"add rule inet t i tcp dport {PORT} numgen random mod 100 == 0 drop"))
        documented(followed(t, place))
    paused(place)
    killed(place)
    attached()
    timed(place)
    refused(place)
finally:
    shutil.rmtree(place)
