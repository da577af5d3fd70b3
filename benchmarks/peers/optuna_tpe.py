"""Optuna's TPE for several objectives, a study for each cell of contexts."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np

from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Finite, Floats
from peers.adapter import Cells, Rival, Settings


class OptunaTPE(Rival):
    """`optuna.samplers.TPESampler` through ask and tell, kept in memory."""

    name = "optuna-tpe"
    package = "optuna"
    settings: ClassVar[Settings] = {
        "5 cells": {"cells": 5, "first": 10},
        "10 cells": {"cells": 10, "first": 10},
        "20 cells": {"cells": 20, "first": 5},
    }
    pilot: ClassVar[dict[int, int]] = {1_000: 2, 10_000: 1}
    speed = 150.0
    wants_raw = True

    def __init__(self, problem: Problem, horizon: int, seed: int, *, cells: int, first: int) -> None:
        super().__init__(problem, horizon, seed)
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
        self.cells = Cells(problem, cells)
        self.studies: list[Any] = [
            optuna.create_study(
                directions=["maximize"] * self.objectives,
                sampler=optuna.samplers.TPESampler(seed=(seed + k) % 2**31, n_startup_trials=first),
            )
            for k in range(self.cells.count)
        ]
        self.trial: Any = None

    def choose(self, context: Floats) -> int | Floats:
        """What the cell's study suggests."""
        self.trial = self.studies[self.cells.find(context)].ask()
        if len(self.problem.encoding.arms):
            return int(self.trial.suggest_categorical("arm", list(range(len(self.arms)))))
        assert not isinstance(self.problem.arm, Finite)
        place = []
        for k, values in enumerate(self.problem.encoding.values[self.problem.encoding.context :].tolist()):
            if values == 0:
                place.append(self.trial.suggest_float(f"y{k}", 0.0, 1.0))
            elif values < 0:
                place.append(float(self.trial.suggest_categorical(f"y{k}", list(range(-values)))))
            else:
                place.append(self.trial.suggest_int(f"y{k}", 0, values - 1) / (values - 1))
        return np.array(place)

    def learn(self, context: Floats, arm: int | Floats, reward: Floats) -> None:
        """Tell all objectives."""
        self.studies[self.cells.find(context)].tell(self.trial, reward.tolist())
