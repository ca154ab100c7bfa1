# SPDX-License-Identifier: MIT
"""
Programs that magnet's own tests do not know, each with a small piece of work on loopback that prints the same
every time. What they need is heavy to install: scripts/strangers does it.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from fixture import *
from programs import PORT, WEB, WEB_NEEDS, Program

NOBODY = "setpriv --reuid=nobody --regid=nogroup --clear-groups"


def written(name, text):
    """Return a preparation that writes a file, with {top}, {port} and {web} filled in."""
    def prepare(around):
        path = f"{around.top}/{name}"
        with open(path, "w") as f:
            f.write(text.replace("{top}", around.top).replace("{port}", str(PORT))
                    .replace("{web}", str(WEB)))
        os.chmod(path, 0o644)
    return prepare


def files(*contents):
    """Return a preparation that writes several files: name, text, name, text."""
    def prepare(around):
        for name, text in zip(contents[::2], contents[1::2]):
            written(name, text)(around)
    return prepare


def flows(report, direction, comm):
    """Return the flows of a program in one direction that carry bytes."""
    return [f for f in report["flows"] if f["direction"] == direction and f["bytes"]
            and f["comm"] and f["comm"].startswith(comm)]


def followed(direction, comm, share, proto="tcp"):
    """Return a check that at least this share of a program's bytes in one direction is followed."""
    def expect(rec, report):
        of = [f for f in flows(report, direction, comm) if f["proto"].startswith(proto) and f["coverage"] is not None]
        total = sum(f["bytes"] for f in of)
        seen = sum(f["bytes"] * f["coverage"] for f in of)
        check(total and seen >= share * total,
              f"{comm} {direction}: {seen:.0f} of {total} bytes have every boundary")
    return expect


def kernel_side_only(comm):
    """Return a check that the kernel side has the flows of a program that the library cannot see."""
    def expect(rec, report):
        check(flows(report, "tx", comm), f"flows of {comm}: {sorted({f['comm'] for f in report['flows']})}")
    return expect


def workers_busy(rec, report):
    """Requests wait for one of two workers that take 200 ms each: the third and fourth at least 150 ms."""
    waits = sorted(f["residence_total_ns"]["p99"] if isinstance(f["residence_total_ns"], dict)
                   else f["residence_total_ns"] or 0
                   for f in report["flows"] if f["proto"].startswith("unix") and f["direction"] == "rx"
                   and f["bytes"] and f["comm"].startswith("php-fpm"))
    check(len(waits) >= 4 and max(waits) >= 150e6,
          f"requests waited in the listen queue for up to {max(waits, default=0) / 1e6:.0f} ms")


GO = """
package main

import ("fmt"; "io"; "net/http")

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello from Go\\n") })
	go http.ListenAndServe("127.0.0.1:{port}", nil)
	for i := 0; i < 50; {
		r, err := http.Get("http://127.0.0.1:{port}/")
		if err != nil { continue }
		b, _ := io.ReadAll(r.Body)
		r.Body.Close()
		fmt.Print(string(b))
		i++
	}
}
"""
MPI = r"""
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	static char data[100000];
	int rank, size, sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 50; i++) {
		MPI_Bcast(data, sizeof(data), MPI_CHAR, i % size, MPI_COMM_WORLD);
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	if (rank == 0)
		printf("%d ranks, sum %d\n", size, sum);
	MPI_Finalize();
	return 0;
}
"""
ZMQ = """
import threading, zmq
context = zmq.Context()
def serve():
    s = context.socket(zmq.REP)
    s.bind("tcp://127.0.0.1:{port}")
    for _ in range(500):
        s.send(s.recv().upper())
threading.Thread(target=serve).start()
s = context.socket(zmq.REQ)
s.connect("tcp://127.0.0.1:{port}")
for i in range(500):
    s.send(b"message %d" % i)
    print(s.recv().decode())
"""
GRPC = """
from concurrent import futures
import grpc
def upper(request, context):
    return request.upper()
server = grpc.server(futures.ThreadPoolExecutor(4))
server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(
    "talk", {"upper": grpc.unary_unary_rpc_method_handler(upper)}),))
server.add_insecure_port("127.0.0.1:{port}")
server.start()
with grpc.insecure_channel("127.0.0.1:{port}") as channel:
    call = channel.unary_unary("/talk/upper")
    for i in range(200):
        print(call(b"message %d" % i).decode())
server.stop(None)
"""
URING = r"""
#include <arpa/inet.h>
#include <liburing.h>
#include <stdio.h>

/* Submits one operation and returns its result. */
static int done(struct io_uring *ring)
{
	struct io_uring_cqe *cqe;
	int result;

	io_uring_submit_and_wait(ring, 1);
	io_uring_wait_cqe(ring, &cqe);
	result = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	return result;
}

int main(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	socklen_t size = sizeof(to);
	int listener = socket(AF_INET, SOCK_STREAM, 0), a = socket(AF_INET, SOCK_STREAM, 0), b;
	char data[1000] = "", got[1000];
	struct io_uring ring;
	long sum = 0;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	bind(listener, (struct sockaddr *)&to, sizeof(to));
	listen(listener, 1);
	getsockname(listener, (struct sockaddr *)&to, &size);
	connect(a, (struct sockaddr *)&to, sizeof(to));
	b = accept(listener, NULL, NULL);
	if (io_uring_queue_init(8, &ring, 0))
		return 1;
	for (int i = 0; i < 500; i++) {
		io_uring_prep_send(io_uring_get_sqe(&ring), a, data, sizeof(data), 0);
		sum += done(&ring);
		io_uring_prep_recv(io_uring_get_sqe(&ring), b, got, sizeof(got), MSG_WAITALL);
		sum += done(&ring);
	}
	printf("%ld bytes\n", sum);
	return 0;
}
"""

