"""How the rewards of a task scatter around their means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from paretozoom.kernels.tasks import world
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints, number_of
from paretozoom.records import Refused

Noise = Literal["bernoulli", "gaussian", "student", "even"]
KINDS: dict[str, int] = dict(
    zip(get_args(Noise), (world.BERNOULLI, world.GAUSSIAN, world.STUDENT, world.EVEN), strict=True)
)


def noise_of(problem: Problem, noise: Any, spread: Any) -> tuple[Ints, Floats]:
    """The kernel's number of the noise of each objective, and its standard deviation; one name or one per objective.

    >>> from paretozoom.environments import PaperTask
    >>> [column.tolist() for column in noise_of(PaperTask().problem, ["even", "even"], [0.1, 0.2])]
    [[3, 3], [0.1, 0.2]]
    """
    n = len(problem.objectives)
    names, spreads = _each(noise, n, "noise"), _each(spread, n, "spread")
    for name in names:
        if not isinstance(name, str) or name not in KINDS:
            raise Refused(f"noise: {name!r} is not {' or '.join(map(repr, KINDS))}")
    if len(set(names)) > 1 and "bernoulli" in names:
        raise Refused(f"noise: {names!r} given, but Bernoulli rewards, which share their draws, are not mixed")
    for objective, name in zip(problem.objectives, names, strict=True):
        if name in ("gaussian", "student") and objective.bounded:
            title = "Gaussian" if name == "gaussian" else "Student's"
            raise Refused(f"objectives[{objective.name!r}]: bounded, but {title} rewards are not; use bounded=False")
    numbers = [number_of(value, "spread") for value in spreads]
    if min(numbers) < 0:
        raise Refused(f"spread: {min(numbers)!r} is negative")
    return np.array([KINDS[name] for name in names], np.int64), np.array(numbers)


def _each(value: Any, n: int, field: str) -> list[Any]:
    """One value for each objective."""
    if isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray)):
        return [value] * n
    if len(value) != n:
        raise Refused(f"{field}: {value!r} has {len(value)} entries, expected {n}, one for each objective")
    return list(value)


def sub_gaussian_scale(kinds: Ints, spreads: Floats) -> float:
    """The largest sub-Gaussian scale of the scaled rewards: 1/2 for Bernoulli, none (infinite) for Student's t.

    >>> sub_gaussian_scale(np.array([1, 1]), np.array([0.1, 0.3]))
    0.3
    """
    own = {world.BERNOULLI: 0.5, world.STUDENT: math.inf}
    return float(max(own.get(kind, spread) for kind, spread in zip(kinds.tolist(), spreads, strict=True)))


def units_of(problem: Problem) -> Floats:
    """What `kernels.world.settle` must know of the objectives: (sign, where scaled rewards are 0, span) of each.

    >>> from paretozoom import Objective, Real
    >>> wait = Objective("wait", goal="min", low=0, high=60)
    >>> units_of(Problem(context=[], arm=[Real("y")], objectives=[wait])).tolist()
    [[-1.0, 60.0, 60.0]]
    """
    if all(objective.exact for objective in problem.objectives):
        return np.zeros((0, 3))
    rows = []
    for o in problem.objectives:
        start = 0.0 if o.low is None or o.high is None else o.low if o.goal == "max" else o.high
        rows.append((1.0 if o.goal == "max" else -1.0, start, o.span))
    return np.array(rows)
