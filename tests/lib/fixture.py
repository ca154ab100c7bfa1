# SPDX-License-Identifier: MIT
"""Common parts of the integration tests: two network namespaces, recordings, and reading them."""
import atexit
import csv
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIP = 77
MAGNET = os.environ.get("MAGNET", "magnet")
PYTHON = "/usr/bin/python3"
# How many times slower than usual the machine is, an emulated one: less is done, longer waited.
SLOWER = int(os.environ.get("MAGNET_TEST_SLOWER", "1"))

TEST = os.getpid()


def ended_from_outside(*unused):
    """Leaves each `with`, so that a test which is stopped leaves no namespace and no process behind."""
    if os.getpid() != TEST:
        os._exit(128 + signal.SIGTERM)  # a child: what there is, is the test's
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(128 + signal.SIGTERM)


if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
    signal.signal(signal.SIGTERM, ended_from_outside)


def run(*args, check=True, **kw):
    """Run a command, its output captured; a failure shows it."""
    p = subprocess.run([str(a) for a in args], capture_output=True, text=True,
                       timeout=300 * SLOWER, **kw)
    if check and p.returncode != 0:
        sys.exit(f"{' '.join(map(str, args))}: exit {p.returncode}\n{p.stdout}{p.stderr}")
    return p


SCRATCH = []


def scratch():
    """
    Returns a directory that is removed when this process ends, also where it is skipped or fails, or starts over.
    """
    directory, owner = tempfile.mkdtemp(prefix="magnet-test-"), os.getpid()
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(directory, ignore_errors=True))
    SCRATCH.append(directory)
    return directory


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(SKIP)


def proof_of_kernel_side():
    """A file that is there if these programs recorded the kernel side since the machine was booted."""
    with open("/proc/sys/kernel/random/boot_id") as f:
        boot = f.read().strip()
    build = os.environ.get("MAGNET_BUILD", "")
    programs = (MAGNET, os.path.join(build, "kernel-tracer", "magnet-kernel-tracer"))
    if not build or SLOWER > 1 or not all(map(os.path.exists, programs)):
        return None
    made = "-".join(str(os.stat(p).st_mtime_ns) for p in programs)
    return os.path.join(build, "meson-private", f"kernel-side-{os.geteuid()}-{boot}-{made}")


def no_kernel_side():
    """
    Why the kernel side cannot be recorded, decided by trying to record nothing; "" if it can. That is tried
    once, not by each test; what fails is tried again.
    """
    if os.environ.get("MAGNET_TEST_KERNEL") == "0":
        return "built without the kernel side"
    proof = proof_of_kernel_side()
    if proof and os.path.exists(proof):
        return ""
    with tempfile.TemporaryDirectory() as d:
        p = run(MAGNET, "record", "--kernel-only", "-q", "-o", d + "/t", "--", "true", check=False)
    if p.returncode:
        return p.stderr.strip()
    if proof:
        open(proof, "w").close()
    return ""


def own_network():
    """Start over in a network namespace of its own, where nobody else has the ports."""
    if os.geteuid() or os.environ.get("MAGNET_TEST_OWN_NETWORK"):
        return
    os.environ["MAGNET_TEST_OWN_NETWORK"] = "1"
    if subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode == 0:
        sys.stdout.flush()
        for directory in SCRATCH:
            shutil.rmtree(directory, ignore_errors=True)
        os.execvp("unshare", ["unshare", "-n", "sh", "-c", 'ip link set lo up; exec "$0" "$@"',
                              sys.executable, *sys.argv])


def need_kernel_side():
    own_network()
    why = no_kernel_side()
    if why:
        skip("the kernel side cannot be recorded here: " + why)


def need_program(*names):
    for name in names:
        if not shutil.which(name):
            skip(f"{name} is not installed")


