# SPDX-License-Identifier: MIT
"""
magnet's own reader and babeltrace2 give the same reports and lists, byte by byte, of every kind of
recording; and what only babeltrace2 can read, or nobody, goes to babeltrace2.
"""
import os
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from lttng import LttngSession
from readers import *
from tracer import Talker, Tracer

own_network()
EXCHANGE = (PYTHON, os.path.join(os.path.dirname(__file__), "..", "programs", "exchange.py"))
LIBMAGNET = os.path.join(os.environ.get("MAGNET_BUILD", ""), "preload/libmagnet.so")
TOP = scratch()
HEAD = 24  # bytes of a packet before its context


def copy(directory, name):
    shutil.copytree(directory, f"{TOP}/{name}")
    return f"{TOP}/{name}"


def stream(directory):
    """The largest file of a kernel trace."""
    paths = [os.path.join(at, n) for at, _, names in os.walk(directory + "/kernel")
             for n in names if n != "metadata"]
    return max(paths, key=os.path.getsize)


def patched(directory, name, at, data):
    d = copy(directory, name)
    with open(stream(d), "r+b") as f:
        f.seek(at)
        f.write(data)
    return d


def replaced(directory, name, old, new):
    d = copy(directory, name)
    with open(d + "/kernel/metadata", "r+") as f:
        text = f.read()
        check(old in text, f"{name}: there is something to change")
        f.seek(0)
        f.truncate()
        f.write(text.replace(old, new))
    return d


def cut(directory, name, size):
    d = copy(directory, name)
    os.truncate(stream(d), size)
    return d


def message(*dirs):
    """A trace that both refuse: one line each, exit 1."""
    for reader in ("", "babeltrace2"):
        status, _, err = read_by(reader, ("report",), *dirs)
        check(status == 1 and err.startswith(b"magnet: ") and err.count(b"\n") == 1,
              f"{os.path.basename(dirs[0])}: {reader or 'direct'} exits {status}: {err.decode().strip()}")
    return err


def last_packet_begins(path):
    """Returns the time at which the last packet of a stream begins."""
    at = 0
    with open(path, "rb") as f:
        while at < os.path.getsize(path):
            f.seek(at + HEAD)
            begin, _, _, bits = struct.unpack("<4Q", f.read(32))
            at += bits // 8
    return begin


def rows(directory):
    """Returns the events as listed, without cycles, which are worked out from the whole trace."""
    split = (line.split(b"\t") for line in read_by("direct", ("show", "--tsv"), directory)[1].splitlines()[1:])
    return [[time, *rest] for time, _, *rest in split]


def damaged(rec):
    """
    At the begin: babeltrace2's own words, whoever reads. Later: what was read until then, and our own.
    """
    path = stream(rec.dir)
    same_by_both("a size that cannot be", patched(rec.dir, "size", HEAD + 31, b"\x80"), direct=False)
    same_by_both("cut in its first packet", cut(rec.dir, "first", 70), direct=False)
    whole = rec.dir + "/kernel"
    d = cut(rec.dir, "truncated", os.path.getsize(path) - 10) + "/kernel"
    status, out, err = read_by("direct", ("report", "--json"), d)
    reported = json.loads(out)["events"]["kernel"]
    listed, everything = rows(d), rows(whole)
    check(status == 1 and 0 < reported < len(everything) and err.count(b"\n") == 1,
          f"cut at its end: {reported} of {len(everything)} events are reported, exit {status}: {err.decode().strip()}")
    # events of other streams since the last one before are missing, too, such as those of chosen tracepoints on this
    # CPU: reading is in the order of time
    begin, cpu = last_packet_begins(path), os.path.basename(path).removeprefix("cpu").encode()
    missing = everything[len(listed):]
    of_cpu = [int(row[0]) for row in missing if row[1] == cpu and b":" not in row[4]]
    check(listed == everything[:len(listed)] and of_cpu and min(of_cpu) >= begin,
          f"all before is listed: {len(missing)} events are missing, {len(of_cpu)} of the CPU whose last packet is cut")
    with open(path, "rb") as f:
        head = f.read(HEAD + 8)
    (begin,) = struct.unpack_from("<Q", head, HEAD)
    # the first event comes before its packet, or is of no class
    message(patched(rec.dir, "time", HEAD + 52 + 2, struct.pack("<Q", begin - 10**9)))
    message(patched(rec.dir, "class", HEAD + 52, b"\x7b\x7b"))
    status, out, _ = read_by("direct", ("show", "--tsv"), TOP + "/class")
    check(status == 1 and out.count(b"\n") > 3, "what stands before the damage is listed")


