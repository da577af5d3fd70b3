"""Annealing-Pareto (Yahyaa, Drugan and Manderick, 2014), one decision at a time.

floats: as in `means.py`; ints: plays as there, then (cells, arms) 1 for the arms that were dropped from A*, then
(cells,) the largest number of a decision that was told. The time of a copy is the number over the cells.
"""

from __future__ import annotations

import math

from paretozoom.kernels.arms.rows import play_arm, play_no_arm
from paretozoom.kernels.arms.table import KEY0, KEY1, Table, cell_of, cells_in, list_arms, marked_place, table
from paretozoom.kernels.arms.uniform import room
from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.core.philox import uniforms
from paretozoom.kernels.tables import means
from paretozoom.kernels.tables.means import mean_of, plays_of

__all__ = ["ask", "room", "tell"]

# constants
DECAY, FIRST_PLAYS, PRUNE_KEPT = range(3)

NEAR, KEPT, BEATEN = 1, 2, 3  # what an arm of A* is, or will be no more if it is beaten; 0 if it is not in it


@kernel
def epsilon(time: float, decay: float, arms: int, objectives: int) -> float:
    """How far below the best mean of an objective an arm may be.

    >>> round(epsilon(0, 0.99, 10, 2), 7), round(epsilon(100, 0.99, 10, 2), 7)
    (0.05, 0.0183016)
    """
    return math.pow(decay, float(time)) / (arms * objectives)


@part
def mark_near(f: Floats, i: Ints, at: Table, first: int, listed: int, time: float) -> None:
    """Write NEAR to i[at.chosen...] where a listed arm is near the best mean of an objective, else 0: the set S."""
    marks, apart = at.chosen, epsilon(time, f[at.constants + DECAY], at.arms, at.learned)
    for k in range(listed):
        i[marks + k] = 0
    for o in range(at.learned):
        most = -math.inf
        for k in range(listed):
            most = max(most, mean_of(f, i, at, first + i[at.listed + k], o))
        for k in range(listed):
            if mean_of(f, i, at, first + i[at.listed + k], o) >= most - apart:
                i[marks + k] = NEAR


@part
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


@part
def mark_kept(f: Floats, i: Ints, at: Table, first: int, listed: int, time: float, dropped: int) -> None:
    """Write to i[at.spare...] what the listed arms are in A*; it is marked from i[dropped] on which left it before.

    None of them did if `dropped` is -1.
    """
    mark_near(f, i, at, first, listed, time)
    for k in range(listed):
        i[at.spare + k] = i[at.chosen + k]
        if i[at.chosen + k] == 0 and (dropped < 0 or i[dropped + i[at.listed + k]] == 0):
            i[at.spare + k] = 0 if is_beaten(f, i, at, first, listed, k, at.chosen, NEAR) else KEPT
    if f[at.constants + PRUNE_KEPT] == 1.0:
        for k in range(listed):
            if i[at.spare + k] == KEPT and is_beaten(f, i, at, first, listed, k, at.spare, KEPT):
                i[at.spare + k] = BEATEN


@part
def is_begun(f: Floats, i: Ints, at: Table, first: int) -> bool:
    """Whether every arm of a cell was played often enough to be compared."""
    begun = True
    for arm in range(at.arms):
        begun &= plays_of(i, at, first + arm) >= f[at.constants + FIRST_PLAYS]
    return begun


@part
def anneal(f: Floats, i: Ints, at: Table, cell: int, time: float) -> None:
    """Update A* of a cell; all arms are in it until each was played often enough."""
    first, dropped = cell * at.arms, _dropped(i, at, cell)
    if not is_begun(f, i, at, first):
        return
    for arm in range(at.arms):
        i[at.listed + arm] = arm
    mark_kept(f, i, at, first, at.arms, time, dropped)
    for arm in range(at.arms):
        i[dropped + arm] = i[at.spare + arm] in (0, BEATEN)


@part
def _dropped(i: Ints, at: Table, cell: int) -> int:
    """Where the marks of dropped arms of a cell begin."""
    return at.ints + (cells_in(i, at) + cell) * at.arms


@part
def mark_playable(f: Floats, i: Ints, at: Table, cell: int, listed: int, time: float) -> int:
    """Mark the listed arms to draw from; returns how many they are.

    These are the ones not yet played often enough, if there are any; else those of A*; if none of A* is listed, those
    near the best of the listed ones. As long as some arm that is not listed was played too seldom, A* is found for
    the listed ones alone, as if they were all.
    """
    first, dropped, few, kept = cell * at.arms, _dropped(i, at, cell), 0, 0
    for k in range(listed):
        few += plays_of(i, at, first + i[at.listed + k]) < f[at.constants + FIRST_PLAYS]
        kept += i[dropped + i[at.listed + k]] == 0
    begun = few > 0 or is_begun(f, i, at, first)
    if not begun:
        mark_kept(f, i, at, first, listed, time, -1)
    elif few == 0 and kept == 0:
        mark_near(f, i, at, first, listed, time)
    marked = 0
    for k in range(listed):
        if few > 0:
            i[at.chosen + k] = plays_of(i, at, first + i[at.listed + k]) < f[at.constants + FIRST_PLAYS]
        elif not begun:
            i[at.chosen + k] = i[at.spare + k] in (NEAR, KEPT)
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
    marked = mark_playable(f, i, at, cell, listed, number / cells_in(i, at))
    place = marked_place(i, at, int(uniforms(i[KEY0], i[KEY1], number, 0)[0] * marked))
    return play_arm(f, i, at, number, point, allowed, cell * at.arms, i[at.listed + place], 1.0 / marked)


@kernel
def tell(f: Floats, i: Ints, number: int, point: Floats, credit: int, reward: Floats, told: int) -> None:
    """Add a reward to its row and update A* of its cell, with the epsilon of the last decision told there."""
    means.tell(f, i, number, point, credit, reward, told)
    at = table(i)
    cell, cells = credit // at.arms, cells_in(i, at)
    last = at.ints + 2 * cells * at.arms + cell
    i[last] = max(i[last], number)
    anneal(f, i, at, cell, i[last] / cells)
