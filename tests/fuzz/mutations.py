# SPDX-License-Identifier: MIT
"""
Ways to damage a recording, as disks, copies and people with bad intentions do. A mutation changes a
directory in place, by a random generator's choices only, and returns what it did, and how many events may
have become others that nothing can tell (a byte of an event is a byte of a correct one, too).
"""
import json
import os
import re
import shutil
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import streams

JUNK = (b"\0", b"\xff", b"\x7f", b"\n", b"{", b"\x80")
VALUES = (None, True, False, 0, -1, 1, 2**31, 2**63 - 1, -2**63, 1e300, "", "x" * 5000, "\x1b[2J", [], {}, [[[]]])


def files(top):
    return sorted(os.path.join(at, n) for at, _, names in os.walk(top) for n in names)


def directories(top):
    return sorted(os.path.join(at, n) for at, names, _ in os.walk(top) for n in names)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def one_file(rng, top, metadata=True):
    """The few bytes of the tracer's own stream and of session.json as often as a large stream's."""
    return rng.choice([p for p in files(top) if metadata or not p.endswith("metadata")])


def flips(rng, top):
    path, n = one_file(rng, top), rng.choice((1, 1, 1, 2, 8))
    data = bytearray(read(path))
    for _ in range(n if data else 0):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    write(path, data)
    return f"{n} bits of {path}", n


def overwritten(rng, top):
    path, n = one_file(rng, top), rng.choice((1, 4, 8, 64, 5000))
    data = bytearray(read(path))
    at = rng.randrange(len(data) + 1)
    junk = rng.choice((rng.randbytes(n), rng.choice(JUNK) * n))[:len(data) - at]
    data[at:at + len(junk)] = junk
    write(path, data)
    return f"{len(junk)} bytes at {at} of {path}", len(junk)


def heads(rng, top):
    """A number of a packet's head becomes another one."""
    path = rng.choice(streams.streams(top) or files(top))
    data = bytearray(read(path))
    packet = rng.choice(streams.packets(data) or [(0, 0, 0, 0)])
    at = packet[0] + rng.choice((0, 4, 20, 24, 32, 40, 48, 56, 64, 72))
    value = rng.choice((0, 1, 8, 2**31, 2**32, 2**63, 2**64 - 1, 4096 * 8, rng.getrandbits(64)))
    if at + 8 <= len(data):
        struct.pack_into("<Q", data, at, value)
    write(path, data)
    return f"{value:#x} at {at} of {path}", 0


