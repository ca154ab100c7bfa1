# SPDX-License-Identifier: MIT
"""
Traces that are damaged, lie, or do not belong together. Whatever they are, report and show end soon
and within bounds, without a crash, with one clear line or an honest report of what could be read.
"""
import os
import re
import resource
import struct
import sys
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import streams
from ctf import Trace
from fixture import *

EXCHANGE = os.path.join(os.path.dirname(__file__), "..", "programs", "exchange.py")
TOP = scratch()
SANITIZED = "ASAN_OPTIONS" in os.environ
MEMORY = 1 << 30
READERS = ("", "babeltrace2")
GONE = re.compile("removed or truncated|is missing|are missing or damaged|unknown kinds|TOO MANY EVENTS")
SWITCH = {"sched_switch": [("prev_comm", "comm"), ("prev_tid", "s32"), ("prev_prio", "s32"),
                           ("prev_state", "s64"), ("next_comm", "comm"), ("next_tid", "s32"),
                           ("next_prio", "s32")]}


def bounded(*args, reader=""):
    def limits():
        if not SANITIZED:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    env = dict(os.environ, **({"MAGNET_READER": reader} if reader else {}))
    try:
        return subprocess.run([MAGNET, *map(str, args)], capture_output=True, text=True,
                              errors="replace", timeout=30 * SLOWER, preexec_fn=limits, env=env)
    except subprocess.TimeoutExpired:
        check(False, f"magnet {' '.join(map(str, args))} does not end (reader '{reader}')")


COMMANDS = (("report", "--json"), ("report",), ("show", "--tsv"))


def survives(what, *dirs, commands=COMMANDS):
    """Exit 0, or 1 with one line; a report is whole JSON either way. Returns what was said."""
    said = []
    for reader in READERS:
        for command in commands:
            p = bounded(*command, *dirs, reader=reader)
            lines = p.stderr.strip().splitlines()
            mine = [l for l in lines if l.startswith("magnet: ")]
            # (babeltrace2 tells of its own assertions before it gives up)
            ok = p.returncode == 0 or (p.returncode == 1 and len(mine) == 1 and lines[-1] == mine[0])
            if ok and command == ("report", "--json") and p.stdout:
                j = json.loads(p.stdout)
                ok = p.returncode == 0 or j["session"]["cut_off"] is not None
            if not ok:
                check(ok, f"{what}: {' '.join(command)} exits {p.returncode} by reader '{reader}': "
                      f"{p.stderr.strip()[:500]}")
            said.append((p.returncode, lines[-1] if lines else ""))
    return said


def told(what, *dirs, words="", code=1, commands=COMMANDS):
    said = survives(what, *dirs, commands=commands)
    check(all(c == code and words in line for c, line in said), f"{what}: {said[0]}")


def written(path, data):
    with open(path, "wb") as f:
        f.write(data)


def kernel_like(name, **kw):
    """A small trace that needs no privilege."""
    t = Trace(f"{TOP}/{name}", SWITCH, **kw)
    for i in range(200):
        t.add(10**9 + i * 1000, i % 2, "sched_switch", "a", i % 2 * 7, 20, 1, "b", 7 - i % 2 * 7, 20)
    t.write()
    return t.path


def stream_of(directory):
    """The largest stream of the kernel's side, or of the application's."""
    top = directory + "/kernel" if os.path.isdir(directory + "/kernel") else directory
    paths = [os.path.join(at, n) for at, _, names in os.walk(top) for n in names
             if n != "metadata" and not n.endswith(".json")]
    return max(paths, key=os.path.getsize)


def damaged(good, where, data, name="damaged"):
    """A copy with other bytes at one place of its largest stream."""
    shutil.rmtree(f"{TOP}/{name}", ignore_errors=True)
    shutil.copytree(good, f"{TOP}/{name}")
    path = stream_of(f"{TOP}/{name}")
    with open(path, "r+b") as f:
        f.seek(where)
        f.write(data)
    return f"{TOP}/{name}"


