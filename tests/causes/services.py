# SPDX-License-Identifier: MIT
"""Real servers for tests/causes, each as a shell script that starts it, asks it, and ends it."""
import os
import sys

from fixture import PYTHON
from programs import LISTENING, postgres_bin

HERE = os.path.dirname(os.path.abspath(__file__))
HIDDEN = os.path.join(HERE, "hidden.py")
PORT, BACK = 5480, 5481

NGINX = """
daemon off; worker_processes 1; pid {top}/pid; error_log {top}/log; user {user};
events {{ worker_connections 64; }}
http {{ access_log off; client_body_temp_path {top}/b; proxy_temp_path {top}/p; fastcgi_temp_path {top}/f;
  uwsgi_temp_path {top}/u; scgi_temp_path {top}/s;
  upstream back {{ server 127.0.0.1:{back}; keepalive 4; }}
  server {{ listen 127.0.0.1:{port};
    location / {{ proxy_pass http://back; proxy_http_version 1.1; proxy_set_header Connection ""; }} }} }}
"""
BACK_END = """
import http.server, time
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *unused): pass
    def do_GET(self):
        time.sleep(0.03)
        self.wfile.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 1000\\r\\n\\r\\n" + b"x" * 1000)
http.server.ThreadingHTTPServer(("127.0.0.1", %d), Handler).serve_forever()
""" % BACK
ONE_BY_ONE = """
import select, socket, time
listener = socket.create_server(("127.0.0.1", %d))
open_ones = [listener]
while True:
    for s in select.select(open_ones, [], [])[0]:
        if s is listener:
            open_ones.append(s.accept()[0])
        elif s.recv(5000):
            time.sleep(0.03)
            s.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 1000\\r\\n\\r\\n" + b"x" * 1000)
        else:
            open_ones.remove(s)
            s.close()
""" % BACK
ASKS_WEB = """
import http.client, sys, time
c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    c.request("GET", "/")
    c.getresponse().read()
    time.sleep(float(sys.argv[3]))
"""
NODE = """
require('http').createServer((q, r) => r.end('x'.repeat(1000))).listen(%d, '127.0.0.1');
setInterval(() => { const end = Date.now() + 80; let n = 0; while (Date.now() < end) n++; }, 250);
setTimeout(() => process.exit(), 20000);
""" % PORT
RESOLVES = """
import socket
def address(name):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect(("127.0.0.1", %d))
    s.send(b"\\0\\7\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0" + b"".join(bytes([len(p)]) + p.encode() for p in name.split("."))
           + b"\\0\\0\\1\\0\\1")
    return socket.inet_ntoa(s.recv(512)[-4:])
for _ in range(15):
    s = socket.create_connection((address("service.example"), %d))
    s.sendall(b"q" * 200)
    n = 0
    while n < 1000:
        n += len(s.recv(1000))
    s.close()
""" % (BACK, PORT)


def written(top, name, text):
    path = f"{top}/{name}"
    with open(path, "w") as f:
        f.write(text)
    return path


def python(top, name, text):
    return f"{PYTHON} {written(top, name, text)}"


def hidden(cause, n, server="", host="127.0.0.1", inside=("", "")):
    """The server and client of hidden.py; `server` runs before the server's command, as a prefix."""
    return (f"{inside[0]} {server} {PYTHON} {HIDDEN} server {cause} {host} {PORT} {n} & s=$!\n"
            f"{inside[1]} {PYTHON} {HIDDEN} client {cause} {host} {PORT} {n}\nkill $s")


def hogged(top):
    """A thread that always runs, on the server's CPU."""
    return ("taskset -c 0 sh -c 'while :; do :; done' & h=$!\n" + hidden("cpu", 30, "taskset -c 0") + " $h")


