"""A policy of your own in ordinary Python, checked, compared on a task, and ready for the service.

Run: python examples/own_policy.py [rounds]
Serve: paretozoom serve --policy examples/own_policy.py:EpsilonPareto
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from paretozoom import FiniteBandit, ParetoUCB1, PlainPolicy, Problem, Random, simulate
from paretozoom.checks import check_policy
from paretozoom.problem.dimensions import Finite
from paretozoom.records import Refused


class EpsilonPareto(PlainPolicy):
    """Plays arms whose mean rewards no other arm's dominate; with probability epsilon, any arm.

    >>> policy = EpsilonPareto(FiniteBandit().problem, epsilon=0.5, seed=1)
    >>> decision = policy.ask()
    >>> decision.arm, decision.density
    ('arm7', 0.1)
    """

    name = "epsilon-pareto"

    def __init__(self, problem: Problem, *, epsilon: float = 0.1, seed: int = 0) -> None:
        super().__init__(problem, seed=seed, parameters={"epsilon": epsilon})
        if not isinstance(problem.arm, Finite) or any(objective.goal == "min" for objective in problem.objectives):
            raise Refused(f"problem: {problem!r} given, expected finite arms and objectives to maximise")
        self.epsilon = epsilon
        self.rewards: dict[Any, list[list[float]]] = {arm: [] for arm in problem.arm.labels}

    def choose(self, context: dict[str, Any], candidates: Any, luck: np.random.Generator) -> tuple[Any, float]:
        """Any arm, or one of the front."""
        n = len(self.problem.objectives)
        means = [np.mean(self.rewards[arm] or [[np.inf] * n], axis=0) for arm in candidates]  # unseen arms come first
        best = np.array([not any((o >= m).all() and (o > m).any() for o in means) for m in means])
        chances = self.epsilon / len(candidates) + (1 - self.epsilon) * best / best.sum()
        k = luck.choice(len(candidates), p=chances)
        return candidates[k], chances[k]

    def learn(self, context: dict[str, Any], arm: Any, reward: dict[str, float]) -> None:
        """Remember every reward."""
        self.rewards[arm].append(list(reward.values()))

    def state(self) -> dict[str, Any]:
        """What `dump` saves; without these two methods a service reads the whole log when it starts."""
        return {"rewards": list(self.rewards.values())}

    def restore(self, state: dict[str, Any]) -> None:
        """What `load` does."""
        self.rewards = dict(zip(self.rewards, state["rewards"], strict=True))


def main(rounds: int = 3_000) -> None:
    """Check the policy, then let it play beside two others."""
    print("it keeps the contract of a policy on:", *check_policy(EpsilonPareto), sep="\n  ")
    task = FiniteBandit()
    for policy in (EpsilonPareto(task.problem), ParetoUCB1(task.problem), Random(task.problem)):
        gaps = [task.gap([], played.decision.arm) for played in simulate(policy, task, rounds, seed=1)]
        print(f"{policy.name:15} mean gap {np.mean(gaps):.3f}, in the last fifth {np.mean(gaps[-rounds // 5 :]):.3f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