STRANGERS = [
    Program("haproxy", "a proxy in front of nginx, 20 requests", "haproxy -v",
            {"haproxy": "haproxy", "curl": "curl", **WEB_NEEDS}, """
haproxy -f {top}/haproxy.cfg &
pid=$!
listening {port}
curl -sS "http://127.0.0.1:{port}/big?[1-20]" | sha256sum
kill $pid; wait $pid || true
""", prepare=written("haproxy.cfg", """
defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s
frontend f
  bind 127.0.0.1:{port}
  default_backend b
backend b
  server s 127.0.0.1:{web}
""")),
    Program("memcached", "a file stored and read by libmemcached", "memcached --version",
            {"memcached": "memcached", "memccp": "libmemcached-tools", **WEB_NEEDS}, """
memcached -u nobody -l 127.0.0.1 -p {port} &
pid=$!
listening {port}
cd {top}/www
for i in 1 2 3 4 5 6 7 8 9 10; do
  memccp --servers=127.0.0.1:{port} big
  memccat --servers=127.0.0.1:{port} big | sha256sum
done
kill $pid; wait $pid || true
"""),
    Program("rsync", "a daemon and a client", "rsync --version", {"rsync": "rsync", **WEB_NEEDS}, """
rsync --daemon --no-detach --config={top}/rsyncd.conf &
pid=$!
listening {port}
rsync -a rsync://127.0.0.1:{port}/www/ {top}/copy-$$/
(cd {top}/copy-$$; sha256sum big page)
kill $pid; wait $pid || true
""", prepare=written("rsyncd.conf", """
port = {port}
address = 127.0.0.1
use chroot = no
pid file = {top}/rsyncd.pid
log file = {top}/rsyncd.log
[www]
path = {top}/www
""")),
    Program("mosquitto", "200 messages published and received, MQTT with QoS 1", "mosquitto -h | head -1",
            {"mosquitto": "mosquitto", "mosquitto_pub": "mosquitto-clients"}, """
mosquitto -c {top}/mosquitto.conf 2>/dev/null &
pid=$!
listening {port}
sub="mosquitto_sub -h 127.0.0.1 -p {port} -t t -q 1 -c -i one"
$sub -E
seq 200 | mosquitto_pub -h 127.0.0.1 -p {port} -t t -q 1 -l
$sub -C 200
kill $pid; wait $pid || true
""", prepare=written("mosquitto.conf", """
listener {port} 127.0.0.1
allow_anonymous true
persistence false
max_queued_messages 0
""")),
    Program("NATS", "a server in Go, 100 messages", "nats-server --version",
            {"nats-server": "nats-server", "ncat": "ncat"}, """
nats-server -a 127.0.0.1 -p {port} 2>/dev/null &
pid=$!
listening {port}
{{ printf 'CONNECT {{"verbose":false}}\\r\\nSUB a 1\\r\\n'
  for i in $(seq 100); do printf 'PUB a 5\\r\\nhello\\r\\n'; done
  printf 'PING\\r\\n'; sleep 1; }} | ncat 127.0.0.1 {port} | grep -c '^hello'
kill $pid; wait $pid || true
"""),
    Program("unbound", "a resolver, 50 questions by UDP and by TCP", "unbound -V",
            {"unbound": "unbound", "dig": "bind9-dnsutils"}, """
unbound -d -c {top}/unbound.conf 2>/dev/null &
pid=$!
listening {port}
for i in $(seq 25); do
  dig +short @127.0.0.1 -p {port} name.test A
  dig +short +tcp @127.0.0.1 -p {port} name.test A
done
kill $pid; wait $pid || true
""", prepare=written("unbound.conf", """
server:
  interface: 127.0.0.1@{port}
  username: ""
  chroot: ""
  directory: "{top}"
  pidfile: "{top}/unbound.pid"
  use-syslog: no
  local-zone: "test." static
  local-data: "name.test. A 192.0.2.7"
remote-control:
  control-enable: no
""")),
    Program("h2load", "HTTP/2: 500 requests, 10 connections, 10 at once; nghttpd serves", "h2load --version",
            {"h2load": "nghttp2-client", "nghttpd": "nghttp2-server", **WEB_NEEDS}, """
nghttpd --no-tls -a 127.0.0.1 -d {top}/www {port} &
pid=$!
listening {port}
h2load -n 500 -c 10 -m 10 http://127.0.0.1:{port}/page | grep -o '500 succeeded'
kill $pid; wait $pid || true
"""),
    Program("squid", "a proxy, 20 requests", "squid -v", {"squid": "squid", "curl": "curl", **WEB_NEEDS}, """
squid -N -f {top}/squid.conf 2>/dev/null &
pid=$!
listening {port}
curl -sS -x http://127.0.0.1:{port} "http://127.0.0.1:{web}/page?[1-20]" | sha256sum
kill $pid; wait $pid || true
""", prepare=written("squid.conf", """
http_port 127.0.0.1:{port}
pid_filename none
cache_log /dev/null
access_log none
cache_store_log none
cache_effective_user proxy
coredump_dir none
http_access allow all
shutdown_lifetime 0 seconds
""")),
    Program("varnish", "a cache in front of nginx, 20 requests", "varnishd -V",
            {"varnishd": "varnish", "curl": "curl", **WEB_NEEDS}, """
varnishd -F -j none -n {top}/varnish -a 127.0.0.1:{port} -b 127.0.0.1:{web} >/dev/null 2>&1 &
pid=$!
listening {port}
curl -sS "http://127.0.0.1:{port}/big?[1-20]" | sha256sum
kill $pid; wait $pid || true
"""),
    Program("vsftpd", "an anonymous FTP transfer", "vsftpd -v </dev/null; dpkg -s vsftpd",
            {"vsftpd": "vsftpd", "curl": "curl", **WEB_NEEDS}, """
mkdir -p {top}/empty
vsftpd {top}/vsftpd.conf &
pid=$!
listening {port}
curl -sS ftp://127.0.0.1:{port}/big | sha256sum
kill $pid; wait $pid || true
""", prepare=written("vsftpd.conf", """
listen=YES
background=NO
listen_address=127.0.0.1
listen_port={port}
anonymous_enable=YES
anon_root={top}/www
secure_chroot_dir={top}/empty
ftp_username=daemon
nopriv_user=nobody
seccomp_sandbox=YES
isolate=NO
isolate_network=NO
""")),
    Program("Apache", "mpm_event, 300 requests on 10 connections; its sockets defer accept", "apache2 -v",
            {"apache2": "apache2", "ab": "apache2-utils", "curl": "curl", **WEB_NEEDS}, """
apache2 -f {top}/apache.conf -D FOREGROUND &
pid=$!
listening {port}
ab -q -n 300 -c 10 http://127.0.0.1:{port}/page | grep -E 'Complete|Failed'
curl -sS "http://127.0.0.1:{port}/big?[1-5]" | sha256sum
kill $pid; wait $pid || true
""", prepare=written("apache.conf", """
ServerName localhost
ServerRoot {top}
PidFile {top}/apache.pid
Listen 127.0.0.1:{port} http
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
User nobody
Group nogroup
ErrorLog {top}/apache.log
DocumentRoot {top}/www
""")),
    Program("PHP-FPM", "two workers that take 200 ms a request, six requests at once by nginx",
            "php-fpm8.2 -v || php-fpm8.4 -v", {"php-fpm": "php-fpm", "curl": "curl", **WEB_NEEDS}, """
php=$(ls /usr/sbin/php-fpm* | head -1)
$php -n -F -R -y {top}/fpm.conf 2>/dev/null &
fpm=$!
until [ -S {top}/fpm.sock ]; do sleep 0.05; done
nginx -c {top}/php-nginx.conf &
web=$!
listening {port}
curl -sS --parallel --parallel-immediate --no-progress-meter "http://127.0.0.1:{port}/sleep.php?[1-6]" | sort
kill -QUIT $web; wait $web
kill $fpm; wait $fpm || true
""", prepare=files("fpm.conf", """
[global]
error_log = {top}/fpm.log
[www]
user = root
group = root
listen = {top}/fpm.sock
listen.mode = 0666
listen.backlog = 64
pm = static
pm.max_children = 2
""", "www/sleep.php", "<?php usleep(200000); echo \"slept\\n\";", "php-nginx.conf", """
daemon off; worker_processes 1; pid {top}/php-nginx.pid; error_log {top}/php-nginx.log;
user nobody nogroup;
events { worker_connections 256; }
http { access_log off; client_body_temp_path {top}/pb; proxy_temp_path {top}/pp;
  fastcgi_temp_path {top}/pf; uwsgi_temp_path {top}/pu; scgi_temp_path {top}/ps;
  server { listen 127.0.0.1:{port}; root {top}/www;
    location / { fastcgi_pass unix:{top}/fpm.sock; fastcgi_param SCRIPT_FILENAME $document_root/sleep.php;
      fastcgi_param REQUEST_METHOD $request_method; } } }
""")),
    Program("gunicorn", "two workers, 200 requests on 8 connections", "gunicorn --version",
            {"gunicorn": "gunicorn", "ab": "apache2-utils"}, """
cd {top}
gunicorn --log-level critical -w 2 -b 127.0.0.1:{port} app:app 2>/dev/null &
pid=$!
listening {port}
ab -q -n 200 -c 8 http://127.0.0.1:{port}/ | grep -E 'Complete|Failed'
kill $pid; wait $pid || true
""", prepare=written("app.py", """
def app(environ, start):
    start("200 OK", [("Content-Length", "6")])
    return [b"hello\\n"]
""")),
    Program("ZeroMQ", "500 requests and replies", "dpkg -s python3-zmq",
            {"python3-zmq": "python3-zmq"}, "{python} {top}/zmq_talk.py",
            prepare=written("zmq_talk.py", ZMQ)),
    Program("gRPC", "200 calls of a server in the same process", "dpkg -s python3-grpcio",
            {"python3-grpcio": "python3-grpcio"}, "{python} {top}/grpc_talk.py",
            prepare=written("grpc_talk.py", GRPC)),
    Program("io_uring", "500 messages sent and received by io_uring alone", "dpkg -s liburing-dev",
            {"liburing.h": "liburing-dev"}, "gcc -o {top}/uring {top}/uring.c -luring\n{top}/uring\n",
            prepare=written("uring.c", URING)),
    Program("RabbitMQ", "20 messages by AMQP", "dpkg -s rabbitmq-server",
            {"rabbitmq-server": "rabbitmq-server", "amqp-publish": "amqp-tools"}, """
mkdir -p {top}/rabbit-$$
chmod 777 {top}/rabbit-$$
export RABBITMQ_BASE={top}/rabbit-$$ RABBITMQ_MNESIA_BASE={top}/rabbit-$$ RABBITMQ_LOG_BASE={top}/rabbit-$$
export RABBITMQ_NODENAME=magnet@localhost RABBITMQ_NODE_PORT={port} RABBITMQ_NODE_IP_ADDRESS=127.0.0.1
export RABBITMQ_PID_FILE={top}/rabbit-$$/pid RABBITMQ_ENABLED_PLUGINS_FILE={top}/rabbit-$$/plugins
export HOME={top}/rabbit-$$ RABBITMQ_CONFIG_FILES=/nonexistent
/usr/lib/rabbitmq/bin/rabbitmq-server >/dev/null 2>&1 &
pid=$!
listening {port}
until amqp-declare-queue --port {port} -q q 2>/dev/null; do sleep 0.2; done
for i in $(seq 20); do amqp-publish --port {port} -r q -b "message $i"; done
amqp-consume --port {port} -q q -c 20 cat
echo
kill $pid; wait $pid || true
epmd -kill >/dev/null
"""),
    Program("Open MPI", "three ranks over TCP: broadcasts and reductions", "mpirun --version",
            {"mpirun": "openmpi-bin", "mpicc": "libopenmpi-dev"}, """
mpicc -o {top}/mpi {top}/mpi.c
mpirun --allow-run-as-root --oversubscribe --mca btl tcp,self --mca btl_tcp_if_include lo -np 3 {top}/mpi
""", prepare=written("mpi.c", MPI)),
    Program("ffmpeg", "a video as MPEG-TS over TCP from one ffmpeg to another", "ffmpeg -version",
            {"ffmpeg": "ffmpeg"}, """
ffmpeg -v quiet -i "tcp://127.0.0.1:{port}?listen=1" -map 0:v -f framemd5 - </dev/null >{top}/frames-$$ &
pid=$!
listening {port}
ffmpeg -v quiet -f lavfi -i testsrc=size=320x240:rate=25:duration=2 -threads 1 -c:v mpeg2video -f mpegts \\
  tcp://127.0.0.1:{port} </dev/null
wait $pid
grep -vc '^#' {top}/frames-$$
"""),
    Program("Chromium", "a page in its sandbox, as a user of its own", "chromium --version",
            {"chromium": "chromium", "setpriv": "util-linux", **WEB_NEEDS}, f"""
mkdir -p {{top}}/home
chmod 777 {{top}}/home
HOME={{top}}/home {NOBODY} chromium --headless --disable-gpu --disable-dev-shm-usage \\
  --user-data-dir={{top}}/home/profile --no-first-run --disable-background-networking \\
  --dump-dom http://127.0.0.1:{{web}}/hello.html 2>{{top}}/chromium.log
""", prepare=written("www/hello.html", "<html><body><p id=p></p><script>p.textContent = 6 * 7"
                     "</script></body></html>\n")),
    Program("Samba", "a file by SMB", "smbd --version", {"smbd": "samba", "smbclient": "smbclient", **WEB_NEEDS}, """
mkdir -p {top}/samba {top}/samba/private
smbd -F -s {top}/smb.conf -l {top}/samba </dev/null >/dev/null 2>&1 &
pid=$!
listening {port}
smbclient -s {top}/smb.conf -p {port} -N //127.0.0.1/www -c "get big {top}/samba/got-$$" >/dev/null 2>&1
sha256sum <{top}/samba/got-$$
kill $pid; wait $pid || true
""", prepare=written("smb.conf", """
[global]
interfaces = lo
bind interfaces only = yes
smb ports = {port}
server role = standalone server
map to guest = bad user
guest account = nobody
pid directory = {top}/samba
lock directory = {top}/samba
state directory = {top}/samba
cache directory = {top}/samba
private dir = {top}/samba/private
ncalrpc dir = {top}/samba/ncalrpc
disable spoolss = yes
load printers = no
[www]
path = {top}/www
guest ok = yes
""")),
    Program("nmap", "a connect scan and a version probe", "nmap --version", {"nmap": "nmap", **WEB_NEEDS}, """
nmap -n -sT -p 5100-5140 127.0.0.1 -oG - | grep -o '{web}/open'
nmap -n -sV -p {web} 127.0.0.1 -oG - | grep -o '{web}/open/tcp//http'
"""),
    Program("Go", "an HTTP server and client in one statically linked program", "go version",
            {"go": "golang-go"}, """
{top}/talk-go
""", prepare=lambda around: (written("talk.go", GO)(around), run(
        "go", "build", "-o", around.top + "/talk-go", around.top + "/talk.go",
        env={**os.environ, "CGO_ENABLED": "0", "HOME": around.top, "GOFLAGS": "-mod=mod"}))),
    Program("valgrind", "curl under valgrind's memcheck", "valgrind --version",
            {"valgrind": "valgrind", "curl": "curl", **WEB_NEEDS},
            "valgrind -q --error-exitcode=0 --log-file=/dev/null curl -sS http://127.0.0.1:{web}/big | sha256sum"),
    Program("coturn", "a TURN server and its test client, 50 datagrams", "turnserver --version",
            {"turnserver": "coturn"}, """
turnserver -n --no-auth --no-tls --no-dtls --no-cli -L 127.0.0.1 -p {port} --allow-loopback-peers \\
  --no-stdout-log --log-file {top}/turn.log --pidfile {top}/turn.pid >/dev/null 2>&1 &
pid=$!
listening {port}
sleep 0.5 # its UDP socket comes later
turnutils_uclient -y -n 50 -m 1 -c -p {port} 127.0.0.1 | grep -o 'Total lost packets 0' | tail -1
kill $pid; wait $pid || true
"""),
]

# what more a recording of it must hold
EXPECT = {
    "Apache": followed("rx", "apache2", 0.99),
    "PHP-FPM": workers_busy,
    "Go": kernel_side_only("talk-go"),
    "NATS": kernel_side_only("nats-server"),
    "io_uring": kernel_side_only("uring"),
}
# started so that the library does not see their calls
UNSEEN = {"Go", "NATS", "valgrind"}
# its sandboxed processes have PID namespaces of their own
OWN_PIDS = {"Chromium"}
