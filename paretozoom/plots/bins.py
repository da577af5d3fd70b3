"""How evenly each policy plays the Pareto set: selection ratios by bin, as in the paper's Figure 2 (ii)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from paretozoom.plots import style
from paretozoom.plots.regret import MANY, NORMAL

if TYPE_CHECKING:
    from matplotlib.figure import Figure


AXIS = "bin of the Pareto set"
MOST_TICKS = 24
MOST_LETTERS = 18  # of the name of a bin
UPRIGHT_LETTERS = 60  # of all names together


class Bars(msgspec.Struct, frozen=True):
    """The selection ratios of one policy, and their standard errors (None: unknown)."""

    label: str
    ratios: list[float]
    errors: list[float | None]


class Bins(msgspec.Struct, frozen=True):
    """The selection ratios of some policies; `equal` is the share of a bin in perfectly even play.

    `names` are those of the bins, if they have any, and `axis` says what they are.
    """

    bins: int
    equal: float
    policies: list[Bars]
    names: list[str] = []
    axis: str = AXIS


def info(policies: Mapping[str, Mapping[str, Any]], names: Sequence[str] = (), axis: str = AXIS) -> Bins:
    """The bins of each policy's measurements, ``{"bins": [...], "se": {"bins": [...]}}``; those without are left out.

    >>> info({"PCZ": {"bins": [0.4, 0.6], "se": {"bins": [0.1, 0.1]}}, "never optimal": {"bins": None}}).policies
    [Bars(label='PCZ', ratios=[0.4, 0.6], errors=[0.1, 0.1])]
    """
    bars = []
    for label, measured in policies.items():
        ratios = measured.get("bins") or []
        errors = (measured.get("se") or {}).get("bins") or [None] * len(ratios)
        if ratios and None not in ratios:
            known = [None if error is None else float(error) for error in errors]
            bars.append(Bars(label, [float(ratio) for ratio in ratios], known))
    bins = max((len(bar.ratios) for bar in bars), default=0)
    return Bins(bins, 1 / bins if bins else 0.0, bars, list(names) if len(names) == bins else [], axis)


def figure(info: Bins) -> Figure:
    """A group of bars per bin, a bar per policy with its 95 % interval, a dashed line at equal share.

    Of many policies, a map: a row per policy, a column per bin.
    """
    if len(info.policies) > MANY:
        return _map(info)
    with style.theme():
        drawn = style.blank(6.2, 3.7)
        axes = drawn.subplots()
        looks = style.colours([bars.label for bars in info.policies])
        width = 0.8 / max(1, len(info.policies))
        for k, bars in enumerate(info.policies):
            places = [b + (k - (len(info.policies) - 1) / 2) * width for b in range(len(bars.ratios))]
            errors = [NORMAL * (error or 0.0) for error in bars.errors]
            colour, dash = looks[bars.label]
            axes.bar(
                places,
                bars.ratios,
                width * 0.92,
                color=colour,
                hatch=None if dash == "solid" else "///",
                edgecolor="white",
                linewidth=0,
                label=bars.label,
            )
            if any(errors):
                axes.errorbar(places, bars.ratios, errors, fmt="none", ecolor="#222222", elinewidth=0.9, capsize=1.8)
        axes.axhline(info.equal, color="#222222", linestyle="dashed", linewidth=1, label="equal share", zorder=1.5)
        _name_bins(axes, info)
        axes.grid(visible=False, axis="x")
        axes.set_ylim(bottom=0)
        axes.set_ylabel("selection ratio")
        axes.set_title("Selection ratio of each bin")
        handles, labels = axes.get_legend_handles_labels()
        columns = max(1, min(len(labels), 84 // (max(map(len, labels)) + 6)))
        drawn.legend(handles[1:] + handles[:1], labels[1:] + labels[:1], loc="outside lower center", ncols=columns)
        return style.settle(drawn)


def _map(info: Bins) -> Figure:
    with style.theme():
        drawn = style.blank(6.2, 1.4 + 0.2 * len(info.policies))
        axes = drawn.subplots()
        rows = [bars.ratios + [math.nan] * (info.bins - len(bars.ratios)) for bars in info.policies]
        shares = axes.imshow(rows, cmap="viridis", vmin=0.0, vmax=2.0 * info.equal, aspect="auto")
        axes.set_yticks(range(len(rows)), [bars.label for bars in info.policies])
        _name_bins(axes, info)
        axes.grid(visible=False)
        axes.set_ylabel("policy")
        axes.set_title("Selection ratio of each bin")
        drawn.colorbar(shares, ax=axes, extend="max", label=f"selection ratio; equal share: {info.equal:.3g}")
        return style.settle(drawn)


def _name_bins(axes: Any, info: Bins) -> None:
    shown = range(0, info.bins, max(1, math.ceil(info.bins / MOST_TICKS)))
    names = [info.names[b] if info.names else str(b + 1) for b in shown]
    names = [name if len(name) <= MOST_LETTERS else name[: MOST_LETTERS - 1] + "…" for name in names]
    slanted = sum(map(len, names)) > UPRIGHT_LETTERS
    axes.set_xticks(list(shown), names, **({"rotation": 45, "ha": "right"} if slanted else {}))
    axes.set_xlabel(info.axis)
