"""Pareto regret over rounds, with what chance did to it, as in the paper's Figure 2 (i)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import numpy.typing as npt

from paretozoom.plots import style
from paretozoom.records import Refused

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NORMAL = 1.96  # standard errors in a 95 % interval of a mean
MANY = 8  # from more curves on, the legend goes beside them and the lighter bands are left out


class Curve(msgspec.Struct, frozen=True):
    """The regret of one policy: its mean, the 95 % interval of that mean, and the middle 80 % of the runs."""

    label: str
    runs: int
    mean: list[float]
    low: list[float]
    high: list[float]
    tenth: list[float]
    ninetieth: list[float]


class Regret(msgspec.Struct, frozen=True):
    """The regret of some policies after some rounds."""

    rounds: list[float]
    curves: list[Curve]


def info(rounds: Sequence[float] | npt.NDArray[Any], curves: Mapping[str, npt.ArrayLike]) -> Regret:
    """Summaries of regret curves: `rounds` (k,), and for each label the regret of each run then, (runs, k).

    >>> info([10, 20], {"PCZ": [[1.0, 2.0], [3.0, 4.0]]}).curves[0].mean
    [2.0, 3.0]
    """
    numbers = np.asarray(rounds, float)
    return Regret(numbers.tolist(), [_curve(label, np.asarray(c, float), len(numbers)) for label, c in curves.items()])


def _curve(label: str, curve: npt.NDArray[np.float64], length: int) -> Curve:
    if curve.ndim != 2 or curve.shape[0] < 1 or curve.shape[1] != length:
        raise Refused(f"curves[{label!r}]: its shape is {curve.shape}, expected (runs, {length})")
    runs = len(curve)
    mean = curve.mean(axis=0)
    error = curve.std(axis=0, ddof=1) / np.sqrt(runs) if runs > 1 else np.zeros(length)
    tenth, ninetieth = np.quantile(curve, [0.1, 0.9], axis=0)
    low, high = mean - NORMAL * error, mean + NORMAL * error
    return Curve(label, runs, *(line.tolist() for line in (mean, low, high, tenth, ninetieth)))


def figure(info: Regret) -> Figure:
    """A line per policy, a band for its 95 % interval, a lighter one for the middle 80 % of its runs if not many."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    with style.theme():
        many = len(info.curves) > MANY
        drawn = style.blank(*((8.2, max(3.9, 0.24 * len(info.curves))) if many else (6.2, 3.9)))
        axes = drawn.subplots()
        looks = style.colours([curve.label for curve in info.curves])
        start = [0.0] if info.rounds and info.rounds[0] > 0 else []  # before the first round there is no regret
        rounds = start + info.rounds
        lines = {}
        for curve in info.curves:
            colour, dash = looks[curve.label]
            if curve.runs > 1:
                band: dict[str, Any] = {"color": colour, "linewidth": 0}
                if not many:
                    axes.fill_between(rounds, start + curve.tenth, start + curve.ninetieth, alpha=0.12, **band)
                axes.fill_between(rounds, start + curve.low, start + curve.high, alpha=0.1 if many else 0.3, **band)
            lines[curve.label] = axes.plot(rounds, start + curve.mean, color=colour, linestyle=dash, linewidth=1.6)[0]
        axes.set_xlim(0, max(rounds, default=1.0))
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        thousands = FuncFormatter(lambda value, _: f"{value:,.10g}")
        axes.xaxis.set_major_formatter(thousands)
        axes.yaxis.set_major_formatter(thousands)
        axes.set_xlabel("round")
        axes.set_ylabel("Pareto regret")
        axes.set_title("Pareto regret over rounds")
        order = sorted(info.curves, key=lambda curve: -curve.mean[-1])  # from top to bottom, as the lines end
        place: dict[str, Any] = {"loc": "outside right upper"} if many else {"loc": "upper left"}
        handles, labels = [lines[curve.label] for curve in order], [curve.label for curve in order]
        (drawn if many else axes).legend(handles, labels, **place)
        return style.settle(drawn)
