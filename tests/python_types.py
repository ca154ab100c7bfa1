# SPDX-License-Identifier: MIT
"""The Python package is typed: mypy finds nothing. Usage: python_types.py CACHE"""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from python_package import PACKAGE, need_modules  # noqa: E402

need_modules("numpy")
if not shutil.which("mypy"):
    print("SKIP: mypy is not installed")
    sys.exit(77)
p = subprocess.run(["mypy", "--python-executable", sys.executable, "--cache-dir", sys.argv[1], "magnet"],
                   cwd=PACKAGE, capture_output=True, text=True)
print("\n".join(line[:300] for line in p.stdout.splitlines() if ": note:" not in line), p.stderr)
sys.exit(p.returncode)