def truncations(good):
    size = os.path.getsize(stream_of(good))
    second = int.from_bytes(open(stream_of(good), "rb").read(64)[48:56], "little") // 8
    if not 64 < second < size:  # LTTng's head is longer
        second = int.from_bytes(open(stream_of(good), "rb").read(64)[56:64], "little") // 8
    # in the head, at its end, in an event, around the next packet's begin, at the end
    ends = {0, 4, 40, 56, 76, 77, 100, second - 1, second, second + 30, second + 100, size - 1}
    for end in sorted(e for e in ends if 0 <= e < size):
        d = damaged(good, 0, b"")
        os.truncate(stream_of(d), end)
        survives(f"cut off at {end} of {size}", d, commands=COMMANDS[:1])
    check(True, f"cut off at {len(ends)} places")


def sizes(good, sizes_at, second):
    values = (0, 64, 4097 * 8, 1 << 32, (1 << 64) - 8)
    for packet in (0, second):
        for value in values:
            for at in (0, 8):
                d = damaged(good, packet + sizes_at + at, struct.pack("<Q", value))
                survives(f"size {value} at {packet + sizes_at + at}", d, commands=COMMANDS[:1])
    check(True, "sizes that lie")


def directories():
    os.mkdir(TOP + "/empty")
    told("an empty directory", TOP + "/empty", words="no trace")
    told("no directory at all", TOP + "/absent", words="No such file")
    os.makedirs(TOP + "/nothing/metadata")
    told("a directory named metadata", TOP + "/nothing", words="no trace")
    os.mkdir(TOP + "/fifo")
    os.mkfifo(TOP + "/fifo/metadata")
    told("a pipe named metadata", TOP + "/fifo", words="no trace")
    d = kernel_like("with-fifo")
    os.mkfifo(d + "/channel0_9")
    survives("a pipe among the streams", d)
    os.makedirs(TOP + "/loops/loop")
    os.symlink(TOP + "/loops/loop", TOP + "/loops/loop/again")
    os.symlink("..", TOP + "/loops/loop/up")
    os.symlink("nowhere", TOP + "/loops/loop/metadata")
    told("links in circles", TOP + "/loops/loop", words="no trace")
    d = kernel_like("linked")
    os.symlink(d, d + "/self")
    survives("a trace that links to itself", d)
    d = kernel_like("no-streams")
    for name in ("channel0_0", "channel0_1"):
        os.unlink(f"{d}/{name}")
    survives("metadata without streams", d)
    d = kernel_like("empty-streams")
    for name in ("channel0_0", "channel0_1"):
        written(f"{d}/{name}", b"")
    survives("empty streams", d)
    d = kernel_like("empty-metadata")
    written(d + "/metadata", b"")
    told("empty metadata", d)
    d = kernel_like("ctf2")
    written(d + "/metadata", b'\x1e{"type":"preamble","version":2}\n')
    if run("babeltrace2", "--version").stdout.split()[2] < "2.1":
        told("a trace of CTF 2", d, words="install a newer babeltrace2, or have LTTng write CTF 1.8")
    else:
        survives("a trace of CTF 2 without anything", d)
    if os.geteuid() == 0:
        of_somebody_else()
    else:
        d = kernel_like("closed")
        os.chmod(d, 0)
        told("no permission", d, words="Permission denied")
        os.chmod(d, 0o700)


def of_somebody_else():
    """A part that may not be read is told as that, not as missing."""
    top = f"{TOP}/whole"
    os.chmod(TOP, 0o755)
    shutil.copytree(kernel_like("part"), top + "/kernel")
    written(top + "/session.json", b"{}\n")
    shutil.copytree(kernel_like("part2"), top + "/other")

    def said():
        return run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", MAGNET, "report", top, check=False)

    if said().returncode:
        print("the user nobody cannot run this: not tested:", said().stderr.strip())
        return
    os.chmod(top + "/session.json", 0)
    p = said()
    check(p.returncode == 0 and "session.json: Permission denied: read without it" in p.stderr, p.stderr.strip())
    os.chmod(top + "/other", 0)
    p = said()
    check(p.returncode == 1 and f"magnet: {top}/other: Permission denied: read without it\n" in p.stderr and p.stdout,
          p.stderr.strip())
    os.chmod(top + "/other", 0o700)