def slow_back_end(top):
    conf = written(top, "nginx.conf", NGINX.format(
        top=top, port=PORT, back=BACK, user="nobody nogroup" if os.geteuid() == 0 else "nobody"))
    return (f"{LISTENING}{python(top, 'back.py', BACK_END)} & b=$!\nnginx -c {conf} & n=$!\n"
            f"listening {BACK}; listening {PORT}\n{python(top, 'asks.py', ASKS_WEB)} {PORT} 30 0\nkill $b $n")


def queue_of_back_end(top):
    """One thread of the back end answers all: most of the time requests wait for it, unread."""
    conf = written(top, "nginx.conf", NGINX.format(
        top=top, port=PORT, back=BACK, user="nobody nogroup" if os.geteuid() == 0 else "nobody"))
    asks = python(top, 'asks.py', ASKS_WEB)
    return (f"{LISTENING}{python(top, 'back.py', ONE_BY_ONE)} & b=$!\nnginx -c {conf} & n=$!\n"
            f"listening {BACK}; listening {PORT}\n"
            f"for i in 1 2 3 4 5; do {asks} {PORT} 12 0 & a=\"$a $!\"; done\nwait $a\nkill $b $n")


def redis(top, options, work):
    return (f"{LISTENING}redis-server --bind 127.0.0.1 --port {PORT} --dir {top} --save '' {options} "
            f"--logfile {top}/log & r=$!\nlistening {PORT}\n{work}\nkill $r")


def redis_script(top):
    script = "local x = 0; for i = 1, 4000000 do x = x + i end return x"
    return redis(top, "", f"(for i in 1 2 3 4 5; do redis-cli -p {PORT} eval '{script}' 0 > {top}/out; sleep 0.1; done) & e=$!\n"
                 f"redis-benchmark -p {PORT} -c 1 -n 15000 -t get -q > {top}/out2; wait $e")


def redis_log(top):
    return redis(top, "--appendonly yes --appendfsync always",
                 f"redis-benchmark -p {PORT} -c 1 -n 300 -t set -q > {top}/out2")


def node(top):
    return (f"{LISTENING}node {written(top, 'service.js', NODE)} & n=$!\nlistening {PORT}\n"
            f"{python(top, 'asks.py', ASKS_WEB)} {PORT} 100 0.01\nkill $n")


def postgres_lock(top):
    """One session keeps a row locked for 50 ms at a time; the other one needs it each time."""
    as_user = "setpriv --reuid=nobody --regid=nogroup --clear-groups " if os.geteuid() == 0 else ""
    psql = f"psql -q -h 127.0.0.1 -p {PORT} -U me postgres"
    return (f"{LISTENING}chmod 711 {top}; mkdir {top}/pg; {as_user and 'chown nobody ' + top + '/pg;'}\n"
            f"{as_user}{postgres_bin()}/initdb -D {top}/pg/d -U me > {top}/out 2>&1\n"
            f"{as_user}{postgres_bin()}/postgres -D {top}/pg/d -p {PORT} -c listen_addresses=127.0.0.1 "
            f"-c unix_socket_directories={top}/pg > {top}/log 2>&1 & p=$!\n"
            f"listening {PORT}\nuntil {psql} -c 'create table t (i int, v int)' 2> {top}/err; do sleep 0.1; done\n"
            f"{psql} -c 'insert into t values (1, 0)'\n"
            "(for i in $(seq 20); do echo 'begin; update t set v = v + 1 where i = 1; select pg_sleep(0.05); commit;'; "
            f"done | {psql} > {top}/out) & h=$!\nsleep 0.1\n"
            f"for i in $(seq 40); do echo 'update t set v = v + 2 where i = 1;'; done | {psql}\n"
            "wait $h; kill -INT $p; wait $p")


def slow_names(top):
    return (f"{PYTHON} {HIDDEN} names dns 127.0.0.1 {BACK} 0 & a=$!\n{PYTHON} {HIDDEN} server plain 127.0.0.1 {PORT} 0 & b=$!\n"
            f"sleep 0.5\n{python(top, 'resolves.py', RESOLVES)}\nkill $a $b")
