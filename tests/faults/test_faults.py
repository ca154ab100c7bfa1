# SPDX-License-Identifier: MIT
"""
Faults at random moments of a recording, judged by counts that only the program and the kernel keep: what the
report shows and what it says was lost are together all there was, or it names the side that is not whole.
Usage: test_faults.py [--long] [FAULT...]. --long tries all, those where the
moment matters at twenty moments.
"""
import os
import random
import signal
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from memory_group import MemoryGroup
from sides import *
from tracer import report as report_of

LONG = "--long" in sys.argv
CHOSEN = [a for a in sys.argv[1:] if a != "--long"]
TOP = scratch()
# Counts its calls where they outlive it. BURST messages at a time; PAUSE s between.
PROGRAM = """
import mmap, socket, struct, sys, time
with open(sys.argv[1], "r+b") as f:
    kept = mmap.mmap(f.fileno(), 4096)
a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
a.bind(("127.0.0.1", 0))
a.connect(a.getsockname())
n, until = 0, time.monotonic() + float(sys.argv[2])
while time.monotonic() < until:
    for _ in range(int(sys.argv[3])):
        for call in (lambda: a.send(b"x" * 100)), (lambda: a.recv(100)):
            call()
            n += 1
            kept[:8] = struct.pack("<q", n)
    time.sleep(0.0005)
"""


def datagrams(process="self"):
    """Sent in a process's network namespace, by the kernel's count."""
    with open(f"/proc/{process}/net/snmp") as f:
        names, counts = (line.split() for line in f if line.startswith("Udp:"))
    return int(counts[names.index("OutDatagrams")])


# Forks a child that talks in a network namespace of its own: over UDP and TCP on loopback, and through a veth pair,
# which somebody makes meanwhile. Its number and its count stand behind the other one's; 1 behind these lets it begin.
ELSEWHERE = """
import ctypes, mmap, os, socket, struct, sys, time
with open(sys.argv[1], "r+b") as f:
    kept = mmap.mmap(f.fileno(), 4096)
def count(n):
    kept[16:24] = struct.pack("<q", n)
if not os.fork():
    assert ctypes.CDLL(None).unshare(0x40000000) == 0
    kept[8:16] = struct.pack("<q", os.getpid())
    while not kept[24]: # its devices are being made
        time.sleep(0.001)
    a, b = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    a.bind(("127.0.0.1", 0))
    a.connect(a.getsockname())
    listener = socket.create_server(("127.0.0.1", 0))
    t = socket.create_connection(listener.getsockname())
    t.setblocking(False)
    def fill():
        try:
            t.send(b"x" * 1000)
        except BlockingIOError:
            pass
    n = 0
    while True:
        for call in (lambda: a.send(b"x")), (lambda: a.recv(9)), (lambda: b.sendto(b"x", ("10.79.0.1", 9))), fill:
            call()
            n += 1
            count(n)
        time.sleep(0.0005)
""" + PROGRAM


