# SPDX-License-Identifier: MIT
"""
Who watches while something is measured: the kernel tracer, programs that do nothing in its places,
and its peers.

Each watches process `pid` (or everything) from __enter__, which returns when it does, until
__exit__. `note` then holds what it said of its losses, `cpu_s` the CPU time it used, where known.
"""
import socket

from lib import *

TRACER = BUILD + "/kernel-tracer/magnet-kernel-tracer"


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


def fdinfo(pid):
    """Returns what each descriptor of a process is, according to the kernel."""
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            with open(f"/proc/{pid}/fdinfo/{fd}") as f:
                yield dict(re.findall(r"(\w+):\s+(\S+)", f.read()))
        except OSError:
            pass


class Tracer(Observer):
    """magnet-kernel-tracer; `ready` and `done` are what it says of itself."""

    name = "all layers"
    binary = TRACER
    options = ()
    # as magnet record has it: what is watched makes its connections later
    always = ("--fresh",)

    def begin(self):
        self.control, theirs = socket.socketpair()
        self.lines = self.control.makefile("r")
        who = ("--pid", self.pid, *self.always) if self.pid else ("--all",)
        self.p = start(self.binary, "-o", self.top + "/trace", "--control-fd", theirs.fileno(), *who,
                       *self.options, cpu=WATCHING, pass_fds=[theirs.fileno()])
        theirs.close()
        self.done = None
        self.ready = self.read()

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

    def places(self):
        """Program id -> where it is attached, as empty_hooks takes it (IPv4 only)."""
        places = {}
        for d in fdinfo(self.p.pid):
            if "tp_name" in d:
                places[d["prog_id"]] = "tp:" + d["tp_name"]
            elif d.get("link_type") == "netfilter" and d["pf"] == "2":
                places[d["prog_id"]] = f"nf:{d['pf']}:{d['hooknum']}"
        return places

    def run_stats(self):
        """Program id -> (runs, ns), while RunStatistics are collected."""
        return {d["prog_id"]: (int(d["run_cnt"]), int(d["run_time_ns"]))
                for d in fdinfo(self.p.pid) if "prog_type" in d}


class LightTracer(Tracer):
    name = "light"
    options = ("--layers", "light")


class TimestampsTracer(Tracer):
    name = "timestamps"
    options = ("--layers", "timestamps")


class OtherTracer(Tracer):
    name = "other build: all layers"
    binary = OTHER_TRACER


class OtherLight(OtherTracer):
    name = "other build: light"
    options = ("--layers", "socket,tcp,device", "--protocol", "tcp")  # as older builds take it, too


OTHER_KINDS = [OtherTracer, OtherLight] if OTHER_TRACER else []


class EmptyHooks(Observer):
    """Programs that do nothing where the tracer's are."""

    name = "empty programs"
    options = ()
    places = []     # where a Tracer's are
    inside = [()]   # command prefixes: netfilter hooks belong to a network namespace each

    def begin(self):
        self.all, self.attached = [], []
        for prefix in self.inside:
            # tracepoints belong to the machine
            places = [x for x in self.places if not self.all or x.startswith("nf:")]
            self.attached += places
            self.all.append(start(*prefix, program("empty_hooks"), *self.options, *places, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, bufsize=0))
            wait_for_line(self.all[-1].stdout, "ready")

    def end(self):
        for p in self.all:
            p.stdin.close()
            stop(p)
            p.stdout.close()

    def run_stats(self):
        """(runs, ns) of each one `attached`, while RunStatistics are collected."""
        return [(int(d["run_cnt"]), int(d["run_time_ns"]))
                for p in self.all for d in fdinfo(p.pid) if "prog_type" in d]


class EmptyEvents(EmptyHooks):
    """Programs that record an event of nothing where the tracer's are."""

    name = "empty events"
    options = ("-r",)


class EmptyLight(EmptyHooks):
    """Programs that do nothing where those of --layers light are."""

    name = "empty programs, light"
    places = []


class EmptyEventsLight(EmptyLight):
    """Programs that record an event of nothing where those of --layers light are."""

    name = "empty events, light"
    options = ("-r",)


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


def find_places():
    """Have EmptyHooks and EmptyLight attach where the tracer does on this machine."""
    for empty, kind in ((EmptyHooks, Tracer), (EmptyLight, LightTracer)):
        with kind(os.getpid()) as t:
            empty.places = sorted(set(t.places().values()))


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


TRIP_SIZE = 64  # bytes there, and back


def pingpong(server_cpu, trips):
    """A talker of round trips, whose client is on the watched CPU."""
    return Talker(*before_others(server_cpu, program("pingpong"), "-g", "-s", TRIP_SIZE, "-c", WATCHED, "-S",
                                 server_cpu, "-n", trips), first_line=False)


def statistics_of(observer, talker):
    """Place -> (runs, ns) of one run of the loop, by the kernel's run statistics."""
    with RunStatistics(), observer:
        places = observer.places()
        before = observer.run_stats()
        talker.ask()
        after = observer.run_stats()
    return {places[p]: (after[p][0] - before[p][0], after[p][1] - before[p][1])
            for p in after if p in places and p in before}
