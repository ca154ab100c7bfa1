# SPDX-License-Identifier: MIT
"""
In the correlator memory is asked for by the functions of common/alloc.h, which count refusals; and
where a hash table has no memory for an element, somebody still frees it.
"""
import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "correlate")
PLAIN = re.compile(r"(?<![\w>.])(malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|"
                   r"strdup|strndup|open_memstream)\(|<uthash\.h>")
KEPT = re.compile(r"hash_kept\(|\bhh\w*\.tbl")


def files():
    for at, _, names in os.walk(TOP):
        for name in names:
            if name.endswith((".c", ".h")):
                yield os.path.join(at, name)


uncounted, unkept = [], []
for path in files():
    lines = open(path).read().splitlines()
    for n, line in enumerate(lines):
        place = f"{os.path.relpath(path)}:{n + 1}: {line.strip()}"
        if PLAIN.search(line) and "/*" not in line:
            uncounted.append(place)
        if "HASH_ADD" in line and not any(map(KEPT.search, lines[n:n + 4])):
            unkept.append(place)
print("\n".join(uncounted + unkept))
if uncounted:
    print(f"{len(uncounted)} allocations that nobody counts: take those of common/alloc.h or "
          "common/hash.h", file=sys.stderr)
if unkept:
    print(f"{len(unkept)} elements that nobody frees if they cannot be added: ask hash_kept() of "
          "common/hash.h", file=sys.stderr)
sys.exit(bool(uncounted or unkept))
