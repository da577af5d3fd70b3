"""What does a round of ParetoZoom cost, how does that grow with the rounds, and how much memory does it take?

Run: python benchmarks/pareto_zoom.py [rounds]
"""

from __future__ import annotations

import sys
import time

import numpy as np
from rich.console import Console
from rich.table import Table

from paretozoom import PCZ, Boxes, PaperTask, ParetoZoom, Policy, Random, Task
from paretozoom.simulation import simulate_in_chunks

CHUNK = 1_000
CALLS = 50_000


def play(policy: Policy, task: Task, rounds: int) -> dict[int, tuple[float, int]]:
    """CPU seconds and bytes after 1,000, 10,000, ... rounds, and at the end."""
    noted, begun = {}, time.process_time()
    for k, _ in enumerate(simulate_in_chunks(policy, task, rounds, seed=1, chunk=CHUNK), 1):
        played = k * CHUNK
        if played == rounds or played in {10**n for n in range(3, 9)}:
            noted[played] = time.process_time() - begun, policy.nbytes
    return noted


def calls_per_second(policy: Policy) -> float:
    """How many pairs of ask and tell a second of CPU time takes, called from Python."""
    contexts = np.random.default_rng(0).random((CALLS, 1)).tolist()
    begun = time.process_time()
    for context in contexts:
        policy.tell(policy.ask(context), (0.5, 0.4))
    return CALLS / (time.process_time() - begun)


def main(rounds: int = 1_000_000) -> None:
    """Play, and print a row per tenfold number of rounds."""
    task, plane = PaperTask(), Boxes()
    play(ParetoZoom(task.problem), task, 2 * CHUNK)  # compile
    play(ParetoZoom(plane.problem), plane, 2 * CHUNK)
    table = Table(title="ParetoZoom on the paper's task")
    for column in ("rounds", "us per round so far", "us per round since the row above", "bytes per round"):
        table.add_column(column, justify="right")
    before = 0, 0.0
    for played, (seconds, size) in play(ParetoZoom(task.problem), task, rounds).items():
        since = (seconds - before[1]) / (played - before[0])
        table.add_row(f"{played:,}", f"{seconds / played * 1e6:.2f}", f"{since * 1e6:.2f}", f"{size / played:.0f}")
        before = played, seconds
    console = Console()
    console.print(table)
    for name, other in (("PCZ", PCZ(task.problem, horizon=100_000)), ("Random", Random(task.problem))):
        play(other, task, 2 * CHUNK)
        seconds, _ = play(type(other)(task.problem), task, 100_000)[100_000]
        console.print(f"{name}, 100,000 rounds of the same: {seconds * 10:.2f} us per round")
    seconds, size = play(ParetoZoom(plane.problem), plane, 100_000)[100_000]
    cost = f"{seconds * 10:.1f} us and {size / 1e5:.0f} bytes per round"
    console.print(f"contexts in 3 dimensions, arms in 2, 100,000 rounds: {cost}")
    console.print(f"ask + tell from Python: {calls_per_second(ParetoZoom(task.problem)):,.0f} per second")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
