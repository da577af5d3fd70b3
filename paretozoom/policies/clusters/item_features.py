"""Features of arms for policies whose rewards are linear in them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from paretozoom.kernels.core.kinds import CATEGORICAL, PERIODIC
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Finite, Floats
from paretozoom.records import Refused

MOST_FEATURES = 64
HIGHEST_DEGREE = 20


def item_features(problem: Problem, arms: Floats, degree: int | None = None) -> Floats:
    """(arms, features) Products of up to `degree` coordinates and a mark per category, of length 1 at most.

    The degree is 2 if none is given, but 1 for finite arms with features of their own. A periodic coordinate counts as
    two, its cosine and sine. Marks stand in for the constant, the product of no coordinate: plain labels have a
    feature each.

    >>> from paretozoom import Objective, Real
    >>> line = Problem(context=[], arm=[Real("y")], objectives=[Objective("r")])
    >>> (item_features(line, np.array([[0.5]])) * 3**0.5).round(2).tolist()
    [[1.0, 0.5, 0.25]]
    >>> labels = Problem(context=[], arm=Finite(["a", "b"]), objectives=[Objective("r")])
    >>> item_features(labels, labels.encoding.arms).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    highest = _checked_degree(degree, 1 if isinstance(problem.arm, Finite) else 2)
    numbers, marks, categories = [], [], 0
    for kind, column in zip(problem.encoding.kinds[problem.encoding.context :].tolist(), arms.T, strict=True):
        if kind == CATEGORICAL:
            values, categories = int(column.max()) + 1, categories + 1
            if values > MOST_FEATURES:
                raise _too_many(values)
            marks += [(column == value).astype(float) for value in range(values)]
        elif kind == PERIODIC:
            numbers += [np.cos(2 * math.pi * column), np.sin(2 * math.pi * column)]
        else:
            numbers.append(column)
    lowest = 1 if categories else 0
    count = math.comb(len(numbers) + highest, highest) - lowest
    if count + len(marks) > MOST_FEATURES:
        raise _too_many(count + len(marks))
    products = [
        np.prod([numbers[j] for j in chosen], axis=0) if chosen else np.ones(len(arms))
        for order in range(lowest, highest + 1)
        for chosen in itertools.combinations_with_replacement(range(len(numbers)), order)
    ]
    return np.stack([*products, *marks], axis=1) / math.sqrt(count + categories)


def _checked_degree(degree: Any, default: int) -> int:
    if degree is None:
        return default
    if isinstance(degree, bool) or not isinstance(degree, (int, np.integer)) or not 0 <= degree <= HIGHEST_DEGREE:
        raise Refused(f"degree: {degree!r} is not an integer from 0 to {HIGHEST_DEGREE}")
    return int(degree)


def _too_many(count: int) -> Refused:
    return Refused(
        f"arm: {count} or more features of an arm, expected at most {MOST_FEATURES}; give finite arms a few features, "
        "or a lower degree"
    )
