# SPDX-License-Identifier: MIT
"""
Behaviour of no well-behaved program: packets that say more than they hold, ports that sockets share and
leave, more sockets than are remembered. Nothing is made up, and what is missing is told.
"""
import os
import re
import resource
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from memory_group import MemoryGroup
from tracer import *

own_network()  # starts over: nothing is made before
TOP = scratch()
OTHER_ID = 2 ** 62  # + the inode's number: a socket that is not TCP's

# Packets for its own sockets, made by hand: cut off in the header, or with one longer than they are.
MALFORMED = r"""
import socket, struct, time
l = socket.create_server(("127.0.0.1", 0))
c = socket.create_connection(l.getsockname())
s, _ = l.accept()
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.bind(("127.0.0.1", 0))
p = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
def send(proto, what, total=None):
    h = struct.pack(">BBHHHBBH4s4s", 0x45, 0, total or 20 + len(what), 7, 0, 64, proto, 0,
                    b"\x7f\0\0\1", b"\x7f\0\0\1")
    x = sum(struct.unpack(">10H", h))
    x = (x & 0xffff) + (x >> 16)
    h = h[:10] + struct.pack(">H", ~x & 0xffff) + h[12:]
    p.sendto(h + what, ("lo", 0x800, 0, 0, bytes(6)))
tcp = struct.pack(">HHIIBBHHH", c.getsockname()[1], l.getsockname()[1], 1000, 2000, 0xf0, 0x10, 9, 0, 0)
udp = struct.pack(">HHHH", 999, u.getsockname()[1], 8, 0)
for i in range(3):
    send(6, tcp)
    send(6, tcp[:4])
    send(6, tcp, 10)
    send(17, udp[:4])
    send(17, udp, 4)
time.sleep(.1)
"""

# Three sockets share a port; the last but one is gone before the last comes.
SHARED = r"""
import os, socket
def shared(port):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    s.bind(("127.0.0.1", port))
    s.setblocking(False)
    return s
a = shared(0)
b = shared(a.getsockname()[1])
b.close()
c = shared(a.getsockname()[1])
for i in range(60):
    x = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    x.sendto(b"x", a.getsockname())
for s in (a, c):
    n = 0
    try:
        while s.recv(9): n += 1
    except BlockingIOError:
        pass
    print(2 ** 62 + os.fstat(s.fileno()).st_ino, n)
"""

# More sockets at once than are remembered, in processes enough for their descriptors.
MANY = r"""
import os, socket, sys
children = []
ready, go = os.pipe(), os.pipe()
for child in range(int(sys.argv[1])):
    children.append(os.fork())
    if not children[-1]:
        os.close(go[1])
        socks = []
        for i in range(int(sys.argv[2])):
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            s.bind(("127.%d.%d.1" % (1 + child, i // 200), 0))
            socks.append(s)
        os.write(ready[1], b"x")
        os.read(go[0], 1)
        for again in range(2):
            for s in socks:
                socks[0].sendto(b"x", s.getsockname())
                s.recv(9)
        os._exit(0)
for c in children:
    os.read(ready[0], 1)
os.close(go[1])
sys.exit(any(os.waitpid(c, 0)[1] for c in children))
"""

