"""Functions of single coordinates, of which trends and smooth estimates are made.

A number has a line and a parabola (Legendre polynomials), for trends, and cosines, for smooth estimates; a periodic one
has sines and cosines, a category whether it is a certain label. All but the cosines of a number have mean square 1 over
all values of their coordinate; those have it over a stretch that is longer than the number's by a margin at both ends,
so that nothing special is expected of the ends. Functions of a coordinate follow each other, those of contexts come
first, and before all of them comes the constant.
"""

from __future__ import annotations

import math

from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.core.kinds import CATEGORICAL, PERIODIC
from paretozoom.kernels.pareto_zoom.pyramid import CONTEXT_FUNCTIONS, FUNCTIONS, Pyramid

MOST_FUNCTIONS = 14  # of a number
POLYNOMIALS = 2  # which of them are line and parabola; the others are the cosines of 1, 2, 3 ... times an angle
MARGIN = 0.15  # beyond both ends of a number
TURN = math.pi / (1.0 + 2.0 * MARGIN)  # how far the angle turns over the length of a number
ROOT2, ROOT3, HALF_ROOT5 = math.sqrt(2.0), math.sqrt(3.0), 0.5 * math.sqrt(5.0)


@part
def write_values(f: Floats, i: Ints, at: Pyramid, first: int, end: int, place: Floats, shift: int, out: int) -> None:
    """Write the functions from `first` on, of the coordinates in `place` less a shift, from f[out] on."""
    before, here, twice = 0.0, 0.0, 0.0
    for k in range(first, end):
        j, which = i[at.function + 2 * k], i[at.function + 2 * k + 1]
        kind, coordinate = i[at.kinds + j], place[j - shift]
        if kind == CATEGORICAL:
            labels = abs(i[at.values + j]) if i[at.values + j] != 0 else at.arms
            value = math.sqrt(labels) if int(coordinate) == which else 0.0
        elif kind == PERIODIC:
            angle = 2.0 * math.pi * (which // 2 + 1) * coordinate
            value = math.sqrt(2.0) * (math.cos(angle) if which % 2 == 0 else math.sin(angle))
        elif which < POLYNOMIALS:
            value = ROOT3 * (2.0 * coordinate - 1.0)
            if which == 1:
                value = HALF_ROOT5 * (value * value - 1.0)
        else:
            if which == POLYNOMIALS:
                before, here = ROOT2, ROOT2 * math.cos(TURN * (coordinate + MARGIN))
                twice = ROOT2 * here
            else:
                before, here = here, twice * here - before
            value = here
        f[out + k - first] = value


@kernel
def write_arm_values(f: Floats, i: Ints, at: Pyramid) -> None:
    """Write the values of the functions of finite arms."""
    own, end, coordinates = i[CONTEXT_FUNCTIONS], i[FUNCTIONS], at.dim - at.context
    for arm in range(at.arms):
        place = f[at.feature + arm * coordinates :][:coordinates]
        write_values(f, i, at, own, end, place, at.context, at.value + own)
        for k in range(own, end):
            f[at.arm_value + (k - own) * at.arms + arm] = f[at.value + k]


@part
def stand_at_context(f: Floats, i: Ints, at: Pyramid, point: Floats) -> None:
    """Write the values of the functions of contexts at the context in `point`."""
    f[at.value] = 1.0
    write_values(f, i, at, 1, i[CONTEXT_FUNCTIONS], point, 0, at.value + 1)


@part
def _stand_at_arm(f: Floats, i: Ints, at: Pyramid, arm: int) -> None:
    own = i[CONTEXT_FUNCTIONS]
    for k in range(own, i[FUNCTIONS]):
        f[at.value + k] = f[at.arm_value + (k - own) * at.arms + arm]


@part
def stand_at_point(f: Floats, i: Ints, at: Pyramid, point: Floats, arm: int) -> None:
    """Write the values of all functions at a point, whose arm may be a finite one."""
    stand_at_context(f, i, at, point)
    if arm >= 0:
        _stand_at_arm(f, i, at, arm)
    else:
        own = i[CONTEXT_FUNCTIONS]
        write_values(f, i, at, own, i[FUNCTIONS], point, 0, at.value + own)


@part
def stand_at_base(f: Floats, i: Ints, at: Pyramid, digits: Ints, arm: int, middle: Floats) -> None:
    """Write the values of all functions in the middle of the cell that some digits, or a finite arm, stand for.

    `middle` is scratch for a point.
    """
    for j in range(at.context if arm >= 0 else at.dim):
        category = i[at.kinds + j] == CATEGORICAL
        middle[j] = float(digits[j]) if category else (digits[j] + 0.5) / (1 << i[at.bits + j])
    stand_at_point(f, i, at, middle, arm)


@part
def list_arm_values(f: Floats, i: Ints, at: Pyramid, listed: int) -> None:
    """Write the values of the functions of arms (rows) at the listed candidates."""
    own, coordinates = i[CONTEXT_FUNCTIONS], at.dim - at.context
    for k in range(own, i[FUNCTIONS]):
        row = f[at.listed_value + (k - own) * listed :][:listed]
        j, which = i[at.function + 2 * k], i[at.function + 2 * k + 1]
        kind, place = i[at.kinds + j], at.arm + j - at.context
        if at.arms > 0:
            values = f[at.arm_value + (k - own) * at.arms :][: at.arms]
            for candidate in range(listed):
                row[candidate] = values[i[at.listed + candidate]]
        elif kind in (CATEGORICAL, PERIODIC):
            for candidate in range(listed):
                write_values(f, i, at, k, k + 1, f[place + candidate * coordinates :], j, at.value + own)
                row[candidate] = f[at.value + own]
        else:
            _list_number(row, f[place:], coordinates, which, f[at.listed_value :], k - own)


@part
def _list_number(row: Floats, coordinate: Floats, stride: int, which: int, rows: Floats, number: int) -> None:
    """Write a function of a number at all candidates; `rows` has those before it, and `number` is how many."""
    listed = len(row)
    last = rows[max(0, number - 1) * listed :][:listed]
    if which == 0:
        for candidate in range(listed):
            row[candidate] = ROOT3 * (2.0 * coordinate[candidate * stride] - 1.0)
    elif which == 1:
        for candidate in range(listed):
            row[candidate] = HALF_ROOT5 * (last[candidate] * last[candidate] - 1.0)
    elif which == POLYNOMIALS:
        for candidate in range(listed):
            row[candidate] = ROOT2 * math.cos(TURN * (coordinate[candidate * stride] + MARGIN))
    elif which == POLYNOMIALS + 1:
        for candidate in range(listed):
            row[candidate] = ROOT2 * last[candidate] * last[candidate] - ROOT2
    else:
        first, before = rows[(number - which + POLYNOMIALS) * listed :][:listed], rows[(number - 2) * listed :][:listed]
        for candidate in range(listed):
            row[candidate] = ROOT2 * first[candidate] * last[candidate] - before[candidate]