def not_waited_for():
    """Who follows a recording waits for an empty session.json, not for a damaged one."""
    top = f"{TOP}/followed"
    shutil.copytree(kernel_like("part3"), top + "/kernel")
    written(top + "/session.json", b'{"a": 1, "b"')
    os.utime(top + "/session.json", (1, 1))
    for args in (("show", "-f"), ("top", "--json")):
        p = run("timeout", "20", MAGNET, *args, top, check=False)
        check(p.returncode == 1 and "session.json is damaged (line 1" in p.stderr, f"{args}: {p.stderr.strip()}")


def values():
    """Times and numbers that cannot be."""
    for name, times in (("beginning", (0, 1, 2)), ("far", (1 << 62, (1 << 62) + 5)),
                        ("end", ((1 << 64) - 5, (1 << 64) - 1)), ("jump", (1, 1 << 61))):
        t = Trace(f"{TOP}/times-{name}", SWITCH)
        for ns in times:
            t.add(ns, 0, "sched_switch", "\n\t\x7f", -1, -5, -1, "%s%n", 2**31 - 1, 0)
        t.write()
        survives(f"times at the {name}", t.path)
    t = Trace(f"{TOP}/cpus", SWITCH)
    for cpu in (0, 1023, 1024, 65535, 2**31, 2**32 - 1):
        t.add(10**9, cpu, "sched_switch", "a", 1, 2, 3, "b", 4, 5)
    t.write()
    survives("CPUs that cannot be", t.path)


def clocks():
    ours, theirs = uuid.uuid4(), uuid.uuid4()
    a = kernel_like("boot-a", boot=ours, offset_s=1000)
    told("two boots", a, kernel_like("boot-b", boot=theirs, offset_s=5000), words="clocks")
    said = survives("one boot, and the time of day was set", a,
                    kernel_like("boot-c", boot=ours, offset_s=5000))
    check(all(c == 0 for c, _ in said), "one boot whose time of day was set")


def with_metadata(name, more):
    """The small trace with more in its description."""
    d = kernel_like(name)
    with open(d + "/metadata") as f:
        text = f.read()
    with open(d + "/metadata", "w") as f:
        f.write(text.replace("event {", more + "\nevent {", 1))
    return d


def bombs():
    """A few lines that ask for more memory than there is, or for a stack without an end."""
    byte = "typealias integer { size = 8; align = 8; signed = false; } := t0;\n"
    tens = "".join("typealias struct { " + "".join(f"t{i} f{k}; " for k in range(10)) + f"}} := t{i + 1};\n"
                   for i in range(12))
    told("types of ten of the type before", with_metadata("bomb", byte + tens), words="memory",
         commands=COMMANDS[:1])
    chain = "".join(f"typealias struct {{ t{i} f; }} := t{i + 1};\n" for i in range(5000))
    told("types within types", with_metadata("chain", byte + chain), words="memory", commands=COMMANDS[:1])
    told("blocks within blocks", with_metadata("deep", "typealias " + "struct { " * 10**5 + "u8 a; " +
                                               "} x; " * (10**5 - 1) + "} := deep;"), words="deeper")
    told("blocks whose ends are in comments and quotes", with_metadata(
        "hidden", "typealias " + '/* " */ struct { ' * 100 + '/* } " */ "}" ' * 100), words="deeper")


def sessions(good):
    """A session.json that is no file, or asks for more than any that magnet writes."""
    d = TOP + "/session"
    shutil.copytree(good, d + "/kernel")
    os.mkfifo(d + "/session.json")
    for what, words, data in (("a pipe", "no regular file", None),
                              ("many values", "more than 262144 values", b"[" + b"{}," * 10**6 + b"1]"),
                              ("many lists", "depth", b"[" * 5000 + b"]" * 5000),
                              ("20 MB", "larger", b" " * 20_000_000 + b"{}")):
        if data is not None:
            os.unlink(d + "/session.json")
            written(d + "/session.json", data)
        told(f"a session.json of {what}", d, words=words, code=0)
    os.unlink(d + "/session.json")
    os.symlink("/etc/passwd", d + "/session.json")
    told("a session.json elsewhere", d, words="a link", code=0)


