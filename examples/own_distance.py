"""A similarity of one's own: places in a town are as far apart as the walk between them, over the only bridge.

Run: python examples/own_distance.py [rounds]
"""

from __future__ import annotations

import sys

import numpy as np

from paretozoom import PCZ, Policy, Random, Task, simulate_in_chunks
from paretozoom.environments import Bridge
from paretozoom.environments.tasks.bridge import distance


def tenths(policy: Policy, task: Task, rounds: int) -> list[str]:
    """The mean gap in each tenth of a run."""
    played = simulate_in_chunks(policy, task, rounds, seed=1)
    gaps = np.concatenate([task.gaps(some.columns.point) for some in played])
    return [f"{part.mean():.3f}" for part in np.array_split(gaps, 10)]


def main(rounds: int = 2_500) -> None:
    """Play with very little noise, under the distance that the environment's file defines."""
    task = Bridge(spread=0.01)
    print(f"rewards change up to {task.lipschitz():.0f} times as fast as the coordinates' norm,")
    print(f"but only {task.lipschitz(similarity=task.similarity):.2f} times as fast as the scaled walking distance")
    similarity = {"function": distance, "scale": task.similarity.scale}
    policy = PCZ(task.problem, horizon=rounds, noise=task.spread, similarity=similarity)
    print("mean gap in each tenth of the run")
    print("PCZ   ", *tenths(policy, task, rounds))
    print("random", *tenths(Random(task.problem), task, rounds))
    arm, gap = task.constant_arm()
    print(f"no arm suits all contexts: the best, {arm}, has a mean gap of {gap:.3f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
