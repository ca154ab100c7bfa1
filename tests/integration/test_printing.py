# SPDX-License-Identifier: MIT
"""
Text chosen by others, in options or in names and strings of a trace, has no effect on the terminal
that messages, reports and lists of events are printed on.
"""
import os
import sys
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

TRACER = os.path.join(os.environ["MAGNET_BUILD"], "kernel-tracer", "magnet-kernel-tracer")
# a title, a line of its own, a C1 control in UTF-8 and as a byte, text from the right, a byte of no meaning
NASTY = b"n\x1b]0;own\x07\nmagnet: all is well\xc2\x9b31m\x9b31m\xe2\x80\xae\xff"
TEXT = "n\x1b[31m\nline\u009b31m\u202e"  # as far as JSON takes it

PROGRAM = """
import ctypes, socket, sys
libc = ctypes.CDLL(None)
libc.prctl(15, b"p\\x1b[2J\\n\\xc2\\x9b\\x9b\\xff")
here = ctypes.CDLL(sys.argv[1]).magnet_mark_here
l = socket.create_server(("127.0.0.1", 0))
a = socket.create_connection(l.getsockname())
b, _ = l.accept()
for i in range(50):
    here(b"m\\x1b[31m\\n\\xc2\\x9b\\xff", ctypes.c_uint64(i), ctypes.c_int64(i))
    a.send(b"x")
    b.recv(1)
"""


def clean(out, what, also=""):
    try:
        text = out.decode()
    except UnicodeDecodeError as e:
        check(False, f"{what}: {e}: {out[max(e.start - 60, 0):e.start + 20]}")
    for i, c in enumerate(text):
        if c not in "\n" + also and (unicodedata.category(c) in ("Cc", "Zl", "Zp")
                                     or unicodedata.bidirectional(c) in ("RLO", "LRO", "RLE", "LRE", "PDF")):
            check(False, f"{what} prints {c!r}: {text[max(i - 60, 0):i + 20]!r}")


def says(*args, env=None, also="", lines=None):
    """Returns what a command prints, which must contain no terminal control characters."""
    p = subprocess.run(list(map(os.fsencode, args)), capture_output=True, timeout=300 * SLOWER,
                       env=dict(os.environ, **(env or {})))
    what = b" ".join(map(os.fsencode, args[:4])).decode(errors="replace").encode("unicode_escape").decode()
    clean(p.stderr, what)
    clean(p.stdout, what, also)
    if lines is not None and p.stderr.count(b"\n") != lines:
        check(False, f"{what}: {lines} line expected: {p.stderr}")
    return p


def options():
    n = 0
    for args in ([NASTY], ["report", NASTY], ["report", b"--" + NASTY], ["report", b"-" + NASTY], ["report", "--flow"],
                 ["report", "--on-demand", NASTY, "/"], ["report", "--on-demand", b"gcra:" + NASTY, "/"],
                 ["report", "--waterfall", NASTY, "/"], ["show", NASTY], ["show", "--from", NASTY, "/"],
                 ["show", "--flow", NASTY, "--bytes", NASTY, "/"], ["doctor", NASTY],
                 *(["record", "--" + o, NASTY, "--", "true"] for o in ("buffer", "drain", "layers", "pid",
                                                                     "duration", "calls")),
                 ["record", "-o", b"/nowhere/" + NASTY, "--", "true"]):
        check(says(MAGNET, *args, lines=1).returncode in (1, 2), f"refused in one line: {args[0]} {args[1:2]}")
        n += 1
    if os.path.exists(TRACER):
        for o in ("layers", "buffer", "drain", "pid", "max-size", "rotate", "keep", "flight", "trigger", "event",
                  "level", "cgroup", "protocol", "netns", "port", "address", "sample", "interface", "without",
                  "control-fd", "nonsense"):
            value = NASTY if o != "cgroup" else b""
            check(says(TRACER, "-o", "/nowhere", "--" + o, value, lines=1).returncode == 2, f"--{o}")
        says(TRACER, "ctl", "--pid", NASTY, "status", lines=1)
        says(TRACER, "ctl", "--socket", b"/nowhere/" + NASTY, "status", lines=1)
        says(TRACER, "ctl", NASTY, lines=1)
    says(MAGNET, "report", "/", env={"MAGNET_READER": os.fsdecode(NASTY)}, lines=1)
    with tempfile.TemporaryDirectory() as d:
        p = says(MAGNET, "record", "--app-only", "-q", "-o", d + "/t", "--", "true",
                 env={"MAGNET_CALLS": os.fsdecode(NASTY)}, lines=1)
        check(b"MAGNET_CALLS=n\\x1b" in p.stderr, "what libmagnet.so ignores is named")


