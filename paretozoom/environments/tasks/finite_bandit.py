"""Finitely many arms and no context: the plain bandit with several objectives."""

from __future__ import annotations

import numpy as np

from paretozoom.environments.base import Task, checked_count
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Finite, Floats, Objective
from paretozoom.records import Refused

GOOD, FAIR = 0.8, 0.4  # the mean of the objective an arm is best at, and of its others
SMALLEST_GAP, LARGEST_GAP = 0.15, 0.35


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    first = int(point[0]) * len(out)
    for o in range(len(out)):
        out[o] = world[first + o]


def _optimal_vectors(objectives: int) -> Floats:
    """One arm per objective that is good at it alone, and one in the middle of them all."""
    corners = FAIR + (GOOD - FAIR) * np.eye(objectives)
    return corners if objectives == 1 else np.vstack([corners, corners.mean(axis=0)])


class FiniteBandit(Task):
    """Some arms, no context, Bernoulli rewards: home of Pareto-UCB1 and its kin.

    The first arms are Pareto optimal: one per objective, with a mean of 0.8 there and 0.4 elsewhere, and, of several
    objectives, one in their middle. Every other arm is a copy of one of these, worse in all objectives by the
    same amount, which is its gap: from 0.15 to 0.35.

    >>> task = FiniteBandit(arms=5)
    >>> task.front([]), task.mean([], "arm1"), round(task.gap([], "arm5"), 9)
    (['arm1', 'arm2', 'arm3'], {'r1': 0.8, 'r2': 0.4}, 0.35)
    """

    name = "finite-bandit"
    mean_kernel = _mean

    def __init__(self, arms: int = 10, objectives: int = 2) -> None:
        optimal = _optimal_vectors(checked_count(objectives, "objectives"))
        if checked_count(arms, "arms") < len(optimal):
            raise Refused(f"arms: {arms!r} given, expected at least {len(optimal)}, the Pareto optimal ones")
        worse = arms - len(optimal)
        vectors = np.vstack([optimal, np.resize(optimal, (worse, objectives))])
        vectors[len(optimal) :] -= np.linspace(SMALLEST_GAP, LARGEST_GAP, worse)[:, None]
        problem = Problem(
            context=[],
            arm=Finite([f"arm{k + 1}" for k in range(arms)]),
            objectives=[Objective(f"r{o + 1}") for o in range(objectives)],
        )
        super().__init__(problem, world=vectors.ravel())