def links_and_pipes():
    """All files read lie in the directory, and no reader waits on a pipe."""
    d = kernel_like("fifo-index")
    os.mkdir(d + "/index")
    os.mkfifo(d + "/index/channel0_0.idx")
    told("a pipe as an index", d, words="no regular file")
    d = kernel_like("to-root")
    os.symlink("/", d + "/root")
    told("a link to /", d, words="not followed", code=0)
    for name, words in (("channel0_0", "a link"), ("metadata", "no trace")):
        d = kernel_like("linked-" + name)
        os.rename(f"{d}/{name}", f"{TOP}/elsewhere-{name}")
        os.symlink(f"../elsewhere-{name}", f"{d}/{name}")
        told(f"{name} elsewhere", d, words=words)
    os.symlink(TOP + "/with-fifo", TOP + "/its-name")
    check(all(c == 0 for c, _ in survives("a link as the recording's name", TOP + "/its-name")),
          "a link that the user named is followed")


def too_many():
    with open(kernel_like("one") + "/metadata", "rb") as f:
        metadata = f.read()
    for i in range(10000):
        os.makedirs(f"{TOP}/many/{i:05}")
        written(f"{TOP}/many/{i:05}/metadata", metadata)
    # digits alone are parts of a recording
    told("10,000 traces", TOP + "/many", words="more than 4,096 traces", commands=COMMANDS[:1])
    deep = TOP + "/deeper" + "/d" * 40
    shutil.copytree(TOP + "/one", deep)
    told("a trace 40 directories deep", TOP + "/deeper", words="32 deep")


def copies(good):
    """A file read twice would be counted twice."""
    told("one trace given twice", good, good, words="given twice")
    shutil.copytree(good, TOP + "/the-copy")
    told("a trace and its copy", good, TOP + "/the-copy", words="copies of one recording")
    shutil.copy(good + "/channel0_0", good + "/channel0_0.copy")
    told("a stream and its copy", good, words="copies of one recording")


def rates():
    for rate in ("freq = 0;", "", "xfreq = 1000000000;", "/* freq = 1 */", "// freq = 1\n", "freq = /* 1 */ 0;"):
        d = kernel_like("no-rate")
        with open(d + "/metadata") as f:
            text = f.read()
        with open(d + "/metadata", "w") as f:
            f.write(text.replace("freq = 1000000000;", rate))
        told(f"a clock of '{rate}'", d, words="no rate", commands=COMMANDS[:1])
        with open(d + "/metadata", "w") as f:
            f.write(text.replace("freq = 1000000000;", rate).replace("clock {", "clock /* of */ {"))
        told("and with a comment before it", d, words="no rate", commands=COMMANDS[:1])
        with open(d + "/metadata", "w") as f:
            f.write(text + "\0")
        told("metadata that is no text", d, words="no text", commands=COMMANDS[:1])
        shutil.rmtree(d)


def overwritten():
    """LTTng's packets that are not there were overwritten as it recorded: no file is gone."""
    for domain in ("kernel", "ust"):
        d = kernel_like("overwritten", domain=domain, packet_events=10, tracer="lttng-" + ("modules" if domain == "kernel" else domain))
        path = d + "/channel0_1"
        data = open(path, "rb").read()
        size = int.from_bytes(data[56:64], "little") // 8
        written(path, data[:size] + data[2 * size:])
        p = bounded("report", "--json", d)
        gaps = json.loads(p.stdout)["loss"]
        check(not gaps["missing"]["packets"] and [(g["reason"], g["count"]) for g in gaps["gaps"]] == [("not_kept", None)],
              f"{domain}: packets that were overwritten: {gaps}")
        check(not GONE.search(bounded("report", d).stdout), "are told as such")
        shutil.rmtree(d)


def indexes(good):
    os.makedirs(good + "/index")
    head = struct.pack(">IIII", 0xC1F1DCC1, 1, 1, 72)
    size = os.path.getsize(good + "/channel0_0")
    for offset, packet, content in ((0, 0, 0), (0, size * 8, 1 << 63), (1 << 63, 8, 8),
                                    (0, (1 << 64) - 1, 8), (size, 8, 8), (0, 8, 8), (5, 800, 800)):
        entry = struct.pack(">QQQQQQQQQ", offset, packet, content, 0, 1, 0, 0, 0, 0)
        written(good + "/index/channel0_0.idx", head + entry)
        survives(f"an index of packet {packet}, content {content} at {offset}", good)
    check(True, "indexes that lie")