# Sockets that are used again after more were made than are remembered. Some have numbers with the same low bits:
# a CPU gives them to pipes, too, and takes 1024 at once. Others are where closed ones were in the kernel's memory.
AGAIN = r"""
import os, socket, sys, time
SLOTS = 131072  # MG_MET_SLOTS * MG_MET_VALUES
cpus = os.sched_getaffinity(0)
os.sched_setaffinity(0, [max(cpus)])
port = int(sys.argv[1])
places = iter(range(1, 10 ** 6))
def bound(base=1):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    n = next(places)
    s.bind(("127.%d.%d.%d" % (base, n // 200, 1 + n % 200), port))
    return s
def number(s):
    return os.fstat(s.fileno()).st_ino
def burn(until):
    while True:
        a, b = os.pipe()
        n = os.fstat(a).st_ino
        os.close(a)
        os.close(b)
        if until(n):
            return
burn(lambda n: 10 < n % 1024 < 200)
first = [bound() for i in range(200)]
from_ = number(first[0])
later = []
while len(later) < 100:  # another CPU may have taken the numbers
    for s in later:
        s.close()
    burn(lambda n: -10 < (n - from_ + 20) % SLOTS < 10 and n - from_ > 1000)
    later = [bound() for i in range(230)]
    low = {number(s) % SLOTS for s in first}
    later = [s for s in later if number(s) % SLOTS in low]
closed = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for i in range(200)]
for s in closed:
    s.close()
moved = [bound() for i in range(200)]
os.sched_setaffinity(0, cpus)
children = []
ready, go = os.pipe(), os.pipe()
for child in range(4):
    children.append(os.fork())
    if not children[-1]:
        os.close(go[1])
        others = [bound(2 + child) for i in range(int(sys.argv[2]))]
        os.write(ready[1], b"x")
        os.read(go[0], 1)
        os._exit(0)
for c in children:
    os.read(ready[0], 1)
last = bound(9)
for s in (first + later + moved)[::2]:
    s.sendto(b"x", last.getsockname())
    last.recv(9)
for s in (first + later + moved)[1::2]:
    last.sendto(b"x", s.getsockname())
for name, group in ("first", first), ("later", later), ("moved", moved):
    print(name, *map(number, group))
os.close(go[1])
sys.exit(any(os.waitpid(c, 0)[1] for c in children))
"""

# More connections than there is room for: these are being opened, and nobody answers. Two that find no room
# are used often.
CONNECTIONS = r"""
import os, socket, sys, time
children = []
ready, go = os.pipe(), os.pipe()
for child in range(4):
    children.append(os.fork())
    if not children[-1]:
        os.close(go[1])
        socks = []
        for i in range(int(sys.argv[1])):
            s = socket.socket()
            s.setblocking(False)
            s.connect_ex(("10.99.%d.%d" % (child, i // 200 + 1), 9))
            socks.append(s)
        os.write(ready[1], b"x")
        os.read(go[0], 1)
        os._exit(0)
for c in children:
    os.read(ready[0], 1)
l = socket.create_server(("127.0.0.1", 0))
a = socket.create_connection(l.getsockname())
b, _ = l.accept()
for i in range(200):
    if i == 100:
        time.sleep(0.5)
    a.send(b"x")
    b.recv(9)
    b.send(b"y")
    a.recv(9)
os.close(go[1])
sys.exit(any(os.waitpid(c, 0)[1] for c in children))
"""

# Threads that were there before the recording, and make seven calls on sockets each.
THREADS = r"""
import socket, sys, threading
go = threading.Event()
def talk():
    go.wait()
    a, b = socket.socketpair()
    for i in range(2):
        a.send(b"x")
        b.recv(9)
    a.close()
    b.close()
threading.stack_size(65536)
threads = [threading.Thread(target=talk) for i in range(int(sys.argv[1]))]
for t in threads:
    t.start()
print("ready", flush=True)
sys.stdin.readline()
go.set()
for t in threads:
    t.join()
"""


def named(fields, name, number):
    """Whether a field that babeltrace2 prints by its name has this number."""
    return re.search(rf"\b{name} = \( [^)]*container = {number} \)", fields)


def record(name, *command):
    d = f"{TOP}/{name}"
    return d, run(TRACER, "-o", d, "--", *command)


def malformed():
    d, _ = record("malformed", PYTHON, "-c", MALFORMED)
    lens = [(name, int(f.split(" len = ")[1].split(",")[0])) for name, _, f in events(d)
            if name in ("dev_recv", "ip_in", "drop") and " len = " in f]
    check(len(lens) > 9 and max(n for _, n in lens) < 1000, f"no length is beyond the packet: {max(lens)}")
    # a header that is cut off is not read beyond its end
    flags = [f for name, _, f in events(d) if name == "dev_recv" and "frame = 24" in f and named(f, "proto", 6)]
    check(not flags, "nor are numbers made of what follows in memory")


