# SPDX-License-Identifier: MIT
"""
--pid and --all: a process that runs already, with connections opened before the recording. Their
byte offsets must be the connection's own, not the recording's.
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from tracer import Tracer, report as report_of

PORT, STEP = 5106, 1000
# one end only receives, the other only sends: each must be found by what it does
RECEIVER = f"""
import socket
l = socket.create_server(("127.0.0.1", {PORT}))
s, _ = l.accept()
while s.recv({STEP}):
    pass
"""
SENDER = f"""
import socket, time
s = socket.create_connection(("127.0.0.1", {PORT}))
while True:
    s.sendall(b"x" * {STEP})
    time.sleep(0.002)
"""


def attach(what, *args):
    top = tempfile.mkdtemp(prefix="magnet-test-")
    try:
        # with --all there is also what other programs of the machine do meanwhile
        run(MAGNET, "record", "-q", "-o", top + "/t", "--buffer", "16M", "--duration", str(1 + SLOWER // 5), *args)
        report = json.loads(run(MAGNET, "report", "--json", top + "/t").stdout)
        check(lost(report) == 0, f"{what}: nothing was lost")
        return report
    finally:
        shutil.rmtree(top)


def sound(f, what):
    check(f["offsets"] == "from_connection", f"{what}: offsets are the connection's")
    check(f["bytes"] > 100 * STEP // SLOWER, f"{what}: bytes until {f['bytes']}")
    check(f["complete_bytes"] > 100 * STEP // SLOWER and f["complete_bytes"] % STEP == 0,
          f"{what}: {f['complete_bytes']} of them were recorded completely")
    check(f["coverage"] is not None, f"{what}: coverage is told: {f['coverage']}")
    check(f["kernel_only_bytes"] > 0, f"{what}: by calls without an application event")
    check(f["closure_error_cycles"] == 0, f"{what}: closes to 0")


ONE_ACCEPT = f"""
import socket, sys
l = socket.create_server(("127.0.0.1", {PORT}))
c = socket.create_connection(l.getsockname())
s, _ = l.accept()
c.sendall(b"x" * int(sys.argv[1]))
print(len(s.recv(1000)), flush=True)
"""


def ports_are_given_back():
    """A port on which a recorded program listened may be another's later, who is not recorded."""
    top = tempfile.mkdtemp(prefix="magnet-test-")
    try:
        p = subprocess.Popen([MAGNET, "record", "-q", "-o", top + "/t", "--", "sh", "-c",
                              '"$@"; read line', "sh", PYTHON, "-c", ONE_ACCEPT, "100"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        p.stdout.readline()
        run(PYTHON, "-c", ONE_ACCEPT, "777")
        p.communicate("\n", timeout=30)
        report = json.loads(run(MAGNET, "report", "--json", top + "/t").stdout)
        check({f["bytes"] for f in report["flows"]} == {100}, "only its own connection is recorded")
    finally:
        shutil.rmtree(top)


PAIR = """
import socket, time
l = socket.create_server(("127.0.0.1", 0))
c = socket.create_connection(l.getsockname())
s, _ = l.accept()
print("begun", flush=True)
while True:
    c.sendall(b"x" * 100)
    s.recv(1000)
    time.sleep(0.005)
"""


def several_and_their_children():
    """--pid takes several, and follows the children that they have; the recording ends with the last."""
    top = tempfile.mkdtemp(prefix="magnet-test-")
    # a process with a child of a child; one that is its own; and one that ends early
    family = subprocess.Popen(["sh", "-c", 'sh -c \'"$0" -c "$1"; true\' "$0" "$1"; true', PYTHON, PAIR],
                              stdout=subprocess.PIPE, start_new_session=True)
    single = subprocess.Popen([PYTHON, "-c", PAIR], stdout=subprocess.PIPE)
    brief = subprocess.Popen(["sleep", "60"])
    try:
        family.stdout.readline()
        single.stdout.readline()
        p = subprocess.Popen([MAGNET, "record", "-o", top + "/t", "--pid", f"{brief.pid},{family.pid}", "-p",
                              str(single.pid), "--buffer", "4M"], stderr=subprocess.PIPE, text=True)
        said = p.stderr.readline()
        check("recording 3 processes and 2 child processes" in said, f"what is recorded is said: {said.strip()}")
        brief.kill()
        brief.wait()
        time.sleep(1)
        check(p.poll() is None, "the end of one does not end the recording")
        single.kill()
        os.killpg(family.pid, signal.SIGKILL)
        check(p.wait(60) == 0, "the end of the last does")
        p.stderr.close()
        # as processes are killed, the end of a connection may be dropped: that is a flow without bytes
        flows = [f for f in json.loads(run(MAGNET, "report", "--json", top + "/t").stdout)["flows"] if f["bytes"]]
        check(len(flows) == 4 and all(f["bytes"] > 1000 // SLOWER for f in flows),
              f"the flows of each are recorded: {[f['bytes'] for f in flows]}")
        p = run(MAGNET, "record", "--pid", "1,x", check=False)
        check(p.returncode == 2 and "separated by commas" in p.stderr, p.stderr.strip())
    finally:
        for p in (family, single, brief):
            if p.poll() is None:
                os.killpg(p.pid, signal.SIGKILL) if p is family else p.kill()
            p.wait()
        for p in (family, single):
            p.stdout.close()
        shutil.rmtree(top)


QUEUED = """
import socket, sys
l = socket.create_server(("127.0.0.1", 0))
a = socket.create_connection(l.getsockname())
b, _ = l.accept()
a.sendall(b"q" * 30000)
print("queued", flush=True)
sys.stdin.readline()
got = 0
while got < 31000:
    got += len(b.recv(20000))
    if got == 20000:
        a.sendall(b"n" * 1000)
print("read", flush=True)
sys.stdin.readline()
"""


def queued_before():
    """Bytes queued when the recording begins count at no layer."""
    top = tempfile.mkdtemp(prefix="magnet-test-")
    program = subprocess.Popen([PYTHON, "-c", QUEUED], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True)
    try:
        program.stdout.readline()
        with Tracer(top + "/t", "--pid", program.pid).ready() as tracer:
            program.stdin.write("go on\n")
            program.stdin.flush()
            program.stdout.readline()
            tracer.end()
        report = report_of(top + "/t")
        for direction in ("tx", "rx"):
            f = flow(report, direction)
            check(f["bytes"] == f["complete_bytes"] == f["kernel_only_bytes"] == 1000,
                  f"{direction}: 1000 bytes are the recording's, and followed")
            layers = {layer["name"]: layer["bytes"] for layer in f["layers"]}
            check(set(layers.values()) == {1000}, f"{direction}: at each layer: {layers}")
    finally:
        stop(program)
        shutil.rmtree(top)


# a server that begins to read before its client, a child, asks
WAITING = """
import os, socket, sys, time
l = socket.create_server(("127.0.0.1", 0))
c = socket.create_connection(l.getsockname())
s, _ = l.accept()
print("connected", flush=True)
sys.stdin.readline()
if not os.fork():
    for n in range(5):
        time.sleep(0.3)
        c.sendall(b"q" * 1000)
        c.recv(100)
    os._exit(0)
got = 0
for n in range(5):
    got += len(s.recv(5000))
    s.sendall(b"y" * 100)
print(got, flush=True)
sys.stdin.readline()
"""


def waiting():
    """A first read that waits for its bytes counts, and its request, too."""
    top = tempfile.mkdtemp(prefix="magnet-test-")
    program = subprocess.Popen([PYTHON, "-c", WAITING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        program.stdout.readline()
        with Tracer(top + "/t", "--pid", program.pid).ready() as tracer:
            program.stdin.write("go on\n")
            program.stdin.flush()
            got = int(program.stdout.readline())
            tracer.end()
        report = report_of(top + "/t")
        server = next(g for g in report["exchanges"] if g["role"] == "server")
        check((server["answered"], server["unasked"]) == (5, 0), f"all {server['answered']} requests were recorded")
        read = [f for f in report["flows"] if f["direction"] == "rx" and f["bytes"] > 1000]
        check([f["bytes"] for f in read] == [got] == [5000], "the flow has all bytes that were read")
        rows = run(MAGNET, "show", "--facts", "call", top + "/t").stdout.splitlines()
        at = {name.split(":")[0]: n for n, name in enumerate(rows[0].split("\t"))}
        calls = [row.split("\t") for row in rows[1:]]
        moved = sum(int(row[at["bytes"]] or 0) for row in calls if row[at["flow"]] == read[0]["id"])
        check(moved == got, f"and so have its calls: {moved}")
    finally:
        stop(program)
        shutil.rmtree(top)


# both ends in one process: the listener is there before, the connections are not
ACCEPTED = """
import socket, sys
defer, count, size = 9, 3, 3000
l = socket.socket()
l.setsockopt(socket.IPPROTO_TCP, defer, 5)
l.bind(("127.0.0.1", 0))
l.listen()
print(l.getsockname()[1], flush=True)
sys.stdin.readline()
for _ in range(count):
    c = socket.create_connection(l.getsockname())
    c.sendall(b"x" * size)
    s, _ = l.accept()
    got = 0
    while got < size:
        got += len(s.recv(1000))
print("done", flush=True)
sys.stdin.readline()
"""


def listened_before():
    """Connections to a port that the process listens on already are followed from their first byte on."""
    top = tempfile.mkdtemp(prefix="magnet-test-")
    program = subprocess.Popen([PYTHON, "-c", ACCEPTED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        port = program.stdout.readline().strip()
        with Tracer(top + "/t", "--pid", program.pid).ready() as tracer:
            program.stdin.write("go on\n")
            program.stdin.flush()
            program.stdout.readline()
            tracer.end()
        report = report_of(top + "/t")
        flows = [f for f in report["flows"] if f["direction"] == "rx" and f["local"].endswith(":" + port)]
        check([(f["bytes"], f["complete_bytes"], f["first_offset"]) for f in flows] == [(3000, 3000, 0)] * 3,
              "connections accepted since are followed from their first byte on")
    finally:
        stop(program)
        shutil.rmtree(top)


need_kernel_side()
listened_before()
ports_are_given_back()
several_and_their_children()
queued_before()
waiting()
receiver = subprocess.Popen([PYTHON, "-c", RECEIVER])
time.sleep(0.3 * SLOWER)
sender = subprocess.Popen([PYTHON, "-c", SENDER])
try:
    time.sleep(0.7 * SLOWER)
    report = attach("--pid of the sender", "--pid", sender.pid)
    sound(flow(report, "tx", PORT), "sender")
    check(all(f["pid"] == sender.pid for f in report["flows"]), "nobody else is recorded")
    report = attach("--pid of the receiver", "--pid", receiver.pid)
    sound(flow(report, "rx", PORT), "receiver")
    report = attach("--all", "--all")
    sound(flow(report, "tx", PORT), "sender")
    sound(flow(report, "rx", PORT), "receiver")
finally:
    stop(sender)
    stop(receiver)
