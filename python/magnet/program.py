# SPDX-License-Identifier: MIT
"""Runs the program `magnet`, which reads recordings."""
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Dict, Sequence, Union

from .errors import MagnetError

PathLike = Union[str, "os.PathLike[str]"]


def find() -> str:
    """Return the program to run: $MAGNET, or `magnet` on PATH."""
    given = os.environ.get("MAGNET")
    if given:
        return given
    found = shutil.which("magnet")
    if not found:
        raise MagnetError("the program magnet is not on PATH; set MAGNET to where it is")
    return found


def run(*args: PathLike) -> bytes:
    """Run `magnet ARGS` and return its standard output; its error becomes a MagnetError."""
    command = [find(), *(os.fspath(a) for a in args)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as e:
        raise MagnetError(f"{command[0]} cannot be run: {e.strerror}") from e
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise MagnetError(said or f"{' '.join(command)}: exit {done.returncode}")
    return done.stdout


def run_json(*args: PathLike) -> Dict[str, Any]:
    """Run `magnet ARGS`, which prints a JSON object, and return that."""
    return dict(json.loads(run(*args)))


def is_export(directory: Path) -> bool:
    """Return whether a directory was made by `magnet export --format records`."""
    return (directory / "schema.json").is_file()
