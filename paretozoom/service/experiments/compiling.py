"""Kernels are compiled when they are first used: better before the first request than during it."""

from __future__ import annotations

from paretozoom.policies import DEFAULT_POLICY
from paretozoom.policies.compiled import CompiledPolicy
from paretozoom.policies.warming import warm
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Objective, Real
from paretozoom.service.experiments.policies import make_policy
from paretozoom.store.events import Created

TYPICAL = Created(
    Problem([Real("x")], [Real("y")], [Objective("r"), Objective("s")]), DEFAULT_POLICY.name, {}, 0, 0, by=""
)


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
    policy = make_policy(created.policy, created.problem, created.parameters, created.seed)
    if isinstance(policy, CompiledPolicy):
        warm(policy)
