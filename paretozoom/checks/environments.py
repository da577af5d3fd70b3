"""The contract of environments with known truth."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from paretozoom.checks.expecting import expect
from paretozoom.environments.base import Task
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


def check_environment(environment: Task, rounds: int = 200) -> None:
    """Test an environment with known truth.

    >>> from paretozoom import PaperTask
    >>> check_environment(PaperTask())
    """
    problem = environment.problem
    line = [list(simulate(Random(problem), environment, rounds, seed=seed)) for seed in (1, 1, 2)]
    expect(line[0] == line[1], "the same seed gives the same contexts and the same luck")
    expect(line[0] != line[2], "another seed gives other luck")
    environment.reset(7)
    decisions = [Random(problem, seed=k).ask(environment.observe()) for k in range(5)]
    decisions = [msgspec.structs.replace(d, number=k) for k, d in enumerate(decisions)]
    forward = [environment.respond(d) for d in decisions]
    backward = [environment.respond(d) for d in reversed(decisions)][::-1]
    expect(forward == backward, "a reward depends on the decision, not on the order of the calls")
    columns = Rounds.of(problem, line[0]).columns
    means, gaps = environment.means(columns.point), environment.gaps(columns.point)
    optimal = environment.are_optimal(columns.point)
    expect(bool(np.isfinite(means).all()), "every mean is finite")
    scaled = [o for o, objective in enumerate(problem.objectives) if objective.bounded]
    expect(bool(((means[:, scaled] >= 0) & (means[:, scaled] <= 1)).all()), "means of bounded objectives are in scale")
    expect(bool((gaps >= 0).all()), "gaps are not negative")
    slack = environment.gap_error + 1e-9
    expect(bool((gaps[optimal] <= slack).all()), "a Pareto optimal arm has no gap")
    bins = environment.bin_of(columns.point, columns.arm)
    expect(bool(((bins >= 0) == optimal).all()), "an arm has a bin exactly if it is Pareto optimal")
    expect(bool((bins < environment.bins).all()), "bins are numbered below their number")
    along = environment.front_bin_of(columns.point, columns.arm)
    expect(bool((optimal | (along < 0)).all()), "an arm has a bin along the front only if it is Pareto optimal")
    expect(bool((along < environment.bins).all()), "bins along the front are numbered below their number")
    for one in line[0][:20]:
        context, arm = one.decision.context, one.decision.arm
        expect(environment.front(context) != [], "every context has a Pareto optimal arm")
        expect(environment.gap(context, arm) == gaps[one.decision.number], "gap and gaps agree")
