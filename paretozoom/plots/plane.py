"""The plane of context x arm that maps and partitions are drawn on, and the true front in it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from paretozoom.environments.base import Task
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Real
from paretozoom.records import Refused

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

MOST_ARMS = 200  # rows that can still be told apart
MOST_LABELS = 20


class Axis(msgspec.Struct, frozen=True):
    """One side of the plane: its ends in drawing units, and ticks in the user's."""

    name: str
    low: float
    high: float
    ticks: list[float]
    labels: list[str]


class Plane(msgspec.Struct, frozen=True):
    """Context to the right, arm upwards: encoded coordinates, or one row per finite arm."""

    context: Axis
    arm: Axis
    rows: int  # number of finite arms, 0 for a continuum


class Front(msgspec.Struct, frozen=True):
    """The true Pareto set: at each context, the intervals [low, high] of the arm axis that it fills."""

    contexts: list[float]
    intervals: list[list[list[float]]]


def can_draw(problem: Problem) -> bool:
    """Whether a problem fits a plane: one real context, and one real arm or a moderate number of finite ones.

    >>> from paretozoom import Tents
    >>> can_draw(Tents().problem), can_draw(Tents(arms=500).problem)
    (True, False)
    """
    arms = len(problem.encoding.arms)
    line = isinstance(problem.arm, tuple) and len(problem.arm) == 1 and isinstance(problem.arm[0], Real)
    return problem.encoding.context == 1 and isinstance(problem.context[0], Real) and (line or 0 < arms <= MOST_ARMS)


def plane_of(problem: Problem) -> Plane:
    """The plane of a problem.

    >>> from paretozoom import Tents
    >>> plane_of(Tents(arms=3).problem).arm.labels
    ['y0', 'y0.5', 'y1']
    """
    if not can_draw(problem):
        raise Refused(
            f"problem: the context {problem.context!r} and the arm {problem.arm!r} do not fit a plane; "
            f"expected one Real context, and one Real arm or at most {MOST_ARMS} finite ones"
        )
    context, arms = problem.context[0], problem.encoding.arms
    assert isinstance(context, Real)
    if not len(arms):
        assert isinstance(problem.arm, tuple)
        arm = problem.arm[0]
        assert isinstance(arm, Real)
        return Plane(_real_axis("context", context), _real_axis("arm", arm), 0)
    shown = range(0, len(arms), math.ceil(len(arms) / MOST_LABELS))
    labels = [_arm_label(problem, k) for k in shown]
    rows = Axis("arm", -0.5, len(arms) - 0.5, [float(k) for k in shown], labels)
    return Plane(_real_axis("context", context), rows, len(arms))


def _real_axis(role: str, dimension: Real) -> Axis:
    ticks = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0] if dimension.exact else [0.0, 0.25, 0.5, 0.75, 1.0]
    return Axis(f"{role} {dimension.name}", 0.0, 1.0, ticks, [f"{dimension.decode(t):.4g}" for t in ticks])


def _arm_label(problem: Problem, number: int) -> str:
    point = np.concatenate([np.zeros(problem.encoding.context), problem.encoding.arms[number]])
    arm = problem.decode_arm(number, point)
    text = ", ".join(map(str, arm.values())) if isinstance(arm, dict) else str(arm)
    return text if len(text) <= 16 else f"{text[:15]}…"


def cells_of(problem: Problem, cells: int) -> tuple[Floats, Floats]:
    """The middles of the cells of a grid over the plane: contexts (cells, 1) and arms (cells or rows, arm dim).

    >>> from paretozoom import Tents
    >>> [side.ravel().tolist() for side in cells_of(Tents(arms=3).problem, 2)]
    [[0.25, 0.75], [0.0, 0.5, 1.0]]
    """
    middles = (np.arange(cells)[:, None] + 0.5) / cells
    return middles, problem.encoding.arms if len(problem.encoding.arms) else middles


def crossed(contexts: Floats, arms: Floats) -> Floats:
    """Every arm at every context, row by row: (arms * contexts, dim)."""
    return np.hstack([np.tile(contexts, (len(arms), 1)), np.repeat(arms, len(contexts), axis=0)])


def front_of(environment: Task) -> Front:
    """The true Pareto set of an environment, over the whole width of the plane.

    >>> from paretozoom import Tents
    >>> front_of(Tents(arms=11)).intervals[0]
    [[1.5, 4.5]]
    """
    arms = environment.problem.encoding.arms
    # Truth without a closed form is slow to find. Finite arms tie at round contexts, so cells' middles are asked.
    contexts = (np.arange(400) + 0.5) / 400 if len(arms) else np.linspace(0.0, 1.0, 65)
    points = np.zeros((len(contexts), environment.problem.dim))
    points[:, 0] = contexts
    if not len(arms):
        clipped = [[[max(a, 0.0), min(b, 1.0)] for a, b in row] for row in environment.front_intervals(points)]
        return Front(contexts.tolist(), clipped)
    marks = environment.are_optimal(crossed(contexts[:, None], arms)).reshape(len(arms), len(contexts))
    edges = np.diff(np.pad(marks.astype(int), ((1, 1), (0, 0))), axis=0)
    found = []
    for edge in edges.T:
        lows, highs = np.flatnonzero(edge == 1) - 0.5, np.flatnonzero(edge == -1) - 0.5
        found.append([[float(a), float(b)] for a, b in zip(lows, highs, strict=True)])
    return Front(contexts.tolist(), found)


def draw_plane(axes: Axes, plane: Plane, *, arm_label: bool = True) -> None:
    """Label the sides of the plane."""
    axes.set_xlim(plane.context.low, plane.context.high)
    axes.set_ylim(plane.arm.low, plane.arm.high)
    axes.set_xticks(plane.context.ticks, plane.context.labels)
    axes.set_yticks(plane.arm.ticks, plane.arm.labels)
    axes.set_xlabel(plane.context.name)
    if arm_label:
        axes.set_ylabel(plane.arm.name)
    axes.grid(visible=False)
    if not plane.rows:
        axes.set_aspect("equal")


def draw_front(axes: Axes, front: Front, colour: str = "#111111") -> Line2D:
    """Draw the ends of the true Pareto set; gives one line, for a legend."""
    from matplotlib.patheffects import withStroke

    x: list[float] = []
    y: list[float] = []
    for part in range(max(map(len, front.intervals), default=0)):
        for end in (0, 1):
            before = 0
            for context, row in zip(front.contexts, front.intervals, strict=True):
                if len(row) != before:  # a part begins or ends here, and the line with it
                    x.append(math.nan)
                    y.append(math.nan)
                if part < len(row):
                    x.append(context)
                    y.append(row[part][end])
                before = len(row)
    halo = [withStroke(linewidth=2.6, foreground="white", alpha=0.8)]
    return axes.plot(x, y, color=colour, linewidth=1.2, path_effects=halo, zorder=3)[0]
