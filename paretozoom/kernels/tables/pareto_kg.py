"""Pareto knowledge gradient (Yahyaa, Drugan and Manderick, 2014), one decision at a time.

floats: sums as in `means.py`, then (cells, arms, learned) sums of squared differences from the first reward told (exact
for rewards of 0 and 1, and no less precise if all are large), then (cells, arms, learned) that first reward; ints: as
in `means.py`.
"""

from __future__ import annotations

import math

from paretozoom.kernels.arms.rows import play_front
from paretozoom.kernels.arms.table import FLOATS, Table, cell_of, cells_in, learned_number, list_arms, table
from paretozoom.kernels.arms.uniform import room
from paretozoom.kernels.core.jit import Floats, Ints, kernel
from paretozoom.kernels.tables import means
from paretozoom.kernels.tables.means import mean_of, plays_of

__all__ = ["ask", "room", "tell"]

# constants
HORIZON, FIRST_PLAYS, LEAST_DEVIATION, CONFIDENCE = range(4)


@kernel
def expected_excess(z: float) -> float:
    """z Phi(z) + phi(z): by how much a standard normal exceeds -z on average, if it does.

    >>> round(expected_excess(0.0), 7), round(expected_excess(-1.0), 7)
    (0.3989423, 0.0833155)
    """
    return 0.5 * z * math.erfc(-z / math.sqrt(2.0)) + math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


@kernel
def knowledge(mean: float, other: float, deviation: float, plays: int) -> float:
    """What one more reward of an arm is worth if the best other mean is `other`.

    >>> round(knowledge(0.4, 0.5, 0.5, 25), 8)
    0.00833155
    """
    error = deviation / math.sqrt(plays)
    return error * expected_excess(-abs((mean - other) / error))


@kernel
def deviation_of(f: Floats, i: Ints, at: Table, row: int, o: int) -> float:
    """The standard deviation of number o of the rewards of a row, of which there are two at least."""
    part, place, plays = i[FLOATS] // 3, at.floats + row * at.learned + o, plays_of(i, at, row)
    off = f[place] - plays * f[place + 2 * part]
    squares = (plays * f[place + part] - off * off) / plays
    return math.sqrt(max(squares, 0.0) / (plays - 1))


@kernel
def index_arms(f: Floats, i: Ints, at: Table, cell: int, listed: int, number: int) -> None:
    """Write the indices of every listed arm; infinite for those not yet played often enough."""
    rounds_left = max(f[at.constants + HORIZON] - number, 0.0) / cells_in(i, at)
    factor = f[at.constants + CONFIDENCE] * rounds_left * at.arms * at.learned
    for o in range(at.learned):
        most, second = -math.inf, -math.inf
        for k in range(listed):
            mean = mean_of(f, i, at, cell * at.arms + i[at.listed + k], o)
            second = max(second, min(most, mean))
            most = max(most, mean)
        for k in range(listed):
            row = cell * at.arms + i[at.listed + k]
            mean, plays = mean_of(f, i, at, row, o), plays_of(i, at, row)
            if plays < f[at.constants + FIRST_PLAYS]:
                f[at.indices + o * listed + k] = math.inf
            elif listed == 1:
                f[at.indices + o * listed + k] = mean
            else:
                deviation = max(deviation_of(f, i, at, row, o), f[at.constants + LEAST_DEVIATION])
                worth = knowledge(mean, second if mean == most else most, deviation, plays)
                f[at.indices + o * listed + k] = mean + factor * worth


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    """Draw an arm for the context in `point`, writing it there; returns (finite arm, density, cell and arm)."""
    at = table(i)
    cell, listed = cell_of(i, at, point), list_arms(f, i, at, allowed)
    index_arms(f, i, at, cell, listed, number)
    return play_front(f, i, at, number, point, allowed, cell * at.arms, listed)


@kernel
def tell(f: Floats, i: Ints, number: int, point: Floats, credit: int, reward: Floats, told: int) -> None:
    """Add a reward, and the square of its difference from the first, to their row."""
    at = table(i)
    part = i[FLOATS] // 3
    for o in range(at.learned):
        value, place = learned_number(f, i, at, reward, o), at.floats + credit * at.learned + o
        if plays_of(i, at, credit) == 0:
            f[place + 2 * part] = value
        apart = value - f[place + 2 * part]
        f[place + part] += apart * apart
    means.tell(f, i, number, point, credit, reward, told)
