"""Linear models of the mean reward, one per arm: river's and MABWiser's LinUCB."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats
from peers.adapter import Rival, Settings, features_of


class RiverLinUCB(Rival):
    """`river.bandit.LinUCBDisjoint` on 1 and the coordinates of the context."""

    name = "river-linucb"
    package = "river"
    settings: ClassVar[Settings] = {  # precisions: of the prior and of the noise
        "alpha 1, beta 1": {"alpha": 1.0, "beta": 1.0, "squares": False},
        "alpha 1, beta 10": {"alpha": 1.0, "beta": 10.0, "squares": False},
        "alpha 1, beta 10, squares": {"alpha": 1.0, "beta": 10.0, "squares": True},
    }
    speed = 1_000.0

    def __init__(self, problem: Problem, horizon: int, seed: int, *, alpha: float, beta: float, squares: bool) -> None:
        super().__init__(problem, horizon, seed)
        from river import bandit

        self.policy: Any = bandit.LinUCBDisjoint(alpha=alpha, beta=beta, seed=seed % 2**31)
        self.numbers = list(range(len(self.arms)))
        self.squares = squares

    def choose(self, context: Floats) -> int:
        """The arm it pulls."""
        return int(self.policy.pull(self.numbers, context=self._features(context)))

    def learn(self, context: Floats, arm: int | Floats, reward: Floats) -> None:
        """Tell the mean of the rewards."""
        self.policy.update(arm, self._features(context), float(reward.mean()))

    def _features(self, context: Floats) -> dict[str, float]:
        return {f"f{k}": value for k, value in enumerate(features_of(self.problem, context, self.squares))}


class MABWiserLinUCB(Rival):
    """`mabwiser.mab.MAB` with LinUCB; the first arms, one each, are played in order, because it wants data to begin."""

    name = "mabwiser-linucb"
    package = "mabwiser"
    settings: ClassVar[Settings] = {
        "alpha 0.1": {"alpha": 0.1, "squares": False},
        "alpha 1": {"alpha": 1.0, "squares": False},
        "alpha 0.3, squares": {"alpha": 0.3, "squares": True},
    }
    pilot: ClassVar[dict[int, int]] = {1_000: 2, 10_000: 1}
    speed = 300.0

    def __init__(self, problem: Problem, horizon: int, seed: int, *, alpha: float, squares: bool) -> None:
        super().__init__(problem, horizon, seed)
        from mabwiser.mab import MAB, LearningPolicy

        self.model: Any = MAB(list(range(len(self.arms))), LearningPolicy.LinUCB(alpha=alpha), seed=seed % 2**31)
        self.squares = squares
        self.first: list[tuple[int, float, list[float]]] = []

    def choose(self, context: Floats) -> int:
        """The arm it predicts, once each arm was played."""
        if len(self.first) < len(self.arms):
            return len(self.first)
        return int(self.model.predict([features_of(self.problem, context, self.squares)]))

    def learn(self, context: Floats, arm: int | Floats, reward: Floats) -> None:
        """Tell the mean of the rewards."""
        assert isinstance(arm, int)
        features, mean = features_of(self.problem, context, self.squares), float(reward.mean())
        if len(self.first) < len(self.arms):
            self.first.append((arm, mean, features))
            if len(self.first) == len(self.arms):
                arms, means, contexts = zip(*self.first, strict=True)
                self.model.fit(list(arms), list(means), np.array(contexts))
        else:
            self.model.partial_fit([arm], [mean], np.array([features]))