class Run:
    """A recording, and the counts of what there was in it."""

    def __init__(self, directory, *options, seconds=0.7, burst=1, program=PROGRAM):
        self.dir, self.kernel = directory, "--app-only" not in options
        self.counts = f"{TOP}/counts"
        with open(self.counts, "wb") as f:
            f.write(bytes(4096))
        self.before = datagrams()
        self.elsewhere = 0  # datagrams that were sent in other network namespaces
        self.record = subprocess.Popen(
            [MAGNET, "record", "-o", directory, *options, "--", PYTHON, "-c", program, self.counts, str(seconds),
             str(burst)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.helpers = ["magnet"] + ["magnet-kernel-t"] * self.kernel
        self.pids = {comm: recorder(self.record, comm) for comm in self.helpers + ["COMMAND"]}
        time.sleep(random.uniform(0, 0.5))

    def kill(self, *comms, how=signal.SIGKILL):
        for comm in comms:
            os.kill(self.pids[comm], how)

    def pause(self, comm, seconds):
        self.kill(comm, how=signal.SIGSTOP)
        time.sleep(seconds)
        self.kill(comm, how=signal.SIGCONT)

    def finish(self):
        self.said = self.record.communicate(timeout=120 * SLOWER)[1].strip()
        wait_until_gone(self.pids.values())
        with open(self.counts, "rb") as f:
            here, _, there = struct.unpack("<3q", f.read(24))
        self.calls = here + there
        self.datagrams = datagrams() - self.before + self.elsewhere

    def child(self):
        """The process that the program has said it is in a network namespace of its own."""
        for _ in range(2000):
            with open(self.counts, "rb") as f:
                pid = struct.unpack("<2q", f.read(16))[1]
            if pid:
                return pid
            time.sleep(0.005)
        sys.exit("no namespace was made")


def on_the_wire(directory):
    """Datagrams at the device, or before it where this machine ran no tracing program just then."""
    count = {"ip_post": 0, "dev_xmit": 0}
    for row in run(MAGNET, "show", "--tsv", directory).stdout.split("\n"):
        f = row.split("\t")
        if len(f) > 9 and f[5] in count and " proto=udp " in f[9] and " via=own" in f[9]:
            count[f[5]] += 1
    return max(count.values())


def honest(run_, fault):
    """Nothing is missing that nobody tells. Returns what is told, "" if all is there."""
    text, report = run(MAGNET, "report", run_.dir).stdout, report_of(run_.dir)
    head = text.split("\n")[:6]
    seen = sum(c["n"] for c in report["calls"] if c["name"] in ("send", "recv", "sendto") and not c["kernel_only"])
    lost, sent = report["loss"]["app"], on_the_wire(run_.dir) if run_.kernel else None
    counts = f"{seen} of {run_.calls} calls" + (f", {sent} of {run_.datagrams} datagrams" if run_.kernel else "")
    # a killed program may have made one more call than it could count
    all_calls = run_.calls <= seen + lost <= run_.calls + 1
    told = [line for line in head if line.startswith(("INCOMPLETE", "LOST"))]
    both = "magnet record was killed" in str(told)
    if told and told[0].startswith("INCOMPLETE"):
        app_ends, kernel_ends = (both or f"the {side} side" in str(told) for side in ("application", "kernel"))
        check(all_calls or app_ends and seen <= run_.calls + 1, f"{fault}: {told} ({counts})")
        check(not run_.kernel or sent == run_.datagrams or kernel_ends and sent < run_.datagrams, "nor of the kernel side")
    elif told:
        check(all_calls and (not run_.kernel or sent <= run_.datagrams <= sent + report["loss"]["kernel"]),
              f"{fault}: {told} ({counts})")
    else:
        check(any("nothing lost:" in line for line in head) and all_calls and not lost and
              (not run_.kernel or sent == run_.datagrams), f"{fault}: nothing lost: {counts}")
    return told[0] if told else ""


# ---- the faults: each does its harm, and says what must be told of it ----

def program_killed(d, *options):
    r = Run(d, *options)
    r.kill("COMMAND")
    return r, ("",)


def all_killed(d, *options):
    r = Run(d, *options)
    r.record.kill()
    r.kill(*r.helpers, "COMMAND")
    return r, ("INCOMPLETE",)


def record_and_program_killed(d):
    r = Run(d)
    r.record.kill()
    r.kill("COMMAND")
    return r, ("INCOMPLETE",)


def collector_killed(d, *options):
    r = Run(d, *options)
    r.kill("magnet")
    return r, ("INCOMPLETE: the application side",)


def tracer_killed(d):
    r = Run(d, seconds=1)
    r.kill("magnet-kernel-t", how=random.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)))
    return r, ("INCOMPLETE: the kernel side",)


def collector_stopped(d, *options):
    r = Run(d, "--buffer", "64K", *options, seconds=1.2)
    r.pause("magnet", 0.5)
    return r, ("", "LOST")


def tracer_stopped(d):
    r = Run(d, "--buffer", "64K", seconds=1.2)
    r.pause("magnet-kernel-t", 0.5)
    return r, ("LOST",)


def small_buffers(d):
    return Run(d, "--buffer", "4K", burst=50), ("LOST",)


def hogs(d):
    """More programs that take the CPU than there are CPUs."""
    busy = [subprocess.Popen([PYTHON, "-c", "while True: pass"]) for _ in range(2 * os.cpu_count())]
    try:
        r = Run(d, burst=20)
        r.finish()
        return r, ("", "LOST")
    finally:
        for p in busy:
            p.kill()
            p.wait()


