"""The contract of metrics."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from paretozoom.checks.expecting import expect
from paretozoom.environments.base import Task
from paretozoom.metrics.base import Metric
from paretozoom.policies.arms.random import Random
from paretozoom.policies.base import Policy
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Categorical, Finite, Integer, Objective, Real
from paretozoom.rounds import Rounds
from paretozoom.simulation import simulate

Maker = Callable[[Problem, int], Policy]
DRAWS = 400  # in one context, to see whether densities can be true

PROBLEMS = {
    "one real context, one real arm": Problem(
        context=[Real("x")], arm=[Real("y")], objectives=[Objective("first"), Objective("second")]
    ),
    "units, goals and scales": Problem(
        context=[Real("size", 1, 1000, scale="log"), Categorical("place", ["north", "south"])],
        arm=[Real("angle", 0, 360, periodic=True)],
        objectives=[Objective("cost", goal="min", low=0, high=50), Objective("gain", low=-1, high=3, bounded=False)],
    ),
    "finite arms with features": Problem(
        context=[Integer("hour", 0, 23)],
        arm=Finite(["a", "b", "c"], features=[[0, 1], [2, 1], [5, 0]]),
        objectives=[Objective("only")],
    ),
    "finite arms, no context": Problem(
        context=[], arm=Finite(["a", "b"]), objectives=[Objective("first"), Objective("second")]
    ),
}


def check_metric(metric: type[Metric], environment: Task, rounds: int = 500) -> None:
    """Test a metric on Random's rounds in an environment.

    >>> from paretozoom.environments import PaperTask
    >>> from paretozoom.metrics import FrontShare
    >>> check_metric(FrontShare, PaperTask())
    """
    played = Rounds.of(environment.problem, simulate(Random(environment.problem), environment, rounds, seed=1))
    whole, pieces = metric(environment, rounds), metric(environment, rounds)
    whole.update(played)
    for start in range(0, rounds, 37):
        pieces.update(played[start : start + 37])
    a, b = whole.result(), pieces.result()
    msgspec.json.encode(a)  # refuses what is not JSON-ready
    expect(sorted(a) == sorted(b), "a metric gives the same names however the rounds come")
    for key, value in a.items():
        here, there = (list(v.values()) if isinstance(v, dict) else v for v in (value, b[key]))
        same = here is there if here is None else np.allclose(here, there, rtol=1e-9)
        expect(bool(same), f"{key} does not depend on the chunks")
    empty = metric(environment, rounds).result()
    msgspec.json.encode(empty)