def read(d):
    """By every command that prints what a trace holds, and both readers."""
    for reader in ("direct", "babeltrace2"):
        env = {"MAGNET_READER": reader}
        p = says(MAGNET, "report", d, env=env)
        j = json.loads(says(MAGNET, "report", "--json", "--full", d, env=env).stdout)
        tsv = says(MAGNET, "show", "--tsv", d, env=env, also="\t").stdout
        check(all(line.count(b"\t") == 9 for line in tsv.splitlines()), "ten columns a row")
        says(MAGNET, "show", d, env=env)
        flow = next((f["id"] for f in j["flows"] if f["direction"] == "tx"), None)
        if flow:
            says(MAGNET, "report", "--flow", flow, d, env=env)
            says(MAGNET, "report", "--flow", NASTY, d, env=env)
            says(MAGNET, "show", "--flow", flow, "--bytes", "0-9", d, env=env)
    return p, j


def strings(v):
    if isinstance(v, str):
        return v + TEXT
    if isinstance(v, list):
        return [strings(x) for x in v]
    return {k: strings(x) for k, x in v.items()} if isinstance(v, dict) else v


def patch(top, old, new):
    """Puts a string in the place of another of the same length, in all streams."""
    n = 0
    for at, _, files in os.walk(top):
        for f in files:
            if f in (b"metadata", b"session.json"):
                continue
            with open(at + b"/" + f, "r+b") as s:
                b = s.read()
                n += b.count(old)
                s.seek(0)
                s.write(b.replace(old, new))
    return n


def traces():
    kernel = not no_kernel_side()
    with tempfile.TemporaryDirectory() as top:
        program = os.fsencode(top) + b"/" + NASTY.replace(b"/", b"")
        os.symlink(PYTHON, program)
        d = os.fsencode(top) + b"/t" + NASTY.replace(b"/", b"")
        library = os.path.join(os.environ["MAGNET_BUILD"], "preload", "libmagnet.so")
        p = says(MAGNET, "record", "-o", d, *([] if kernel else ["--app-only"]), "--", program, "-c", PROGRAM,
                 library, NASTY)
        check(p.returncode == 0 and b"/tn\\x1b]0;own\\x07\\x0amagnet" in p.stderr, "the directory is told in one line")
        p, j = read(d)
        check(j["marks"] and all("\x1b" in m["name"] for m in j["marks"]), "JSON has marks' names")
        if kernel:
            check(any("\x1b]0;own" in (f["comm"] or "") for f in j["flows"]), "and the program's")
            patched = 0
            for old in (b"netfilter ipv4\0", b"ip_out ipv4\0", b"sys_enter\0", b"syscall\0", b"device\0",
                        b"cubic\0", b"bbr\0", b"reno\0"):
                patched += patch(d, old, b"\x1b[2J\n\x9b"[:len(old) - 1].ljust(len(old) - 1, b"\xff") + b"\0")
            check(patched > 5, f"{patched} strings of its events are others now")
            read(d)
        session = json.load(open(d + b"/session.json"))
        json.dump(strings(session), open(d + b"/session.json", "w"))
        read(d)


options()
traces()
