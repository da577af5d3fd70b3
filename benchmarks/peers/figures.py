"""One figure per task: regret against fairness, a panel per horizon."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paretozoom.plots.style import blank, settle, theme
from peers.rivals import RIVALS
from peers.schedule import Results
from peers.table import OURS, Row, rows_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OWN, GREY = "#c1121f", "#9aa0a6"
COLOURS = ("#0072b2", "#56b4e9", "#009e73", "#44aa99", "#e69f00", "#cc79a7", "#8c564b", "#332288", "#000000")
MARKS = ("o", "o", "s", "D", "^", "v", "P", "X", "d")
READING = "low is good, right is fair, dashed is Random; ? where too few optimal arms were played to tell"
UNKNOWN = -0.12  # where players stand of whose fairness nothing can be said


def figure_of(results: Results, task: str, horizons: Sequence[int]) -> Figure | None:
    """Down is better, right is fairer; None if nothing was played."""
    panels = [(h, rows) for h in horizons if (rows := [r for r in rows_of(results, task, h) if r.regret > 0])]
    if not panels:
        return None
    with theme():
        figure = blank(3.6 * len(panels) + 1.9, 3.7)
        axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        known: dict[str, Artist] = {}
        for ax, (horizon, rows) in zip(axes, panels, strict=True):
            known.update(_panel(ax, rows))
            ax.set_title(f"{horizon:,} rounds")
            ax.set_xlabel("local entropy (fair in every context: 1)")
        axes[0].set_ylabel("regret over Random's")
        _scale(axes[0], [row.regret for _, rows in panels for row in rows])
        figure.suptitle(f"{task}: {READING}", x=0.01, ha="left", fontsize=10)
        order = [OURS, *RIVALS, "our other policies"]
        names = sorted(known, key=order.index)
        figure.legend([known[n] for n in names], names, loc="outside right center", handletextpad=0.3)
        return settle(figure)


def _panel(ax: Axes, rows: list[Row]) -> dict[str, Artist]:
    handles: dict[str, Artist] = {}
    looks = dict(zip(RIVALS, zip(COLOURS, MARKS, strict=True), strict=True))
    for row in reversed(rows):
        x = UNKNOWN if row.local_entropy is None else row.local_entropy
        if row.player == OURS:
            name, colour, mark, size, order = OURS, OWN, "*", 15.0, 5
        elif row.player in RIVALS:
            (colour, mark), name, size, order = looks[row.player], row.player, 6.5, 4
        else:
            name, colour, mark, size, order = "our other policies", GREY, "o", 4.0, 2
        bar = ax.errorbar(
            x, row.regret, yerr=row.regret_error, xerr=row.local_entropy_error, fmt=mark, color=colour, markersize=size,
            markeredgecolor="white", markeredgewidth=0.6, elinewidth=0.9, zorder=order, alpha=0.95,
        )  # fmt: skip
        handles.setdefault(name, bar.lines[0])
    ax.axhline(1.0, color=GREY, linewidth=0.9, linestyle="dashed", zorder=1)
    ax.set_xlim(-0.2, 1.05)
    ax.set_xticks([UNKNOWN, 0.0, 0.25, 0.5, 0.75, 1.0], ["?", "0", ".25", ".5", ".75", "1"])
    return handles


def _scale(ax: Axes, regrets: Sequence[float]) -> None:
    low, high = min(regrets) / 1.3, max(1.3, max(regrets) * 1.1)
    ax.set_yscale("log")
    ax.set_ylim(low, high)
    ticks = [t for t in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0) if low <= t <= high]
    ax.set_yticks(ticks, [f"{t:g}" for t in ticks])
    ax.set_yticks([], minor=True)


def save_figures(results: Results, tasks: Sequence[str], horizons: Sequence[int], folder: Path) -> list[Path]:
    """Write a PNG per task; gives the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for task in tasks:
        figure = figure_of(results, task, horizons)
        if figure is not None:
            paths.append(folder / f"{task}.png")
            with theme():
                figure.savefig(paths[-1], dpi=110, metadata={"Software": None})
    return paths
