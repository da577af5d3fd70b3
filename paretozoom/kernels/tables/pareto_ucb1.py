"""Pareto-UCB1 (Drugan and Nowe, 2013), one decision at a time."""

from __future__ import annotations

import math

from paretozoom.kernels.arms.rows import play_front
from paretozoom.kernels.arms.table import cell_of, list_arms, table
from paretozoom.kernels.arms.uniform import room
from paretozoom.kernels.core.jit import Floats, Ints, kernel
from paretozoom.kernels.tables.means import mean_of, plays_in, plays_of, tell

__all__ = ["ask", "room", "tell"]

# constants: (D * front size)^(1/4)


@kernel
def bonus(plays: int, of_all: int, factor: float) -> float:
    """What is added to every mean of an arm: sqrt(2 log(n (D |A*|)^(1/4)) / n_i); infinite before its first play.

    >>> round(bonus(25, 100, (2 * 5) ** 0.25), 7), round(bonus(25, 100, 1.0), 7)
    (0.6437898, 0.6069709)
    """
    return math.sqrt(2.0 * math.log(max(of_all, 1) * factor) / plays) if plays > 0 else math.inf


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    """Draw an arm for the context in `point`, writing it there; returns (finite arm, density, cell and arm)."""
    at = table(i)
    cell, listed = cell_of(i, at, point), list_arms(f, i, at, allowed)
    of_all = plays_in(i, at, cell * at.arms)
    for k in range(listed):
        row = cell * at.arms + i[at.listed + k]
        more = bonus(plays_of(i, at, row), of_all, f[at.constants])
        for o in range(at.learned):
            f[at.indices + o * listed + k] = mean_of(f, i, at, row, o) + more
    return play_front(f, i, at, number, point, allowed, cell * at.arms, listed)
