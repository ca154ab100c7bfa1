# SPDX-License-Identifier: MIT
"""
Common parts of the tests that open magnet's pages and exports with the programs for which they are made.
A test begins with `need_viewers()`: from there on it is run by the interpreter of scripts/viewers, which has
the packages of requirements.txt.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "python"))
from fixture import *

REQUIREMENTS = os.path.join(HERE, "requirements.txt")
AT = os.environ.get("MAGNET_VIEWERS") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "magnet", "viewers")


def is_current():
    """Whether scripts/viewers has installed what requirements.txt lists now."""
    try:
        with open(REQUIREMENTS) as wanted, open(os.path.join(AT, "venv", "requirements.txt")) as there:
            return wanted.read() == there.read()
    except OSError:
        return False


def need_viewers(*programs):
    """Start over by the interpreter of scripts/viewers; skip if that, or one of the programs, is not installed."""
    if not is_current():
        skip("run scripts/viewers first")
    need_program(*programs)
    venv = os.path.join(AT, "venv")
    os.environ["MAGNET_PYTHON"] = os.path.join(venv, "bin", "python3")
    if os.path.realpath(sys.prefix) != os.path.realpath(venv):
        sys.stdout.flush()
        os.execv(os.environ["MAGNET_PYTHON"], [os.environ["MAGNET_PYTHON"], *sys.argv])
