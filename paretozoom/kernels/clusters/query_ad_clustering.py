"""Query-Ad-Clustering (Lu, Pal and Pal, 2010): phases of doubled length, each with finer cells and more arms.

The state is that of `table.py`; cells of contexts and arms follow the phase as in `phase_cover.py`. What is learned are
rows, cell * arms + arm, of the current phase alone; only those that were told take memory, in a table of slots.
"""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.arms.table import (
    FLOATS,
    HEADER,
    INTS,
    KEY0,
    KEY1,
    LISTED,
    Table,
    cell_of,
    learned_number,
    play_anywhere,
    table,
)
from paretozoom.kernels.clusters.phase_cover import (
    CAPACITY,
    COVER,
    COVER_HEADER,
    PARTS,
    PHASE,
    SIZE,
    arm_near,
    arms_in,
    list_cover,
    parts_in,
    parts_of,
    phase_of,
    write_arm,
)
from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.core.pareto import mark_front
from paretozoom.kernels.core.philox import uniforms

# constants: the confidence squared, the sum of both dimensions and 2
SQUARE, DIMENSIONS = range(2)

# ints: the header of covers, then the slots: their rows (-1 if free), then their plays; floats: their sums of rewards
SLOTS = COVER_HEADER


@kernel
def bonus(plays: int, phase: int, square: float) -> float:
    """What is added to a mean: sqrt(4 i / (1 + n)), times the confidence whose square is given.

    >>> bonus(0, 4, 1.0), bonus(3, 4, 1.0), bonus(0, 16, 1.0), bonus(3, 16, 1.0), bonus(0, 0, 1.0)
    (4.0, 2.0, 8.0, 4.0, 0.0)
    """
    return math.sqrt(4.0 * phase * square / (1 + plays))


@kernel
def begin(f: Floats, i: Ints, phase: int) -> None:
    """Forget everything and divide contexts and arms anew."""
    at = table(i)
    parts = parts_in(phase, f[at.constants + DIMENSIONS])
    i[at.ints + PHASE], i[at.ints + PARTS], i[at.ints + SIZE] = phase, parts, 0
    i[at.ints + COVER] = arms_in(i, at, parts)
    for j in range(at.context):
        i[at.divisions + j] = parts_of(i, at, j, parts)
    for slot in range(i[at.ints + CAPACITY]):
        i[at.ints + SLOTS + slot] = -1


@kernel
def enter(f: Floats, i: Ints, number: int) -> None:
    """Begin the phase of a decision, if it has not begun."""
    phase = phase_of(number)
    if phase > i[table(i).ints + PHASE]:
        begin(f, i, phase)


@part
def _slot_of(i: Ints, at: Table, row: int) -> int:
    """The slot of a row, or the free one it would take."""
    mask = i[at.ints + CAPACITY] - 1
    slot = ((row & mask) * 2654435761) & mask
    while i[at.ints + SLOTS + slot] != row and i[at.ints + SLOTS + slot] != -1:
        slot = (slot + 1) & mask
    return slot


@kernel
def plays_of(i: Ints, at: Table, row: int) -> tuple[int, int]:
    """The slot of a row and how often the row was told in this phase."""
    slot = _slot_of(i, at, row)
    told = i[at.ints + SLOTS + slot] == row
    return slot, i[at.ints + SLOTS + i[at.ints + CAPACITY] + slot] if told else 0


