# SPDX-License-Identifier: MIT
"""Prints the Debian packages that strangers.py needs and that are not installed."""
import os

os.environ.setdefault("MAGNET", "magnet")
from strangers import STRANGERS
from programs import path

os.environ["PATH"] = path()
print(*sorted({package for program in STRANGERS for package in program.missing()}))
