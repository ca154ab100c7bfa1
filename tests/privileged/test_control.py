# SPDX-License-Identifier: MIT
"""
The control socket: status agrees with the trace, a pause is one, and is told as a gap; layers are
attached and detached while the tracer records; who may ask, and what wrong questions get.
"""
import collections
import os
import re
import socket as sockets
import stat
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from tracer import *

own_network()  # starts over: nothing is made before
TOP = scratch()


def ctl(t, *args, ok=0):
    p = run(TRACER, "ctl", "--pid", t.pid, *args, check=False)
    if p.returncode != ok:
        check(False, f"ctl {args}: exit {p.returncode} {p.stdout}{p.stderr}")
    return p


def status(t):
    return json.loads(ctl(t, "--json", "status").stdout)


def ring(n):
    """Selects, among the counts of events, those that BPF programs recorded."""
    return {k: v for k, v in n.items() if k not in (
        "clock_sync", "clock_cpus", "change", "lost", "hook", "trace_end", "calibration", "chunk", "contents")}


def sends(d):
    return sum(name == "tcp_send" for name, *_ in events(d))


def counted():
    d = TOP + "/counted"
    with Talker() as load, Tracer(d, "--pid", load.pid, "--drain", 5).ready() as t:
        load.ask(300)
        ctl(t, "pause")
        s = status(t)
        text = ctl(t, "status").stdout
        t.end()
    told, there = ring(s["counts"]), ring(counts(d))
    check(s["state"] == "paused" and "paused, process" in text, "the state is told")
    check(there["tcp_send"] >= 600 and told == there, f"counts are the trace's: {told}")
    check(sum(c["events"] for c in s["cpus"]) == sum(told.values()), "so are those of the CPUs")
    check(s["parameters"]["drain"] == "5" and s["parameters"]["pid"] == load.pid
          and "sys_enter" in text and "attached" in text, "parameters and hooks are told")


def paused():
    d = TOP + "/paused"
    with Talker() as load, Tracer(d, "--pid", load.pid).ready() as t:
        load.ask(100)
        ctl(t, "pause")
        load.ask(50)  # may still be under way in other programs' minds
        s = status(t)
        load.ask(1000)
        ctl(t, "resume")
        load.ask(100)
        after = status(t)
        t.end()
    n = sends(d)
    check(400 <= n <= 410, f"of 400 sends and 2100 while it paused {n} are in the trace")
    check(s["events"] <= after["events"] and after["not_recorded"] > 10000 and after["lost"] == 0,
          f"{after['not_recorded']} events were not recorded, and are no loss")
    r = report(d)
    gaps = [g for g in r["loss"]["gaps"] if g["reason"] == "paused"]
    changes = [f for name, _, f in events(d) if name == "change"]
    check(len(gaps) == 1 and gaps[0]["count"] == after["not_recorded"] and r["loss"]["kernel"] == 0,
          "the report has the gap")
    check(len(changes) == 2 and '"paused"' in changes[0] and '"recording"' in changes[1],
          "and the trace the changes")
    check("not recorded (paused)" in run(MAGNET, "report", d).stdout, "in words too")
    times = [at for name, at, _ in events(d) if name == "tcp_send"]
    check(not [t for t in times if gaps[0]["from_ns"] < t < gaps[0]["to_ns"]],
          "within it nothing was recorded")
    f = flow(r, "tx")
    check(f["gaps"] == 1 and "tcp" in f["touched"] and f["closure_error_cycles"] in (0, None),
          "flows tell that it touches them")
    check(r["state_sum_mismatches"] == 0, "no call's states reach over it")


def switched():
    """Layers that were off for a time are told with it; hooks never asked for, and those kept, are not."""
    d = TOP + "/switched"
    times = []
    with Talker() as load, Tracer(d, "--pid", load.pid, "--layers", "socket,tcp,ip").ready() as t:
        for layers in "socket,tcp", "socket,tcp,ip,device", "socket,ip,device":
            load.ask(50)
            ctl(t, "set", f"layers={layers}")
            times.append(time.monotonic_ns())
        load.ask(50)
    r = report(d)
    off = {g["producer"]: g for g in r["loss"]["gaps"] if g["reason"] == "layer_off"}
    check(sorted(off) == ["layer device off", "layer ip off", "layer tcp off"], f"each layer that was off: {off}")
    ip, tcp = off["layer ip off"], off["layer tcp off"]
    check(0 <= times[0] - ip["from_ns"] < 1e9 and 0 <= times[1] - ip["to_ns"] < 1e9
          and 0 <= times[2] - tcp["from_ns"] < 1e9 and ip["count"] is None, "with the time it was off for")
    check(off["layer device off"]["from_ns"] < times[0] and off["layer device off"]["to_ns"] == ip["to_ns"] or
          abs(off["layer device off"]["to_ns"] - ip["to_ns"]) < 1e9, "also what begins later")
    check(not any(h["hook"].startswith("nf_") for h in r["hooks"]), "hooks never asked for are not named")
    told = collections.Counter(re.search(r"netns = (\d+)", p)[1] for *_, p in events(d, "hook")
                               if '"ip_out ipv4"' in p)
    check(set(told.values()) == {3}, f"hooks that stay attached are not attached anew: told by namespace {told}")
    text = run(MAGNET, "report", d).stdout
    check("not recorded (layer ip off)" in text and "not observed: tcp" not in text, "the report says so: " + text)


