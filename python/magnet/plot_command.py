# SPDX-License-Identifier: MIT
"""Draws figures for `magnet plot`, with what it was given: FIGURE OUTPUT FLOW [FILTER...] -- DIR...; "-" is none."""
import signal
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Dict, List

import magnet
from magnet.errors import MagnetError
from magnet.figure_table import FIGURES, FORMATS, draw, listing

USAGE = 2


class Misused(MagnetError):
    """An option with a value that makes no sense."""


def check(figure: str, output: str, flow: str, directories: List[str]) -> None:
    """Raise what is wrong with the command line before a recording is read."""
    entry = FIGURES.get(figure)
    if not entry:
        raise Misused(f"--figure: there is no figure {figure}; it is one of: {' '.join(FIGURES)}")
    if len(directories) > 1 and not entry.several:
        raise Misused(f"{figure} draws one recording, and {len(directories)} are given")
    if flow != "-" and not entry.takes_flow:
        raise Misused(f"{figure} is not of one flow: leave out --flow")
    if Path(output).suffix[1:].lower() not in FORMATS:
        raise Misused(f"{output}: the name of a picture ends in {', '.join('.' + f for f in FORMATS)}")


def main(figure: str, output: str, flow: str, *rest: str) -> None:
    """Draw the figure that the command line names."""
    filters, directories = rest[:rest.index("--")], rest[rest.index("--") + 1:]
    if figure == "list":
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # its reader, such as head, may have enough
        print(listing())
        return
    check(figure, output, flow, list(directories))
    more: Dict[str, Any] = {} if flow == "-" else {"flow": flow}
    with ExitStack() as stack:
        recordings = [stack.enter_context(magnet.open(d, *filters)) for d in directories]
        draw(figure, recordings, **more).save(output)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except MagnetError as e:
        text = str(e)
        print(text if text.startswith("magnet") else f"magnet: {text}", file=sys.stderr)
        sys.exit(USAGE if isinstance(e, Misused) else 1)
