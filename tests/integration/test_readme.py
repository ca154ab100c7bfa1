# SPDX-License-Identifier: MIT
"""Every command the README shows works as written."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
