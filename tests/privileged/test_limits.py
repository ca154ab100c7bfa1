# SPDX-License-Identifier: MIT
"""
Limits: a trace that reached its size ends in order; parts can be read alone and together, and the
oldest are deleted.
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from tracer import *

own_network()  # starts over: nothing is made before
TOP = scratch()


def parts(d):
    return sorted(name for name in os.listdir(d) if name.isdigit())


def size(d):
    return sum(os.path.getsize(os.path.join(at, f)) for at, _, files in os.walk(d)
               for f in files if f != "metadata")


def largest():
    d = TOP + "/largest"
    with Talker() as load, Tracer(d, "--pid", load.pid, "--max-size", "1M").ready() as t:
        load.begin(10 ** 9)
        said = t.end(ask=False)
        load.p.kill()
    check(said.get("done") and "--max-size" in said["stopped"] and t.p.returncode == 0,
          "it ends in order and says why")
    check(1 << 20 <= size(d) < 32 << 20, f"at {size(d)} bytes")
    check(report(d)["session"]["ended_in_order"], "the trace is complete up to there")
    p = run(TRACER, "-o", TOP + "/alone", "--max-size", "64K", "--", "python3", "-c", Talker.PROGRAM,
            "9", input="100000\n")
    check("stopped: it has reached --max-size" in p.stderr, "without a parent the user is told")


def rotated(name, *options, trips=2000, times=6):
    """A recording of at least so many trips and five parts: a tracer that seldom runs makes larger ones."""
    d = TOP + "/" + name
    with Talker(1000) as load, Tracer(d, "--pid", load.pid, *options).ready() as t:
        end = time.monotonic() + 60
        while times > 0 or (int(parts(d)[-1]) < 5 and time.monotonic() < end):
            load.ask(trips)
            times -= 1
        said = t.end()
    return d, said


def sound(d, whole):
    """A part alone: connections are known by their addresses and true offsets."""
    r = report(d)
    flows = [f for f in r["flows"] if f["bytes"] > 100000]
    check(len(flows) == 4 and all(f["local"] and f["remote"] for f in flows),
          f"{os.path.basename(d)}: all four flows have their ends")
    relative = [f["id"] for f in flows if f["offsets"] != "from_connection"]
    # a segment in flight at the cut may leave one with offsets of the part's own, and told as such
    check(not relative and all(f["closure_error_cycles"] in (0, None) for f in flows),
          f"and their connection's own offsets{', but ' + str(relative) if relative else ''}")
    check(r["session"]["ended_in_order"] if whole else r["session"]["broke_off_ns"] is None,
          "it ends in order")
    check(r["clock"]["source"] == "clock_sync" and r["hooks"], "clock and hooks are known")
    names = [n for n, *_ in events(d)]
    check(names.count("task_fork") >= 1 and names[0] == "chunk" and "calibration" in names,
          "tasks have their names")


def by_size():
    d, said = rotated("by_size", "--rotate", "1M")
    n = parts(d)
    check(n == [f"{i:04}" for i in range(1, len(n) + 1)] and len(n) >= 4, f"{len(n)} parts")
    check(not os.path.exists(d + "/metadata"), "nothing is beside them")
    check(all(size(f"{d}/{p}") >= 1 << 20 for p in n[:-1]), "each has the size that was asked for")
    for p in (n[0], n[1], n[-2]):
        sound(f"{d}/{p}", False)
    r = report(d)
    there = counts(d)
    check(there["tcp_send"] + said["lost"] >= 24000 and there["trace_end"] == 1 and there["chunk"] == len(n)
          and there["chunk_end"] == len(n) - 1, f"together they are what happened: {there}")
    check(sum(there.values()) == said["events"], "not an event more or less")
    check(r["session"]["ended_in_order"] and (said["lost"] or not lost(r)),
          f"with no gap between them but for {said['lost']} events for which there was no room")
    tx = [f for f in r["flows"] if f["direction"] == "tx"]
    check(all(f["complete_bytes"] > 0.99 * f["bytes"] for f in tx) or said["lost"],
          "bytes are followed from part to part")
    check(len(r["hooks"]) == len(report(d + "/0001")["hooks"]), "each hook is told once")
    text = run(MAGNET, "report", d + "/0001").stdout
    check("part of a longer recording" in text and "broke off" not in text, "a part says that it is one")
    missing_parts(d, n)


def missing_parts(d, n):
    """Whatever part is taken away, it is told, and how many events of the others are gone."""
    away = TOP + "/away"
    for gone, words, count in (([n[1]], "1 part", 1), (n[1:3], "2 parts", 2), (n[:1], "begins with part 2", 0),
                               (n[-1:], f"continues after part {len(n) - 1}", 0)):
        os.mkdir(away)
        for p in gone:
            os.rename(f"{d}/{p}", f"{away}/{p}")
        for reader in ("direct", "babeltrace2"):
            env = dict(os.environ, MAGNET_READER=reader)
            text = run(MAGNET, "report", d, env=env).stdout
            missing = json.loads(run(MAGNET, "report", "--json", d, env=env).stdout)["loss"]["missing"]
            check(words in text and "nothing lost" not in text and missing["parts"] == count and
                  not missing["kernel"], f"without {gone}, by {reader}: {missing}")
        for p in gone:
            os.rename(f"{away}/{p}", f"{d}/{p}")
        os.rmdir(away)
    stream = next(f"{d}/{n[1]}/{name}" for name in os.listdir(f"{d}/{n[1]}") if name.startswith("cpu"))
    os.rename(stream, away)
    m = report(d)["loss"]["missing"]
    check(m["kernel"] > 0 and not m["parts"], f"a stream of a part is gone: {m}")
    os.rename(away, stream)
    check(not any(report(d)["loss"]["missing"].values()), "and nothing is missing of all of it")


def crowded():
    """A part that was taken away is told, too, where small rings lose more often than a report has room for."""
    d, said = rotated("crowded", "--rotate", "512K", "--buffer", "256K", times=3)
    gaps = len(report(d)["loss"]["gaps"])
    check(said["lost"] and gaps > 5, f"{said['lost']} events are lost in {gaps} gaps")
    missing_parts(d, parts(d))


def soon_full():
    """A first part that is full before the clock's thread has read it twice has its own readings, too."""
    for n in range(4):
        d = f"{TOP}/soon_full{n}"
        with Talker(1000) as load:
            load.begin(10 ** 9)
            with Tracer(d, "--pid", load.pid, "--rotate", "64K").ready() as t:
                until = time.monotonic() + 60 * SLOWER
                while len(parts(d)) < 3 and time.monotonic() < until:
                    time.sleep(0.01)
                t.end()
            load.p.kill()
        clock = report(d + "/0001")["clock"]
        check(clock["source"] == "clock_sync", f"a part of {size(d + '/0001')} bytes has its clock: {clock}")


