# SPDX-License-Identifier: MIT
"""
Which folder may include which, and that every source file has a header of its own.
Usage: rooms.py SOURCE-ROOT
"""
import os
import re
import sys

# folders of a room, in an order in which each includes only those before it; and the files that need no header
ROOMS = {
    "kernel-tracer": (("clock", "control", "hooks", "rings", "events", "run"), {"run/main.c"}),
}
# of two folders whose order says nothing, what is not meant to be
APART = {"kernel-tracer": {("control", "clock"), ("hooks", "clock"), ("hooks", "control"), ("rings", "clock"),
                           ("rings", "control"), ("events", "clock"), ("events", "control"), ("events", "rings")}}


def includes(path):
    with open(path, encoding="utf-8") as f:
        return re.findall(r'^#include "([^"]+)"', f.read(), re.M)


def problems(top, room, folders, alone):
    for folder in folders:
        for name in sorted(os.listdir(os.path.join(top, room, folder))):
            path = f"{folder}/{name}"
            found = includes(os.path.join(top, room, path))
            own = path[:-2] + ".h"
            if name.endswith(".c") and path not in alone and found[:1] != [own]:
                yield f"{room}/{path} does not include its own header {own} first"
            for other in found:
                to = other.split("/")[0] if "/" in other else None
                if to not in folders or to == folder:
                    continue
                if folders.index(to) > folders.index(folder) or (folder, to) in APART[room]:
                    yield f"{room}/{path} includes {other}: {folder} may not use {to}"


def main():
    found = [p for room, (folders, alone) in ROOMS.items() for p in problems(sys.argv[1], room, folders, alone)]
    print("\n".join(found) or "each folder includes what it may")
    sys.exit(bool(found))


main()