def calls_switched_off():
    """Flows keep what was recorded before system calls were switched off."""
    d = TOP + "/calls"
    with Talker() as load, Tracer(d, "--pid", load.pid).ready() as t:
        load.ask(300)
        ctl(t, "set", "layers=tcp")
        time.sleep(0.1)
    text = run(MAGNET, "report", d).stdout
    check("system calls were not recorded" not in text and "Latency by stage" in text, "the stages are there: " + text)


def settings():
    d = TOP + "/settings"
    with Talker() as load, Tracer(d, "--pid", load.pid, "--layers", "socket,tcp").ready() as t:
        load.ask(100)
        ctl(t, "set", "layers=socket,device,ip")
        ctl(t, "set", "drain=7")
        s = status(t)
        load.ask(100)
        ctl(t, "set", "port=1")
        check(status(t)["parameters"]["port"] == "1", "a filter is set")
        load.ask(50)
        ctl(t, "set", "port=any")
        ctl(t, "set", "layers=none")
        before = sends(d)
        load.ask(100)
        ctl(t, "stop")
        said = t.end(ask=False)
    check(said.get("done") and t.p.returncode == 0, "stop ends it in order")
    check(s["parameters"]["layers"] == "socket,ip,device" and s["parameters"]["drain"] == "7",
          "what was set is told")
    n = counts(d)
    check(400 <= sends(d) <= 410 and before <= sends(d), "layers that are kept go on")
    check(190 <= n.get("tcp_recv", 0) <= 210 and 190 <= n.get("dev_xmit", 0) <= 210
          and n.get("ip_out", 200) >= 190, f"one that is detached stops, one that is attached begins: {n}")
    head = run(MAGNET, "report", d).stdout
    check("INCOMPLETE" not in head, "a recording that ctl has stopped is complete: " + head[:300])
    off = [h["status"] for h in s["hooks"] if h["hook"] == "tcp_recv"]
    check(off and off[0] < 0 and n["change"] == 7 + 2 + 1, "hooks and changes are told")


def questions():
    with Tracer(TOP + "/questions", "--all").ready() as t:
        path = f"/run/magnet/kernel-tracer-{t.pid}.sock"
        check(stat.S_IMODE(os.stat(path).st_mode) == 0o600
              and stat.S_IMODE(os.stat("/run/magnet").st_mode) == 0o700, "only its owner reaches it")
        for args, ok, what in ((("dance",), 2, "no command 'dance'"), (("set", "colour=red"), 1, "no such setting"),
                               (("set", "drain=0"), 1, "bad value"), (("set", "port=x"), 1, "bad value for port"),
                               (("set", "drain"), 2, "NAME=VALUE"),
                               (("pause", "now"), 2, "no arguments"), ((), 2, "no command given")):
            p = ctl(t, *args, ok=ok)
            check(p.stderr.count("\n") == 1 and what in p.stderr, f"{args}: {p.stderr.strip()}")
        for junk in (b"\n", b"{\n", b"[]\n", b'{"command": 1}\n', b"\0\n", b'{"command": "set"}\n'):
            with sockets.socket(sockets.AF_UNIX) as s:
                s.connect(path)
                s.sendall(junk + b'{"command": "status"}\n')
                lines = s.makefile("r")
                check(not json.loads(lines.readline())["ok"] and json.loads(lines.readline())["ok"],
                      f"{junk}: refused, and the next is answered")
        crowd = [sockets.socket(sockets.AF_UNIX) for _ in range(20)]
        for s in crowd:
            try:
                s.connect(path)
                s.send(b'{"command": "status"}\n{"comm')
            except OSError:
                pass  # there may be too many of them
        for s in crowd:
            s.close()
        with sockets.socket(sockets.AF_UNIX) as s:
            s.connect(path)
            try:
                s.sendall(b"x" * 100000)
            except OSError:
                pass
        check(status(t)["ok"], "those that do not read, or say too much, are given up")
        check(t.end().get("done") and not os.path.exists(path), "it is gone with the tracer")
    p = ctl(t, "status", ok=1)
    check("no tracer answers" in p.stderr, "and then says so")


def places():
    path = TOP + "/socket"
    with Tracer(TOP + "/one", "--all", "--control", path).ready() as t:
        p = run(TRACER, "-o", TOP + "/two", "--all", "--control", path, check=False)
        check(p.returncode == 1 and "another tracer answers" in p.stderr,
              "a path that is taken is refused: " + p.stderr.strip())
        p = run(TRACER, "ctl", "--socket", path, "--json", "status")
        check(json.loads(p.stdout)["pid"] == t.pid, "ctl finds it there")
        t.kill()
    check(os.path.exists(path), "kill -9 leaves it behind")
    with Tracer(TOP + "/three", "--all", "--control", path).ready() as t:
        check(t.end().get("done"), "the next one takes its place")
    open(path, "w").close()
    p = run(TRACER, "-o", TOP + "/four", "--all", "--control", path, check=False)
    check(p.returncode == 1 and "no socket" in p.stderr and os.path.exists(path),
          "but never that of a file")


need_kernel_side()
need_program("babeltrace2")
try:
    for test in (counted, paused, switched, calls_switched_off, settings, questions, places):
        print("---", test.__name__)
        test()
finally:
    shutil.rmtree(TOP)