def planted_link():
    """Somebody who may write to the directory puts a link where a part was, and where one will be."""
    d, victim = TOP + "/planted", TOP + "/victim"
    os.mkdir(victim)
    open(victim + "/metadata", "w").close()
    with Talker(1000) as load, Tracer(d, "--pid", load.pid, "--rotate", "256K", "--keep", "2").ready() as t:
        while len(parts(d)) < 2:
            load.ask(500)
        t.halt()  # else it may delete the part meanwhile
        first = parts(d)[0]
        os.rename(f"{d}/{first}", TOP + "/away")
        os.symlink(victim, f"{d}/{first}")
        t.go_on()
        for _ in range(6):
            load.ask(1000)
        t.end()
    check(os.listdir(victim) == ["metadata"], "nothing behind a link is deleted")
    d = TOP + "/planted_next"
    with Talker(1000) as load, Tracer(d, "--pid", load.pid, "--rotate", "256K").ready() as t:
        os.symlink(victim, d + "/0003")
        load.ask(6000)
        said = t.end(ask=False)
    check("failed" in said and os.listdir(victim) == ["metadata"], f"nor written there: {said}")


def newest():
    d, said = rotated("newest", "--rotate", "512K", "--keep", "3")
    n = parts(d)
    check(len(n) == 3 and int(n[-1]) > 4 and int(n[0]) == int(n[-1]) - 2, f"the newest three are kept: {n}")
    sound(f"{d}/{n[0]}", False)
    r = report(d)
    check(r["session"]["ended_in_order"] and len(r["flows"]) >= 4, "and are a recording")


