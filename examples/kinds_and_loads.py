"""A category and a number as context: PCZ with a weight for each dimension, given by name.

Run: python examples/kinds_and_loads.py [rounds]
"""

from __future__ import annotations

import sys

import numpy as np

from paretozoom import PCZ, Policy, Random, Task, simulate_in_chunks
from paretozoom.environments import Devices


def tenths(policy: Policy, task: Task, rounds: int) -> list[str]:
    """The mean gap in each tenth of a run."""
    played = simulate_in_chunks(policy, task, rounds, seed=1)
    gaps = np.concatenate([task.gaps(some.columns.point) for some in played])
    return [f"{part.mean():.3f}" for part in np.array_split(gaps, 10)]


def main(rounds: int = 20_000) -> None:
    """Play with little noise; each term of the distance is how fast the means change with that dimension."""
    task = Devices(spread=0.05)
    weights = {"kind": 0.7, "load": 0.4, "y": 1.0}
    similarity = {"norm": 1, "weights": weights, "scale": 0.9 * sum(weights.values())}
    policy = PCZ(task.problem, horizon=rounds, noise=task.spread, similarity=similarity)
    print("mean gap in each tenth of the run")
    print("PCZ   ", *tenths(policy, task, rounds))
    print("random", *tenths(Random(task.problem), task, rounds))
    arm, gap = task.constant_arm()
    print(f"no arm suits all contexts: the best, {arm}, has a mean gap of {gap:.3f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
