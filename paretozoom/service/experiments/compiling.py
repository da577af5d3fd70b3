"""Kernels are compiled when they are first used: better before the first request than during it."""

from __future__ import annotations

import numpy as np

from paretozoom.policies import DEFAULT_POLICY
from paretozoom.policies.compiled import CompiledPolicy
from paretozoom.problem import Problem, random_points
from paretozoom.problem.dimensions import Objective, Real
from paretozoom.records import Asked, Told
from paretozoom.service.experiments.experiment import make_policy
from paretozoom.store.events import Created

TYPICAL = Created(Problem([Real("x")], [Real("y")], [Objective("r")]), DEFAULT_POLICY.name, {}, 0, 0, by="")


def compile_policy(created: Created) -> None:
    """Use a policy like this one for a moment, so that its kernels are compiled.

    >>> from paretozoom import PaperTask
    >>> compile_policy(Created(PaperTask().problem, "random", {}, 7, 1, by="loopback"))
    """
    problem = created.problem
    policy = make_policy(created.policy, problem, created.parameters, created.seed)
    if not isinstance(policy, CompiledPolicy):
        return
    for point in random_points(problem.encoding, 3, np.random.default_rng(0)):
        decision = policy.propose(problem.decode_context(point))
        policy.replay(Asked(decision))
        policy.replay(Told(decision.number, {o.name: o.decode(0.5) for o in problem.objectives}))
        policy.front(decision.context)
    policy.load(policy.dump())