def shared():
    d, p = record("shared", PYTHON, "-c", SHARED)
    got = dict(map(int, line.split()) for line in p.stdout.splitlines())
    seen = [int(f.split("sock = ")[1].split(",")[0]) for name, _, f in events(d)
            if name == "ip_in" and named(f, "proto", 17)]
    check(sum(got.values()) == 60 and len(seen) >= 50, f"{len(seen)} datagrams arrive: {got}")
    check(not [s for s in seen if s in got], "those that several may get are nobody's")


def with_descriptors(d, *args):
    """Records a command that may have as many descriptors as any."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return run(TRACER, "-o", d, *args, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))


def many():
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most < 20000 or SLOWER > 1:
        print("not tried: descriptors or time are too few")
        return
    for children, each in ((1, 3000), (4, 17000)):
        d = f"{TOP}/many{children}"
        # without calls: only what it sends shows that a socket is used that is remembered no more
        with_descriptors(d, "--layers", "ip,device", "--", PYTHON, "-c", MANY, children, each)
        n = dict.fromkeys(("ip_in", "dev_queue", "dev_recv"), 0)
        told = lost = 0  # sockets; events for which a busy machine had no room
        for name, _, f in events(d, "lost", *n):
            if name in n:
                n[name] += 1
            elif name == "lost":
                count = int(f.split("count = ")[1].split(",")[0])
                told, lost = (told + count, lost) if named(f, "reason", 17) else (told, lost + count)
        missing = 4 * children * each - n["ip_in"] - n["dev_recv"]
        check(n["dev_queue"] + lost >= 2 * children * each - 9,
              f"{n['dev_queue']} datagrams are sent, {lost} events were lost")
        check(missing <= lost + 9 + missing // 20 and (children > 1 or lost <= missing + 9),
              f"{missing} events of their arrival are missing; {told} sockets were not followed all the time")
        check(0 < told <= children * each if children > 1 else told == 0,
              "each that was is told once, and none when they are few")


def again():
    """Whichever sockets were forgotten are followed again when they are used, and are told."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most < 20000 or SLOWER > 1:
        print("not tried: descriptors or time are too few")
        return
    # with the filter a socket is refused until it has its port
    for port, options in ((0, ()), (4321, ("--port", "4321"))):
        d = tempfile.mkdtemp(dir=TOP) + "/t"
        p = with_descriptors(d, "--layers", "ip,device,tcp", *options, "--", PYTHON, "-c", AGAIN, port, 17000)
        seen = {"dev_queue": set(), "sock_ready": set()}
        told = lost = 0
        for name, _, f in events(d, "lost", *seen):
            if name in seen:
                seen[name].add(int(f.split("sock = ")[1].split(",")[0]) - OTHER_ID)
            else:
                count = int(f.split("count = ")[1].split(",")[0])
                told, lost = (told + count, lost) if named(f, "reason", 17) else (told, lost + count)
        groups = {name: list(map(int, numbers)) for name, *numbers in map(str.split, p.stdout.splitlines())}
        all_of = sum(groups.values(), [])
        for event, used in (("dev_queue", set(all_of[::2])), ("sock_ready", set(all_of[1::2]))):
            missing = {name: len(used.intersection(numbers) - seen[event]) for name, numbers in groups.items()}
            check(sum(missing.values()) <= max(0, lost - 2 * len(all_of)),  # their arrival at two layers may be lost
                  f"{options}: of {len(used)} sockets so many have no {event}: {missing}, {lost} events were lost")
        check(len(all_of) - 9 < told < len(all_of) + 9, f"{told} sockets were not followed all the time")


