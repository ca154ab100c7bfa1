# SPDX-License-Identifier: MIT
"""
`pip install ./python` into a virtual environment, without a network: the package that is installed, and not the
source tree, reads a recording. Skipped only where Python has no pip, venv or setuptools.
"""
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "..", "..", "python")
READ = """
import sys, magnet
with magnet.open(sys.argv[1]) as recording:
    print(magnet.__file__, len(recording.facts.call), recording.figures.json["events"]["app"])
"""
python = next((p for p in ("/usr/bin/python3", sys.executable)
               if run(p, "-c", "import ensurepip, numpy, setuptools, venv", check=False).returncode == 0), None)
if not python:
    skip("no Python has pip, venv, setuptools and NumPy: install python3-venv python3-setuptools python3-numpy")
with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
    # NumPy and setuptools are the system's: nothing is fetched
    run(python, "-m", "venv", "--system-site-packages", top + "/venv")
    shutil.copytree(SOURCE, top + "/python", ignore=shutil.ignore_patterns("__pycache__"))  # it writes there
    inside = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PIP_INDEX_URL")}
    p = run(top + "/venv/bin/pip", "install", "--quiet", "--no-index", "--no-build-isolation", top + "/python",
            env=inside, cwd=top, check=False)
    check(p.returncode == 0, f"pip installs the package {p.stderr[-300:]}")
    with Recording(PYTHON, os.path.join(HERE, "..", "programs", "exchange.py"), "50",
                   options=("--app-only",)) as rec:
        p = run(top + "/venv/bin/python", "-c", READ, rec.dir, env=inside, cwd=top, check=False)
        check(p.returncode == 0, f"the package opens a recording {p.stderr[-300:]}")
        where, calls, events = p.stdout.split()
        check(where.startswith(top + "/venv/lib"), f"it is the one that was installed: {where}")
        check(int(calls) > 100 and int(events) >= int(calls), f"{calls} calls, {events} events")
    names = set()
    for at, _, files in os.walk(os.path.dirname(where)):
        names |= {os.path.relpath(os.path.join(at, f), os.path.dirname(where)) for f in files if not f.endswith(".pyc")}
    wanted = {os.path.relpath(os.path.join(at, f), SOURCE + "/magnet") for at, _, files in os.walk(SOURCE + "/magnet")
              for f in files if not f.endswith(".pyc")}
    check(names == wanted, f"all {len(wanted)} files are there {sorted(names ^ wanted)}")
