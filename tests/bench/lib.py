# SPDX-License-Identifier: MIT
"""
What the benchmarks share: figures with their spread, programs that are timed in turns, and the
observers (the kernel tracer and its peers) that watch them.

A benchmark measures A and B in turns within one run, gives the median and the quartiles of their
ratio, and never judges: how much a figure is to be trusted shows in its spread.
"""
import atexit
import ctypes
import json
import os
import platform
import re
import select
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from fixture import MAGNET, Network, need_kernel_side, need_program, run, skip, stop

BUILD = os.environ.get("MAGNET_BUILD", "build")
PROGRAMS = os.environ.get("MAGNET_BENCH_PROGRAMS", BUILD + "/tests/bench")
TRACER = BUILD + "/kernel-tracer/magnet-kernel-tracer"
LIBMAGNET = BUILD + "/preload/libmagnet.so"
CPUS = sorted(os.sched_getaffinity(0))
# what is measured runs on one CPU, who watches it on the other, where there are two
WATCHED, WATCHING = CPUS[-1], CPUS[0]

libc = ctypes.CDLL(None, use_errno=True)


def program(name):
    return f"{PROGRAMS}/{name}"


# ---- figures ----------------------------------------------------------------------------------

class Figure:
    """The median of repeated measurements with their quartiles."""

    def __init__(self, values):
        self.n = len(values)
        if self.n > 1:
            self.p25, self.median, self.p75 = statistics.quantiles(values, n=4, method="inclusive")
        else:
            self.p25 = self.median = self.p75 = values[0] if values else float("nan")

    def text(self, digits=2):
        if not self.n:
            return "-"
        return f"{self.median:,.{digits}f} [{self.p25:,.{digits}f} {self.p75:,.{digits}f}]"


def pairwise(function, *series):
    """Repetition by repetition: what disturbed one of them mostly disturbed its neighbour too."""
    return [function(*values) for values in zip(*series)]


def ratios(a, b):
    return pairwise(lambda x, y: x / y, a, b)


def differences(a, b):
    return pairwise(lambda x, y: x - y, a, b)


def table(title, columns, rows):
    """Rows of text; the first column is left-aligned."""
    widths = [max(len(str(r[i])) for r in [columns] + rows) for i in range(len(columns))]
    print(f"\n{title}")
    for r in [columns] + rows:
        cells = [str(c).ljust(w) if i == 0 else str(c).rjust(w)
                 for i, (c, w) in enumerate(zip(r, widths))]
        print("  " + "  ".join(cells).rstrip(), flush=True)


def begin(what, *commands):
    """Heading: what is measured, by which commands, on what machine."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that everything is put away
    print(what)
    for c in commands:
        print(f"  $ {c}")
    load = ", ".join(f"{x:.2f}" for x in os.getloadavg())
    print(f"machine: {platform.machine()}, Linux {platform.release()}, {len(CPUS)} CPUs, "
          f"load {load}", flush=True)


def how_to_read(text):
    print("\nHow to read: values are medians, in brackets the quartiles over repetitions taken in "
          "turns.")
    print(text.strip(), flush=True)
    tell_others()


def rounds(seconds, at_least=3, at_most=1000):
    """Count repetitions until the time is used up; a round is not begun that will not fit."""
    used = last = 0
    for n in range(at_most):
        if n >= at_least and used + last > seconds:
            return
        wait_for_others()
        began = time.monotonic()
        yield n
        last = time.monotonic() - began
        used += last


# ---- others on the machine --------------------------------------------------------------------

PATIENCE_S = 20  # in all
OTHERS = {"disturbed": 0, "rounds": 0, "waited": 0}


def foreign_tracers():
    """Kernel tracers that are not ours: their hooks would be measured with ours."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm") as f:
                if f.read().startswith("magnet-kernel-t"):
                    found.append(pid)
        except OSError:
            pass
    return found


def wait_for_others():
    """Before a round, when nothing of ours traces: give way to somebody else's tracer for a while."""
    OTHERS["rounds"] += 1
    began = time.monotonic()
    while foreign_tracers():
        if OTHERS["waited"] + time.monotonic() - began > PATIENCE_S:
            OTHERS["disturbed"] += 1
            break
        time.sleep(0.1)
    OTHERS["waited"] += time.monotonic() - began