def other_descriptions(rec):
    """Older and newer versions of magnet, and other tracers."""
    same_by_both("a field that is not known", replaced(rec.dir, "newer", "_snd_wnd;", "_snd_wndx;"))
    same_by_both("an event that is not known", replaced(rec.dir, "event", '"dev_done"', '"dev_did"'))
    same_by_both("a field of another size", replaced(
        rec.dir, "wide", "\t\tu32 _snd_una;\n\t\tu32 _snd_nxt;\n", "\t\tu64 _snd_una;\n"))
    same_by_both("a signed field", replaced(rec.dir, "signed", "u32 _left;", "s32 _left;"))
    same_by_both("another tracer", replaced(
        rec.dir, "foreign", '"magnet-kernel-tracer"', '"lttng-modules"'), direct=False)
    status, _, err = read_by("direct", ("report",), TOP + "/foreign")
    check(status == 1 and b"another tracer" in err, f"and the reason is told: {err.decode().strip()}")
    status, _, err = read_by("sideways", ("report",), rec.dir)
    check(status == 1 and b"MAGNET_READER" in err, f"no such reader: {err.decode().strip()}")


def kernel_side():
    chosen = ("--event", "sched:sched_process_exec", "--event", "sched:sched_process_exit",
              "--event", "skb:consume_skb", "--event", "syscalls:sys_enter_execve")
    with Recording(*EXCHANGE, "200", "3000", options=("-q", *chosen)) as rec:
        same_by_both("with chosen events", rec.dir)
        same_by_both("kernel side only", rec.dir + "/kernel")
        same_by_both("application side only", rec.dir + "/app")
        same_by_both("both, in the other order", rec.dir + "/kernel", rec.dir + "/app")
        damaged(rec)
        other_descriptions(rec)
    with Recording(*EXCHANGE, "500", options=("-q", "--level", "full", "--anonymize")) as rec:
        same_by_both("full level, anonymized", rec.dir)
    with Recording(PYTHON, "-c", "import time, subprocess\nfor i in range(12):\n"
                   f" subprocess.run({[*EXCHANGE, '50']!r})\n time.sleep(0.1)\n",
                   options=("-q", "--rotate", "1s")) as rec:
        check(len(os.listdir(rec.dir + "/kernel")) > 1, "there are parts")
        same_by_both("parts", rec.dir)
    with Recording(*EXCHANGE, "200", options=("-q", "--flight", "10s", "--trigger", "lost")) as rec:
        same_by_both("flight recorder", rec.dir)
    with Talker() as load, Tracer(TOP + "/killed", "--pid", load.pid).ready() as tracer:
        load.ask(500)
        time.sleep(0.3)
        tracer.kill()
        same_by_both("a tracer that was killed", TOP + "/killed")


def application_side():
    with Recording(*EXCHANGE, "200", options=("-q", "--app-only")) as rec:
        same_by_both("application side alone", rec.dir)
    with LttngSession() as session:
        run(*EXCHANGE, "50", env=dict(os.environ, LD_PRELOAD=LIBMAGNET, **session.env))
        session.end()
        same_by_both("an LTTng session", session.trace, direct=False)


try:
    application_side()
    why = no_kernel_side()
    if why:
        print("the kernel side cannot be recorded here: " + why)
    else:
        kernel_side()
finally:
    shutil.rmtree(TOP)
