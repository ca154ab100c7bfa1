# SPDX-License-Identifier: MIT
"""
The second start takes the programs that the first one kept, and records the same. What is kept is not
used where the kernel's types have changed, where it is damaged, where the kernel refuses it, and where
others than root could have written it; the start then does without, and replaces it.
"""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from tracer import *

need_kernel_side()
TOP = scratch()
CACHE = TOP + "/kept"
SENDS = """
import socket
a, b = socket.socketpair()
s = socket.create_server(("127.0.0.1", 0))
c = socket.create_connection(s.getsockname())
d, _ = s.accept()
for _ in range(20):
    c.sendall(b"x" * 100)
    d.recv(100)
    a.send(b"y")
    b.recv(1)
"""
USED, NOT_USED = "those that an earlier start kept", "kept by an earlier start are not used"
HEAD = struct.Struct("<8s2Q2Q2QQ")  # kernel-tracer/hooks/start_cache.c


def start(kept=CACHE, *options):
    """Records, with what is kept in a directory. Returns the report's flows and the tracer's messages."""
    d = tempfile.mkdtemp(dir=TOP) + "/t"
    r = subprocess.run([MAGNET, "record", "-o", d, *options, "--", PYTHON, "-c", SENDS],
                       env={**os.environ, "MAGNET_CACHE": kept, "MAGNET_DEBUG": "1"},
                       stderr=subprocess.PIPE, text=True, check=True)
    report = json.loads(run(MAGNET, "report", "--json", d).stdout)
    moved = {f["proto"]: f["bytes"] for f in report["flows"] if f["bytes"] in (20, 2000)}
    check(moved == {"tcp": 2000, "unix_stream": 20}, f"both connections are recorded: {moved}")
    with open(d + "/session.json", encoding="utf-8") as f:
        side = json.load(f)["kernel_side"]
    return r.stderr, {(h["hook"], h["by"], h["status"]) for h in side["hooks"]}


def later(kept, how):
    """Chooses what takes more programs while it is recorded."""
    os.environ["MAGNET_CACHE"] = kept
    with Tracer(tempfile.mkdtemp(dir=TOP) + "/t", "--pid", os.getpid(), "--layers", "tcp,device", "--protocol",
                "tcp") as t:
        t.ready()
        run(TRACER, "ctl", "--pid", t.pid, "set", "protocol=any")
        run(TRACER, "ctl", "--pid", t.pid, "set", "layers=tcp,device,ip,socket")
    check(True, f"layers are loaded while recording, the first programs {how}")


def mix(h, data):
    """As in start_cache.c."""
    mask = (1 << 64) - 1
    data += bytes(-len(data) % 8)
    for word, in struct.iter_unpack("<Q", data):
        h[0] = (h[0] ^ word) * 0x9e3779b97f4a7c15 & mask
        h[0] ^= h[0] >> 32
        h[1] = (h[1] + word) * 0xc2b2ae3d27d4eb4f & mask
        h[1] ^= h[1] >> 29


def read():
    with open(FILE, "rb") as f:
        return f.read()


def write(data, sealed=False):
    """Writes what is kept, with a true check sum if `sealed`."""
    if sealed:
        magic, k0, k1, _, _, t0, t1, size = HEAD.unpack_from(data)
        check_sum = [0, 0]
        mix(check_sum, struct.pack("<2Q", t0, t1))
        mix(check_sum, data[HEAD.size:])
        data = HEAD.pack(magic, k0, k1, *check_sum, t0, t1, size) + data[HEAD.size:]
    with open(FILE, "wb") as f:
        f.write(data)
    os.chmod(FILE, 0o600)


def replaced(what):
    """A start does without what is kept now, and the next one finds it mended."""
    said, hooks = start()
    check(USED not in said and hooks == first, f"{what}: it is not used, and all is recorded")
    check(read() == good, f"{what}: it is replaced")


said, first = start()
check(USED not in said, "the first start has nothing to take")
if not os.path.isdir(CACHE) or not os.listdir(CACHE):
    skip("nothing is kept here: an older libbpf, or programs that need a module")
check(os.stat(CACHE).st_mode & 0o777 == 0o700, "only root can enter the directory")
FILE = os.path.join(CACHE, os.listdir(CACHE)[0])
check(os.stat(FILE).st_mode & 0o777 == 0o600, "only root can read the file")
good = read()
said, second = start()
check(USED in said and second == first, "the second start takes what the first one kept, for the same hooks")
for kept, how in (("", "prepared anew"), (CACHE, "kept"), (CACHE, "kept")):
    later(kept, how)
start(CACHE, "--layers", "light,syscall,socket")
check(len(os.listdir(CACHE)) == 3, "other layers have a file of their own")

magic, k0, k1, c0, c1, t0, t1, size = HEAD.unpack_from(good)
write(HEAD.pack(magic, k0, k1, c0, c1, t0 ^ 1, t1, size) + good[HEAD.size:], sealed=True)
said, _ = start()
check(NOT_USED in said, "it is not used where the kernel has other types")
check(read() == good, "and replaced")
for at in (0, 10, 30, 50, 60, HEAD.size + 1, len(good) // 2, len(good) - 1):
    write(good[:at] + bytes([good[at] ^ 0x10]) + good[at + 1:])
    replaced(f"byte {at} changed")
for n in (0, 20, HEAD.size, len(good) // 2, len(good) - 8):
    write(good[:n])
    replaced(f"cut off after {n} bytes")
write(good + b"12345678")
replaced("bytes added")
# the last instruction of a program: `exit`, replaced by what no kernel accepts
leave = good.rindex(bytes([0x95, 0, 0, 0, 0, 0, 0, 0]))
write(good[:leave] + bytes([0xff]) + good[leave + 1:], sealed=True)
replaced("an instruction that the kernel refuses")

for what, change, undo in (
        ("a file that others can write", lambda: os.chmod(FILE, 0o602), None),
        ("a file of another user", lambda: os.chown(FILE, 65534, 65534), None),
        ("a link", lambda: (os.rename(FILE, TOP + "/elsewhere"), os.symlink(TOP + "/elsewhere", FILE)), None),
        ("a pipe", lambda: (os.unlink(FILE), os.mkfifo(FILE, 0o600)), None),
        ("a directory that others can enter", lambda: os.chmod(CACHE, 0o711), lambda: os.chmod(CACHE, 0o700)),
        ("a directory of another user", lambda: os.chown(CACHE, 65534, 65534), lambda: os.chown(CACHE, 0, 0))):
    change()
    said, hooks = start()
    check(USED not in said and hooks == first, f"{what}: it is not used, and all is recorded")
    if undo:
        undo()
    elif os.path.islink(FILE) or not os.path.isfile(FILE):
        os.unlink(FILE)
    start()
    said, _ = start()
    check(USED in said, f"{what}: with that mended it is used again")
for nowhere in ("", "/proc/magnet", TOP + "/none/kept", "/dev/null"):
    said, hooks = start(nowhere)
    check(USED not in said and hooks == first, f"a start works with nothing kept in {nowhere!r}")
ALL = ("--layers", "+timestamps,netfilter,gro,switch")
start(TOP + "/all", *ALL)
said, _ = start(TOP + "/all", *ALL)
check(USED in said, "programs of every layer are kept")
for i in range(12):
    open(f"{CACHE}/{i}", "w").close()
os.unlink(FILE)
start()
check(len(os.listdir(CACHE)) == 8 and os.path.exists(FILE), "eight files are kept, the latest")
shutil.rmtree(TOP)