def tell_others():
    if OTHERS["disturbed"]:
        print(f"\nDisturbed: in {OTHERS['disturbed']} of {OTHERS['rounds']} rounds somebody else's "
              "kernel tracer was attached too.")


# ---- processes --------------------------------------------------------------------------------

STARTED, PLACES = [], []


@atexit.register
def put_away():
    """What was left because a signal came at the wrong moment."""
    for p in STARTED:
        stop(p)
    for d in PLACES:
        shutil.rmtree(d, ignore_errors=True)


def new_place(parent=None):
    d = tempfile.mkdtemp(prefix="magnet-bench-", dir=parent)
    PLACES.append(d)
    return d


def die_with_parent():
    libc.prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def start(*args, cpu=None, **kw):
    """A process that does not outlive this one."""
    if cpu is not None:
        args = ("taskset", "-c", cpu) + args
    p = subprocess.Popen([str(a) for a in args], preexec_fn=die_with_parent, **kw)
    STARTED.append(p)
    return p


def on_cpu(cpu, *args):
    return ("taskset", "-c", str(cpu)) + args


class Talker:
    """A program that answers a line on stdin with a line on stdout, and is otherwise asleep."""

    def __init__(self, *args, env=None, first_line=True, **kw):
        self.p = start(*args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                       env={**os.environ, **(env or {})}, **kw)
        self.pid = self.p.pid
        if first_line:
            self.hear()

    def hear(self, seconds=30):
        if not select.select([self.p.stdout], [], [], seconds)[0]:
            raise TimeoutError(f"{self.p.args} says nothing")
        line = self.p.stdout.readline()
        if not line:
            raise EOFError(f"{self.p.args} ended: {self.p.wait()}")
        return line.split()

    def ask(self, line=""):
        self.p.stdin.write(f"{line}\n")
        self.p.stdin.flush()
        return self.hear()

    def close(self, seconds=20):
        """It ends when nothing more can be asked."""
        self.p.stdin.close()
        try:
            self.p.wait(seconds)
        except subprocess.TimeoutExpired:
            stop(self.p)
        self.p.stdout.close()
        return self.p.returncode

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


def output(*args):
    """What a command prints; one that is interrupted is let end in order, and waited for."""
    p = start(*args, stdout=subprocess.PIPE, text=True)
    try:
        said, _ = p.communicate(timeout=300)
    finally:
        stop(p)
    if p.returncode != 0:
        sys.exit(f"{' '.join(map(str, args))}: exit {p.returncode}")
    return said


class Cost:
    """What a command took, by measure.c."""

    def __init__(self, *args, ok=0, **kw):
        with tempfile.NamedTemporaryFile("r") as f:
            p = start(program("measure"), f.name, *args, **kw)
            try:
                p.wait()
            finally:
                stop(p)
            wall, user, system, peak, status = map(int, f.read().split())
        if ok is not None and status != ok:
            sys.exit(f"{' '.join(map(str, args))}: exit {status}")
        self.seconds, self.cpu_s = wall / 1e9, (user + system) / 1e9
        self.peak_mib, self.status = peak / 1024, status


def need_app_side():
    """Skip, decided by trying: a recording of the application side of nothing."""
    with Place() as d:
        status = Cost(MAGNET, "record", "--app-only", "-q", "-o", d + "/t", "--", "true",
                      ok=None).status
    if status != 0:
        skip("the application side cannot be recorded here")


class Place:
    """A directory that is gone at the end. By default on disk, where recordings are made."""

    def __init__(self, parent=None):
        self.parent = parent

    def __enter__(self):
        self.dir = new_place(self.parent)
        return self.dir

    def __exit__(self, *unused):
        shutil.rmtree(self.dir, ignore_errors=True)


# ---- observers --------------------------------------------------------------------------------
# Each watches process `pid` (or everything) from __enter__, which returns when it does, until
# __exit__. `note` then holds what it said of its losses, `cpu_s` the CPU time it used, where known.

