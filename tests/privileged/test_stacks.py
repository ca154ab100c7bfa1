# SPDX-License-Identifier: MIT
"""
`--stacks` on a program that knows what it does: the time off the CPU of a function that sleeps is what the program
measured, with the functions that led there; where the C library keeps no frame pointer, that is said. A process that
ended early is named, too; drops and retransmissions have the kernel's functions. Without the option there is nothing.
"""
import collections
import ctypes
import os
import platform
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fact_table import facts
from fixture import *

STACKED, DROP = sys.argv[1:3]
TRANSFER = os.path.join(os.path.dirname(__file__), "..", "programs", "transfer.py")
REQUESTS, SLEEP_NS, PORT = 20, 8_000_000, 5121
UNKNOWN = "?"


def need_perf_events():
    """Without them mappings are not reported, and programs that end early have no names."""
    attr = struct.pack("<II", 1, 112).ljust(112, b"\0")  # a software event
    fd = ctypes.CDLL(None, use_errno=True).syscall(
        {"x86_64": 298, "aarch64": 241}[platform.machine()], attr, -1, 0, -1, 0)
    if fd < 0:
        skip(f"perf_event_open is refused: {os.strerror(ctypes.get_errno())}")
    os.close(fd)


def chains(rec):
    """The functions of each stack by its number, the innermost first."""
    stacks = collections.defaultdict(list)
    for f in facts(rec, "frame"):
        check(len(stacks[f["stack"]]) == f["depth"], "frames come in order") \
            if len(stacks[f["stack"]]) != f["depth"] else None
        stacks[f["stack"]].append(UNKNOWN if f["address"] is None else f["function"] or f["file"] or "")
    return stacks


def leads(chain, *functions):
    """Whether these are its innermost functions."""
    return tuple(chain[:len(functions)]) == functions


def folded(rec, where):
    """Weights of folded stacks, by their functions."""
    rows = run(MAGNET, "report", "--folded=" + where, rec.dir).stdout.splitlines()
    return {tuple(stack.split(";")): int(weight) for stack, weight in (row.rsplit(" ", 1) for row in rows)}


def reported(rec, said):
    blocked = folded(rec, "block")
    slow = {s: us for s, us in blocked.items() if "main;handler;slow_function" in ";".join(s)}
    check(all(s[0] == "stacked" for s in slow) and any("do_nanosleep_[k]" in s for s in slow),
          "folded stacks begin with the program and end in the kernel")
    if sum(slow.values()) * 1e3 < 0.8 * REQUESTS * SLEEP_NS:
        print(blocked)
    check(0.8 * REQUESTS * SLEEP_NS <= sum(slow.values()) * 1e3 <= said["slow_ns"] + 1e3 * len(slow),
          f"main;handler;slow_function has {sum(slow.values())} us, of {said['slow_ns'] // 1000} by its clock")
    dropped = folded(rec, "drop")
    check(any("__udp4_lib_rcv_[k]" in s for s in dropped), "drops are folded with their number")
    rows = [s for s in rec.report()["stacks"] if s["why"] == "block" and s["user"][:1] == ["slow_function"]]
    check(0.8 * REQUESTS <= sum(s["n"] for s in rows) and all(s["call"] == "nanosleep" for s in rows), "JSON has the same")
    text = rec.text("--stacks=block")
    check("slow_function < handler < main" in text, "the text lists it")
    answer = text.split("Answer", 1)[1].split("\n\n")[0] if "Answer" in text else ""
    check("slow_function < handler" in answer or "nanosleep < [unknown callers] < handler" in answer,
          "its stack stands below the answer")


