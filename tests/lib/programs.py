# SPDX-License-Identifier: MIT
"""
Real programs and a small piece of work for each, on loopback: what tests/calls_table.py records. Each
ends by itself. Servers that are not the matter, such as the one curl asks, run outside the recording.
"""
import glob
import os
import re
import shutil
import subprocess
import time

from fixture import PYTHON, run, stop

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "..", "programs")
TALK = os.path.join(PROGRAMS, "talk.py")
WEB, WEBS, PORT, TLS = 5120, 5121, 5122, 5123  # the server outside, and those recorded

NGINX = """
daemon {daemon}; worker_processes 2; pid {top}/{name}.pid; error_log {top}/{name}.log;
user {user};
events {{ worker_connections 256; }}
http {{ access_log off; client_body_temp_path {top}/b; proxy_temp_path {top}/p; sendfile on;
  fastcgi_temp_path {top}/f; uwsgi_temp_path {top}/u; scgi_temp_path {top}/s;
  ssl_certificate {top}/cert.pem; ssl_certificate_key {top}/key.pem;
  server {{ listen 127.0.0.1:{port}; listen 127.0.0.1:{tls} ssl http2; root {top}/www; }} }}
"""
# no program that would itself ask the kernel by a socket
LISTENING = r"""listening() {
  tries=0
  until grep -qE "^ *[0-9]+: [0-9A-F]*:$(printf %04X $1) [0-9A-F]*:0000 0A" /proc/net/tcp /proc/net/tcp6
  do sleep 0.05; tries=$((tries + 1)); [ $tries -lt 1200 ] || { echo "nobody listens on $1"; exit 1; }; done
}
"""
SSHD = """
Port {port}
ListenAddress 127.0.0.1
HostKey {top}/hostkey
AuthorizedKeysFile {top}/key_ssh.pub
PidFile {top}/sshd.pid
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
Subsystem sftp internal-sftp
"""


class Program:
    """`needs` are {what must be there: its Debian package}, `version` prints one."""

    def __init__(self, name, what, version, needs, script, fast=False, prepare=None, timeout=120):
        self.name, self.what, self.version, self.needs = name, what, version, needs
        self.script, self.fast, self.prepare, self.timeout = script, fast, prepare, timeout

    def missing(self):
        """The packages that would have to be installed."""
        def module(name):
            return not run(PYTHON, "-c", "import " + name, check=False).returncode

        found = {"python3-requests": lambda: module("requests"), "python3-zmq": lambda: module("zmq"),
                 "python3-grpcio": lambda: module("grpc"),
                 "liburing.h": lambda: os.path.exists("/usr/include/liburing.h"),
                 "pg_ctl": postgres_bin, "php-fpm": lambda: glob.glob("/usr/sbin/php-fpm*")}
        return sorted({package for what, package in self.needs.items()
                       if not found.get(what, lambda: shutil.which(what))()})

    def version_text(self):
        p = run("sh", "-c", self.version, check=False)
        found = re.search(r"\d+\.\d[\w.]*", p.stdout + p.stderr)
        return found[0] if found else ""


def path():
    """Servers are where users do not look for programs."""
    return os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def postgres_bin():
    """Debian keeps servers of several versions out of the path; the newest."""
    top = "/usr/lib/postgresql"
    versions = sorted(os.listdir(top), key=float) if os.path.isdir(top) else []
    return versions and f"{top}/{versions[-1]}/bin"


class Surroundings:
    """A directory of certificates, pages, keys, and the web server outside; gone at the end."""

    def __init__(self, top, programs):
        self.top, self.programs, self.made, self.web = top, programs, [], None

    def __enter__(self):
        try:
            self._set_up()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _set_up(self):
        os.chmod(self.top, 0o755)  # servers give up their privileges
        os.makedirs(self.top + "/www")
        for name, size in (("page", 5000), ("big", 500_000)):
            with open(f"{self.top}/www/{name}", "wb") as f:
                f.write(os.urandom(size))
        needs = {what for p in self.programs for what in p.needs}
        if "openssl" in needs:
            run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", self.top + "/key.pem",
                "-out", self.top + "/cert.pem")
        for program in self.programs:
            if program.prepare:
                program.prepare(self)
        if "nginx" in needs:
            nginx_conf(self.top, "inside", "on", PORT, TLS)
            conf = nginx_conf(self.top, "outside", "off", WEB, WEBS)
            self.web = subprocess.Popen(["nginx", "-c", conf], stderr=subprocess.DEVNULL)
            while not run("ss", "-Hltn", f"sport = :{WEBS}").stdout and self.web.poll() is None:
                time.sleep(0.05)

    def __exit__(self, *unused):
        if self.web:
            stop(self.web)
        for directory in self.made:
            shutil.rmtree(directory, ignore_errors=True)


