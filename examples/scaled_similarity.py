"""Tell PCZ how fast rewards change: the same policy with and without the scale that makes Assumption 1 true.

Run: python examples/scaled_similarity.py [rounds]
"""

from __future__ import annotations

import sys

from paretozoom import PCZ, PaperTask, Similarity, simulate_in_chunks
from paretozoom.metrics import ParetoRegret


def main(rounds: int = 50_000) -> None:
    """Play both against the same luck."""
    task = PaperTask()
    scale = task.lipschitz()
    print(f"rewards change up to {scale:.2f} times as fast as the similarity")
    for factor in (1.0, scale):
        similarity = Similarity.of(task.problem, scale=factor)
        policy = PCZ(task.problem, horizon=rounds, noise=0.5, similarity=similarity)
        regret = ParetoRegret(task, rounds)
        for played in simulate_in_chunks(policy, task, rounds, seed=1):
            regret.update(played)
        balls = policy.balls
        print(
            f"scale {factor:.2f}: regret {regret.result()['regret']:8.1f}, {len(balls.radius)} balls, "
            f"the smallest of radius {balls.radius.min():g}"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
