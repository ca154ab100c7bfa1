# SPDX-License-Identifier: MIT
"""
Real programs run unharmed: the same output and exit status under `magnet record` as without, and a
sound recording of each.
"""
import hashlib
import os
import re
import sys
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from sound import sound

PORT = 5110
ASYNCIO = f"""
import asyncio
async def serve(reader, writer):
    while data := await reader.read(4096):
        writer.write(data.upper())
        await writer.drain()
    writer.close()
async def ask(n):
    reader, writer = await asyncio.open_connection("127.0.0.1", {PORT})
    got = b""
    for i in range(50):
        writer.write(b"message %d of client %d\\n" % (i, n))
        await writer.drain()
        got += await reader.readline()
    writer.close()
    return got
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", {PORT})
    for got in await asyncio.gather(*[ask(n) for n in range(10)]):
        print(got.decode(), end="")
    server.close()
asyncio.run(main())
"""
NGINX = """
daemon off; master_process on; worker_processes 2; pid {top}/nginx.pid; error_log {top}/error.log;
{user}
events {{ worker_connections 256; }}
http {{ access_log off; client_body_temp_path {top}/b; proxy_temp_path {top}/p;
  fastcgi_temp_path {top}/f; uwsgi_temp_path {top}/u; scgi_temp_path {top}/s;
  server {{ listen 127.0.0.1:{port}; root {top}/www; }} }}
"""


def same(what, *command, bytes_at_least=0):
    """Output and status with and without."""
    bare = run(*command, check=False)
    with Recording(*command, options=("-q",), ok=None) as rec:
        check(rec.p.returncode == bare.returncode, f"{what}: exit status {bare.returncode} as without")
        check(rec.p.stdout == bare.stdout, f"{what}: {len(bare.stdout)} bytes of output as without")
        check(rec.p.stderr == bare.stderr,
              f"{what}: stderr as without: {bare.stderr!r}, {rec.p.stderr!r}")
        sound(rec, what, bytes_at_least)


def wait_for(port):
    for _ in range(200):
        if run("ss", "-Hltn", f"sport = :{port}").stdout:
            return
        time.sleep(0.05)
    sys.exit(f"nothing listens on port {port}")


def curl(top):
    need_program("curl")
    data = os.urandom(3_000_000)
    open(top + "/file", "wb").write(data)
    server = subprocess.Popen([PYTHON, "-m", "http.server", "--bind", "127.0.0.1", "--directory", top,
                               str(PORT)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(PORT)
        url = f"http://127.0.0.1:{PORT}/file"
        same("curl", "sh", "-c", f"curl -s {url} | sha256sum", bytes_at_least=len(data))
        with Recording("curl", "-s", "-o", top + "/got", url) as rec:
            got = hashlib.sha256(open(top + "/got", "rb").read()).hexdigest()
            check(got == hashlib.sha256(data).hexdigest(), "curl: what it saved is what was served")
            rx = flow(rec.report(), "rx", PORT)
            check(rx["comm"] == "curl" and rx["coverage"] > 0.99, f"curl: coverage {rx['coverage']}")
    finally:
        stop(server)
    same("curl, refused", "curl", "-s", "http://127.0.0.1:1/")


def iperf3(top):
    need_program("iperf3")
    script = (f"iperf3 -s -1 -p {PORT} >/dev/null & sleep 0.5; "
              f"iperf3 -J -c 127.0.0.1 -p {PORT} -n 200M; s=$?; wait; exit $s")
    bare = json.loads(run("sh", "-c", script).stdout)
    with Recording("sh", "-c", script) as rec:
        j = json.loads(rec.p.stdout)
        check(j["end"]["sum_sent"]["bytes"] == bare["end"]["sum_sent"]["bytes"],
              "iperf3: sends as many bytes as without")
        check("error" not in j, "iperf3: no error")
        sound(rec, "iperf3", 200 << 20)
        check(flow(rec.report(), "tx")["bytes"] >= j["end"]["sum_sent"]["bytes"],
              "iperf3: the trace has them all")


def redis(top):
    need_program("redis-server", "redis-benchmark", "redis-cli")
    server = f"redis-server --port {PORT} --bind 127.0.0.1 --save '' --dir {top} --loglevel warning"
    cli = f"redis-cli -p {PORT}"
    script = (f"{server} >/dev/null & until {cli} ping >/dev/null 2>&1; do sleep 0.05; done; "
              f"redis-benchmark -p {PORT} -n 5000 -q -t set,get,lpush >/dev/null && "
              f"for i in 1 2 3; do {cli} set key$i value$i; {cli} get key$i; done; {cli} dbsize; "
              f"{cli} shutdown nosave; wait")
    same("redis", "sh", "-c", script, bytes_at_least=15000 * 30)


def nginx(top):
    need_program("nginx", "wrk")
    os.mkdir(top + "/www")
    os.chmod(top, 0o755)
    page = "hello from nginx\n" * 300
    open(top + "/www/index.html", "w").write(page)
    open(top + "/nginx.conf", "w").write(NGINX.format(
        top=top, port=PORT, user="user nobody nogroup;" if os.geteuid() == 0 else ""))
    script = (f"nginx -c {top}/nginx.conf & "
              f"until [ -n \"$(ss -Hltn 'sport = :{PORT}')\" ]; do sleep 0.05; done; "
              f"curl -s http://127.0.0.1:{PORT}/; wrk -t 1 -c 10 -d 1 http://127.0.0.1:{PORT}/ "
              f"> {top}/wrk.out; s=$?; kill -QUIT $(cat {top}/nginx.pid); wait; exit $s")
    with Recording("sh", "-c", script) as rec:
        check(rec.p.stdout == page, "nginx: the page is as served")
        out = open(top + "/wrk.out").read()
        done = re.search(r"(\d+) requests in", out)
        check(done and int(done[1]) > 100, f"wrk: {done[1] if done else 0} requests")
        check("Socket errors" not in out and "Non-2xx" not in out, "wrk: no errors")
        check(open(top + "/error.log").read() == "", "nginx: logs no error")
        sound(rec, "nginx with wrk", len(page) * 100)
        comms = {f["comm"] for f in rec.report()["flows"]}
        check({"nginx", "wrk", "curl"} <= comms, f"flows of {comms}")


need_kernel_side()
for test in (curl, iperf3, redis, nginx):
    directory = tempfile.mkdtemp(prefix="magnet-test-")
    print("---", test.__name__)
    try:
        test(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
print("--- asyncio")
same("asyncio", PYTHON, "-c", ASYNCIO, bytes_at_least=10 * 50 * 24)