def nginx_conf(top, name, daemon, port, tls):
    conf = f"{top}/{name}.conf"
    with open(conf, "w") as f:
        f.write(NGINX.format(top=top, name=name, daemon=daemon, port=port, tls=tls,
                             user="nobody nogroup" if os.geteuid() == 0 else "nobody"))
    return conf


def git_repository(around):
    work, bare = around.top + "/work", around.top + "/www/repository.git"
    run("git", "init", "-q", work)
    for n in range(20):
        with open(f"{work}/file{n}", "w") as f:
            f.write(f"line {n}\n" * 1000)
        run("git", "-C", work, "add", ".")
        run("git", "-C", work, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", n)
    run("git", "clone", "-q", "--bare", work, bare)
    run("git", "-C", bare, "update-server-info")


def ssh_keys(around):
    for name in ("hostkey", "key_ssh"):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{around.top}/{name}")
    with open(around.top + "/sshd_config", "w") as f:
        f.write(SSHD.format(top=around.top, port=PORT))
    if not os.path.exists("/run/sshd"):  # sshd shuts itself up there
        os.mkdir("/run/sshd", 0o755)
        around.made.append("/run/sshd")


def database(around):
    top = around.top + "/postgres"
    os.mkdir(top)
    shutil.chown(top, "postgres", "postgres")
    run("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", postgres_bin() + "/initdb",
        "-D", top + "/data", "-A", "trust", "--no-sync", cwd=top)


WEB_NEEDS = {"nginx": "nginx-light", "openssl": "openssl"}
SSH = ("ssh -F none -p {port} -i {top}/key_ssh -o BatchMode=yes -o StrictHostKeyChecking=accept-new "
       "-o UserKnownHostsFile={top}/known_hosts")

ALL = [
    Program("curl", "HTTP/1.1, TLS, and 20 files by HTTP/2 at once", "curl --version",
            {"curl": "curl", **WEB_NEEDS}, """
curl -sS -o {top}/1 http://127.0.0.1:{web}/big
curl -sS -o {top}/2 http://localhost:{web}/page http://localhost:{web}/big >/dev/null
curl -sS --http1.1 --cacert {top}/cert.pem -o {top}/3 https://localhost:{webs}/big
curl -sSZ --no-progress-meter --http2 --cacert {top}/cert.pem \\
  "https://localhost:{webs}/big?[1-20]" -o {top}/4
cmp {top}/1 {top}/www/big; cmp {top}/3 {top}/www/big; cmp {top}/4 {top}/www/big
""", fast=True),
    Program("wget", "HTTP and TLS", "wget --version", {"wget": "wget", **WEB_NEEDS}, """
wget -q -O {top}/1 http://127.0.0.1:{web}/big
wget -q -O {top}/2 http://localhost:{web}/page http://localhost:{web}/big
wget -q -O {top}/3 --ca-certificate={top}/cert.pem https://localhost:{webs}/big
cmp {top}/1 {top}/www/big; cmp {top}/3 {top}/www/big
""", fast=True),
    Program("python3 socket", "two threads, 1000 messages each way", PYTHON + " --version", {},
            "{python} {programs}/exchange.py 1000", fast=True),
    Program("python3 ssl", "100 messages each way", PYTHON + " --version", {"openssl": "openssl"},
            "{python} {talk} ssl {top}/cert.pem {top}/key.pem", fast=True),
    Program("python3 asyncio", "10 clients, 50 messages each way", PYTHON + " --version", {},
            "{python} {talk} asyncio", fast=True),
    Program("python3 requests", "HTTP and TLS, kept alive and not",
            PYTHON + " -c 'import requests; print(requests.__version__)'",
            {"python3-requests": "python3-requests", **WEB_NEEDS},
            "{python} {talk} requests {top}/cert.pem http://127.0.0.1:{web}/page "
            "https://localhost:{webs}/big", fast=True),
    Program("nginx", "a daemon with two workers; wrk's 10 connections, HTTP/2 and TLS by curl",
            "nginx -v", {"wrk": "wrk", "curl": "curl", **WEB_NEEDS}, """
nginx -c {top}/inside.conf
listening {port}
wrk -t 2 -c 10 -d 1 http://127.0.0.1:{port}/page >/dev/null
curl -sS --http2 --cacert {top}/cert.pem "https://127.0.0.1:{tls}/big?[1-5]" -o {top}/1
cmp {top}/1 {top}/www/big
nginx -c {top}/inside.conf -s quit
""", fast=True),
    Program("redis-server", "redis-benchmark, two threads, 10 clients; a background save",
            "redis-server --version", {"redis-server": "redis-server", "redis-benchmark": "redis-tools"},
            """
redis-server --port {port} --bind 127.0.0.1 --dir {top} --loglevel warning >/dev/null &
listening {port}
redis-benchmark -p {port} -n 1000 -c 10 --threads 2 -q -t set,get,lpush >/dev/null
redis-cli -p {port} bgsave >/dev/null
redis-cli -p {port} shutdown
wait
""", fast=True),
    Program("iperf3", "TCP both ways, two streams, and UDP", "iperf3 --version", {"iperf3": "iperf3"},
            """
for how in "-n 20M" "-R -n 20M" "-P 2 -n 20M" "-u -b 100M -n 2M"; do
  iperf3 -s -1 -p {port} >/dev/null &
  listening {port}
  iperf3 -c 127.0.0.1 -p {port} $how >/dev/null
  wait
done
""", fast=True),
    Program("openssl s_server, s_client", "a status page by TLS 1.3 and 1.2", "openssl version",
            {"openssl": "openssl"}, """
openssl s_server -accept 127.0.0.1:{port} -cert {top}/cert.pem -key {top}/key.pem -www -quiet \\
  -naccept 2 &
listening {port}
for how in -tls1_3 -tls1_2; do
  printf 'GET / HTTP/1.0\\r\\n\\r\\n' |
    openssl s_client -quiet -connect localhost:{port} -CAfile {top}/cert.pem $how >{top}/1 2>&1
  grep -q '200 ok' {top}/1
done
wait
""", fast=True),
    Program("git", "clone over HTTP", "git --version", {"git": "git", **WEB_NEEDS},
            "git clone -q http://localhost:{web}/repository.git {top}/clone", fast=True,
            prepare=git_repository),
    Program("OpenSSH", "sshd and ssh; commands, data each way, scp", "ssh -V",
            {"sshd": "openssh-server", "ssh": "openssh-client"}, f"""
$(command -v sshd) -f {{top}}/sshd_config
listening {{port}}
{SSH} root@127.0.0.1 true
head -c 300000 /dev/zero | {SSH} root@127.0.0.1 'wc -c' >{{top}}/1
{SSH} root@127.0.0.1 'head -c 300000 /dev/zero' >{{top}}/2
{SSH.replace("ssh -F none -p", "scp -q -F none -P")} {{top}}/2 root@127.0.0.1:{{top}}/3
cmp {{top}}/2 {{top}}/3
kill $(cat {{top}}/sshd.pid)
""", prepare=ssh_keys),
    Program("PostgreSQL", "pgbench, 4 clients by TCP and by a local socket",
            "pgbench --version", {"pg_ctl": "postgresql", "setpriv": "util-linux"}, """
cd {top}/postgres
as="setpriv --reuid=postgres --regid=postgres --clear-groups env PGHOST=127.0.0.1 PGPORT={port}"
$as {pg}/pg_ctl -s -w -D data -l log -o "-p {port} -k {top}/postgres -c fsync=off" start
$as {pg}/pgbench -q -i -s 1 postgres 2>/dev/null
$as {pg}/pgbench -c 4 -j 2 -t 50 postgres >/dev/null 2>&1
$as env PGHOST={top}/postgres {pg}/pgbench -S -c 4 -j 2 -t 50 postgres >/dev/null 2>&1
$as {pg}/pg_ctl -s -w -D data -m fast stop
""", prepare=database),
    Program("node", "HTTP server and clients in one process, fetch, UDP", "node --version",
            {"node": "nodejs"}, "node {programs}/talk.js"),
    Program("java", "HttpServer and HttpClient, Socket and ServerSocket", "java -version",
            {"java": "default-jre-headless", "javac": "default-jdk-headless"}, """
javac -d {top} {programs}/Talk.java
java -cp {top} Talk
""", timeout=240),
]


def script_of(program, top):
    text = program.script.format(top=top, web=WEB, webs=WEBS, port=PORT, tls=TLS, python=PYTHON,
                                 talk=TALK, programs=PROGRAMS, pg=postgres_bin())
    return "set -eu\n" + LISTENING + text