def blocks(rec):
    with rec:
        said = json.loads(rec.p.stdout)
        taken, of = facts(rec, "stack"), chains(rec)
        [counts] = facts(rec, "stacks")
        check(counts["unreadable"] == counts["no_room"] == counts["mappings_lost"] == 0,
              f"every stack was taken: {counts}")
        reported(rec, said)
    check(counts["distinct"] >= len(of) and counts["block"] == 2_000_000, f"{len(of)} distinct stacks are described")
    check(all(n in of for s in taken for n in (s["user"], s["kernel"]) if n is not None),
          f"each of {len(taken)} stacks that were taken is described")
    off = [s for s in taken if s["why"] == "block"]
    check(all(s["off"] >= 2_000_000 for s in off), "no shorter block has a stack")
    slow = [s for s in off if leads(of[s["user"]], "slow_function", "handler", "main")]
    # on a busy machine the time may be over before a thread sleeps
    check(0.8 * REQUESTS <= len(slow), f"slow_function, called by handler and main, blocked {len(slow)} times")
    total = sum(s["off"] for s in slow)
    check(0.9 * len(slow) * SLEEP_NS < total <= said["slow_ns"],
          f"for {total} ns, of {said['slow_ns']} by the program's clock")
    check({s["call"] for s in slow} == {"nanosleep"} and all("do_nanosleep" in of[s["kernel"]] for s in slow),
          "in nanosleep, and the kernel's functions say so")
    libc = [s for s in off if "nanosleep" in of[s["user"]][0] and "handler" in of[s["user"]]]
    check(0.8 * REQUESTS <= len(libc) and all(leads(of[s["user"]][1:], UNKNOWN, "handler", "main") for s in libc),
          "the caller of the C library, which keeps no frame pointer, is said to be unknown")
    check(sum(s["off"] for s in libc) <= said["libc_ns"], "its time, too, is within the program's")
    short = [s for s in off if leads(of[s["user"]], "short_lived", "main")]
    check(len(short) == 1 and short[0]["pid"] != slow[0]["pid"], "a process that ended before is named")
    calls = [s for s in taken if s["why"] == "call"]
    check(any("handler" in of[s["user"]] and s["flow"] for s in calls if s["user"]),
          f"{len(calls)} calls on sockets have their stacks")


def drops(rec):
    with rec:
        taken, of = facts(rec, "stack"), chains(rec)
    drop = [s for s in taken if s["why"] == "drop"]
    check(drop and all("udp_sendmsg" in of[s["kernel"]] for s in drop if "__udp4_lib_rcv" in of[s["kernel"]]),
          f"{len(drop)} drops have the kernel's stack")
    check(any("__udp4_lib_rcv" in of[s["kernel"]] for s in drop), "that of a port that nobody has among them")
    check(not any(name and name.startswith(("bpf_prog_", "bpf_trace_run", "__traceiter_"))
                  for s in drop for name in of[s["kernel"]][:1]), "magnet's own functions are not in them")


def retransmissions():
    with Network(gso_max_segs=1) as net:
        p = run("tc", "-n", net.b, "qdisc", "add", "dev", net.b, "clsact", check=False)
        q = run("tc", "-n", net.b, "filter", "add", "dev", net.b, "ingress", "bpf", "da", "obj", DROP, "sec",
                "tc/every13", check=False)
        if p.returncode or q.returncode:
            skip("tc cannot load a BPF program: " + q.stderr.strip())
        script = (f"nsenter --net=/run/netns/{net.b} {PYTHON} {TRANSFER} server {net.B} {PORT} & "
                  f"nsenter --net=/run/netns/{net.a} {PYTHON} {TRANSFER} client {net.B} {PORT} 1500000 10000; wait")
        with Recording("sh", "-c", script, options=("--stacks",)) as rec:
            taken, of, again = facts(rec, "stack"), chains(rec), facts(rec, "retransmit")
    mine = [s for s in taken if s["why"] == "retransmit"]
    check(mine and len(mine) >= 0.8 * len(again), f"{len(mine)} of {len(again)} retransmissions have a stack")
    check(all("__tcp_retransmit_skb" in of[s["kernel"]] or "tcp_retransmit_skb" in of[s["kernel"]] for s in mine),
          "in which TCP sends again")


def nothing_without():
    with Recording(STACKED, "1") as rec:
        check(not facts(rec, "stack") and not facts(rec, "frame"), "without --stacks there are none")
        p = run(MAGNET, "report", "--folded", rec.dir, check=False)
        check(rec.report()["stacks"] is None and p.returncode == 1 and not p.stdout and
              "magnet record --stacks" in p.stderr, f"and the report has none: {p.stderr.strip()}")
        check("No stacks were recorded" in rec.text("--stacks"), "and says so")


def harm():
    """The tracer does not open pipes beside a program, and refuses to record addresses that --anonymize leaves out."""
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        program = shutil.copy(STACKED, top + "/beside")
        run("strip", program)
        for name in ("beside.debug", ".debug"):
            os.mkfifo(f"{top}/{name}")
        with Recording(program, "2", options=("--stacks=2ms",)) as rec:
            check(facts(rec, "stack"), "a pipe in the place of debuginfo does not hold up the tracer")
    p = run(MAGNET, "record", "--stacks", "--anonymize", "--", "true", check=False)
    check(p.returncode == 2 and "--stacks excludes --anonymize" in p.stderr, f"addresses or none: {p.stderr}")


need_kernel_side()
need_perf_events()
recorded = lambda: Recording(STACKED, str(REQUESTS), options=("--stacks=2ms",))
patiently(lambda: blocks(recorded()))
patiently(lambda: drops(recorded()))
patiently(retransmissions)
nothing_without()
harm()
