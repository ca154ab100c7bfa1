# SPDX-License-Identifier: MIT
"""The Python package of the source tree, in an interpreter that has the libraries it needs."""
import os
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PACKAGE = os.path.abspath(os.path.join(TOP, "python"))


def has(interpreter, modules):
    """Whether an interpreter has these modules."""
    try:
        return subprocess.run([interpreter, "-c", "import " + ", ".join(modules)],
                              capture_output=True).returncode == 0
    except OSError:
        return False


def interpreter(*modules):
    """Return an interpreter that has these modules: this one, $MAGNET_PYTHON, or Debian's; None if there is none."""
    for python in (sys.executable, os.environ.get("MAGNET_PYTHON"), "/usr/bin/python3"):
        if python and has(python, modules):
            return python
    return None


def need_modules(*modules):
    """Start over with Debian's interpreter if this one lacks a module; skip if none has all."""
    sys.path.insert(0, PACKAGE)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (PACKAGE, os.environ.get("PYTHONPATH"))))
    python = interpreter(*modules)
    if not python:
        print(f"SKIP: no Python here has all of {', '.join(modules)}")
        sys.exit(77)
    os.environ["MAGNET_PYTHON"] = python
    if python != sys.executable:
        sys.stdout.flush()
        os.execv(python, [python, *sys.argv])
