"""A policy and its slow twin side by side: the same rounds, any feedback, the same decisions."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from paretozoom import Decision
from paretozoom.feasible import encode_feasible
from paretozoom.policies.base import Policy
from tests.reference import philox
from tests.reference.play import World
from tests.reference.problems import is_allowed

Answer = tuple[int, list[float], float, int]  # finite arm or -1, the arm's coordinates, density, credit


class Twin(Protocol):
    """The mathematics of a policy on encoded numbers."""

    def ask(self, number: int, context: Sequence[float], allowed: Sequence[Sequence[float]]) -> Answer:
        """Decide; no row in `allowed` if every arm is feasible."""

    def tell(self, number: int, arm: Sequence[float], credit: int, reward: Sequence[float]) -> None:
        """Learn a whole reward, oriented and scaled."""


class Draws:
    """The uniforms of a policy with some seed."""

    def __init__(self, seed: int) -> None:
        self.key = np.random.SeedSequence(seed).generate_state(2, np.uint64).tolist()

    def __call__(self, number: int, stream: int = 0) -> list[float]:
        return philox.uniforms(self.key, [number, stream, 0, 0])


def lockstep(
    policy: Policy,
    twin: Twin,
    world: World,
    rounds: int,
    *,
    feasible: Callable[[], Any] | None = None,
    scrambled: bool = False,
) -> list[Decision]:
    """Play rounds with both; every decision must be the same. Scrambled rewards come late, out of order or never."""
    problem, rng = policy.problem, world.rng
    waiting: list[tuple[int, int, Decision, dict[str, float]]] = []
    made = []
    for t in range(rounds):
        context, wanted = world.context(), None if feasible is None else feasible()
        point = np.zeros(problem.dim)
        problem.encode_context(context, point)
        rows = encode_feasible(problem, wanted).tolist()
        decision = policy.ask(context, feasible=wanted)
        arm, place, density, credit = twin.ask(decision.number, point[: len(problem.context)].tolist(), rows)
        point[len(problem.context) :] = place
        expected = Decision(decision.number, decision.context, problem.decode_arm(arm, point), decision.density, credit)
        assert decision == expected
        assert is_allowed(problem, wanted, decision.arm)
        assert math.isclose(decision.density, density, rel_tol=1e-9), (decision, density)
        made.append(decision)
        fate = rng.random() if scrambled else 1.0
        late = int(rng.geometric(0.15)) - 1 if scrambled else 0
        reward = world.reward(decision)
        if fate < 0.1:
            policy.drop(decision)
        else:
            heapq.heappush(waiting, (t + late, t, decision, reward))
        while waiting and waiting[0][0] <= t:
            told, reward = heapq.heappop(waiting)[2:]
            policy.tell(told, reward)
            encoded = np.zeros(len(problem.objectives))
            problem.encode_reward(reward, encoded)
            problem.encode_arm(told.arm, point)
            twin.tell(told.number, point[len(problem.context) :].tolist(), told.credit, encoded.tolist())
    return made