def connections():
    each = 16500
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most < 20000 or SLOWER > 1:
        print("not tried: descriptors or time are too few")
        return
    # an interface that lets go of nothing, as its peer is down: thousands of SYNs are sent again at once, and on any
    # other they would flood the CPUs' input queues, which all namespaces share, and take the room of others' packets
    run("ip", "link", "add", "nowhere", "type", "veth", "peer", "name", "down")
    run("ip", "link", "set", "nowhere", "arp", "off", "up")
    run("ip", "addr", "add", "10.98.0.1/32", "dev", "nowhere")
    run("ip", "route", "add", "10.99.0.0/16", "dev", "nowhere")
    d = f"{TOP}/connections"
    run(TRACER, "-o", d, "--layers", "socket,tcp", "--buffer", "64M", "--", PYTHON, "-c", CONNECTIONS, each,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
    lost = [f for _, _, f in events(d, "lost") if named(f, "reason", 17)]
    counts = [int(f.split("count = ")[1].split(",")[0]) for f in lost]
    check(sum(counts) == 4 * each + 2 - 65536,
          f"{sum(counts)} of {4 * each + 2} connections are told, each once: {counts}")
    check(counts[-1] == 0, "and so is when they are missing again")
    run("ip", "link", "del", "nowhere")


def threads():
    """With --all a thread gets its place at its first call: one for which there is no memory is told."""
    group = MemoryGroup()
    if group.why:
        print("not tried: memory cannot be bounded here: " + group.why)
        return
    try:
        for again in range(6):
            # the tracer itself may need some: the kernel ends it where there is none
            if short_of_memory(f"{TOP}/threads{again}", group, again << 17, 1000):
                return
        print("   not tried: with memory bounded the tracer was ended, or all threads had their places")
    finally:
        group.remove()


def short_of_memory(d, group, room, n):
    """Returns how many threads were told as not followed, with so many bytes beside what the tracer has."""
    program = subprocess.Popen([PYTHON, "-c", THREADS, str(n)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        program.stdout.readline()
        with Tracer(d, "--all", preexec_fn=lambda: group.add(os.getpid())).ready() as t:
            group.limit(group.usage() + room)
            program.communicate("\n", timeout=60 * SLOWER)
            group.limit(None)
            ended = t.end()
    finally:
        program.kill()
        program.wait()
    calls = told = others = 0
    for name, _, f in events(d, "sys_enter", "lost"):
        calls += name == "sys_enter" and int(f.split("}, {")[1].split(",")[1]) == program.pid
        if name == "lost" and named(f, "reason", 22):
            told += int(f.split("count = ")[1].split(",")[0])
        elif name == "lost":
            others += int(f.split("count = ")[1].split(",")[0])
    if others or "gone" in ended:  # the tracer itself found no memory to write them, or was killed for it
        print(f"   {calls} of {7 * n} calls are seen, {told} threads are told and {others} events lost, "
              f"{ended}: once more")
        return 0
    check(calls == 7 * n and not told or calls < 7 * n and 0 < told <= n,
          f"{calls} of {7 * n} calls are seen, {told} of {n} threads are told as not followed")
    return told


def limits():
    for options in ((), ("--event", "sched:sched_switch")):
        p = run(TRACER, "-o", f"{TOP}/limits{len(options)}", *options, "--", "sh", "-c", "ulimit -n",
                preexec_fn=lambda: resource.setrlimit(
                    resource.RLIMIT_NOFILE, (300, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
        check(p.stdout == "300\n", f"{options}: the command has the limit it was given")


def anonymous():
    d = TOP + "/anonymous"
    with Tracer(d, "--all", "--anonymize").ready() as t:
        for what in ("port=4321", "address=10.9.8.7"):
            run(TRACER, "ctl", "--pid", t.pid, "set", what)
        t.end()
    changes = [f for name, _, f in events(d) if name == "change"]
    check(len(changes) == 2 and not [f for f in changes if "4321" in f or "10.9" in f],
          f"filters that are set tell neither: {changes}")


need_kernel_side()
need_program("babeltrace2")
try:
    for test in (malformed, shared, many, again, connections, threads, limits, anonymous):
        print("---", test.__name__)
        if test is again:  # what others run takes numbers of inodes, and the CPUs' places in the table, meanwhile
            patiently(test)
        else:
            test()
finally:
    shutil.rmtree(TOP)
