# SPDX-License-Identifier: MIT
"""In the correlator memory is asked for by the functions of common/alloc.h, which count refusals."""
import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "correlate")
PLAIN = re.compile(r"(?<![\w>.])(malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|"
                   r"strdup|strndup|open_memstream)\(|<uthash\.h>")

found = [f"{os.path.relpath(path)}:{n}: {line.strip()}"
         for at, _, names in os.walk(TOP) for name in names if name.endswith((".c", ".h"))
         for path in [os.path.join(at, name)]
         for n, line in enumerate(open(path), 1) if PLAIN.search(line) and "/*" not in line]
print("\n".join(found))
sys.exit(f"{len(found)} allocations that nobody counts: take those of common/alloc.h or common/hash.h"
         if found else 0)
