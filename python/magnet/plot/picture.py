# SPDX-License-Identifier: MIT
"""A picture and the data in it: each series is drawn and kept by the same call."""
import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from ..errors import MagnetError
from ..figure_table import FORMATS
from ..program import PathLike

# distinct also for those who see colours differently (Okabe and Ito)
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C8C00")
MARKS = "o^sDvP*X"
# more points than this are drawn as an image within the SVG or PDF
MANY = 20_000
# how far apart lines of the subtitle may reach, in characters, before they are broken
WIDTH = 100


@dataclass
class Series:
    """The points of one line, set of marks or row of bars."""

    panel: str
    name: str
    x_label: str
    y_label: str
    x: NDArray[Any]
    y: NDArray[Any]


class Panel:
    """One pair of axes."""

    def __init__(self, picture: "Picture", axes: Any, name: str) -> None:
        self.picture = picture
        self.axes = axes
        self.name = name
        self._used = 0
        self._layers = 0
        axes.grid(True, color="0.9", linewidth=0.6)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)

    def label(self, x: str, y: str) -> None:
        """Name both axes, with units."""
        self.axes.set_xlabel(x)
        self.axes.set_ylabel(y)

    def _keep(self, name: str, x: Any, y: Any) -> Tuple[NDArray[Any], NDArray[Any]]:
        xs, ys = np.asarray(x), np.asarray(y)
        self.picture.series.append(
            Series(self.name, name, self.axes.get_xlabel(), self.axes.get_ylabel(), xs, ys)
        )
        return xs, ys

    def _style(self, more: Any, n: int) -> Any:
        more.setdefault("color", COLOURS[self._used % len(COLOURS)])
        more.setdefault("rasterized", n > MANY)
        self._used += 1
        return more

    def points(self, name: str, x: Any, y: Any, **more: Any) -> None:
        """Draw marks."""
        xs, ys = self._keep(name, x, y)
        more.setdefault("marker", MARKS[self._used % len(MARKS)])
        more.setdefault("markersize", 4 if len(xs) < 500 else 2.5)
        more.setdefault("markeredgewidth", 0)
        self.axes.plot(xs, ys, linestyle="none", label=name, **self._style(more, len(xs)))

    def line(self, name: str, x: Any, y: Any, **more: Any) -> None:
        """Draw a line from point to point."""
        xs, ys = self._keep(name, x, y)
        self.axes.plot(xs, ys, label=name, **self._style({"linewidth": 1.3, "markersize": 4, **more}, len(xs)))

    def layer(self, name: str, x: Any, y: Any, of: int, **more: Any) -> None:
        """Draw a layer's line, thinner than that of the layer before: equal ones stay visible below it."""
        wide = 1.2 + 0.8 * max(0, of - 1 - self._layers)
        self._layers += 1
        self.line(name, x, y, linewidth=wide, markersize=wide + 1.8, solid_capstyle="butt", **more)

    def steps(self, name: str, x: Any, y: Any, **more: Any) -> None:
        """Draw a line that keeps each value until the next."""
        self.line(name, x, y, drawstyle="steps-post", **more)

    def bars(self, name: str, at: Any, length: Any, start: Any, **more: Any) -> None:
        """Draw horizontal bars."""
        xs, _ = self._keep(name, length, at)
        self.axes.barh(at, xs, left=start, label=name, height=0.6, **self._style(more, 0))

    def level(self, name: str, y: float) -> None:
        """Draw a horizontal line at a figure of the report."""
        self._keep(name, [np.nan], [y])
        more = self._style({"linewidth": 1.2, "linestyle": "--"}, 0)
        self.axes.axhline(y, label=name, **more)

    def log(self, *axes: str) -> None:
        """Make axes ("x", "y") logarithmic, with plain numbers."""
        for which in axes:
            axis = getattr(self.axes, which + "axis")
            getattr(self.axes, f"set_{which}scale")("log")
            low, high = getattr(self.axes, f"get_{which}lim")()
            decades = np.log10(high / low)
            subs = (1.0, 2.0, 5.0) if decades < 3 else (1.0,)
            axis.set_major_locator(LogLocator(10.0, subs=subs, numticks=12))
            self.plain(which)
            axis.set_minor_formatter(NullFormatter())

    def plain(self, *axes: str) -> None:
        """Label axes ("x", "y") with plain numbers, without a common factor."""
        for which in axes:
            getattr(self.axes, which + "axis").set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.10g}"))

    def from_zero(self, axis: str = "y") -> None:
        """Begin an axis at 0, and end it above all that is drawn."""
        ends = getattr(self.axes, f"get_{axis}lim")()
        most = max([0.0, *(float(np.nanmax(v)) for v in self._drawn(axis) if len(v) and not np.isnan(v).all())])
        getattr(self.axes, f"set_{axis}lim")(0, most * 1.05 or max(ends[1], 1.0))

    def _drawn(self, axis: str) -> List[NDArray[Any]]:
        """Return the values along an axis of all lines, and the ends of all bars."""
        lines = [np.asarray(getattr(line, f"get_{axis}data")(), dtype=float) for line in self.axes.lines]
        bars = [[bar.get_x() + bar.get_width() if axis == "x" else bar.get_y() + bar.get_height()]
                for bar in self.axes.patches]
        return lines + [np.asarray(b, dtype=float) for b in bars]

    def note(self, text: str) -> None:
        """Write within the axes what is not known, or what is to be kept in mind."""
        self.axes.text(0.5, 0.5, text, transform=self.axes.transAxes, ha="center", va="center", color="0.35",
                       wrap=True, fontsize="small")

    def legend(self) -> None:
        """Name the series beside the axes, where they cover nothing."""
        handles, labels = self.axes.get_legend_handles_labels()
        if handles:
            self.axes.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False,
                             fontsize="small", borderaxespad=0.0, markerscale=1.6)


