# SPDX-License-Identifier: MIT
"""
Which folder of a room includes which, and that every source file has a header of its own, which it
includes first. Usage: rooms.py SOURCE-ROOT
"""
import os
import re
import sys

# by folder, which others it may include beside itself
ROOMS = {
    "kernel-tracer": {
        "clock": (), "control": (), "hooks": (),
        "rings": ("hooks",), "events": ("hooks",),
        "run": ("clock", "control", "hooks", "rings", "events"),
    },
    "correlate": {
        "facts": (), "sums": (), "core": ("facts",), "figures": ("core", "facts", "sums"),
        "reported": ("core", "facts", "figures", "sums"),
    },
    # task, socket, stream and message still know each other
    "correlate/core": {
        "clock": (), "bytes": (),
        "task": ("clock", "message", "socket", "stream", "trace"),
        "socket": ("bytes", "clock", "message", "stream", "task", "trace"),
        "stream": ("bytes", "clock", "message", "socket", "task", "trace"),
        "message": ("bytes", "clock", "socket", "stream", "task"),
        "trace": ("clock", "message", "socket", "stream", "task"),
    },
}
# declared elsewhere: the program itself; in dist.h; in core.h, the core's contract
WITHOUT_HEADER = {"kernel-tracer/run/main.c", "correlate/sums/dist_figures.c",
                  "correlate/sums/dist_packed.c", "correlate/core/trace/outside.c"}


def includes(path):
    with open(path, encoding="utf-8") as f:
        return re.findall(r'^#include "([^"]+)"', f.read(), re.M)


def files(top, folder):
    for name in sorted(os.listdir(os.path.join(top, folder))):
        path = f"{folder}/{name}"
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


def main():
    found = [p for room, folders in ROOMS.items() for folder, may in folders.items()
             for p in problems(sys.argv[1], room, folder, may)]
    print("\n".join(found) or "each folder includes what it may")
    sys.exit(bool(found))


main()
