# SPDX-License-Identifier: MIT
"""
Which folder of a room includes which, and calls whose functions, without a circle; that nobody outside
the core includes what has its state; that no header includes itself by way of others; and that every
source file has a header of its own, which it includes first. Usage: rooms.py SOURCE-ROOT
"""
import os
import re
import sys

# by folder, which others it may use beside itself
ROOMS = {
    "kernel-tracer": {
        "clock": (), "control": (), "hooks": (),
        "rings": ("hooks",), "events": ("hooks",),
        "stacks": ("hooks", "rings"),
        "run": ("clock", "control", "hooks", "rings", "events", "stacks"),
    },
    "correlate": {
        "facts": (), "sums": (), "core": ("facts",), "filter": ("core", "facts"),
        "capture": ("core", "facts", "filter", "reported", "sums"),
        "export": ("capture", "core", "facts", "filter"),
        "figures": ("core", "facts", "filter", "sums"),
        "reported": ("core", "facts", "figures", "filter", "sums"),
        "page": ("core", "facts", "figures", "filter", "sums"),
        "live": ("core", "facts", "figures", "reported", "sums"),
    },
    "correlate/core": {
        "clock": (), "bytes": (), "coverage": ("clock",), "task": ("clock", "coverage"),
        "exchange": ("bytes", "coverage", "task"),
        "socket": ("bytes", "coverage", "exchange", "task"),
        "stream": ("bytes", "clock", "coverage", "exchange", "socket", "task"),
        "message": ("bytes", "clock", "coverage", "exchange", "socket", "stream", "task"),
        "call": ("bytes", "clock", "coverage", "exchange", "message", "socket", "stream", "task"),
        "trace": ("bytes", "call", "clock", "coverage", "exchange", "message", "socket", "stream",
                  "task"),
    },
}
# what others may use of a room: its contract, and what knows nothing of its state
OPEN = {"correlate/core": ("contract.h", "event.h", "stage.h", "bytes/packing.h", "bytes/ranges.h", "clock/hosts.h")}
# the life of a byte looks for its sequence number and its causes in the flow, as no fact has them
LOOKS_INSIDE = {"correlate/render/byte_life.c": ("core.h",)}
# tables that list every folder there is
WHOLE = {"correlate/core"}
# declared elsewhere: the program itself; in dist.h; in core.h, the core's contract
WITHOUT_HEADER = {"kernel-tracer/run/main.c", "correlate/sums/dist_figures.c",
                  "correlate/sums/dist_packed.c", "correlate/core/trace/annotation.c", "correlate/core/trace/outside.c",
                  "correlate/core/free.c"}

NO_CODE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|__attribute__\(\((?:[^()]|\([^()]*\))*\)\)',
                     re.S)
# a definition's brace stands in a line of its own
DEFINED = re.compile(r"^(static )?[A-Za-z_][\w \t]*[ *](\w+)\([^;{}]*\)\n\{", re.M)
CALLED = re.compile(r"(?<![\w.>])(\w+)\(")


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def includes(path):
    return re.findall(r'^#include "([^"]+)"', read(path), re.M)


def files(top, folder):
    for name in sorted(os.listdir(os.path.join(top, folder))):
        path = f"{folder}/{name}" if folder else name
        if os.path.isdir(os.path.join(top, path)):
            yield from files(top, path)
        else:
            yield path


def problems(top, room, folder, may):
    for path in files(os.path.join(top, room), folder):
        found = includes(os.path.join(top, room, path))
        own = path[:-2] + ".h"
        nested = path.count("/") > 1  # rooms of its own
        if path.endswith(".c") and not nested and f"{room}/{path}" not in WITHOUT_HEADER and \
                found[:1] not in ([own], [os.path.basename(own)]):
            yield f"{room}/{path} does not include its own header {own} first"
        for other in found:
            to = other.split("/")[0]
            if "/" in other and to in ROOMS[room] and to != folder and to not in may:
                yield f"{room}/{path} includes {other}: {folder} may not use {to}"


def insights(top, room):
    """Who outside includes a header of the room that is not open to others."""
    closed = set(files(os.path.join(top, room), "")) - set(OPEN[room])
    parent, name = os.path.split(room)
    for path in (p for folder in (parent, "cli") for p in files(top, folder)):
        if path.startswith(room + "/") or not path.endswith((".c", ".h")):
            continue
        for other in includes(os.path.join(top, path)):
            inner = other[len(name) + 1:] if other.startswith(name + "/") else other
            if inner in closed and inner not in LOOKS_INSIDE.get(path, ()):
                yield f"{path} includes {other}: only {room} itself may"


def calls(top, room):
    """Which folder calls a function that it may not, whatever header declares it."""
    code = {path: NO_CODE.sub("", read(os.path.join(top, room, path)))
            for path in files(os.path.join(top, room), "") if path.endswith((".c", ".h"))}
    folder = {path: path.split("/")[0] if "/" in path else "" for path in code}
    own = {path: {name for _, name in DEFINED.findall(text)} for path, text in code.items()}
    home = {name: folder[path] for path, text in code.items() if folder[path] in ("", *ROOMS[room])
            for static, name in DEFINED.findall(text) if not static and path.endswith(".c")}
    for path, text in code.items():
        if folder[path] not in ROOMS[room]:
            continue
        may = (folder[path], *ROOMS[room][folder[path]])
        for name in sorted(set(CALLED.findall(text)) - own[path]):
            if home.get(name, folder[path]) not in may:
                yield f"{room}/{path} calls {name}(): {folder[path]} may not use {home[name] or room}"


def in_circles(uses):
    """Those that use themselves, directly or by way of others."""
    left = {one: set(to) for one, to in uses.items()}
    while True:
        used = set().union(*left.values())
        kept = {one: to & set(left) for one, to in left.items() if one in used and to & set(left)}
        if kept == left:
            return sorted(left)
        left = kept


def circles(top, room, folders):
    if room in WHOLE:
        there = next(os.walk(os.path.join(top, room)))[1]
        yield from (f"{room}/{name} is not in the table" for name in set(there) - set(folders))
    unknown = {to for may in folders.values() for to in may} - set(folders)
    if unknown:
        yield f"{room}: no folders of the table: {', '.join(sorted(unknown))}"
    if in_circles(folders):
        yield f"{room}: folders of the table use each other: {', '.join(in_circles(folders))}"
    headers = {path for path in files(os.path.join(top, room), "") if path.endswith(".h")}
    found = in_circles({path: [i for i in includes(os.path.join(top, room, path)) if i in headers]
                        for path in headers})
    if found:
        yield f"{room}: headers include each other: {', '.join(found)}"


def main():
    found = [p for room, folders in ROOMS.items() for folder, may in folders.items()
             for p in problems(sys.argv[1], room, folder, may)]
    found += [p for room in OPEN for p in insights(sys.argv[1], room)]
    for room, folders in ROOMS.items():
        found += [*circles(sys.argv[1], room, folders), *calls(sys.argv[1], room)]
    print("\n".join(found) or "each folder uses what it may")
    sys.exit(bool(found))


main()