def being_written():
    """Read while it is recorded: what there is, or one line."""
    d = TOP + "/live"
    p = subprocess.Popen([MAGNET, "record", "-q", "-o", d, "--", PYTHON, "-c",
                          "import socket, time\na, b = socket.socketpair()\n"
                          "end = time.time() + 2\n"
                          "while time.time() < end: a.send(b'x' * 100); b.recv(100); time.sleep(.001)"],
                         stderr=subprocess.DEVNULL)
    while p.poll() is None:
        if os.path.isdir(d):
            survives("a trace being written", d)
        time.sleep(0.3)
    check(True, "a trace being written")


def died():
    """The program was killed in a call."""
    code = ("import os, signal, socket, threading\n"
            "a, b = socket.socketpair()\na.send(b'x')\nb.recv(1)\n"
            "threading.Timer(.3, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()\nb.recv(1)")
    d = TOP + "/died"
    p = run(MAGNET, "record", "-q", "-o", d, "--", PYTHON, "-c", code, check=False)
    check(p.returncode == 137, f"the program was killed: {p.returncode}")
    said = survives("a program that died in a call", d)
    check(all(c == 0 for c, _ in said), "a program that died in a call: reported")
    return d


def missing(*directories):
    """The events that are here and what is told to be missing, by both readers the same."""
    found = []
    for reader in READERS:
        r = json.loads(bounded("report", "--json", *directories, reader=reader).stdout)
        text = bounded("report", *directories, reader=reader).stdout
        gone = r["loss"]["missing"]
        whole = not any(gone.values())
        said = bool(GONE.search(text))
        check(said != whole and ("nothing lost" not in text or whole), f"in words, too: {gone}")
        found.append((r["events"], gone))
    check(found[0] == found[1], f"both readers tell the same: {found}")
    return found[0]


def without_a_file(whole, at, name):
    """The events of a removed file are reported as missing."""
    d = damaged(whole, 0, b"")
    os.unlink(os.path.join(d + at[len(whole):], name))
    survives(f"without {name}", d, commands=COMMANDS[:1])
    events, none = missing(whole)
    check(not any(none.values()), "nothing is missing of all of it")
    if name == "session.json":
        return
    if name != "metadata":  # then the trace's own total tells it
        os.unlink(d + "/session.json")
    if bounded("report", d).returncode:
        check(not os.path.isdir(d + "/kernel"), f"without {name} there is no other trace, as was said")
        return
    left, gone = missing(d)
    app, kernel = (events[side] - left[side] for side in ("app", "kernel"))
    if name == "metadata":
        check(gone["undescribed"] == d + at[len(whole):], f"without {name}: {gone}")
    elif name in ("calls", "tracer"):  # its last word is in it
        check(gone["traces_without_end"] == 1 or "INCOMPLETE" in bounded("report", d).stdout, f"without {name}: {gone}")
    else:
        check(gone["app"] == app and gone["kernel"] == kernel > 0, f"without {name}: {gone}")


def without_a_side(whole, side, other):
    """The side that is here tells that there was another one."""
    for session in ("session.json", ""):
        d = changed(whole, "one-sided")
        shutil.rmtree(f"{d}/{side}")
        if not session:
            os.unlink(d + "/session.json")
        gone = missing(d)[1]
        check(gone[f"{side}_side"] and not gone[f"{other}_side"], f"without {side} and {session}: {gone}")


def without_a_side_among_others(whole, other):
    """A second recording, which has both sides, does not stand for the side that is gone."""
    gone = missing(whole, other)[1]
    check(not any(gone.values()), f"nothing is missing of two recordings: {gone}")
    apart = {}
    for side in ("app", "kernel"):
        apart[side] = changed(whole, "without-" + side)
        shutil.rmtree(f"{apart[side]}/{side}")
        os.unlink(apart[side] + "/session.json")
        gone = missing(apart[side], other)[1]
        check([gone[f"{s}_side"] for s in ("app", "kernel")] == [side == "app", side == "kernel"],
              f"without {side}, beside a whole one: {gone}")
    gone = missing(*apart.values())[1]
    check(not any(gone.values()), f"two sides that were moved apart are one recording: {gone}")


