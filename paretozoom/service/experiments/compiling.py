"""Kernels are compiled when they are first used: better before the first request than during it."""

from __future__ import annotations

import numpy as np

from paretozoom.policies import DEFAULT_POLICY
from paretozoom.policies.compiled import CompiledPolicy
from paretozoom.problem import Problem, random_points
from paretozoom.problem.dimensions import Objective, Real
from paretozoom.records import Asked, Dropped, Told
from paretozoom.service.experiments.policies import make_policy
from paretozoom.store.events import Created

TYPICAL = Created(
    Problem([Real("x")], [Real("y")], [Objective("r"), Objective("s")]), DEFAULT_POLICY.name, {}, 0, 0, by=""
)
ROUNDS = 200  # by then a policy has done all that it does, refits included


def kind_of(created: Created) -> tuple[object, ...]:
    """What policies have in common that use the same kernels.

    >>> kind_of(TYPICAL)[1:]
    (('Real',), ('Real',), 2, ())
    """
    problem = created.problem
    arms = problem.arm if isinstance(problem.arm, (list, tuple)) else [problem.arm]
    kinds = [tuple(type(one).__name__ for one in some) for some in (problem.context, arms)]
    parameters = tuple(sorted((name, type(value).__name__) for name, value in created.parameters.items()))
    return (created.policy, *kinds, len(problem.objectives), parameters)


def compile_policy(created: Created) -> None:
    """Use a policy like this one in all ways that there are, so that its kernels are compiled.

    >>> from paretozoom import PaperTask
    >>> compile_policy(Created(PaperTask().problem, "random", {}, 7, 1, by="loopback"))
    """
    problem = created.problem
    policy = make_policy(created.policy, problem, created.parameters, created.seed)
    if not isinstance(policy, CompiledPolicy):
        return
    rewards = [{o.name: o.decode(value) for o in problem.objectives} for value in (0.2, 0.7)]
    points = random_points(problem.encoding, ROUNDS, np.random.default_rng(0))
    for k, point in enumerate(points):
        decision = policy.propose(problem.decode_context(point))
        policy.replay(Asked(decision))
        if k == 0:
            policy.replay(Dropped(decision.number))
            continue
        told: dict[str, float] = {}
        for name, value in rewards[k % 2].items():  # in parts, of a decision that was put away meanwhile
            policy.replay(Dropped(decision.number))
            policy.reopen(decision, told or None)
            policy.replay(Told(decision.number, {name: value}))
            told[name] = value
        if k in (2, ROUNDS - 1):
            for believed in (False, True):
                policy.front(decision.context, believed=believed)
        if k == ROUNDS // 2:
            policy.load(policy.dump(with_open=False))
