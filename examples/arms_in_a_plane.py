"""Contexts of three numbers, arms of two: PCZ on a task whose Pareto set is a box of arms that moves.

Run: python examples/arms_in_a_plane.py [rounds]
"""

from __future__ import annotations

import sys

import numpy as np

from paretozoom import PCZ, Policy, Random, Task, simulate_in_chunks
from paretozoom.environments import Boxes


def tenths(policy: Policy, task: Task, rounds: int) -> list[str]:
    """The mean gap in each tenth of a run."""
    played = simulate_in_chunks(policy, task, rounds, seed=1)
    gaps = np.concatenate([task.gaps(some.columns.point) for some in played])
    return [f"{part.mean():.3f}" for part in np.array_split(gaps, 10)]


def main(rounds: int = 6_000) -> None:
    """Play with little noise; the task's similarity adds up weighted gaps and keeps Assumption 1."""
    task = Boxes(spread=0.02)
    policy = PCZ(task.problem, horizon=rounds, noise=task.spread, similarity=task.similarity)
    print("mean gap in each tenth of the run")
    print("PCZ   ", *tenths(policy, task, rounds))
    print("random", *tenths(Random(task.problem), task, rounds))
    arm, gap = task.constant_arm()
    print(f"no arm suits all contexts: the best, {arm}, has a mean gap of {gap:.3f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