def at_one_time():
    """Two recordings that overlap in time: others may not be read together."""
    directories = [f"{TOP}/first", f"{TOP}/second"]
    exchange = [PYTHON, EXCHANGE, "50"]
    with subprocess.Popen([MAGNET, "record", "-q", "-o", directories[0], "--", "sh", "-c",
                           '"$@"; echo done; cat', "sh", *exchange],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        first.stdout.readline()
        run(MAGNET, "record", "-q", "-o", directories[1], "--", *exchange)
        first.stdin.close()
    return directories


def changed(whole, name):
    shutil.rmtree(f"{TOP}/{name}", ignore_errors=True)
    shutil.copytree(whole, f"{TOP}/{name}")
    return f"{TOP}/{name}"


def events_and_packets(whole):
    """One event that is gone is told as one; of a packet, where it was, and how many events it had."""
    events = missing(whole)[0]
    for path in streams.streams(whole):
        side = "app" if path.endswith("calls") else "kernel"
        if path.endswith("tracer"):
            continue
        d = changed(whole, "an-event-less")
        streams.cut_event(d + path[len(whole):], lambda some: some[len(some) // 2])
        left, gone = missing(d)
        check(gone[side] == 1 == events[side] - left[side], f"an event of {os.path.basename(path)} is gone: {gone}")
        with open(path, "rb") as f:
            n = len(streams.packets(f.read()))
        for first in (0, n // 2, n - 1) if n > 3 else ():
            d = changed(whole, "a-packet-less")
            streams.cut_packets(d + path[len(whole):], first)
            if first in (0, n - 1) and side == "app":
                continue  # its begin and its end; see without_a_file
            left, gone = missing(d)
            check(gone[side] == events[side] - left[side] > 0 and gone["packets"] == (0 < first < n - 1),
                  f"packet {first} of {n} of {os.path.basename(path)} is gone: {gone}")


def unknown(whole):
    d = changed(whole, "unknown")
    with open(d + "/app/metadata") as f:
        text = f.read()
    with open(d + "/app/metadata", "w") as f:
        f.write(text.replace('"magnet:send"', '"magnet:sent"').replace('"magnet:sendto"', '"magnet:sentto"'))
    left, gone = missing(d)
    check(gone["unknown_events"] == missing(whole)[0]["app"] - left["app"] > 0 and gone["app"] == 0,
          f"events of a kind that is not known are told: {gone}")


try:
    directories()
    not_waited_for()
    values()
    clocks()
    truncations(kernel_like("lttng-like"))
    sizes(TOP + "/lttng-like", 4 + 16 + 4 + 8 + 16,
          int.from_bytes(open(stream_of(TOP + "/lttng-like"), "rb").read(64)[56:64], "little") // 8)
    indexes(kernel_like("indexed"))
    bombs()
    rates()
    overwritten()
    sessions(TOP + "/lttng-like")
    links_and_pipes()
    too_many()
    copies(kernel_like("twice"))
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    check(SANITIZED or used < 512 * 1024, f"none of them took more than {used // 1024} MB")
    being_written()
    died()
    with Recording(PYTHON, EXCHANGE, "50", options=("-q",)) as rec:
        truncations(rec.dir)
        sizes(rec.dir, 4 + 16 + 4 + 16, 4096)
        survives("another magic number", damaged(rec.dir, 4096, b"\0\0\0\0"))
        for kept in ("app", "kernel"):
            if os.path.isdir(f"{rec.dir}/{kept}"):
                survives(f"{kept} alone", f"{rec.dir}/{kept}")
        if os.path.isdir(rec.dir + "/kernel"):
            without_a_side(rec.dir, "kernel", "app")
            without_a_side(rec.dir, "app", "kernel")
            without_a_side_among_others(*at_one_time())
        events_and_packets(rec.dir)
        unknown(rec.dir)
        told("one recording given twice", rec.dir, rec.dir, words="given twice")
        told("a recording and its part", rec.dir, rec.dir + "/app", words="given twice")
        for at, _, names in os.walk(rec.dir):
            for name in names:
                without_a_file(rec.dir, at, name)
finally:
    shutil.rmtree(TOP)
