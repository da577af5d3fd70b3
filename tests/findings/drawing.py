"""Rounds with known causes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paretozoom import Objective, Problem, Real, Rounds
from paretozoom.problem import random_points
from paretozoom.problem.dimensions import Floats
from paretozoom.rounds import Columns

Reward = Callable[[Floats, np.random.Generator], Any]


def drawn(problem: Problem, rewards: Sequence[Reward], n: int, seed: int) -> Rounds:
    """Rounds at uniform random points; what each objective is told follows from the encoded points."""
    rng = np.random.default_rng(seed)
    point = random_points(problem.encoding, n, rng)
    arms = problem.encoding.arms
    tail = point[:, None, problem.encoding.context :]
    arm = (tail == arms).all(axis=2).argmax(axis=1) if len(arms) else np.full(n, -1)
    told = np.stack([np.broadcast_to(np.asarray(reward(point, rng), float), n) for reward in rewards], axis=1)
    return Rounds(problem, Columns(np.arange(n), point, arm, np.ones(n), np.zeros(n, np.int64), told))


def numbers(contexts: int, objectives: int = 1) -> Problem:
    """Some numbers as context, one as arm, rewards of any size."""
    return Problem(
        context=[Real(f"x{k + 1}") for k in range(contexts)],
        arm=[Real("y")],
        objectives=[Objective(f"r{k + 1}", bounded=False) for k in range(objectives)],
    )