@part
def _play_elsewhere(
    f: Floats, i: Ints, at: Table, number: int, point: Floats, allowed: Floats, row: int
) -> tuple[int, float, int]:
    """Draw from feasible arms none of which is in the cover; learned as the arm that covers it."""
    if i[LISTED] == 0:
        _, density = play_anywhere(f, i, at, number, point, allowed)
        return -1, density, row + arm_near(i, at, point)
    arm = int(allowed[int(uniforms(i[KEY0], i[KEY1], number, 0)[0] * len(allowed)), 0])
    for j in range(at.dim - at.context):
        point[at.context + j] = f[at.arm + arm * (at.dim - at.context) + j]
    return arm, 1.0 / len(allowed), row + arm_near(i, at, point)


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    """Draw an arm for the context in `point`, writing it there; returns (finite arm, density, cell and arm)."""
    enter(f, i, number)
    at = table(i)
    arms, phase = i[at.ints + COVER], i[at.ints + PHASE]
    row, listed = cell_of(i, at, point) * arms, np.empty(arms, np.int64)
    rows = list_cover(f, i, at, point, allowed, listed)
    if rows == 0:
        return _play_elsewhere(f, i, at, number, point, allowed, row)
    indices, marks, marked = np.empty(rows * at.learned), np.empty(2 * rows, np.int64), 0
    for k in range(rows):
        slot, plays = plays_of(i, at, row + listed[k])
        for o in range(at.learned):
            mean = f[at.floats + slot * at.learned + o] / plays if plays > 0 else 0.0
            indices[o * rows + k] = mean + bonus(plays, phase, f[at.constants + SQUARE])
    mark_front(indices, 0, at.learned, marks, 0, rows, rows)
    for k in range(rows):
        marked += marks[k]
    k, steps = 0, int(uniforms(i[KEY0], i[KEY1], number, 0)[0] * marked)
    while marks[k] == 0 or steps > 0:
        steps -= marks[k]
        k += 1
    finite = write_arm(f, i, at, listed[k], point)
    return finite, 1.0 / marked, row + listed[k]


@kernel
def tell(f: Floats, i: Ints, number: int, point: Floats, credit: int, reward: Floats, told: int) -> None:
    """Add a reward to its row; one of an earlier phase teaches nothing."""
    at = table(i)
    if phase_of(number) != i[at.ints + PHASE]:
        return
    slot = _slot_of(i, at, credit)
    if i[at.ints + SLOTS + slot] == -1:
        fill_slot(f, i, at, slot, credit, 0)
    i[at.ints + SLOTS + i[at.ints + CAPACITY] + slot] += 1
    for o in range(at.learned):
        f[at.floats + slot * at.learned + o] += learned_number(f, i, at, reward, o)


@part
def fill_slot(f: Floats, i: Ints, at: Table, slot: int, row: int, plays: int) -> None:
    """Give a free slot to a row, with sums of 0."""
    i[at.ints + SIZE] += 1
    i[at.ints + SLOTS + slot] = row
    i[at.ints + SLOTS + i[at.ints + CAPACITY] + slot] = plays
    for o in range(at.learned):
        f[at.floats + slot * at.learned + o] = 0.0


@kernel
def restore(f: Floats, i: Ints, row: int, plays: int, sums: Floats) -> None:
    """Take over a row with its plays and sums; the caller has made room."""
    at = table(i)
    slot = _slot_of(i, at, row)
    fill_slot(f, i, at, slot, row, plays)
    for o in range(at.learned):
        f[at.floats + slot * at.learned + o] = sums[o]


@kernel
def room(f: Floats, i: Ints) -> tuple[Floats, Ints]:
    """The same state with space for another row: the arrays themselves, or copies with twice the slots."""
    at = table(i)
    capacity = i[at.ints + CAPACITY]
    if 2 * (i[at.ints + SIZE] + 1) <= capacity:
        return f, i
    head = i[:HEADER].copy()
    head[FLOATS], head[INTS] = 2 * capacity * at.learned, SLOTS + 4 * capacity
    new = table(head)
    more_f, more_i = np.zeros(new.all_floats), np.zeros(new.all_ints, np.int64)
    more_f[: at.floats], more_i[: at.ints + SLOTS] = f[: at.floats], i[: at.ints + SLOTS]
    more_i[:HEADER] = head
    more_i[at.ints + CAPACITY] = 2 * capacity
    more_i[at.ints + SIZE] = 0
    more_i[at.ints + SLOTS : at.ints + SLOTS + 2 * capacity] = -1
    for slot in range(capacity):
        if i[at.ints + SLOTS + slot] >= 0:
            first = at.floats + slot * at.learned
            plays = i[at.ints + SLOTS + capacity + slot]
            restore(more_f, more_i, i[at.ints + SLOTS + slot], plays, f[first : first + at.learned])
    return more_f, more_i
