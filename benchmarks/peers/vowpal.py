"""Vowpal Wabbit: exploration over listed arms, and CATS over a line of arms."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Finite, Floats
from peers.adapter import Cells, Rival, Settings, features_of, is_continuous

CELLS = 16


class VowpalArms(Rival):
    """`--cb_explore_adf`: a shared line with the context's cell of 16 or so, a line per arm, and their products.

    A context of more than `most_cells` has no cell. `arm_numbers` adds what is known of each arm to its line.
    """

    name = "vw-adf"
    package = "vowpalwabbit"
    settings: ClassVar[Settings] = {
        "epsilon 0.05, cells": {"options": "--epsilon 0.05", "numbers": False},
        "squarecb, cells": {"options": "--squarecb --gamma_scale 100", "numbers": False},
        "epsilon 0.05, cells and numbers": {"options": "--epsilon 0.05", "numbers": True},
    }
    speed = 3_000.0

    def __init__(
        self,
        problem: Problem,
        horizon: int,
        seed: int,
        *,
        options: str,
        numbers: bool,
        most_cells: int | None = None,
        arm_numbers: bool = False,
    ) -> None:
        super().__init__(problem, horizon, seed)
        import vowpalwabbit

        self.model = vowpalwabbit.Workspace(
            f"--cb_explore_adf --cb_type mtr -q sa --quiet --random_seed {seed % 2**31} {options}"
        )
        cells = Cells(problem, CELLS)
        self.cells = cells if most_cells is None or cells.count <= most_cells else None
        self.numbers = numbers
        self.lines = [f"|a arm={k}" for k in range(len(self.arms))]
        if arm_numbers:
            self.lines = [f"{line} {known}".rstrip() for line, known in zip(self.lines, known_of(self), strict=True)]
        self.density = 1.0

    def choose(self, context: Floats) -> int:
        """Draw from the probabilities that the model gives."""
        found = np.array(self.model.predict([self._shared(context), *self.lines]))
        found /= found.sum()
        arm = int(self.rng.choice(len(found), p=found))
        self.density = float(found[arm])
        return arm

    def learn(self, context: Floats, arm: int | Floats, reward: Floats) -> None:
        """Tell the cost, which is minus the mean of the rewards."""
        assert isinstance(arm, int)
        lines = self.lines.copy()
        lines[arm] = f"0:{-reward.mean():.6f}:{self.density:.6f} {lines[arm]}"
        self.model.learn([self._shared(context), *lines])

    def _shared(self, context: Floats) -> str:
        return f"shared {described(self.problem, self.cells, context, self.numbers)}"


def known_of(rival: Rival) -> list[str]:
    """What is known of each arm: its features or coordinates, and its categories; of a mere label nothing.

    >>> from paretozoom import Devices, Drawn
    >>> known_of(Rival(Devices().problem, 1, 0))[0], known_of(Rival(Drawn(3, "labels").problem, 1, 0))[0]
    ('y0:0.0156', '')
    """
    problem = rival.problem
    values = problem.encoding.values[problem.encoding.context :].tolist()
    if isinstance(problem.arm, Finite):
        values = [] if problem.arm.features is None else [0] * rival.arms.shape[1]
    return [
        " ".join(f"y{j}={int(arm[j])}" if values[j] < 0 else f"y{j}:{arm[j]:.4f}" for j in range(len(values)))
        for arm in rival.arms
    ]


class VowpalCats(Rival):
    """`--cats`: a tree of arms on a line, with a bandwidth."""

    name = "vw-cats"
    package = "vowpalwabbit"
    settings: ClassVar[Settings] = {
        "8 arms, bandwidth 0.1": {"arms": 8, "bandwidth": 0.1},
        "16 arms, bandwidth 0.1": {"arms": 16, "bandwidth": 0.1},
        "32 arms, bandwidth 0.05": {"arms": 32, "bandwidth": 0.05},
    }
    speed = 20_000.0

    def __init__(self, problem: Problem, horizon: int, seed: int, *, arms: int, bandwidth: float) -> None:
        super().__init__(problem, horizon, seed)
        import vowpalwabbit

        self.model: Any = vowpalwabbit.Workspace(
            f"--cats {arms} --bandwidth {bandwidth} --min_value 0 --max_value 1 --epsilon 0.05 --quiet "
            f"--random_seed {seed % 2**31}"
        )
        self.cells = Cells(problem, CELLS)
        self.density = 1.0

    @classmethod
    def plays(cls, problem: Problem) -> bool:
        """One continuous arm coordinate."""
        return is_continuous(problem) and problem.dim == problem.encoding.context + 1

    def choose(self, context: Floats) -> Floats:
        """What the tree draws."""
        place, self.density = self.model.predict(self._features(context))
        return np.array([min(max(place, 0.0), 1.0)])

    def learn(self, context: Floats, arm: int | Floats, reward: Floats) -> None:
        """Tell the cost at the place that was drawn."""
        assert isinstance(arm, np.ndarray)
        cost = 1.0 - reward.mean()
        self.model.learn(f"ca {arm[0]:.6f}:{cost:.6f}:{self.density:.6f} {self._features(context)}")

    def _features(self, context: Floats) -> str:
        return described(self.problem, self.cells, context, numbers=True)


def described(problem: Problem, cells: Cells | None, context: Floats, numbers: bool) -> str:
    """A context in Vowpal Wabbit's words: its cell, if there are cells, and if wanted its coordinates."""
    features = features_of(problem, context)[1:] if numbers else []
    place = [] if cells is None else [f"cell={cells.find(context)}"]
    return " ".join(["|s", *place, *(f"x{k}:{v:.4f}" for k, v in enumerate(features))])
