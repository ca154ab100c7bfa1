# SPDX-License-Identifier: MIT
"""
No function of C and BPF sources has more than 80 lines, and no struct more than 30 members without named parts.
Usage: sizes.py SOURCE-ROOT
"""
import os
import re
import sys

LINES, MEMBERS = 80, 30
STRUCT = re.compile(r"^(?:typedef )?struct (\w+) \{\n(.*?)^\}", re.S | re.M)
PART = re.compile(r"(?:struct|union)[^{};]*\{[^{}]*\}\s*(\w+)")


def functions(text):
    """The line at which each function's body begins, and how many lines it has."""
    begin = None
    for n, line in enumerate(text.split("\n")):
        if line == "{":
            begin = n
        elif line.startswith("}"):
            if begin is not None and line == "}":
                yield begin + 1, n - begin - 1
            begin = None


def members(body):
    """How many members a struct has; a part with a name is one."""
    body, found = re.sub(r"/\*.*?\*/", "", body, flags=re.S), 1
    while found:
        body, found = PART.subn(r"int \1", body)
    return sum(len(s.split(",")) for s in body.split(";") if s.strip())


top, found = sys.argv[1], []
for at, folders, names in os.walk(top):
    folders[:] = [f for f in folders if not f.startswith((".", "build")) and f != "subprojects"]
    for name in names:
        if name.endswith((".c", ".h")):
            path = os.path.join(at, name)
            with open(path, encoding="utf-8") as f:
                text = f.read()
            found += [f"{path}:{line}: a function of {n} lines, at most {LINES} are wanted"
                      for line, n in functions(text) if n > LINES]
            found += [f"{path}: struct {s[1]} has {members(s[2])} members, at most {MEMBERS} are wanted"
                      for s in STRUCT.finditer(text) if members(s[2]) > MEMBERS]
print("\n".join(found) or "ok")
sys.exit(bool(found))