class Observer:
    name = ""
    note = ""
    cpu_s = None
    needs = None  # program that must be installed
    slow = False  # to start and stop

    def __init__(self, pid=None):
        self.pid = pid
        self.p = None
        self.top = None

    def __enter__(self):
        self.top = new_place()
        try:
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *unused):
        try:
            self.end()
        finally:
            shutil.rmtree(self.top, ignore_errors=True)

    def begin(self):
        pass

    def end(self):
        if self.p:
            stop(self.p)

    @classmethod
    def works(cls, *args):
        """Whether it can be used here, by trying."""
        if cls.needs and not shutil.which(cls.needs):
            return False
        try:
            with cls(*args):
                return True
        except (OSError, EOFError, TimeoutError, subprocess.SubprocessError):
            return False


class Bare(Observer):
    name = "bare"


def wait_for_line(stream, pattern, seconds=20):
    """Read a child's unbuffered binary stream up to a line that matches."""
    until = time.monotonic() + seconds
    while select.select([stream], [], [], max(0, until - time.monotonic()))[0]:
        line = stream.readline()
        if not line:
            raise EOFError(f"ended before {pattern!r}")
        if re.search(pattern, line.decode(errors="replace")):
            return line.decode(errors="replace")
    raise TimeoutError(f"no {pattern!r}")


class Tracer(Observer):
    """magnet-kernel-tracer; `ready` and `done` are what it says of itself."""

    name = "all layers"
    options = ()

    def begin(self):
        self.control, theirs = socket.socketpair()
        self.lines = self.control.makefile("r")
        who = ("--pid", self.pid) if self.pid else ("--all",)
        self.p = start(TRACER, "-o", self.top + "/trace", "--control-fd", theirs.fileno(), *who,
                       *self.options, cpu=WATCHING, pass_fds=[theirs.fileno()])
        theirs.close()
        self.ready = self.read()
        self.done = None

    def read(self):
        self.control.settimeout(60)
        said = json.loads(self.lines.readline() or '{"error": "it ended"}')
        if "error" in said:
            raise EOFError(said["error"])
        return said

    def end(self):
        if not self.p:
            return
        try:
            if self.p.poll() is None and not self.done:
                self.control.shutdown(socket.SHUT_WR)
                self.done = self.read()
                self.cpu_s = self.done["cpu_ns"] / 1e9
                self.note = f"{self.done['events']:,} events, {self.done['lost']:,} lost"
            self.p.wait(30)
        finally:
            stop(self.p)
            self.lines.close()
            self.control.close()

    def fdinfo(self):
        """What each of its descriptors is, by the kernel's account."""
        for fd in os.listdir(f"/proc/{self.p.pid}/fdinfo"):
            try:
                with open(f"/proc/{self.p.pid}/fdinfo/{fd}") as f:
                    yield dict(re.findall(r"(\w+):\s+(\S+)", f.read()))
            except OSError:
                pass

    def places(self):
        """Program id -> where it is attached, as empty_hooks takes it (IPv4 only)."""
        places = {}
        for d in self.fdinfo():
            if "tp_name" in d:
                places[d["prog_id"]] = "tp:" + d["tp_name"]
            elif d.get("link_type") == "netfilter" and d["pf"] == "2":
                places[d["prog_id"]] = f"nf:{d['pf']}:{d['hooknum']}"
        return places

    def run_stats(self):
        """Program id -> (runs, ns), while RunStatistics are collected."""
        return {d["prog_id"]: (int(d["run_cnt"]), int(d["run_time_ns"]))
                for d in self.fdinfo() if "prog_type" in d}


class LightTracer(Tracer):
    name = "light"
    options = ("--layers", "socket,tcp,device")


class EmptyHooks(Tracer):
    """Programs that do nothing where the tracer's are."""

    name = "empty programs"
    where = []

    def begin(self):
        self.p = start(program("empty_hooks"), *self.where, stdin=subprocess.PIPE,
                       stdout=subprocess.PIPE, bufsize=0)
        wait_for_line(self.p.stdout, "ready")

    def end(self):
        if self.p:
            self.p.stdin.close()
            stop(self.p)
            self.p.stdout.close()


