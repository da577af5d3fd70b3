"""The expected reward of each objective over context x arm, as in the paper's Figure 1."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from paretozoom.environments.base import Task
from paretozoom.plots import style
from paretozoom.plots.plane import Front, Plane, cells_of, crossed, draw_front, draw_plane, front_of, plane_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = 3


class RewardMaps(msgspec.Struct, frozen=True):
    """Expected rewards on the cells of a grid: per objective, rows from the lowest arm, from the lowest context."""

    plane: Plane
    objectives: list[str]
    values: list[list[list[float]]]  # (objectives, rows, cells), 1 = best
    front: Front


def info(environment: Task, cells: int = 200) -> RewardMaps:
    """The maps of an environment.

    >>> from paretozoom import PaperTask
    >>> maps = info(PaperTask(), cells=5)
    >>> maps.objectives, maps.values[0][3]
    (['first', 'second'], [0.9, 0.3, 0.0, 0.0, 0.0])
    """
    problem = environment.problem
    plane = plane_of(problem)
    contexts, arms = cells_of(problem, cells)
    means = environment.means(crossed(contexts, arms)).reshape(len(arms), len(contexts), -1)
    values = np.moveaxis(np.round(means, 4), 2, 0).tolist()
    return RewardMaps(plane, list(problem.objective_names), values, front_of(environment))


def figure(info: RewardMaps) -> Figure:
    """One panel per objective: yellow is 1, dark blue is 0; the lines are the ends of the Pareto set."""
    from matplotlib.colors import LinearSegmentedColormap

    with style.theme():
        shades = LinearSegmentedColormap.from_list("rewards", style.REWARDS)
        columns = min(len(info.objectives), COLUMNS)
        rows = math.ceil(len(info.objectives) / COLUMNS)
        drawn = style.blank(1.0 + 2.9 * columns, 0.35 + 2.9 * rows)
        panels = drawn.subplots(rows, columns, squeeze=False, sharey=True).ravel()
        extent = (info.plane.context.low, info.plane.context.high, info.plane.arm.low, info.plane.arm.high)
        for k, (axes, name, values) in enumerate(zip(panels, info.objectives, info.values, strict=False)):
            picture = axes.imshow(
                values,
                origin="lower",
                extent=extent,
                vmin=0,
                vmax=1,
                cmap=shades,
                aspect="auto",
                interpolation="none",
            )
            draw_plane(axes, info.plane, arm_label=k % columns == 0)
            draw_front(axes, info.front)
            axes.set_title(f"Objective {name}")
        for axes in panels[len(info.objectives) :]:
            axes.remove()
        bar = drawn.colorbar(picture, ax=panels[: len(info.objectives)].tolist(), shrink=0.9, pad=0.02)
        bar.set_label("expected reward (1 = best)")
        bar.outline.set_visible(False)
        return style.settle(drawn)
