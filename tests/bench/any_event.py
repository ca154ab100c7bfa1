# SPDX-License-Identifier: MIT
"""Cost of an occurrence of an event chosen with --event, beside perf record of the same event."""
from observers import *

EVENT, CALLS, SECONDS = "task:task_rename", 200_000, duration(40)


class Chosen(Tracer):
    name = "--event"
    options = ("--layers", "none", "--event", EVENT)


class OtherChosen(Chosen):
    name = "other build: --event"
    binary = OTHER_TRACER


class ChosenField(Tracer):
    name = "--event, one field"
    options = ("--layers", "none", "--event", EVENT + ":pid")


class ChosenFilter(Tracer):
    name = "--event, filter that lets all through"
    options = ("--layers", "none", "--event", EVENT + "/pid > 1 && oom_score_adj < 2000/")


class ChosenNone(Tracer):
    name = "--event, filter that lets none through"
    options = ("--layers", "none", "--event", EVENT + "/pid == 1/")


class NoEvent(Tracer):
    name = "no layers, no --event"
    options = ("--layers", "none")


class PerfThis(Observer):
    name = "perf record"
    needs = "perf"
    slow = False
    more = ()

    def begin(self):
        self.out = self.top + "/perf.data"
        self.p = start("perf", "record", "-a", "-R", "-c", "1", "-m", "4096", *self.more, "-o",
                       self.out, "-e", EVENT, cpu=WATCHING, stderr=subprocess.PIPE, bufsize=0,
                       env={**os.environ, "LC_ALL": "C"})
        time.sleep(1.5)  # it does not say when it is ready

    def end(self):
        if not self.p or self.p.poll() is not None:
            return
        self.p.send_signal(signal.SIGINT)
        said = self.p.stderr.read().decode()
        _, status, use = os.wait4(self.p.pid, 0)
        self.p.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_s = use.ru_utime + use.ru_stime
        lost = re.search(r"lost (\d+) chunks", said)
        self.note = f"lost {lost[1]} chunks" if lost else f"{os.path.getsize(self.out):,} bytes"


class PerfCount(PerfThis):
    name = "perf stat (counts only)"

    def begin(self):
        self.p = start("perf", "stat", "-a", "-e", EVENT, cpu=WATCHING, stderr=subprocess.PIPE,
                       bufsize=0)
        time.sleep(1.5)

    def end(self):
        if self.p and self.p.poll() is None:
            self.p.send_signal(signal.SIGINT)
            self.p.stderr.read()
            self.p.wait()


need_kernel_side()
begin(f"What an occurrence of {EVENT} costs who causes it, and who writes it.",
      f"occur {CALLS} on CPU {WATCHED}",
      f"magnet-kernel-tracer -o DIR --all --layers none --event {EVENT}",
      f"perf record -a -R -c 1 -m 4096 -e {EVENT}", f"perf stat -a -e {EVENT}")
KINDS = [Bare, NoEvent, Chosen, ChosenField, ChosenFilter, ChosenNone]
KINDS += [OtherChosen] * bool(OTHER_TRACER) + [k for k in (PerfThis, PerfCount) if k.works()]
series, notes, drained = {k.name: [] for k in KINDS}, {}, {k.name: [] for k in KINDS}
with Talker(program("occur"), CALLS, first_line=False, env={}) as talker:
    os.sched_setaffinity(talker.pid, {WATCHED})
    talker.ask()
    for n in rounds(SECONDS):
        for kind in in_turn(n, KINDS):
            with kind() as o:
                series[kind.name].append(float(talker.ask()[0]))
            notes[kind.name] = o.note
            if o.cpu_s and kind not in (NoEvent, ChosenNone):
                drained[kind.name].append(o.cpu_s / CALLS * 1e9)
bare = series["bare"]
rows = [(name, Figure(v).text(0), Figure(differences(v, bare)).text(0) if name != "bare" else "",
         Figure(drained[name]).text(0) if drained[name] else "", notes.get(name, ""))
        for name, v in series.items()]
table(f"{len(bare)} turns of {CALLS} calls of prctl(PR_SET_NAME), one occurrence each",
      ("", "ns a call", "ns above bare", "observer's CPU ns", "last turn"), rows)
how_to_read(f"""
A call's time is the median over batches of 500 calls. In each turn an observer is started on CPU
{WATCHING}, sees {CALLS:,} calls, and is stopped. Its own CPU time has its start and stop in it: perf's
more than the tracer's, which begins to count when it is ready.
""")