def truncated(rng, top):
    path = one_file(rng, top)
    size = os.path.getsize(path)
    to = rng.choice((0, 1, size // 2, max(size - 1, 0), rng.randrange(size + 1), rng.randrange(size + 1) // 4096 * 4096))
    os.truncate(path, to)
    return f"{path} cut off at {to} of {size}", 0


def extended(rng, top):
    path, n = one_file(rng, top), rng.choice((1, 76, 4096, 70000))
    with open(path, "ab") as f:
        f.write(rng.choice((rng.randbytes(n), bytes(n), read(path)[:n])))
    return f"{n} bytes behind {path}", 0


def removed(rng, top):
    path = one_file(rng, top)
    os.unlink(path)
    return f"{path} removed", 0


def total_alone(rng, top):
    """A stream is gone, and session.json as well."""
    path = rng.choice(streams.streams(top) or files(top))
    os.unlink(path)
    if os.path.exists(top + "/session.json"):
        os.unlink(top + "/session.json")
    return f"{path} and session.json removed", 0


def duplicated(rng, top):
    path = one_file(rng, top)
    shutil.copy(path, path + rng.choice((".copy", "0", "~")))
    return f"{path} twice", 0


def renamed(rng, top):
    path = one_file(rng, top)
    name = rng.choice((".hidden", "metadata", "session.json", "cpu7", "x", "calls", "index"))
    os.rename(path, os.path.join(os.path.dirname(path), name))
    return f"{path} renamed to {name}", 0


def part_removed(rng, top):
    path = rng.choice(directories(top) or [top])
    if path == top:
        return removed(rng, top)
    shutil.rmtree(path)
    what = f"{path} removed"
    if rng.random() < 0.5 and os.path.exists(top + "/session.json"):
        os.unlink(top + "/session.json")
        what += ", and session.json"
    return what, 0


def part_copied(rng, top):
    path = rng.choice(directories(top) or files(top))
    to = path + rng.choice(("9", "-copy", "0009"))
    (shutil.copytree if os.path.isdir(path) else shutil.copy)(path, to)
    return f"{path} copied to {to}", 0


def part_renamed(rng, top):
    path = rng.choice(directories(top) or files(top))
    to = os.path.join(os.path.dirname(path), rng.choice(("0009", "app", "kernel", "ust", ".x", "other")))
    if os.path.exists(to):
        return removed(rng, top)
    os.rename(path, to)
    return f"{path} renamed to {to}", 0


def swapped(rng, top):
    """Two streams, of one trace or of two, take each other's place."""
    some = streams.streams(top) or files(top)
    a, b = rng.choice(some), rng.choice(some)
    x, y = read(a), read(b)
    write(a, y)
    write(b, x)
    return f"{a} and {b} swapped", 0


def packets_cut(rng, top):
    path = rng.choice(streams.streams(top) or files(top))
    all_of = streams.packets(read(path))
    if not all_of or all_of[-1][2] == 0:
        return removed(rng, top)
    first = rng.randrange(len(all_of))
    count = rng.randint(1, min(3, len(all_of) - first))
    streams.cut_packets(path, first, count)
    return f"packets {first} to {first + count - 1} of {len(all_of)} of {path} cut out", 0


def packets_doubled(rng, top):
    path = rng.choice(streams.streams(top) or files(top))
    data = read(path)
    all_of = streams.packets(data)
    if not all_of:
        return extended(rng, top)
    at, _, size, _ = rng.choice(all_of)
    write(path, data[:at + size] + data[at:])
    return f"the packet at {at} of {path} twice", 0


def event_cut(rng, top):
    some = [p for p in streams.streams(top) if os.path.exists(os.path.dirname(p) + "/metadata")]
    path = rng.choice(some or files(top))
    try:
        number = streams.cut_event(path, rng.choice)
    except (IndexError, struct.error, ValueError, FileNotFoundError):
        return truncated(rng, top)
    return f"an event {number} of {path} cut out", 0


def places(node, at=()):
    """Every place in a JSON value, as the keys that lead there."""
    yield at
    for key in node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
        yield from places(node[key], at + (key,))


def json_edited(rng, top):
    path = top + "/session.json"
    if not os.path.exists(path):
        return flips(rng, top)
    session = json.loads(read(path))
    place = rng.choice(sorted((p for p in places(session) if p), key=repr))
    node = session
    for key in place[:-1]:
        node = node[key]
    value = rng.choice(VALUES + ("gone",))
    if value == "gone":
        del node[place[-1]]
    else:
        node[place[-1]] = value
    write(path, json.dumps(session).encode())
    return f"session.json: {place} is {value!r:.40}", 0


def json_replaced(rng, top):
    text = rng.choice((b"", b"null", b"[]", b"{}", b"[" * 3000, b'{"a":' * 3000, b"\xff\xfe", b'"', b"[" + b"{}," * 300000 + b"1]"))
    write(top + "/session.json", text)
    return f"session.json is {text[:20]}", 0


def metadata_edited(rng, top):
    path = rng.choice([p for p in files(top) if p.endswith("metadata")] or files(top))
    text = read(path).decode(errors="replace")
    how = rng.choice(("digit", "word", "line", "twice", "swap", "bomb"))
    lines = text.split("\n")
    n = rng.randrange(len(lines))
    if how in ("digit", "word"):
        found = list(re.finditer(r"\d+" if how == "digit" else r"[a-z_]+\d*", text))
        m = rng.choice(found) if found else None
        new = str(rng.choice((0, 1, 7, 64, 2**32, 2**64, -1))) if how == "digit" else rng.choice(("u8", "u64", "x", "struct", "ns_t"))
        text = text[:m.start()] + new + text[m.end():] if m else text
    elif how == "bomb":
        text = text.replace("event {", "typealias integer { size = 8; align = 8; } := t0;\n" + "".join(
            f"typealias struct {{ t{i} a; t{i} b; t{i} c; t{i} d; }} := t{i + 1};\n" for i in range(rng.choice((3, 30))))
            + "event {", 1)
    else:
        other = rng.randrange(len(lines))
        if how == "line":
            del lines[n]
        elif how == "twice":
            lines.insert(n, lines[n])
        else:
            lines[n], lines[other] = lines[other], lines[n]
        text = "\n".join(lines)
    write(path, text.encode(errors="replace"))
    # a kind of event may have become one of another kind of the same form
    return f"{path}: {how} {n}", 1 << 30 if how in ("digit", "word", "line", "twice", "swap") else 0


def pipes(rng, top):
    path = rng.choice(files(top) + [top + "/app/index", top + "/kernel/index", top + "/more"])
    if os.path.exists(path):
        os.unlink(path)
    try:
        os.mkfifo(path)
    except OSError:
        os.mkfifo(top + "/more")
    return f"{path} is a pipe", 0


def links(rng, top):
    """A file becomes a link to itself, which lies elsewhere; or a link to anything is added."""
    path = rng.choice(files(top) + directories(top))
    if rng.random() < 0.5:
        os.rename(path, top + ".elsewhere")
        os.symlink(os.path.abspath(top) + ".elsewhere", path)
        return f"{path} is a link to what it was", 0
    target = rng.choice(("/", "/dev/zero", "/etc/passwd", ".", "..", "nowhere", "/proc/self/mem"))
    os.symlink(target, path + ".link")
    return f"{path}.link to {target}", 0


ALL = (flips, flips, overwritten, heads, heads, truncated, extended, removed, total_alone, duplicated, renamed,
       part_removed, part_copied, part_renamed, swapped, packets_cut, packets_cut, packets_doubled, event_cut,
       json_edited, json_edited, json_replaced, metadata_edited, metadata_edited, pipes, links)


def mutate(rng, top):
    """One mutation of the recording in this directory."""
    how = rng.choice(ALL)
    what, may_differ = how(rng, top)
    return f"{how.__name__}: {what}", may_differ
