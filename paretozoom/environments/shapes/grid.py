"""The arms among which truth without a closed form is sought."""

from __future__ import annotations

import math

import numpy as np

from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats
from paretozoom.records import Refused

GRID = 2001  # arms on a line; about as many where arms have several dimensions
MOST_ARMS = 1_000_000


def is_line(problem: Problem) -> bool:
    """Whether the arm is one real number.

    >>> from paretozoom import Tents
    >>> is_line(Tents().problem), is_line(Tents(arms=3).problem)
    (True, False)
    """
    encoding = problem.encoding
    return not len(encoding.arms) and encoding.values[encoding.context :].tolist() == [0]


def arm_grid(problem: Problem, arms: int = GRID) -> Floats:
    """All arms if they are finitely many, evenly spaced ones on a line, about as many in a space.

    In a space every value of an integer or a category is combined with the middles of equal parts of each real
    coordinate, so that every arm of the grid stands for an equal share of the space.

    >>> from paretozoom import Categorical, Objective, Real
    >>> mixed = Problem(context=[], arm=[Real("heat"), Categorical("mode", ["a", "b"])], objectives=[Objective("r")])
    >>> len(arm_grid(mixed)), arm_grid(mixed)[:3].round(4).tolist()
    (2002, [[0.0005, 0.0], [0.0005, 1.0], [0.0015, 0.0]])
    """
    encoding = problem.encoding
    if len(encoding.arms):
        return encoding.arms
    if is_line(problem):
        return np.linspace(0.0, 1.0, arms)[:, None]
    values, parts = encoding.values[encoding.context :].tolist(), _parts(problem, arms)
    if math.prod(abs(v) or parts for v in values) > MOST_ARMS:
        raise Refused(f"arm: a grid over {problem.arm!r} has more than {MOST_ARMS} arms, too many to seek the truth in")
    columns = [_coordinates(v, parts) for v in values]
    return np.ascontiguousarray(np.stack(np.meshgrid(*columns, indexing="ij"), axis=-1).reshape(-1, len(values)))


def half_steps(problem: Problem, arms: int = GRID) -> Floats:
    """How far, in each coordinate of a point, an arm can be from the nearest arm of the grid.

    >>> from paretozoom import PaperTask
    >>> half_steps(PaperTask().problem).tolist()
    [0.0, 0.00025]
    """
    encoding = problem.encoding
    steps = np.zeros(problem.dim)
    if not len(encoding.arms):
        half = 0.5 / (arms - 1) if is_line(problem) else 0.5 / _parts(problem, arms)
        steps[encoding.context :] = np.where(encoding.values[encoding.context :] == 0, half, 0.0)
    return steps


def _parts(problem: Problem, arms: int) -> int:
    """Into how many parts each real coordinate is cut."""
    values = problem.encoding.values[problem.encoding.context :].tolist()
    combinations = math.prod(abs(v) or 1 for v in values)
    return max(2, math.ceil(math.pow(arms / combinations, 1.0 / max(1, values.count(0)))))


def _coordinates(values: int, parts: int) -> Floats:
    if values == 0:
        return (np.arange(parts) + 0.5) / parts
    return np.arange(-values, dtype=float) if values < 0 else np.arange(values) / (values - 1)
