# SPDX-License-Identifier: MIT
"""
Which end of a connection is the server is known without its opening, and whatever its port: TCP's counters
tell. Where drops on this machine have spoilt them the report says that it assumes it.
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

HIGH, LOW = 50051, 5200
COUNT, REQUEST, REPLY = 40, 100, 200
# `clients` connect before the recording, one more during it; arguments: address, port, first port of clients
SHARED = f"""
import os, socket, sys, threading, time
host, port, first, clients = sys.argv[1], *map(int, sys.argv[2:5])
family = socket.AF_INET6 if ":" in host else socket.AF_INET

def fill(s, n):
    got = 0
    while got < n:
        more = len(s.recv(n - got))
        if not more:
            return False
        got += more
    return True

def serve(s):
    while fill(s, {REQUEST}):
        time.sleep(0.002)
        s.sendall(b"y" * {REPLY})

def listen():
    l = socket.socket(family)
    l.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    l.bind((host, port))
    l.listen()
    return l

def connect(n):
    c = socket.socket(family)
    c.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    c.bind((host, first + n))
    c.connect((host, port))
    return c

def ask(c, count={COUNT}):
    for _ in range(count):
        c.sendall(b"q" * {REQUEST})
        fill(c, {REPLY})
"""
SERVER = SHARED + """
l = listen()
print("ready", flush=True)
while True:
    s, _ = l.accept()
    print("accepted", flush=True)
    threading.Thread(target=serve, args=(s,), daemon=True).start()
"""
# the parent accepts, its child serves, and the listener is closed
CHILD = SHARED + """
l = listen()
print("ready", flush=True)
s, _ = l.accept()
l.close()
if os.fork():
    s.close()
    os.wait()
else:
    print("accepted", flush=True)
    serve(s)
"""
CLIENT = SHARED + """
all = [connect(n) for n in range(clients)]
for c in all:
    ask(c, 1)
print("connected", flush=True)
sys.stdin.readline()
if len(sys.argv) > 5:
    all.append(connect(clients))
for c in all:
    ask(c)
