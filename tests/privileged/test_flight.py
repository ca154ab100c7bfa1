# SPDX-License-Identifier: MIT
"""
The flight recorder: nothing is written until a dump is asked for by a signal, the control socket, the
end or a trigger; a dump has what was recorded last, and can be read alone.
"""
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from tracer import *

own_network()  # starts over: nothing is made before
TOP = scratch()
LATE = """
import socket, sys, time
l = socket.create_server(("127.0.0.1", 0))
a = socket.create_connection(l.getsockname())
b, _ = l.accept()
print("open", flush=True)
for line in sys.stdin:
    a.sendall(b"x" * 100)
    time.sleep(float(line))
    b.recv(100)
    print("done", flush=True)
"""


def parts(d):
    return sorted(os.listdir(d))


def size(d):
    return sum(os.path.getsize(os.path.join(d, f)) for f in os.listdir(d) if f != "metadata")


def why(part):
    """Returns the content of the part's event."""
    for name, _, fields in events(part):
        if name == "dump":
            return fields
    return ""


def wait_for(what, seconds=30):
    for _ in range(seconds * 20):
        if what():
            return True
        time.sleep(0.05)
    return False


def complete(d):
    """Whether a part is all there: its metadata comes first, its last event last."""
    return os.path.exists(d + "/tracer") and opens(d) == "" and "chunk_end" in counts(d)


def sound(d, flows=4):
    r = report(d)
    if len(r["flows"]) < flows:
        print([(f["id"], f["bytes"], f["local"], f["offsets"]) for f in r["flows"]])
    large = [f for f in r["flows"] if f["bytes"] > 1000]
    relative = [f["id"] for f in large if f["offsets"] != "from_connection"]
    # a segment in flight at the cut may leave one with offsets of the part's own, and told as such
    check(len(r["flows"]) >= flows and all(f["local"] for f in large) and not relative,
          f"{os.path.basename(d)}: connections have their ends and offsets{relative or ''}")
    check(r["clock"]["source"] == "clock_sync" and r["hooks"], "clock and hooks are known")
    return r


def by_time():
    d = TOP + "/by_time"
    with Talker() as load, Tracer(d, "--pid", load.pid, "--flight", "1s").ready() as t:
        load.ask(1000)
        time.sleep(2)
        load.ask(200)
        check(parts(d) == [], "nothing is written")
        os.kill(t.pid, signal.SIGUSR1)
        check(wait_for(lambda: complete(d + "/0001")), "SIGUSR1 asks for a dump")
        check("signal" in why(d + "/0001"), "which says why")
        sound(d + "/0001")
        n = counts(d + "/0001")
        check(400 <= n["tcp_send"] < 2000, f"it has what was last: {n['tcp_send']} of 2400 sends")
        load.ask(50)
        said = t.end()
    check(parts(d) == ["0001", "0002"] and '"end"' in why(d + "/0002"), "the end is dumped too")
    n = counts(d + "/0002")
    check(100 <= n["tcp_send"] <= 110 and n["trace_end"] == 1, "and has what came after the first")
    r = report(d)
    check(r["session"]["ended_in_order"] and said.get("done"), "both are a recording that ended in order")
    check(not r["loss"]["gaps"] or said["lost"], "with no gap between them")


def by_size():
    d = TOP + "/by_size"
    with Talker() as load, Tracer(d, "--pid", load.pid, "--flight", "2M", "--keep", "2").ready() as t:
        load.ask(6000)
        out = [run(TRACER, "ctl", "--pid", t.pid, "dump").stdout.strip()]
        load.ask(300)
        out.append(run(TRACER, "ctl", "--pid", t.pid, "dump").stdout.strip())
        t.end()
    check(out == [d + "/0001", d + "/0002"] and parts(d) == ["0002", "0003"],
          "ctl dump prints where; the newest two are kept")
    sound(d + "/0002")
    n = counts(d + "/0002")
    check(600 <= n["tcp_send"] <= 620 and "asked" in why(d + "/0002"), "the second follows the first")


