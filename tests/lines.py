"""Policies and an environment for both ways to play the straight line."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from paretozoom import PCZ, Categorical, ContextualZooming, Decision, Objective, Problem, Random, Real, Round
from paretozoom.policies.base import Policy
from paretozoom.simulation import simulate_in_chunks

ROUNDS = 120
# Little noise, so that balls split after a few rewards.
POLICIES: dict[str, Callable[[Problem], Policy]] = {
    "random": Random,
    "pcz": lambda problem: PCZ(problem, horizon=200, noise=0.1),
    "pcz-doubling": lambda problem: PCZ(problem, noise=0.05),
    "contextual-zooming": lambda problem: ContextualZooming(problem, horizon=200, radius="pcz", noise=0.1),
    "weighted": lambda problem: ContextualZooming(
        problem, weights=[1 / len(problem.objectives)] * len(problem.objectives), confidence=0.05
    ),
}
every_policy = pytest.mark.parametrize("make", POLICIES.values(), ids=POLICIES)


def bytes_of(policy: Policy) -> bytes:
    """A policy's whole state."""
    return policy.dump().to_bytes()


def in_chunks(policy: Policy, environment: Any, rounds: int, **more: Any) -> list[Round]:
    """The rounds of the compiled twin, one by one."""
    return [played for some in simulate_in_chunks(policy, environment, rounds, **more) for played in some]


class Shop:
    """An environment of a user's own: no kernel, other units, an objective to minimise; answers in order."""

    problem = Problem(
        context=[Categorical("device", ["phone", "desk", "watch"]), Real("load", 1, 1000, scale="log")],
        arm=[Real("price", 5, 50)],
        objectives=[Objective("profit", low=-10, high=90), Objective("wait", goal="min", low=0, high=200)],
    )

    def reset(self, seed: int) -> None:
        self.seed = seed
        self.rng = np.random.default_rng(seed)

    def observe(self) -> list[Any]:
        return [["phone", "desk", "watch"][self.rng.integers(3)], float(10 ** self.rng.uniform(0, 3))]

    def respond(self, decision: Decision) -> list[float]:
        luck = np.random.default_rng([self.seed % 2**32, decision.number]).uniform(-5, 5)
        price, load = decision.arm["price"], decision.context["load"]
        return [price - 5 + luck, 3 * price + 10 * math.log10(load) + luck + 5]
