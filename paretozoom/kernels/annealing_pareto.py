"""Annealing-Pareto (Yahyaa, Drugan and Manderick, 2014), one decision at a time.

floats: as in `means.py`; ints: plays as there, then (cells, arms) 1 for the arms that were dropped from A*.
"""

from __future__ import annotations

import math

from paretozoom.kernels import means
from paretozoom.kernels.jit import Floats, Ints, kernel
from paretozoom.kernels.means import mean_of, plays_of
from paretozoom.kernels.philox import uniforms
from paretozoom.kernels.rows import play_arm, play_no_arm
from paretozoom.kernels.table import INTS, KEY0, KEY1, Table, cell_of, list_arms, marked_place, table
from paretozoom.kernels.uniform import room

__all__ = ["ask", "room", "tell"]

# constants
DECAY, FIRST_PLAYS, PRUNE_KEPT = range(3)

NEAR, KEPT, BEATEN = 1, 2, 3  # what an arm of A* is; 0 if it is not in it


@kernel
def epsilon(number: int, decay: float, arms: int, objectives: int) -> float:
    """How far below the best mean of an objective an arm may be.

    >>> round(epsilon(0, 0.99, 10, 2), 7), round(epsilon(100, 0.99, 10, 2), 7)
    (0.05, 0.0183016)
    """
    return math.pow(decay, float(number)) / (arms * objectives)


@kernel
def mark_near(f: Floats, i: Ints, at: Table, first: int, listed: int, number: int, marks: int) -> None:
    """Write NEAR to i[marks...] where a listed arm is near the best mean of an objective, else 0: the set S."""
    apart = epsilon(number, f[at.constants + DECAY], at.arms, at.learned)
    for k in range(listed):
        i[marks + k] = 0
    for o in range(at.learned):
        most = -math.inf
        for k in range(listed):
            most = max(most, mean_of(f, i, at, first + i[at.listed + k], o))
        for k in range(listed):
            if mean_of(f, i, at, first + i[at.listed + k], o) >= most - apart:
                i[marks + k] = NEAR


@kernel
def is_beaten(f: Floats, i: Ints, at: Table, first: int, listed: int, k: int, marks: int, rival: int) -> bool:
    """Whether a listed arm that is marked as `rival` or above dominates arm k."""
    row = first + i[at.listed + k]
    for other in range(listed):
        if i[marks + other] >= rival:
            above, below = False, False
            for o in range(at.learned):
                here, there = mean_of(f, i, at, row, o), mean_of(f, i, at, first + i[at.listed + other], o)
                above |= there > here
                below |= there < here
            if above and not below:
                return True
    return False


@kernel
def anneal(f: Floats, i: Ints, at: Table, cell: int, number: int) -> None:
    """Update A* of a cell; arms not yet played often enough stay in it and are compared with none."""
    first, listed, marks = cell * at.arms, 0, at.spare
    dropped = at.ints + i[INTS] // 2 + first
    for arm in range(at.arms):
        if plays_of(i, at, first + arm) >= f[at.constants + FIRST_PLAYS]:
            i[at.listed + listed] = arm
            listed += 1
    mark_near(f, i, at, first, listed, number, at.chosen)
    for k in range(listed):
        i[marks + k] = i[at.chosen + k]
        if i[at.chosen + k] == 0 and i[dropped + i[at.listed + k]] == 0:
            i[marks + k] = 0 if is_beaten(f, i, at, first, listed, k, at.chosen, NEAR) else KEPT
    if f[at.constants + PRUNE_KEPT] == 1.0:
        for k in range(listed):
            if i[marks + k] == KEPT and is_beaten(f, i, at, first, listed, k, marks, KEPT):
                i[marks + k] = BEATEN
    for k in range(listed):
        i[dropped + i[at.listed + k]] = i[marks + k] in (0, BEATEN)


@kernel
def mark_playable(f: Floats, i: Ints, at: Table, cell: int, listed: int, number: int) -> int:
    """Mark the listed arms to draw from; returns how many they are.

    These are the ones not yet played often enough, if there are any; else those of A*; if none of A* is listed, those
    near the best of the listed ones.
    """
    first, few, kept = cell * at.arms, 0, 0
    dropped = at.ints + i[INTS] // 2 + first
    for k in range(listed):
        few += plays_of(i, at, first + i[at.listed + k]) < f[at.constants + FIRST_PLAYS]
        kept += i[dropped + i[at.listed + k]] == 0
    if few == 0 and kept == 0:
        mark_near(f, i, at, first, listed, number, at.chosen)
    marked = 0
    for k in range(listed):
        if few > 0:
            i[at.chosen + k] = plays_of(i, at, first + i[at.listed + k]) < f[at.constants + FIRST_PLAYS]
        elif kept > 0:
            i[at.chosen + k] = i[dropped + i[at.listed + k]] == 0
        marked += i[at.chosen + k]
    return marked


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    """Draw an arm for the context in `point`, writing it there; returns (finite arm, density, cell and arm)."""
    at = table(i)
    cell, listed = cell_of(i, at, point), list_arms(f, i, at, allowed)
    if listed == 0:
        return play_no_arm(f, i, at, number, point, allowed, cell * at.arms)
    marked = mark_playable(f, i, at, cell, listed, number)
    place = marked_place(i, at, int(uniforms(i[KEY0], i[KEY1], number, 0)[0] * marked))
    return play_arm(f, i, at, number, point, allowed, cell * at.arms, i[at.listed + place], 1.0 / marked)


@kernel
def tell(f: Floats, i: Ints, number: int, point: Floats, credit: int, reward: Floats, told: int) -> None:
    """Add a reward to its row and update A* of its cell, with the epsilon of the decision's number."""
    means.tell(f, i, number, point, credit, reward, told)
    at = table(i)
    anneal(f, i, at, credit // at.arms, number)
