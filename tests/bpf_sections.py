# SPDX-License-Identifier: MIT
"""bpf_sections.py OBJECT...: each has only sections that libbpf takes since 0.8; .bss.NAME it takes since 1.1."""
import re
import shutil
import subprocess
import sys

READELF = next(filter(None, map(shutil.which, ("readelf", "llvm-readelf", "llvm-readelf-14"))), None)
if not READELF:
    print("SKIP: no readelf")
    sys.exit(77)
wrong = 0
for path in sys.argv[1:]:
    said = subprocess.run([READELF, "-SW", path], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^\s*\[\s*\d+\]\s+(\S+)", said, re.M)
    new = [name for name in names if name.startswith(".bss.")]
    wrong += len(new) or not names
    print(f"{'FAIL' if new or not names else 'ok'}: {path}: {len(names)} sections{', ' if new else ''}{', '.join(new)}")
sys.exit(wrong > 0)