class Picture:
    """A figure of one or several panels, one above the other.

    `series` has all that is drawn; `figure` is matplotlib's, to change before `save()`.
    """

    def __init__(self, title: str, subtitle: str, panels: Sequence[str] = ("",), share_x: bool = True,
                 heights: Optional[Sequence[float]] = None) -> None:
        tall = sum(heights or [1.0] * len(panels))
        self.series: List[Series] = []
        self.title = title
        self.figure = Canvas(figsize=(9.0, 1.6 + 2.6 * tall), constrained_layout=True)
        axes = self.figure.subplots(len(panels), 1, sharex=share_x, squeeze=False,
                                    gridspec_kw={"height_ratios": heights} if heights else None)
        self.panels = [Panel(self, a, name) for a, name in zip(axes[:, 0], panels)]
        lines = [title, *_broken(subtitle)]
        self.figure.suptitle("\n".join(lines), fontsize="medium", x=0.01, ha="left")
        for panel in self.panels:
            if panel.name and len(panels) > 1:
                panel.axes.set_title(panel.name, loc="left", fontsize="small")

    def finish(self) -> "Picture":
        """Draw the legends. Each function of a figure ends with it."""
        for panel in self.panels:
            panel.legend()
        return self

    def remark(self, text: str) -> None:
        """Write a line below all panels: what is not known, or how it was counted."""
        self.figure.supxlabel("\n".join(_broken(text, 115)), fontsize="small", color="0.35", x=0.01, ha="left")

    def tsv(self) -> str:
        """Return the data: a row for each point, with the labels of its axes."""
        out = io.StringIO()
        write = csv.writer(out, delimiter="\t", lineterminator="\n")
        write.writerow(("panel", "series", "x_is", "x", "y_is", "y"))
        for s in self.series:
            for x, y in zip(s.x.tolist(), s.y.tolist()):
                write.writerow((s.panel, s.name, s.x_label, _text(x), s.y_label, _text(y)))
        return out.getvalue()

    def save(self, path: PathLike) -> Tuple[Path, Path]:
        """Write FILE.svg, .pdf or .png, and the data beside it as FILE.tsv. Return both paths."""
        to = Path(path)
        if to.suffix[1:].lower() not in FORMATS:
            raise MagnetError(f"{to}: the name of a picture ends in {', '.join('.' + f for f in FORMATS)}")
        beside = to.with_suffix(".tsv")
        try:
            self.figure.savefig(to, dpi=150)
            beside.write_text(self.tsv(), encoding="utf-8")
        except OSError as e:
            raise MagnetError(f"{e.filename or to}: {e.strerror}") from e
        return to, beside

    def _repr_png_(self) -> bytes:
        """Return the picture for notebooks."""
        out = io.BytesIO()
        self.figure.savefig(out, format="png", dpi=110)
        return out.getvalue()


def _text(value: Any) -> str:
    return "" if value != value else repr(value) if isinstance(value, float) else str(value)


def _broken(text: str, width: int = WIDTH) -> List[str]:
    lines: List[str] = []
    for word in text.split(" "):
        if lines and len(lines[-1]) + len(word) < width:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines
