# SPDX-License-Identifier: MIT
"""Figures that compare recordings, each of which is one point."""
from typing import Any, Callable, Dict, List, Sequence, Tuple

from ..errors import NotAvailable
from ..recording import Recording
from .picture import Picture


def _curves(recordings: Sequence[Recording], value: Callable[[Recording], float], title: str, y: str) -> Picture:
    """Draw a value against the drain interval, a line for each size of the buffer."""
    curves: Dict[int, List[Tuple[int, float]]] = {}
    missing = 0
    for r in recordings:
        kernel: Any = r.session.json.get("kernel_side") if r.session else None
        if not kernel or "drain_ms" not in kernel or "ring_bytes" not in kernel:
            missing += 1
            continue
        curves.setdefault(int(kernel["ring_bytes"]), []).append((int(kernel["drain_ms"]), value(r)))
    if not curves:
        raise NotAvailable("no session.json has the buffer and drain interval of a kernel side: record with this "
                           "version, with different --buffer and --drain")
    p = Picture(title, f"{len(recordings) - missing} recordings, one point each")
    p.panels[0].label("drain interval [ms]", y)
    for size, points in sorted(curves.items()):
        points.sort()
        name = f"{size // 2**20} MiB" if size >= 2**20 else f"{size // 2**10} KiB"
        p.panels[0].line(f"buffer of {name} a CPU", [d for d, _ in points], [v for _, v in points], marker="o")
    p.panels[0].log("x")
    p.panels[0].axes.set_ylim(bottom=0)
    if missing:
        p.remark(f"{missing} recordings do not say their buffer and drain interval, and are not drawn.")
    return p.finish()


def _loss(r: Recording) -> float:
    lost, kept = r.figures.loss.kernel, r.figures.events.kernel
    return float(100.0 * lost / max(1, lost + kept))


def loss(recordings: Sequence[Recording]) -> Picture:
    """Draw the share of lost kernel events against drain interval and buffer (F01 Fig. 6, G02 Fig. 7)."""
    return _curves(recordings, _loss, "Event loss against buffer and drain interval", "kernel events lost [% of all]")


def cpu(recordings: Sequence[Recording]) -> Picture:
    """Draw the tracer's CPU time against drain interval and buffer (F01 Fig. 7, G02 Fig. 8)."""

    def share(r: Recording) -> float:
        used = r.figures.tracer.cpu_share
        return float("nan") if used is None else 100.0 * float(used)

    return _curves(recordings, share, "The tracer's CPU time against buffer and drain interval",
                   "CPU time of the recorders [% of one CPU]")


def _processes(r: Recording) -> Tuple[int, int]:
    """Return how many recorded processes sent bytes, and how many did not but ran."""
    flow = r.facts.flow.array
    senders = set(flow["pid"][(flow["flow_rx"] == 0) & (flow["bytes"] > 0)].tolist())
    ran = set(r.facts.wait.array["pid"].tolist()) - {0}
    # the parent that only waits for the others neither sends nor computes
    forks = r.events.task_fork.array
    parents = set(forks["pid"].tolist()) if len(forks) else set()
    return len(senders), len(ran - senders - parents)


def _goodput(r: Recording) -> float:
    """Return the sum of the flows' goodput, bit/s."""
    rates = [f["on_demand"]["goodput"]["rate_bit_s"] for f in r.figures_with("goodput").json["flows"]
             if f["direction"] == "tx" and f["bytes"]]
    known = [float(x) for x in rates if x is not None]
    if not known:
        raise NotAvailable(f"{r.directory}: the report has no goodput of a flow that sends")
    return sum(known)


def goodput_ratio(recordings: Sequence[Recording]) -> Picture:
    """Draw the goodput of all senders against their share of the processes (P97 Fig. 5)."""
    points = []
    for r in recordings:
        senders, others = _processes(r)
        if senders:
            points.append((senders / (senders + others), _goodput(r), senders, others))
    if not points:
        raise NotAvailable("no recording has a process that sent bytes")
    points.sort()
    p = Picture("Goodput against the share of sending processes", f"{len(points)} recordings, one point each")
    most = max(y for _, y, *_ in points)
    size, unit = (1e6, "Mbit/s") if most >= 1e6 else (1e3, "kbit/s")
    p.panels[0].label("sending processes / all processes that ran [1]", f"goodput of all flows [{unit}]")
    p.panels[0].points("recording", [x for x, *_ in points], [y / size for _, y, *_ in points], markersize=6)
    for x, y, senders, others in points:
        p.panels[0].axes.annotate(f"{senders} send, {others} compute", (x, y / size), textcoords="offset points",
                                  xytext=(0, 8), ha="center", fontsize="x-small")
    p.panels[0].axes.set_xlim(0, 1.12)
    p.panels[0].axes.set_ylim(0, most / size * 1.25)
    p.remark("Rates are the sum of the report's goodput of each flow. A process that only started others is not counted.")
    return p.finish()