class Network:
    """
    Two namespaces, magA (10.77.0.1, fd77::1) and magB, joined by veth; gone at the end. A second pair of a test has
    another name.
    """

    A, B = "10.77.0.1", "10.77.0.2"
    A6, B6 = "fd77::1", "fd77::2"

    def __init__(self, rate=None, burst=None, gso_max_segs=None, name=""):
        self.tag = f"mg{os.getpid()}{name}"
        self.a, self.b = self.tag + "a", self.tag + "b"
        self.rate, self.burst, self.gso = rate, burst, gso_max_segs

    def __enter__(self):
        p = run("ip", "netns", "add", self.a, check=False)
        if p.returncode != 0:
            skip("no network namespace can be made: " + p.stderr.strip())
        try:
            self._set_up()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _set_up(self):
        run("ip", "netns", "add", self.b)
        run("ip", "link", "add", self.a, "type", "veth", "peer", "name", self.b)
        for ns, addr, addr6 in ((self.a, self.A, self.A6), (self.b, self.B, self.B6)):
            # IPv6's own messages soon and few, so that counters show the program's packets
            for quiet in ("router_solicitations=0", "mldv1_unsolicited_report_interval=10",
                          "mldv2_unsolicited_report_interval=10", "accept_dad=0"):
                run(*self.inside(ns, "sysctl", "-qw", "net.ipv6.conf.default." + quiet))
            run("ip", "link", "set", ns, "netns", ns)
            run("ip", "-n", ns, "addr", "add", addr + "/24", "dev", ns)
            run("ip", "-n", ns, "addr", "add", addr6 + "/64", "dev", ns, "nodad")
            if self.gso:
                run("ip", "-n", ns, "link", "set", ns, "gso_max_segs", self.gso)
            run("ip", "-n", ns, "link", "set", ns, "up")
            run("ip", "-n", ns, "link", "set", "lo", "up")
        if self.rate:
            # the bucket stands in front of A's end: it shapes what A sends
            run("tc", "-n", self.a, "qdisc", "add", "dev", self.a, "root", "tbf", "rate",
                self.rate, "burst", self.burst, "latency", "2s")

    def __exit__(self, *unused):
        for ns in (self.a, self.b):
            subprocess.run(["ip", "netns", "del", ns], capture_output=True)
        subprocess.run(["ip", "link", "del", self.a], capture_output=True)

    def inside(self, ns, *args):
        """The command, to be run in a namespace; unlike `ip netns exec` it keeps /sys as it is."""
        return ["nsenter", f"--net=/run/netns/{ns}", *map(str, args)]

    def popen(self, ns, *args, **kw):
        return subprocess.Popen(self.inside(ns, *args), text=True, **kw)


OPTIONS = os.environ.get("MAGNET_TEST_OPTIONS", "").split()  # for every recording


class Recording:
    """magnet record of a command, in a directory of its own that is gone at the end."""

    def __init__(self, *command, options=(), ok=0, **kw):
        self.top = tempfile.mkdtemp(prefix="magnet-test-")
        self.dir = self.top + "/trace"
        self.p = run(MAGNET, "record", "-o", self.dir, *OPTIONS, *options, "--", *command, check=False, **kw)
        if ok is not None and self.p.returncode != ok:
            shutil.rmtree(self.top)
            sys.exit(f"magnet record {command}: exit {self.p.returncode}\n"
                     f"{self.p.stdout}{self.p.stderr}")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if os.environ.get("MAGNET_TEST_KEEP"):
            print("kept:", self.dir)
        else:
            shutil.rmtree(self.top, ignore_errors=True)

    def report(self):
        return json.loads(run(MAGNET, "report", "--json", "--full", self.dir).stdout)

    def text(self, *options):
        """The report with everything that its short form leaves out."""
        return run(MAGNET, "report", "--all", self.dir, *options).stdout

    def events(self, *options):
        """Every event as a dict; `fields` is one too."""
        with subprocess.Popen([MAGNET, "show", "--tsv", self.dir, *options], text=True,
                              stdout=subprocess.PIPE) as p:
            for row in csv.DictReader(p.stdout, delimiter="\t", quoting=csv.QUOTE_NONE):
                row["fields"] = dict(f.split("=", 1) for f in row["fields"].split() if "=" in f)
                yield row
        if p.returncode != 0:
            sys.exit("magnet show failed")


def flow(report, direction, port=None, **match):
    """The largest flow of a direction; `port` is the local or remote one."""
    for f in sorted(report["flows"], key=lambda f: -f["bytes"]):
        ends = [(f["local"] or "").rsplit(":", 1)[-1], (f["remote"] or "").rsplit(":", 1)[-1]]
        if f["direction"] == direction and (port is None or str(port) in ends) \
                and all(f[k] == v for k, v in match.items()):
            return f
    sys.exit(f"no {direction} flow{f' of port {port}' if port else ''} in the report")


def check(ok, what):
    """One fact of a test: said, and fatal if it does not hold."""
    print(("ok: " if ok else "FAILED: ") + what, flush=True)
    if not ok:
        sys.exit(1)


def hooked(recording, event):
    """Whether a hook that feeds it was attached; where this kernel has none a test must do without."""
    return any(h["hook"].split()[0] == event and h["status"] == 0
               for h in recording.report()["hooks"])


def lost(report):
    """
    Events that found no room. (Those of a program the kernel skipped, since it had interrupted
    itself, are told too, but happen on a busy machine whatever the buffers.)
    """
    return report["loss"]["app"] + sum(g["count"] for g in report["loss"]["gaps"]
                                       if g["producer"] == "ring")


def unseen(recording):
    """
    Segments that IP's hooks saw and the device's did not: some machines run tracing programs, other
    than netfilter's, not while their supervisor's tasks are current. Nobody counts those.
    """
    seen = dict.fromkeys(("ip_post", "dev_xmit", "dev_recv", "ip_in"), 0)
    for e in recording.events():
        if e["flow"] and e["event"] in seen and e["fields"]["via"] == "own":
            seen[e["event"]] += int(e["fields"]["segs"])
    return max(seen["ip_post"] - seen["dev_xmit"], 0) + max(seen["ip_in"] - seen["dev_recv"], 0)


def undisturbed(recording, tries=5 if SLOWER == 1 else 20):
    """Repeat until nothing at all was lost; then counts must agree exactly."""
    for _ in range(tries):
        rec = recording()
        skipped = rec.report()["loss"]["kernel"]
        if not skipped and not unseen(rec):
            return rec
        print("a program was skipped: once more" if skipped else
              f"{unseen(rec)} segments were not seen by every hook: once more")
        rec.__exit__()
    sys.exit(f"events were lost in each of {tries} recordings")


def taken_s():
    """CPU time, s, that the hypervisor kept, and that others than this test and its children used."""
    with open("/proc/stat") as f:
        user, nice, system, _, _, _, _, stolen = (
            int(n) / os.sysconf("SC_CLK_TCK") for n in f.readline().split()[1:9])
    own = sum(sum(resource.getrusage(whose)[:2])
              for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return stolen, user + nice + system - own


STOLEN_MUCH, STOLEN_TOO_MUCH = 0.03, 0.2  # shares of a CPU's time


class Spoiled(SystemExit):
    """Ends a try that something else on this machine has spoiled."""


def hooks_not_run(report):
    """
    Packets that passed while process 1 was on the CPU, when some machines run no tracing program: what
    a timer lets go, such as that of a token bucket, then lacks events, and the recording tells it.
    """
    return sum(g["count"] for g in report["loss"]["gaps"] if g["producer"].startswith("hooks not run"))


def need_coverage(flow_figures, report, least):
    """Check the share of bytes that were seen everywhere; end the try if hooks were not run."""
    if flow_figures["coverage"] <= least and hooks_not_run(report):
        print(f"coverage {flow_figures['coverage']}: {hooks_not_run(report)} packets passed while process 1 ran")
        raise Spoiled(1)
    check(flow_figures["coverage"] > least, f"coverage {flow_figures['coverage']}")


def patiently(test, tries=4, tries_if_stolen=12):
    """
    Run a test of figures that a busy machine spoils: late timers, hooks the kernel does not run. It
    is repeated only where the machine is busy, or its CPUs were taken away meanwhile; else its first
    failure is final. Where the hypervisor takes much, it is repeated more often; where it takes a
    fifth and more in every try, no clock tells what the test is about, and it is skipped.
    """
    least = 1
    for n in range(tries_if_stolen):
        began, before = time.monotonic(), taken_s()
        try:
            return test()
        except SystemExit as e:
            stolen, used = (now - then for now, then in zip(taken_s(), before))
            load, took = os.getloadavg()[0], time.monotonic() - began
            spoiled = isinstance(e, Spoiled)
            busy = spoiled or load > len(os.sched_getaffinity(0)) or stolen > 0 or used > 0.1 * took
            last = tries_if_stolen if spoiled or stolen > STOLEN_MUCH * took else tries
            least = min(least, stolen / took)
            if e.code == 1 and n >= last - 1 and least > STOLEN_TOO_MUCH:
                skip(f"the hypervisor took {least:.0%} of a CPU's time and more in each of {n + 1} tries")
            if e.code != 1 or not busy or n >= last - 1:
                raise
            print(f"load {load}, {stolen:.2f} s stolen, {used:.1f} s of {took:.1f} s used by others: "
                  "once more", flush=True)


def near(value, expected, share, what):
    check(value is not None and abs(value - expected) <= share * expected,
          f"{what}: {value} is within {share * 100:g} % of {expected}")


def stop(process):
    """End a process this test started, by its id."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
