"""How does the cost of a round grow with the number of balls?

PCZ plays a task that satisfies Assumption 1 with a small `confidence`, which forces many balls. At about 100, 1,000,
10,000 and 100,000 balls the same states are asked the same questions twice: through the ball index, and by a compiled
full scan that takes, for each relevant ball, a minimum over all balls. Run: python benchmarks/growth.py [most balls]
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from paretozoom import PCZ, Tents
from paretozoom.kernels.core.jit import Floats, Ints, kernel
from paretozoom.kernels.zooming import minima, slices
from paretozoom.kernels.zooming.balls import SIZE, Layout, layout
from paretozoom.simulation import simulate_in_chunks

SIZES = (100, 1_000, 10_000, 100_000)
_kept, _survey = minima.compute_indices, slices.survey


@kernel
def _scan(f: Floats, i: Ints, at: Layout, relevant: int) -> None:
    """For each relevant ball a minimum over all balls."""
    for place in range(relevant):
        ball = i[at.relevant + place]
        for o in range(at.learned):
            f[at.indices + o * relevant + place] = math.inf
        for other in range(i[SIZE]):
            square = 0.0
            for j in range(at.dim):
                gap = f[at.centre + j * at.capacity + other] - f[at.centre + j * at.capacity + ball]
                square += f[at.factors + j] * (gap * gap)
            apart = math.sqrt(square)
            for o in range(at.learned):
                best = at.indices + o * relevant + place
                f[best] = min(f[best], f[at.pre + o * at.capacity + other] + apart)
        for o in range(at.learned):
            f[at.indices + o * relevant + place] += f[at.radius + ball]


@kernel
def _by_scan(f: Floats, i: Ints, points: Floats) -> tuple[float, int]:
    at, anything = layout(i), np.empty((0, 0))
    total, seen = 0.0, 0
    for k in range(len(points)):
        _, relevant = _survey(f, i, at, points[k], anything)
        _scan(f, i, at, relevant)
        for entry in range(relevant * at.learned):
            total += f[at.indices + entry]
        seen += relevant
    return total, seen


@kernel
def _by_index(f: Floats, i: Ints, points: Floats) -> tuple[float, int]:
    at, anything = layout(i), np.empty((0, 0))
    total, seen = 0.0, 0
    for k in range(len(points)):
        _, relevant = _survey(f, i, at, points[k], anything)
        _kept(f, i, at, relevant)
        for entry in range(relevant * at.learned):
            total += f[at.indices + entry]
        seen += relevant
    return total, seen


def timed(call: Any, f: Floats, i: Ints, points: Floats) -> tuple[float, Any]:
    """Seconds per point, best of three."""
    best, result = math.inf, None
    for _ in range(3):
        begun = time.perf_counter()
        result = call(f, i, points)
        best = min(best, (time.perf_counter() - begun) / len(points))
    return best, result


def ask_and_tell(policy: PCZ, task: Tents) -> float:
    """Seconds per round, best of ten batches of 100 rounds that all begin with the policy as it is."""
    floats, ints, best = policy._floats, policy._ints, math.inf
    rng = np.random.default_rng(1)
    for _ in range(10):
        policy._floats, policy._ints = floats.copy(), ints.copy()
        contexts, noise = rng.random((100, 1)), task.spread * rng.standard_normal((100, 2))
        begun = time.perf_counter()
        decisions = policy.ask_many(contexts)
        asked = time.perf_counter() - begun
        rewards = task.means(decisions.columns.point) + noise
        begun = time.perf_counter()
        policy.tell_many(decisions, rewards)
        best = min(best, (asked + time.perf_counter() - begun) / 100)
    policy._floats, policy._ints = floats, ints
    return best


def main(most: int = SIZES[-1]) -> None:
    """Grow, measure and print."""
    task = Tents(spread=0.001, slope=0.3)
    policy = PCZ(task.problem, horizon=10**6, noise=0.001, confidence=0.02, seed=0)
    points = np.random.default_rng(0).random((2_000, 2))
    table = Table(title="One round against the number of balls (1+1 dimensions, 2 objectives)")
    for column in ("balls", "relevant", "ask + tell, us", "full scan, us", "scan / index", "MB"):
        table.add_column(column, justify="right")
    measured: list[tuple[int, float]] = []
    sizes = [size for size in SIZES if size <= most]
    growing = simulate_in_chunks(policy, task, 10**7, seed=1, chunk=10)
    while sizes:
        next(growing)
        n = int(policy._ints[SIZE])
        if n < sizes[0]:
            continue
        sizes.pop(0)
        index = ask_and_tell(policy, task)
        f, i = policy._floats, policy._ints
        few = points[: max(5, min(len(points), 1_000_000 // n))]
        _by_scan(f, i, few[:1])
        scan, expected = timed(_by_scan, f, i, few)
        assert _by_index(f, i, few) == expected
        _, seen = _by_index(f, i, points)
        measured.append((n, index))
        table.add_row(
            f"{n:,}",
            f"{seen / len(points):.0f}",
            f"{index * 1e6:.1f}",
            f"{scan * 1e6:,.1f}",
            f"{scan / index:.1f}",
            f"{policy.nbytes / 1e6:.1f}",
        )
    Console().print(table)
    large = [(n, cost) for n, cost in measured if n >= 900]
    if len(large) > 1:
        slope = np.polyfit(np.log([n for n, _ in large]), np.log([cost for _, cost in large]), 1)[0]
        Console().print(f"cost grows like balls^{slope:.2f} from 1,000 balls on")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
