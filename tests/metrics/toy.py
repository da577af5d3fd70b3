"""A task small enough to compute by hand, and rounds of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paretozoom.environments.base import Task
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Finite, Objective, Real
from paretozoom.rounds import Columns, Rounds


@kernel
def table_mean(world, point, out):
    for o in range(len(out)):
        out[o] = world[int(point[1]) * len(out) + o]


class Table(Task):
    """Arms with the same means in every context; d is weakly dominated by a, so its gap is 0."""

    name = "table"
    mean_kernel = table_mean

    def __init__(self, means: dict[str, Sequence[float]] | None = None, objectives: Any = None) -> None:
        means = means or {"a": (1.0, 0.5), "b": (0.5, 1.0), "c": (0.25, 0.25), "d": (1.0, 0.25)}
        count = len(next(iter(means.values())))
        objectives = objectives or [Objective(f"r{k + 1}") for k in range(count)]
        problem = Problem(context=[Real("x")], arm=Finite(list(means)), objectives=objectives)
        super().__init__(problem, world=np.array(list(means.values()), float).ravel())


def played(task: Task, contexts: Any, arms: Any, rewards: Any = 0.0) -> Rounds:
    """Rounds with these contexts and arms (numbers of finite arms, or coordinates) and scaled rewards."""
    arms = np.asarray(arms)
    n = len(arms)
    finite = len(task.problem.encoding.arms) > 0
    coordinates = task.problem.encoding.arms[arms, 0] if finite else arms
    return Rounds(
        task.problem,
        Columns(
            np.arange(n),
            np.column_stack([np.broadcast_to(contexts, n), coordinates]).astype(float),
            arms.astype(np.int64) if finite else np.full(n, -1),
            np.ones(n),
            np.zeros(n, np.int64),
            np.broadcast_to(rewards, (n, len(task.problem.objectives))).astype(float),
        ),
    )
