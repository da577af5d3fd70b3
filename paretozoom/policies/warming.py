"""Kernels are compiled when they are first used: here a policy is used in all ways that there are."""

from __future__ import annotations

import numpy as np

from paretozoom.policies.compiled import CompiledPolicy
from paretozoom.problem import random_points
from paretozoom.records import Asked, Dropped, Told

ROUNDS = 200  # by then a policy has done all that it does, refits included


def warm(policy: CompiledPolicy) -> None:
    """Play rounds that nobody needs, so that all kernels of policies like this one are compiled.

    >>> from paretozoom import PaperTask, Random
    >>> warm(Random(PaperTask().problem, seed=1))
    """
    problem = policy.problem
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
