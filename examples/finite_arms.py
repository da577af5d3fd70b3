"""Choose one of five video encoders per clip: quality and speed conflict, feedback on quality comes late.

Run: python examples/finite_arms.py [rounds]
"""

from __future__ import annotations

import sys

import numpy as np

from paretozoom import PCZ, Finite, Objective, Problem, Real


def main(rounds: int = 3_000) -> None:
    """Play, with the second objective told fifty rounds after the first."""
    encoders = ["x264-fast", "x264", "x265", "av1-fast", "av1"]
    problem = Problem(
        context=[Real("motion")],
        arm=Finite(encoders, features=[[1], [2], [3], [4], [5]]),
        objectives=[Objective("speed", low=0, high=200), Objective("quality", low=60, high=100)],
    )
    policy = PCZ(problem, horizon=rounds, noise=0.1, seed=1)
    rng = np.random.default_rng(0)
    speeds, qualities = [190, 150, 120, 60, 20], [78, 84, 80, 91, 96]
    waiting = []
    for _ in range(rounds):
        motion = float(rng.random())
        decision = policy.ask({"motion": motion})
        effort = encoders.index(decision.arm)
        policy.tell(decision, {"speed": speeds[effort] * (1 - 0.4 * motion)})
        waiting.append((decision, {"quality": qualities[effort] - 15 * motion * (effort < 2)}))
        if len(waiting) > 50:
            policy.tell(*waiting.pop(0))
    for piece in policy.front({"motion": 0.5}, believed=True):
        print(f"{piece.arm:10} speed {piece.mean['speed']:6.1f}  quality {piece.mean['quality']:5.1f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
