"""Compare policies on a task with known truth, in a few lines and without files.

Run: python examples/compare_policies.py [rounds]
"""

from __future__ import annotations

import sys

from paretozoom import PCZ, ContextualZooming, PaperTask, Random
from paretozoom.metrics import FrontShare, ParetoRegret
from paretozoom.simulation import simulate_in_chunks


def main(rounds: int = 20_000) -> None:
    """Play each policy against the same luck."""
    task = PaperTask()
    for policy in (
        Random(task.problem),
        ContextualZooming(task.problem, horizon=rounds),
        PCZ(task.problem, horizon=rounds),
        PCZ(task.problem, horizon=rounds, noise=0.5, confidence=0.2),
    ):
        regret, share = ParetoRegret(task, rounds), FrontShare(task, rounds)
        for played in simulate_in_chunks(policy, task, rounds, seed=1):
            regret.update(played)
            share.update(played)
        label = " ".join([policy.name, *policy.notes])
        print(f"{label:22} regret {regret.result()['regret']:8.1f}  front share {share.result()['front_share']:.3f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
