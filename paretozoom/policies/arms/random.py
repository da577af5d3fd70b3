"""Random: every arm uniformly, whatever the context."""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar

import numpy as np

from paretozoom.kernels.arms import uniform
from paretozoom.policies.compiled import CompiledPolicy
from paretozoom.policies.summary import Summary
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints


class Random(CompiledPolicy):
    """Draw every arm uniformly; the floor in every comparison.

    >>> from paretozoom import Objective, Problem, Real
    >>> policy = Random(Problem(context=[], arm=[Real("y")], objectives=[Objective("r")]), seed=1)
    >>> policy.ask([]).density
    1.0
    """

    name = "random"
    kernel: ClassVar[ModuleType] = uniform
    summary = Summary("every arm uniformly, whatever the context", colour="#7f7f7f")

    def __init__(self, problem: Problem, *, seed: int = 0) -> None:
        super().__init__(problem, seed=seed, parameters={})

    def _memory(self, key: Ints) -> tuple[Floats, Ints]:
        encoding = self.problem.encoding
        header = [encoding.context, self._dim, len(encoding.arms), *key]
        return encoding.arms.ravel(), np.concatenate([np.array(header, np.int64), encoding.values])
