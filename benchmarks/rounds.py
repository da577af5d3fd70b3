"""What does one round cost? Nanoseconds per round on the paper's task, compiled and through ask/tell.

Every figure is the best of several repeats, interleaved, so that the ratios hold on a busy machine.
Run: python benchmarks/rounds.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from rich.console import Console
from rich.table import Table

from paretozoom import PCZ, ContextualZooming, PaperTask, Random
from paretozoom.kernels.core.jit import Floats, Ints, kernel
from paretozoom.policies import Policy
from paretozoom.simulation import simulate_in_chunks

ROUNDS, REPEATS, PYTHON_ROUNDS = 100_000, 7, 20_000


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    """Play the middle."""
    point[1] = 0.5
    return -1, 1.0, 0


@kernel
def tell(f: Floats, i: Ints, number: int, point: Floats, credit: int, reward: Floats, told: int) -> None:
    """Learn nothing."""


@kernel
def room(f: Floats, i: Ints) -> tuple[Floats, Ints]:
    """Need no more."""
    return f, i


class Empty(Random):
    """A policy that does nothing: what is left is the loop and the environment."""

    name = "empty loop"
    kernel: ClassVar[Any] = SimpleNamespace(ask=ask, tell=tell, room=room)


def compiled(make: Callable[[], Policy], seed: int) -> float:
    """Seconds per round in the compiled loop, metrics off."""
    task, policy = PaperTask(), make()
    begun = time.perf_counter()
    for _ in simulate_in_chunks(policy, task, ROUNDS, seed=seed):
        pass
    return (time.perf_counter() - begun) / ROUNDS


def through_python(make: Callable[[], Policy], seed: int) -> float:
    """Seconds per ask + tell from Python, over a run; contexts and rewards are drawn beforehand."""
    rng = np.random.default_rng(seed)
    contexts = rng.random((PYTHON_ROUNDS, 1)).tolist()
    rewards = (rng.random((PYTHON_ROUNDS, 2)) < 0.3).astype(float).tolist()
    policy = make()
    begun = time.perf_counter()
    for context, reward in zip(contexts, rewards, strict=True):
        policy.tell(policy.ask(context), reward)
    return (time.perf_counter() - begun) / PYTHON_ROUNDS


def in_batches(make: Callable[[], Policy], seed: int) -> float:
    """Seconds per decision through ask_many and tell_many, 1,000 at a time."""
    rng = np.random.default_rng(seed)
    contexts, rewards = rng.random((PYTHON_ROUNDS, 1)), (rng.random((PYTHON_ROUNDS, 2)) < 0.3).astype(float)
    policy = make()
    begun = time.perf_counter()
    for start in range(0, PYTHON_ROUNDS, 1_000):
        decisions = policy.ask_many(contexts[start : start + 1_000])
        policy.tell_many(decisions, rewards[start : start + 1_000])
    return (time.perf_counter() - begun) / PYTHON_ROUNDS


def main() -> None:
    """Measure and print."""
    problem = PaperTask().problem
    makers: dict[str, Callable[[], Policy]] = {
        "empty loop": lambda: Empty(problem),
        "random": lambda: Random(problem),
        "contextual-zooming": lambda: ContextualZooming(problem, horizon=ROUNDS),
        "pcz": lambda: PCZ(problem, horizon=ROUNDS),
    }
    for make in makers.values():  # compile
        compiled(make, 0)
        through_python(make, 0)
        in_batches(make, 0)
    loops = {name: [compiled(make, seed) for seed in range(REPEATS)] for name, make in makers.items()}
    pythons = {name: [through_python(make, seed) for seed in range(REPEATS)] for name, make in makers.items()}
    batches = {name: [in_batches(make, seed) for seed in range(REPEATS)] for name, make in makers.items()}
    table = Table(title=f"One round on the paper's task (best of {REPEATS})")
    for column in ("policy", "compiled, ns", "/random", "ask + tell, us", "per second", "in batches", "times"):
        table.add_column(column, justify="left" if column == "policy" else "right")
    floor = min(loops["random"])
    for name in makers:
        loop, python = min(loops[name]), min(pythons[name])
        batch = min(batches[name])
        numbers = f"{loop * 1e9:.0f}", f"{loop / floor:.1f}", f"{python * 1e6:.2f}", f"{1 / python:,.0f}"
        table.add_row(name, *numbers, f"{1 / batch:,.0f}", f"{python / batch:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