def by_time():
    d = TOP + "/by_time"
    with Talker(1000) as load, Tracer(d, "--pid", load.pid, "--rotate", "1s").ready() as t:
        end = time.monotonic() + 60
        while len(parts(d)) < 3 and time.monotonic() < end:
            load.ask(100)
        t.end()
    n = parts(d)
    check(len(n) >= 3 and opens(d) == "", f"{len(n)} parts of a second")
    p = run(TRACER, "-o", d, "--rotate", "1s", "--duration", "1", check=False)
    check(p.returncode == 1 and "File exists" in p.stderr, "an older trace is not written over")


def recorded():
    d = TOP + "/recorded"
    exchange = os.path.join(os.path.dirname(__file__), "..", "programs", "exchange.py")
    run(MAGNET, "record", "-q", "-o", d, "--rotate", "256K", "--", PYTHON, exchange, "3000")
    check(len(parts(d + "/kernel")) > 1, "magnet record rotates the kernel side")
    r = report(d)
    send = [c for c in r["calls"] if c["name"] == "send"][0]
    check(send["joined"] == send["n"] == 6000 or lost(r), f"calls are joined over all parts: {send['joined']}")
    check(opens(d) == "", "babeltrace2 opens all of it")


def file_gone():
    """
    A stream of one part is deleted, and the last part has no end: what that one has makes up for
    nothing of the other, by whatever reads them.
    """
    d = TOP + "/gone"
    with Talker(1000) as load, Tracer(d, "--pid", load.pid, "--rotate", "256K").ready() as t:
        t.halt()  # else it may begin another part before it is killed
        while len(parts(d)) < 3 or size(f"{d}/{parts(d)[-1]}") < 50000:
            t.go_on()
            load.ask(50)
            t.halt()
        t.kill()
    last = f"{d}/{parts(d)[-1]}"
    before = report(d)
    check(not before["session"]["ended_in_order"] and before["loss"]["missing"]["kernel"] == 0 and
          size(last) >= 50000, "a recording that was killed in a later part")
    streams = [f"{d}/0001/{name}" for name in os.listdir(d + "/0001") if name != "metadata"]
    os.unlink(max(streams, key=os.path.getsize))
    by_reader = {reader: json.loads(run(MAGNET, "report", "--json", d, env={**os.environ, "MAGNET_READER": reader})
                                    .stdout) for reader in ("", "babeltrace2")}
    by_reader["the plugin"] = json.loads(run(
        "babeltrace2", "--plugin-path=" + os.environ["MAGNET_BUILD"] + "/correlate", d,
        "--component=sink.magnet.report", '--params=format="json"').stdout)
    for reader, r in by_reader.items():
        less = before["events"]["kernel"] - r["events"]["kernel"]
        check(0 < less <= r["loss"]["missing"]["kernel"] < less + 1000,
              f"{reader or 'magnet'}: of the part's {less} events {r['loss']['missing']['kernel']} are missing")


def usage():
    for args in (("--keep", "2"), ("--rotate", "1"), ("--rotate", "0s"), ("--max-size", "12"),
                 ("--rotate", "1M", "--keep", "2", "--max-size", "3M")):
        p = run(TRACER, "-o", TOP + "/usage", *args, check=False)
        check(p.returncode == 2 and p.stderr.count("\n") == 1, f"{args}: {p.stderr.strip()}")


need_kernel_side()
need_program("babeltrace2")
try:
    for test in (largest, by_size, crowded, soon_full, newest, planted_link, by_time, recorded, file_gone, usage):
        print("---", test.__name__)
        test()
finally:
    shutil.rmtree(TOP)
