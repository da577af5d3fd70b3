"""Two arms, and a handful of rules one of which is far better than the others."""

from __future__ import annotations

import numpy as np

from paretozoom.environments.base import Task, checked_count
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Finite, Floats, Ints, Objective, Real
from paretozoom.records import Refused

CELLS = 8
RIGHT, WRONG = 0.95, 0.05


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    cell = min(int(point[0] * CELLS), CELLS - 1)
    out[0] = RIGHT if point[1] == world[cell] else WRONG


def _walsh() -> Ints:
    """Eight rows of zeros and ones, any two of which differ in four places."""
    numbers = range(CELLS)
    return np.array([[(row & cell).bit_count() % 2 for cell in numbers] for row in numbers], np.int64)


class PolicyClass(Task):
    """One number as context, two arms, one objective: home of Epoch-Greedy and others that compete with a best rule.

    The context is cut into eight equal cells. `rules` has eight rules, the Walsh functions: a row per rule with its arm
    in each cell. Rule `best` is always right, which pays 0.95 instead of 0.05; any other is right in half of the cells,
    so that its value is 0.45 smaller. By default the best plays "low" below 0.5 and "high" above, which is also what
    a threshold or a line can do.

    >>> task = PolicyClass()
    >>> task.rules[4].tolist(), task.values.round(9).tolist()
    ([0, 0, 0, 0, 1, 1, 1, 1], [0.5, 0.5, 0.5, 0.5, 0.95, 0.5, 0.5, 0.5])
    >>> task.front([0.3]), round(task.gap([0.3], "high"), 9)
    (['low'], 0.9)
    """

    name = "policy-class"
    mean_kernel = _mean

    def __init__(self, best: int = 4) -> None:
        if checked_count(best, "best", 0) >= CELLS:
            raise Refused(f"best: {best!r} is not the number of one of {CELLS} rules, from 0 on")
        self.rules = _walsh()
        self.best = int(best)
        problem = Problem(
            context=[Real("x")], arm=Finite(["low", "high"], features=[[0], [1]]), objectives=[Objective("reward")]
        )
        super().__init__(problem, world=self.rules[self.best].astype(float))

    @property
    def values(self) -> Floats:
        """The expected reward of each rule."""
        right = (self.rules == self.rules[self.best]).mean(axis=1)
        return np.asarray(WRONG + (RIGHT - WRONG) * right)
