"""How a policy that keeps balls has divided the plane of context x arm into their domains."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from paretozoom.environments.base import Task
from paretozoom.kernels.core.kinds import LINEAR
from paretozoom.plots import style
from paretozoom.plots.plane import Front, Plane, cells_of, draw_front, draw_plane, front_of, plane_of
from paretozoom.policies import Policy
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.records import Refused, Snapshot
from paretozoom.similarity import Similarity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARRAYS = ("centre", "radius", "count")
CELLS = 240
MOST_DISCS = 1000
COLOURS = ("#f7fbff", "#d6e6f4", "#abd0e6", "#6aaed6", "#3787c0", "#105ba4", "#08306b")  # large to small


class Partition(msgspec.Struct, frozen=True):
    """The balls of a policy, and on a grid over the plane the smallest radius that covers each cell."""

    plane: Plane
    radii: list[float]  # from the largest
    balls: list[int]  # how many balls of each radius
    levels: list[list[int]]  # (rows, cells) places in `radii`
    contexts: list[float]  # of the balls' centres
    arms: list[float]  # their places on the arm axis
    sizes: list[float]  # their radii
    counts: list[int]
    reach: list[float]  # of a ball of radius 1 to the right and up, where balls are ellipses; empty where they are not
    front: Front | None


def info(policy: Policy, environment: Task | None = None) -> Partition:
    """The partition of a policy as it is now; with an environment, also the true Pareto set.

    >>> from paretozoom import PCZ, PaperTask
    >>> fresh = info(PCZ(PaperTask().problem, horizon=100))
    >>> fresh.radii, fresh.balls, fresh.counts
    ([1.0], [1], [0])
    """
    front = None if environment is None else front_of(environment)
    return info_of_snapshot(policy.dump(), policy.problem, front)


def info_of_snapshot(snapshot: Snapshot, problem: Problem, front: Front | None = None) -> Partition:
    """The partition in a snapshot of a policy that keeps balls, for a problem; other snapshots are refused."""
    if not has_balls(snapshot):
        raise Refused(f"snapshot: it holds {sorted(snapshot.arrays)!r}, so it is not one of a policy that keeps balls")
    centre, radius, count = (snapshot.arrays[name] for name in ARRAYS)
    given = snapshot.header.get("parameters", {}).get("similarity") or {}
    if "matrix" in given or "function" in given:
        raise Refused(f"snapshot: balls of the similarity {given!r} cannot be drawn, only those of p-norms")
    return _info(problem, centre, radius, count, front, Similarity.of(problem, **given))


def has_balls(snapshot: Snapshot) -> bool:
    """Whether a snapshot is one of a policy that keeps balls: it holds their columns.

    >>> has_balls(Snapshot({"policy": "random"}, {}))
    False
    """
    return all(name in snapshot.arrays for name in ARRAYS)


def _info(
    problem: Problem, centre: Floats, radius: Floats, count: Ints, front: Front | None, similarity: Similarity
) -> Partition:
    if centre.shape != (len(radius), problem.dim):
        raise Refused(f"centre: its shape is {centre.shape}, expected ({len(radius)}, {problem.dim})")
    plane = plane_of(problem)
    contexts, arms = cells_of(problem, CELLS)
    right = similarity.part_of(contexts[:, None], centre[None, :, :1], [0])  # (cells, balls)
    up = similarity.part_of(arms[:, None], centre[None, :, 1:], range(1, problem.dim))  # (rows, balls)
    sizes, place, balls_of = np.unique(-radius, return_inverse=True, return_counts=True)
    levels = np.zeros((len(arms), len(contexts)), np.int64)  # the root contains everything
    for ball in np.argsort(-radius, kind="stable"):
        part = similarity.sum_of(up[:, ball, None], right[None, :, ball])
        levels[similarity.length_of(part) <= radius[ball]] = place[ball]
    rows = np.argmin(up, axis=0).astype(float) if plane.rows else centre[:, 1]
    discs = similarity.norm == 2 and not plane.rows and bool((problem.encoding.kinds == LINEAR).all())
    return Partition(
        plane,
        (-sizes).tolist(),
        balls_of.tolist(),
        levels.tolist(),
        centre[:, 0].tolist(),
        rows.tolist(),
        radius.tolist(),
        count.reshape(len(radius), -1).max(axis=1).tolist(),
        (1 / np.sqrt(similarity.factors)).tolist() if discs else [],
        front,
    )


def figure(info: Partition) -> Figure:
    """Each place in the colour of the smallest ball over it, so that domains show; a dot per ball, sized by count."""
    from matplotlib.artist import Artist
    from matplotlib.colors import LinearSegmentedColormap, ListedColormap
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    with style.theme():
        drawn = style.blank(6.4, 4.4)
        axes = drawn.subplots()
        ramp = LinearSegmentedColormap.from_list("radii", COLOURS)
        # At least five steps: few radii should not look as different as many.
        shades = [ramp(k / max(len(info.radii) - 1, 5)) for k in range(len(info.radii))]
        extent = (info.plane.context.low, info.plane.context.high, info.plane.arm.low, info.plane.arm.high)
        axes.imshow(
            info.levels,
            origin="lower",
            extent=extent,
            vmin=-0.5,
            vmax=len(shades) - 0.5,
            cmap=ListedColormap(shades),
            aspect="auto",
            interpolation="none",
        )
        draw_plane(axes, info.plane)
        if len(info.sizes) <= MOST_DISCS:
            _draw_discs(axes, info, shades)
        most = max(1, *info.counts) if info.counts else 1
        largest = 70 / max(1.0, len(info.counts) / 50) ** 0.5
        sizes = [2 + largest * count / most for count in info.counts]
        look: dict[str, Any] = {"color": "#111111", "alpha": 0.75, "linewidths": 0.5, "edgecolors": "white"}
        axes.scatter(info.contexts, info.arms, sizes, zorder=4, clip_on=False, **look)
        handles: list[Artist] = [
            Patch(facecolor=shade, edgecolor="#888888", linewidth=0.5, label=f"radius {_fraction(radius)} ({balls})")
            for shade, radius, balls in zip(shades, info.radii, info.balls, strict=True)
        ]
        dot = Line2D([], [], color="#111111", marker="o", markersize=5, linestyle="none")
        dot.set_label("centre (larger:\nplayed more)")
        handles.append(dot)
        if info.front is not None:
            handles.append(draw_front(axes, info.front, "#d55e00"))
            handles[-1].set_label("ends of the Pareto set")
        drawn.legend(
            handles=handles, loc="outside right upper", title="smallest ball\n(number of balls)", alignment="left"
        )
        axes.set_title(f"{len(info.counts):,} ball{'s' if len(info.counts) != 1 else ''}")
        return style.settle(drawn)


def _draw_discs(axes: Axes, info: Partition, shades: list[Any]) -> None:
    """Sharp edges for the cells: from the largest radius on, the discs and then their outlines."""
    from matplotlib.collections import EllipseCollection

    for radius, shade in zip(info.radii if info.reach else [], shades, strict=False):
        places = [(x, y) for x, y, r in zip(info.contexts, info.arms, info.sizes, strict=True) if r == radius]
        for face, edge in ((shade, "none"), ("none", (1, 1, 1, 0.5))):
            wide, high = ([2 * reach * radius] for reach in info.reach)
            discs = EllipseCollection(wide, high, [0], units="xy", offsets=places, offset_transform=axes.transData)
            discs.set(facecolor=face, edgecolor=edge, linewidth=0.5)
            axes.add_collection(discs, autolim=False)


def _fraction(radius: float) -> str:
    fraction = Fraction(radius)
    return str(fraction) if fraction.numerator == 1 and fraction.denominator < 10_000 else f"{radius:.3g}"