class Tcpdump(Observer):
    name = "tcpdump"
    needs = "tcpdump"
    device = "lo"
    options = ()
    inside = ()  # command prefix: in which namespace

    def begin(self):
        self.p = start(*self.inside, "tcpdump", "-n", "-i", self.device, *self.options, "-w",
                       "/dev/null", cpu=WATCHING, stderr=subprocess.PIPE, bufsize=0)
        wait_for_line(self.p.stderr, "listening on")

    def end(self):
        if not self.p:
            return
        if self.p.poll() is None:
            self.p.send_signal(signal.SIGINT)
            said = self.p.stderr.read().decode()
            _, status, use = os.wait4(self.p.pid, 0)
            self.p.returncode = os.waitstatus_to_exitcode(status)
            self.cpu_s = use.ru_utime + use.ru_stime
            seen = re.search(r"(\d+) packets? captured", said)
            lost = re.search(r"(\d+) packets? dropped by kernel", said)
            if seen and lost:
                self.note = f"{int(seen[1]):,} packets, {int(lost[1]):,} lost"
        self.p.stderr.close()


class TcpdumpShort(Tcpdump):
    name = "tcpdump -s 96"
    options = ("-s", "96")


def with_tracefs(*args):
    """perf and bpftrace want tracefs where it is customary: mounted for them alone."""
    return ("unshare", "--mount", "sh", "-c",
            "mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null; "
            "mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null; exec \"$@\"", "sh") + args


# what these have of the tracer's hooks
PEER_TRACEPOINTS = """
    raw_syscalls:sys_enter raw_syscalls:sys_exit sock:inet_sock_set_state tcp:tcp_probe
    skb:skb_copy_datagram_iovec sock:sk_data_ready net:net_dev_queue net:net_dev_start_xmit
    net:net_dev_xmit net:netif_receive_skb sched:sched_switch sched:sched_waking irq:softirq_entry
    irq:softirq_exit""".split()


class PerfRecord(Observer):
    """perf record of the same tracepoints, where they are classic ones too."""

    name = "perf record, same tracepoints"
    needs = "perf"
    slow = True

    def begin(self):
        commands, acks = os.pipe(), os.pipe()
        os.set_blocking(acks[0], False)
        events = [x for e in PEER_TRACEPOINTS for x in ("-e", e)]
        self.p = start(*with_tracefs("perf", "record", "-q", "-a", "-m", "8M", "-D", "-1",
                                     f"--control=fd:{commands[0]},{acks[1]}", *events, "-o",
                                     self.top + "/perf.data"),
                       cpu=WATCHING, pass_fds=[commands[0], acks[1]], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        os.close(commands[0])
        os.close(acks[1])
        os.write(commands[1], b"enable\n")
        answered = select.select([acks[0]], [], [], 20)[0] and os.read(acks[0], 16)
        os.close(commands[1])
        os.close(acks[0])
        if not answered:
            raise EOFError("perf record does not start")

    def end(self):
        if self.p and self.p.poll() is None:
            self.p.send_signal(signal.SIGINT)
            try:
                self.p.wait(30)
            except subprocess.TimeoutExpired:
                pass
        super().end()


class BpftraceCount(Observer):
    name = "bpftrace count, same tracepoints"
    needs = "bpftrace"
    slow = True
    probes = ",".join("tracepoint:" + e for e in PEER_TRACEPOINTS)

    def begin(self):
        # the second tick comes when all probes have long been attached
        text = f"{self.probes} {{ @ = count(); }} interval:ms:100 {{ printf(\"tick\\n\"); }}"
        self.p = start(*with_tracefs("bpftrace", "-B", "none", "-e", text), cpu=WATCHING,
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
        for _ in range(2):
            wait_for_line(self.p.stdout, "tick")

    def end(self):
        super().end()
        if self.p:
            self.p.stdout.close()


class RunStatistics:
    """
    The kernel's run statistics of BPF programs. By descriptor instead of by sysctl: whatever ends
    this process, nothing stays switched on.
    """

    def __enter__(self):
        number = {"x86_64": 321, "aarch64": 280}[platform.machine()]
        attr = (ctypes.c_uint32 * 32)()
        self.fd = libc.syscall(number, 32, attr, ctypes.sizeof(attr))  # BPF_ENABLE_STATS
        if self.fd < 0:
            raise OSError(ctypes.get_errno(), "BPF_ENABLE_STATS")
        return self

    def __exit__(self, *unused):
        os.close(self.fd)
