"""Does a long run slow down or leak? Ten million rounds of PCZ on the paper's task, and the memory of many balls.

Run: python benchmarks/long.py [rounds]
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np
from rich.console import Console
from rich.table import Table

from paretozoom import PCZ, Objective, PaperTask, Problem, Real
from paretozoom.simulation import simulate_in_chunks

CHUNK = 10_000


def memory_of(contexts: int, objectives: int, balls: int) -> float:
    """Megabytes that a PCZ takes which has made room for so many balls."""
    problem = Problem(
        context=[Real(f"x{j}") for j in range(contexts)],
        arm=[Real("y")],
        objectives=[Objective(f"r{o}") for o in range(objectives)],
    )
    capacity = 1 << (balls - 1).bit_length()
    floats, ints = PCZ(problem)._allocate(np.zeros(2, np.int64), capacity)
    return (floats.nbytes + ints.nbytes) / 1e6


def main(rounds: int = 10_000_000) -> None:
    """Play, and print a row per tenth of the run."""
    task = PaperTask()
    policy = PCZ(task.problem, horizon=rounds, seed=0)
    table = Table(title=f"{rounds:,} rounds on the paper's task")
    for column in ("rounds", "balls", "us per round (CPU)", "policy, MB", "process, MB"):
        table.add_column(column, justify="right")
    part, begun = rounds // 10, time.process_time()
    for k, _ in enumerate(simulate_in_chunks(policy, task, rounds, seed=1, chunk=CHUNK), 1):
        if k * CHUNK % part == 0:
            now = time.process_time()
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
            numbers = f"{len(policy.balls.radius):,}", f"{(now - begun) / part * 1e6:.2f}", f"{policy.nbytes / 1e6:.2f}"
            table.add_row(f"{k * CHUNK:,}", *numbers, f"{peak:.0f}")
            begun = now
    Console().print(table)
    Console().print(f"100,000 balls in 2+1 dimensions with 3 objectives: {memory_of(2, 3, 100_000):.1f} MB")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