def out_of_memory(d, comm="magnet"):
    """One of magnet's processes is in a control group whose memory is used up."""
    group = MemoryGroup()
    r = Run(d, seconds=1)
    if group.why:
        print("memory cannot be bounded here: " + group.why)
    else:
        group.limit(4096)
        group.add(r.pids[comm])
    r.finish()
    group.remove()
    return r, ("", "INCOMPLETE")


def tracer_out_of_memory(d):
    return out_of_memory(d, "magnet-kernel-t")


def disk_full(d, *options):
    """The directory is on a disk that is filled meanwhile."""
    os.mkdir(d)
    run("mount", "-t", "tmpfs", "-o", "size=150k", "tmpfs", d)
    try:
        r = Run(d + "/t", *options, seconds=2)
        r.finish()
        subprocess.run(["cp", "-r", d + "/t", d + ".copy"], check=True)
    finally:
        run("umount", d)
    r.dir = d + ".copy"
    return r, ("INCOMPLETE",)


def namespace_deleted(d):
    """A network namespace goes with the process in it: its devices, and sockets with what they still hold."""
    r = Run(d, program=ELSEWHERE, seconds=2)
    pid, outer = r.child(), f"mg{os.getpid()}"
    inside = "nsenter", f"--net=/proc/{pid}/ns/net"
    run("ip", "link", "add", outer, "type", "veth", "peer", "name", outer + "i", "netns", pid)
    for command in (("ip", "addr", "add", "10.79.0.1/24", "dev", outer), ("ip", "link", "set", outer, "up"),
                    (*inside, "ip", "addr", "add", "10.79.0.2/24", "dev", outer + "i"),
                    (*inside, "ip", "link", "set", outer + "i", "up"), (*inside, "ip", "link", "set", "lo", "up")):
        run(*command)
    with open(r.counts, "r+b") as f:
        f.seek(24)
        f.write(b"1")
    time.sleep(random.uniform(0.05, 0.5))
    os.kill(pid, signal.SIGSTOP)  # so that it sends nothing behind the kernel's count
    while open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] != "T":
        time.sleep(0.001)
    r.elsewhere = datagrams(pid)
    check(r.elsewhere > 20, f"{r.elsewhere} datagrams in another namespace")
    os.kill(pid, signal.SIGKILL)
    for _ in range(1000):
        if outer not in run("ip", "-br", "link").stdout:
            break
        time.sleep(0.01)
    else:
        sys.exit("the namespace is still there")
    check(r.record.poll() is None, "the namespace is deleted while magnet records")
    r.finish()
    return r, ("",)


def without_kernel(fault):
    def app_only(d):
        return fault(d, "--app-only")
    app_only.__name__ = fault.__name__ + "_app_only"
    return app_only


# where the moment matters, and where it does not; the first ones are tried in short runs, too
MOMENTS = [program_killed, all_killed, out_of_memory, collector_killed, tracer_killed, record_and_program_killed,
           tracer_out_of_memory, namespace_deleted, *map(without_kernel, (program_killed, all_killed, collector_killed))]
OTHERS = [tracer_stopped, hogs, collector_stopped, small_buffers, disk_full,
          *map(without_kernel, (collector_stopped, disk_full))]

need_kernel_side()
no_tmpfs = run("mount", "-t", "tmpfs", "tmpfs", TOP, check=False).returncode
if no_tmpfs:
    print("no tmpfs can be mounted: full disks are not tried")
else:
    run("umount", TOP)
faults = [(f, 20) for f in MOMENTS] + [(f, 5) for f in OTHERS] if LONG else [(f, 1) for f in MOMENTS[:3] + [namespace_deleted] + OTHERS[:2]]
if CHOSEN:
    faults = [(f, 20 if LONG else 1) for f in MOMENTS + OTHERS if f.__name__ in CHOSEN]
try:
    for fault, times in faults:
        for n in range(0 if no_tmpfs and "disk_full" in fault.__name__ else times):
            r, expected = fault(f"{TOP}/{fault.__name__}{n}")
            if not hasattr(r, "calls"):
                r.finish()
            told = honest(r, fault.__name__)
            check(any(told.startswith(e) if e else not told for e in expected),
                  f"{fault.__name__}: as expected; record said: {r.said}")
            shutil.rmtree(r.dir)
finally:
    shutil.rmtree(TOP, ignore_errors=True)
