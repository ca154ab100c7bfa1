# SPDX-License-Identifier: MIT
"""
The claims of docs/security.md about a trace and other users: no byte that programs exchange is in a trace,
with --anonymize no address either; and nobody (uid 65534) reaches neither root's trace nor its recorders.
"""
import ipaddress
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

TRACER = os.path.join(os.environ["MAGNET_BUILD"], "kernel-tracer", "magnet-kernel-tracer")
SECRET = b"Kei9-uXoo-4PahQu"
ADDRESS = "127.83.177.9"
AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

# every way of sending, over TCP, UDP and UNIX sockets
TALK = f"""
import os, socket, sys
secret = {SECRET!r} * 64
listener = socket.create_server(("{ADDRESS}", 0))
a = socket.create_connection(listener.getsockname())
b, _ = listener.accept()
pairs = [(a, b), socket.socketpair(), socket.socketpair(type=socket.SOCK_DGRAM)]
u, v = (socket.socket(type=socket.SOCK_DGRAM) for _ in range(2))
v.bind(("{ADDRESS}", 0))
u.connect(v.getsockname())
pairs.append((u, v))
with open(sys.argv[1], "wb") as f: f.write(secret)
for tx, rx in pairs:
    for send in (lambda: tx.send(secret), lambda: tx.sendmsg([secret, secret]),
                 lambda: os.write(tx.fileno(), secret), lambda: os.writev(tx.fileno(), [secret, secret]),
                 lambda: os.sendfile(tx.fileno(), os.open(sys.argv[1], os.O_RDONLY), 0, len(secret))):
        for i in range(20):
            try: n = send()
            except OSError: continue
            while n > 0:
                n -= len(rx.recv(4096)) or n
print("done")
"""


def whole(directory):
    """All bytes of all files of a trace."""
    return {os.path.join(at, name): open(os.path.join(at, name), "rb").read()
            for at, _, names in os.walk(directory) for name in names}


def recorded(top, name, *options):
    d = f"{top}/{name}"
    p = run(MAGNET, "record", "-q", "-o", d, "-l", "+netfilter,gro,switch", "--level", "full", "--waits", "--entries",
            "--event", "sched:sched_process_exec", "--event", "net:net_dev_queue", "--event", "tcp:tcp_probe",
            *options, "--", PYTHON, "-c", TALK, top + "/file")
    check(p.stdout == "done\n", f"{name} is recorded")
    files = whole(d)
    check(sum(map(len, files.values())) > 100_000, f"{len(files)} files")
    return files


def find(files, what):
    return [path for path, content in files.items() if what in content]


def what_is_in_a_trace(top):
    files = recorded(top, "plain")
    # the command line is kept, which has the secret in this test's own words
    found = [path for path in find(files, SECRET) if not path.endswith("session.json")]
    check(not found, f"no byte that was sent is in the trace: {found}")
    check(find(files, ipaddress.ip_address(ADDRESS).packed), "addresses are")
    files = recorded(top, "anonymous", "--anonymize")
    packed = ipaddress.ip_address(ADDRESS).packed
    for what in (ADDRESS.encode(), packed, packed[::-1], SECRET):
        check(not find(files, what), f"--anonymize: {what!r} is nowhere")


def nobody(*command, **kw):
    return subprocess.run(AS_NOBODY + list(map(str, command)), capture_output=True, text=True, timeout=60 * SLOWER, **kw)


def children(pid):
    return {open(f"/proc/{c}/comm").read().strip(): int(c)
            for c in open(f"/proc/{pid}/task/{pid}/children").read().split()}


def another_user(top):
    os.chmod(top, 0o755)
    d = top + "/roots"
    p = subprocess.Popen([MAGNET, "record", "-q", "-o", d, "--", "sh", "-c", "echo $MAGNET_RINGS; exec sleep 600"],
                         stdout=subprocess.PIPE, text=True)
    rings = p.stdout.readline().strip()
    recorders = children(p.pid)
    collector, tracer = recorders["magnet"], recorders["magnet-kernel-t"]
    check(nobody("ls", d).returncode != 0 and nobody("cat", d + "/session.json").returncode != 0,
          "nobody enters root's trace")
    for name, pid in (("collector", collector), ("tracer", tracer)):
        check(nobody("ls", f"/proc/{pid}/fd").returncode != 0 and nobody("cat", f"/proc/{pid}/environ").returncode != 0,
              f"nor sees what the {name} has open, or its environment")
        check(nobody("kill", "-0", pid).returncode != 0, f"nor signals the {name}")
    _, at, first, _, _, door = rings.split(":", 5)
    check(int(at) == collector and nobody("cat", f"/proc/{at}/fd/{first}").returncode != 0,
          "nor opens the rings of root's programs")
    check(nobody("ls", os.path.dirname(door)).returncode != 0, "nor finds the name of the door")
    said = nobody(TRACER, "ctl", "--pid", tracer, "stop")
    check(said.returncode != 0 and os.path.exists(f"/proc/{tracer}"), f"nor asks the tracer: {said.stderr.strip()}")
    said = nobody(MAGNET, "record", "--app-only", "-o", d + "/mine", "--", "true")
    check(said.returncode != 0, f"nor writes beside the trace: {said.stderr.strip()}")
    os.kill(children(p.pid)["sleep"], 15)
    p.wait(60 * SLOWER)
    p.stdout.close()
    check(not os.path.exists(os.path.dirname(door)), "and the door is gone")

    mine = top + "/others"
    os.mkdir(mine)
    os.chown(mine, 65534, 65534)
    p = run(MAGNET, "record", "-o", mine, "--", "true", check=False)
    check(p.returncode == 1 and "belongs to somebody else" in p.stderr and not os.listdir(mine),
          f"root does not record into nobody's directory: {p.stderr.strip()}")


need_kernel_side()
need_program("setpriv")
if os.geteuid():
    skip("this is about root and nobody")
if nobody("test", "-r", MAGNET).returncode:
    print("the build is not readable by other users: nobody runs what is installed alone")
with tempfile.TemporaryDirectory(prefix="magnet-test-") as directory:
    what_is_in_a_trace(directory)
    another_user(directory)