print("done", flush=True)
sys.stdin.readline()
"""
SPOILT = SHARED + """
c = connect(0)
ask(c, 1)
print("connected", flush=True)
sys.stdin.readline()
ask(c, 1)
print("sent again", flush=True)
sys.stdin.readline()
ask(c)
print("done", flush=True)
sys.stdin.readline()
"""
BOTH = SHARED + """
l = listen()
c = connect(0)
s, _ = l.accept()
threading.Thread(target=serve, args=(s,), daemon=True).start()
ask(c, 1)
print("connected", flush=True)
sys.stdin.readline()
ask(c)
print("done", flush=True)
sys.stdin.readline()
"""
TOP = scratch()
numbers = iter(range(100))


def start(program, *args):
    return subprocess.Popen([PYTHON, "-c", program, *map(str, args)], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)


def go_on(p):
    p.stdin.write("\n")
    p.stdin.flush()


def recorded(watched, client, *options):
    """Records while the client asks. Returns the directory."""
    directory = f"{TOP}/{next(numbers)}"
    pids = ",".join(str(p.pid) for p in watched)
    options = options or ("--pid", pids)
    p = subprocess.Popen([MAGNET, "record", "-o", directory, "--buffer", "4M", *options],
                         stderr=subprocess.PIPE, text=True)
    try:
        while "recording" not in p.stderr.readline():
            check(p.poll() is None, "the recording has begun")
        go_on(client)
        client.stdout.readline()
        time.sleep(0.2 * SLOWER)
    finally:
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=120)
    return directory


def groups(directory):
    return json.loads(run(MAGNET, "report", "--json", directory).stdout)["exchanges"]


def expect(what, directory, port, roles, connections=1):
    found = [g for g in groups(directory) if g["port"] == port]
    check(sorted(g["role"] for g in found) == sorted(roles), f"{what}: {[g['role'] for g in found]}")
    for g in found:
        check(COUNT * connections - connections <= g["answered"] <= COUNT * connections,
              f"{what}: {g['answered']} exchanges of the {g['role']}")
        check(g["role_assumed"] == 0, f"{what}: that is known")
        at = g["in_program_ns"]["p50"] if g["role"] == "server" else g["to_reply_ns"]["p50"]
        check(at >= 2e6, f"{what}: the server's sleep is in it: {at / 1e6:.2f} ms")
    text = run(MAGNET, "report", directory).stdout
    check("is assumed" not in text and "\nAnswer" in text, f"{what}: the text assumes nothing")


def two_processes(what, watch, host, port, first, *, program=SERVER, clients=1, more=False, options=()):
    server = start(program, host, port, first, clients)
    client = None
    try:
        server.stdout.readline()
        client = start(CLIENT, host, port, first, clients, *(["more"] if more else []))
        for _ in range(clients):
            server.stdout.readline()
        client.stdout.readline()
        chosen = {"server": [server], "client": [client], "both": [server, client]}[watch]
        directory = recorded(chosen, client, *options)
    finally:
        stop(server)
        if client:
            stop(client)
    expect(what, directory, port, ["server", "client"] if watch == "both" else [watch], clients + more)


def one_process(what, host, port, first):
    p = start(BOTH, host, port, first, 1)
    try:
        p.stdout.readline()
        directory = recorded([p], p)
    finally:
        stop(p)
    expect(what, directory, port, ["client", "server"])


def assumed():
    """Bytes that are dropped on their way out have been counted as sent, and are counted again."""
    if not shutil.which("tc"):
        return print("tc is not installed: spoilt counters are not tried")
    server, client = start(SERVER, "127.0.0.1", HIGH, 40000, 1), None
    try:
        server.stdout.readline()
        client = start(SPOILT, "127.0.0.1", HIGH, 40000, 1)
        client.stdout.readline()
        # a request is longer than the bucket
        rule = run("tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", "1mbit", "burst", 120, "limit", 120,
                   check=False)
        if rule.returncode:
            return print("tc has no token bucket: " + rule.stderr.strip())
        go_on(client)
        time.sleep(0.5 * SLOWER)
        run("tc", "qdisc", "del", "dev", "lo", "root")
        client.stdout.readline()
        directory = recorded([client], client)
    finally:
        stop(server)
        if client:
            stop(client)
    found = groups(directory)
    check([(g["role"], g["port"]) for g in found if g["answered"]] == [("server", 40000)],
          "with spoilt counters the lower port is the server's")
    check(all(g["role_assumed"] == g["answered"] for g in found), "that is assumed")
    text = run(MAGNET, "report", directory, "--explain").stdout
    check("who is the server is assumed from the ports" in text, "the text says so")
    check("who is the server is assumed:" in text, "and explains it")
    rows = run(MAGNET, "show", "--facts", "exchange", directory).stdout.splitlines()
    at = rows[0].split("\t").index("role_assumed:bool")
    return check({row.split("\t")[at] for row in rows[1:]} == {"1"}, "and so do the facts")


need_kernel_side()
two_processes("a server at a high port", "server", "127.0.0.1", HIGH, 40000)
two_processes("its client", "client", "127.0.0.1", HIGH, 40000)
two_processes("a server at a low port", "server", "127.0.0.1", LOW, 40000)
two_processes("its client", "client", "127.0.0.1", LOW, 40000)
two_processes("IPv6, a server", "server", "::1", HIGH, 40000)
two_processes("IPv6, a client", "client", "::1", HIGH, 40000)
two_processes("both processes", "both", "127.0.0.1", HIGH, 40000)
one_process("both ends in one process", "127.0.0.1", HIGH, 40000)
one_process("both ends in one process, IPv6", "::1", HIGH, 40000)
two_processes("a child whose listener is closed", "server", "127.0.0.1", HIGH, 40000, program=CHILD)
two_processes("connections before and during the recording", "server", "127.0.0.1", HIGH, 40000, clients=3, more=True)
two_processes("--all", "both", "127.0.0.1", HIGH, 40000, options=("--all", "--port", str(HIGH)))
assumed()
