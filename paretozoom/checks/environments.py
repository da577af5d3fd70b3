"""The contract of environments with known truth."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from paretozoom.checks.expecting import expect
from paretozoom.environments.base import Task
from paretozoom.policies import BASELINE
from paretozoom.rounds import Rounds
from paretozoom.simulation import simulate


def check_environment(environment: Task | Callable[[], Task], rounds: int = 200) -> None:
    """Test an environment with known truth: one that was made, or a class that needs no parameters.

    >>> from paretozoom import PaperTask, Tents
    >>> check_environment(PaperTask)
    >>> check_environment(Tents(objectives=3))
    """
    if not isinstance(environment, Task):
        environment = environment()
    problem = environment.problem
    line = [list(simulate(BASELINE(problem), environment, rounds, seed=seed)) for seed in (1, 1, 2)]
    expect(line[0] == line[1], "the same seed gives the same contexts and the same luck")
    expect(line[0] != line[2], "another seed gives other luck")
    environment.reset(7)
    decisions = [BASELINE(problem, seed=k).ask(environment.observe()) for k in range(5)]
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
