"""What the fronts of policies are made of: the numbers a reward is, which vectors are best, and how pieces say so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from paretozoom.kernels.core.pareto import mark_front
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats


class Piece(msgspec.Struct, frozen=True):
    """A part of the arm space that a policy holds for Pareto optimal: an interval, a box, or one finite arm.

    Of a box low and high are arms, its corners.
    Index, mean, uncertainty and count are by objective, the first three in the user's units. None stands for what a
    policy does not keep, or has not seen yet:

    - zooming policies: the ball's optimistic index, the mean of its rewards, how unsure that is, and their number;
    - trees of arms: the same of a cell of arms (index U);
    - linear and kernel policies, CLUB and COFIBA: mean plus width, the estimate at the context, the width, and how
      often the arm was told (of CLUB and COFIBA: the user's cluster);
    - policies with a table of means: no index; the arm's mean in the context cell, 1 / sqrt(count), and its number;
    - policies over rules: nothing but how many rewards were learned from in all.

    >>> Piece(low=0.2, high=0.4, arm=None, index={"r": 1.2}, mean={"r": 0.5}, uncertainty={"r": 0.1},
    ...       count={"r": 40}).high
    0.4
    """

    low: float | dict[str, Any] | None
    high: float | dict[str, Any] | None
    arm: Any
    index: dict[str, float | None]
    mean: dict[str, float | None]
    uncertainty: dict[str, float | None]
    count: dict[str, int]


class Learned(NamedTuple):
    """A number that a reward is for a policy: an objective, or a weighted sum of several."""

    name: str
    decode: Callable[[float], float]  # to the user's units
    span: float  # a unit of the scaled number, in the user's


def learned_numbers(problem: Problem, weights: Sequence[float]) -> list[Learned]:
    """What a policy learns that sums the objectives by these weights, or each of them if there are none.

    >>> from paretozoom import Finite, Objective
    >>> problem = Problem(context=[], arm=Finite(["a"]), objectives=[Objective("r"), Objective("s", high=9)])
    >>> [[number.name for number in learned_numbers(problem, weights)] for weights in ([], [0.0, 1.0], [0.5, 0.5])]
    [['r', 's'], ['s'], ['weighted']]
    """
    objectives = list(problem.objectives)
    if weights:
        objectives = [o for o, weight in zip(objectives, weights, strict=True) if weight > 0]
    if weights and len(objectives) > 1:
        return [Learned("weighted", float, 1.0)]
    return [Learned(o.name, o.decode, o.span) for o in objectives]


def on_front(vectors: Floats) -> npt.NDArray[np.bool_]:
    """(n,) Which of some vectors (n, numbers) no other dominates.

    >>> on_front(np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])).tolist()
    [True, True, False]
    """
    n, marks = len(vectors), np.zeros(2 * len(vectors), np.int64)
    mark_front(vectors.T.ravel(), 0, vectors.shape[1], marks, 0, n, n)
    return np.asarray(marks[:n] == 1)


def described(
    learned: Sequence[Learned],
    *,
    count: int,
    index: Sequence[float] | Floats | None = None,
    mean: Sequence[float] | Floats | None = None,
    width: float | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, int]]:
    """(index, mean, uncertainty, count) as a Piece has them: by name, in the user's units, None where unknown."""
    return (
        {n.name: None if index is None else n.decode(float(index[o])) for o, n in enumerate(learned)},
        {n.name: None if mean is None else n.decode(float(mean[o])) for o, n in enumerate(learned)},
        {n.name: None if width is None else width * n.span for n in learned},
        {n.name: count for n in learned},
    )
