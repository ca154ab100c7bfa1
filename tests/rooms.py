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
    "correlate": {"facts": (), "figures": ("core", "facts"), "reported": ("core", "facts", "figures")},
    # task, socket, stream and message still know each other
    "correlate/core": {
        "clock": (), "sums": (),
        "task": ("clock", "message", "socket", "stream", "sums", "trace"),
        "socket": ("clock", "message", "stream", "sums", "task", "trace"),
        "stream": ("clock", "message", "socket", "sums", "task", "trace"),
        "message": ("clock", "socket", "stream", "sums", "task"),
        "trace": ("clock", "message", "socket", "stream", "sums", "task"),
    },
}
# declared elsewhere: the program itself; in dist.h; in core.h, the core's contract
WITHOUT_HEADER = {"kernel-tracer/run/main.c", "correlate/core/sums/dist_figures.c",
                  "correlate/core/sums/dist_packed.c", "correlate/core/trace/outside.c"}


def includes(path):
    with open(path, encoding="utf-8") as f:
        return re.findall(r'^#include "([^"]+)"', f.read(), re.M)


def problems(top, room, folder, may):
    for name in sorted(os.listdir(os.path.join(top, room, folder))):
        path = f"{folder}/{name}"
        found = includes(os.path.join(top, room, path))
        own = path[:-2] + ".h"
        if name.endswith(".c") and f"{room}/{path}" not in WITHOUT_HEADER and found[:1] != [own]:
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