def by_record():
    """SIGUSR1 to magnet record asks for a dump of both sides."""
    d = TOP + "/by_record"
    p = subprocess.Popen([MAGNET, "record", "-q", "--flight", "5s", "-o", d, "--", PYTHON, "-c", LATE],
                         text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    p.stdout.readline()
    p.stdin.write("0.01\n")
    p.stdin.flush()
    p.stdout.readline()
    p.send_signal(signal.SIGUSR1)
    check(wait_for(lambda: complete(d + "/kernel/0001")), "SIGUSR1 to magnet record asks for a dump")
    check("signal" in why(d + "/kernel/0001"), "which says why")
    status = run(MAGNET, "ctl", "--pid", tracer_of(p.pid), "status").stdout  # other tests have tracers, too
    check(d in status and "recording" in status, f"magnet ctl finds the recording: {status.splitlines()[0]}")
    p.stdin.close()
    check(p.wait(60) == 0, "and COMMAND is not disturbed")
    p.stdout.close()
    check(len(report(d)["flows"]) >= 2, "both sides are read together")


def bounded():
    d = TOP + "/bounded"
    with Talker() as load, Tracer(d, "--pid", load.pid, "--flight", "2M").ready() as t:
        load.ask(8000)
        t.end()
    check(2 << 20 <= size(d + "/0001") <= 12 << 20, f"what is kept is bounded: {size(d + '/0001')} bytes")
    check(opens(d + "/0001") == "", "and opens")


def latency():
    d = TOP + "/latency"
    with subprocess.Popen([PYTHON, "-c", LATE], text=True, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as p:
        p.stdout.readline()

        def exchange(seconds):
            p.stdin.write(f"{seconds}\n")
            p.stdin.flush()
            p.stdout.readline()

        with Tracer(d, "--pid", p.pid, "--flight", "5s", "--trigger", "latency>400ms").ready() as t:
            for _ in range(20):
                exchange(0.02)
            time.sleep(0.3)
            check(parts(d) == [], "what is fast enough fires no trigger")
            exchange(0.8)
            check(wait_for(lambda: complete(d + "/0001")), "bytes that waited do")
            said = why(d + "/0001")
            value = int(re.search(r"value_ns = (\d+)", said)[1])
            check('"latency"' in said and 700e6 < value < 5e9 and "sock = 0" not in said,
                  f"the dump says how long and where: {said}")
            r = sound(d + "/0001", 2)
            dump = r["dumps"][0]
            named = run(MAGNET, "report", d + "/0001").stdout
            check(len(r["dumps"]) == 1 and dump["why"] == "latency" and dump["value_ns"] == value
                  and dump["flow"].endswith("/rx") and "dumped at " in named and dump["flow"] in named,
                  f"and so does the report: {next(l for l in named.splitlines() if 'dumped at' in l)}")
            exchange(0.8)
            check(wait_for(lambda: complete(d + "/0002")), "the trigger is armed again")
            t.end()
        p.stdin.close()
    check(len(parts(d)) == 3, "no other dump but that of the end")


def retransmission():
    d = TOP + "/retransmission"
    with Network() as net:
        server = net.popen(net.b, PYTHON, "-c", "import socket\ns = socket.create_server(('10.77.0.2', 5999))"
                           ".accept()[0]\nwhile s.recv(1000): pass")
        client = net.popen(net.a, PYTHON, "-c", """
import socket, sys, time
for _ in range(100):
    try:
        s = socket.create_connection(("10.77.0.2", 5999))
        break
    except OSError:
        time.sleep(0.1)
print("open", flush=True)
for line in sys.stdin:
    s.sendall(b"x" * 100)
""", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            client.stdout.readline()
            with Tracer(d, "--pid", client.pid, "--flight", "5s", "--trigger", "retransmission").ready() as t:
                client.stdin.write("1\n")
                client.stdin.flush()
                time.sleep(0.7)
                check(parts(d) == [], "a delivered segment fires no trigger")
                run("ip", "-n", net.b, "link", "set", net.b, "down")
                client.stdin.write("2\n")
                client.stdin.flush()
                check(wait_for(lambda: complete(d + "/0001")), "one that is sent again does")
                check("retransmission" in why(d + "/0001") and counts(d + "/0001")["tcp_retransmit"] >= 1,
                      "and is in the dump")
                t.end()
        finally:
            for p in (client, server):
                stop(p)


def loss():
    d = TOP + "/loss"
    with Talker() as load, Tracer(d, "--pid", load.pid, "--flight", "5s", "--trigger", "lost", "--buffer",
                                  "64K").ready() as t:
        load.ask(10)
        os.kill(t.pid, signal.SIGSTOP)
        load.ask(1000)
        os.kill(t.pid, signal.SIGCONT)
        time.sleep(0.5)  # the ring is read; a loss is told with the first event after it
        load.ask(10)
        check(wait_for(lambda: complete(d + "/0001")), "a loss fires a trigger")
        check('"lost"' in why(d + "/0001") and counts(d + "/0001").get("lost"), "and is in the dump")
        t.end()


def usage():
    for args in (("--trigger", "lost"), ("--flight", "1s", "--trigger", "latency>"), ("--flight", "1s",
                 "--trigger", "latency>5"), ("--flight", "1s", "--rotate", "1s"), ("--flight", "10K"),
                 ("--flight", "1s", "--trigger", "latency>1ms", "--layers", "tcp")):
        p = run(TRACER, "-o", TOP + "/usage", *args, check=False)
        check(p.returncode == 2 and p.stderr.count("\n") == 1, f"{args}: {p.stderr.strip()}")


need_kernel_side()
need_program("babeltrace2")
try:
    for test in (by_time, by_size, by_record, bounded, latency, retransmission, loss, usage):
        print("---", test.__name__)
        test()
finally:
    shutil.rmtree(TOP)
