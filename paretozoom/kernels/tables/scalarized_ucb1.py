"""Scalarized UCB1 (Drugan and Nowe, 2013), one decision at a time.

Each function has a table of means of its own, (cells, functions, arms), unless they share one, (cells, arms).
"""

from __future__ import annotations

import math

from paretozoom.kernels.arms.rows import play_arm, play_no_arm
from paretozoom.kernels.arms.table import KEY0, KEY1, Table, cell_of, list_arms, table
from paretozoom.kernels.arms.uniform import room
from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.core.philox import uniforms
from paretozoom.kernels.tables.means import mean_of, plays_in, plays_of, tell

__all__ = ["ask", "room", "tell"]

# constants: these, then the weights of each function
FUNCTIONS, SHARED, CHEBYSHEV, SLACK, CONFIDENCE, WEIGHT = range(6)


@kernel
def first_row(f: Floats, at: Table, cell: int, function: int) -> int:
    """Where the means that a function learns from begin in a cell."""
    if f[at.constants + SHARED] == 1.0:
        return cell * at.arms
    return (cell * int(f[at.constants + FUNCTIONS]) + function) * at.arms


@part
def below_all(f: Floats, i: Ints, at: Table, first: int, o: int) -> float:
    """A number a little below every mean of number o: the reference point of Chebyshev functions."""
    least = math.inf
    for arm in range(at.arms):
        if plays_of(i, at, first + arm) > 0:
            least = min(least, mean_of(f, i, at, first + arm, o))
    return least - f[at.constants + SLACK]


@kernel
def scalarise_arms(f: Floats, i: Ints, at: Table, first: int, function: int, listed: int) -> None:
    """Write a function's value of every listed arm's mean to the indices.

    The minimum of a Chebyshev function leaves out objectives of weight 0: with them it would be 0 for every arm.
    """
    chebyshev, weights = f[at.constants + CHEBYSHEV] == 1.0, at.constants + WEIGHT + function * at.learned
    for k in range(listed):
        f[at.indices + k] = math.inf if chebyshev else 0.0
    for o in range(at.learned):
        weight = f[weights + o]
        if weight == 0.0:
            continue
        low = below_all(f, i, at, first, o) if chebyshev else 0.0
        for k in range(listed):
            value = weight * (mean_of(f, i, at, first + i[at.listed + k], o) - low)
            f[at.indices + k] = min(f[at.indices + k], value) if chebyshev else f[at.indices + k] + value


@kernel
def index_arms(f: Floats, i: Ints, at: Table, cell: int, function: int, listed: int) -> tuple[float, int]:
    """Write a function's index of every listed arm; returns the largest, and how many arms have it."""
    first = first_row(f, at, cell, function)
    scalarise_arms(f, i, at, first, function, listed)
    spread = 2.0 * math.log(max(plays_in(i, at, first), 1))
    most, ties = -math.inf, 0
    for k in range(listed):
        plays = plays_of(i, at, first + i[at.listed + k])
        more = f[at.constants + CONFIDENCE] * math.sqrt(spread / plays) if plays > 0 else math.inf
        index = f[at.indices + k] + more if plays > 0 else math.inf
        f[at.indices + k] = index
        if index > most:
            most, ties = index, 0
        ties += index == most
    return most, ties


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    """Draw an arm for the context in `point`, writing it there; returns (finite arm, density, row of the means)."""
    at = table(i)
    cell, listed = cell_of(i, at, point), list_arms(f, i, at, allowed)
    functions, draws = int(f[at.constants + FUNCTIONS]), uniforms(i[KEY0], i[KEY1], number, 0)
    drawn = int(draws[1] * functions)
    first = first_row(f, at, cell, drawn)
    if listed == 0:
        return play_no_arm(f, i, at, number, point, allowed, first)
    most, ties = index_arms(f, i, at, cell, drawn, listed)
    place, before = 0, int(draws[0] * ties)
    while f[at.indices + place] < most or before > 0:
        before -= f[at.indices + place] == most
        place += 1
    arm, probability = i[at.listed + place], 1.0 / ties / functions
    for other in range(functions):
        if other != drawn:
            most, ties = index_arms(f, i, at, cell, other, listed)
            if f[at.indices + place] == most:
                probability += 1.0 / ties / functions
    return play_arm(f, i, at, number, point, allowed, first, arm, probability)
