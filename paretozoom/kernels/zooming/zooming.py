"""What the zooming policies share: seeing the relevant balls, drawing on chosen domains, growing balls."""

from __future__ import annotations

import math
from typing import Any

from paretozoom.kernels.core import lattice
from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.core.kinds import FINITE, LATTICE, NORM_TWO, SLICES
from paretozoom.kernels.core.memory import lend_row, lend_rows
from paretozoom.kernels.zooming import candidates, slices
from paretozoom.kernels.zooming.balls import (
    CELLS,
    DOUBLING,
    EPOCH,
    KEY0,
    KEY1,
    NORM,
    PER_CELL,
    SLACK,
    SPACE,
    Layout,
    epoch_of,
    uncertainty,
)
from paretozoom.kernels.zooming.distances import distance, pair_of, part_of
from paretozoom.kernels.zooming.growth import add_ball
from paretozoom.kernels.zooming.minima import compute_indices

# Coordinates in [0, 1] cannot tell smaller balls apart.
SMALLEST_RADIUS = 2.0**-50
NARROWEST = 1e-10

_list_survey, list_union = candidates.survey, candidates.union
_list_owners, _list_contains = candidates.owners, candidates.contains
_lay, _lattice_measure, _lattice_draw, _walk = lattice.lay, lattice.measure, lattice.draw, lattice.walk
_slice_survey, slice_union, _slice_walk = slices.survey, slices.union, slices.walk
_slice_owners, _slice_contains = slices.owners, slices.contains


@inlined
def _values(i: Ints, at: Layout) -> Any:
    return lend_row(i, at.values + at.context, at.dim - at.context)


@inlined
def _boxes(f: Floats, i: Ints, at: Layout, allowed: Floats) -> Any:
    """The boxes that arms may be in."""
    if len(allowed) > 0:
        return allowed
    return lend_rows(f, at.cells, i[CELLS], 2 * (at.dim - at.context))


@inlined
def _marks(i: Ints, at: Layout) -> Any:
    return lend_row(i, at.arm_chosen, at.arms)


@part
def _lay_candidates(f: Floats, i: Ints, at: Layout, number: int, allowed: Floats) -> int:
    arms = lend_rows(f, at.arm, at.arms, at.dim - at.context)
    return _lay(i[KEY0], i[KEY1], number, _values(i, at), _boxes(f, i, at, allowed), i[PER_CELL], arms)


@inlined
def look(f: Floats, i: Ints, at: Layout, number: int, point: Floats, allowed: Floats) -> tuple[int, int]:
    """Find the relevant balls at the point's context, and their indices.

    Returns the extent of the survey (how many levels of slices, or how many listed arms) and the number of balls.
    """
    if i[SPACE] == SLICES:
        extent, relevant = _slice_survey(f, i, at, point, allowed)
    else:
        extent = at.arms if i[SPACE] == FINITE else _lay_candidates(f, i, at, number, allowed)
        relevant = _list_survey(f, i, at, point, extent, allowed)
    compute_indices(f, i, at, relevant)
    return extent, relevant


@inlined
def draw_arm(
    f: Floats, i: Ints, at: Layout, point: Floats, extent: int, relevant: int, allowed: Floats, u: float
) -> tuple[int, float]:
    """Draw uniformly on the union of the chosen balls' domains, into the point; returns listed arm and density."""
    if i[SPACE] == SLICES:
        pieces, length = slice_union(f, i, at, extent)
        point[at.context] = _slice_walk(f, i, at, pieces, u * length)
        return -1, 1.0 / length
    marked = list_union(f, i, at, point, extent, relevant)
    if i[SPACE] == FINITE:
        size = float(marked)
        arm = _walk(_marks(i, at), 0, int(u * marked))
    else:
        size = _lattice_measure(_values(i, at), _boxes(f, i, at, allowed), i[PER_CELL], _marks(i, at))
        arm = _lattice_draw(_values(i, at), _boxes(f, i, at, allowed), i[PER_CELL], _marks(i, at), u * size)
    coordinates = at.dim - at.context
    for j in range(coordinates):
        point[at.context + j] = f[at.arm + arm * coordinates + j]
    return arm, 1.0 / size


@inlined
def finite_arm(i: Ints, arm: int) -> int:
    """The number of a drawn arm if arms are finitely many, else -1."""
    return arm if i[SPACE] == FINITE else -1


@kernel
def measure(f: Floats, i: Ints, at: Layout, point: Floats, extent: int, relevant: int, allowed: Floats) -> float:
    """The size of the union of the chosen balls' domains: how many arms, or their length, area or volume."""
    if i[SPACE] == SLICES:
        return slice_union(f, i, at, extent)[1]
    marked = list_union(f, i, at, point, extent, relevant)
    return (
        _lattice_measure(_values(i, at), _boxes(f, i, at, allowed), i[PER_CELL], _marks(i, at))
        if i[SPACE] == LATTICE
        else float(marked)
    )


@inlined
def find_owners(f: Floats, i: Ints, at: Layout, point: Floats, extent: int, relevant: int, arm: int) -> int:
    """List in `near` the chosen balls whose domain contains the drawn arm, oldest first; returns how many they are."""
    if i[SPACE] == SLICES:
        return _slice_owners(f, i, at, extent, point[at.context])
    return _list_owners(f, i, at, point, relevant, arm)


@part
def _contains(f: Floats, i: Ints, at: Layout, ball: int, point: Floats) -> bool:
    if i[SPACE] != SLICES:
        return _list_contains(f, i, at, ball, point)
    f[at.context_part + ball] = part_of(f, i, at, ball, 0, at.context, point, 0)
    return _slice_contains(f, i, at, ball, point[at.context])


@part
def in_domain(f: Floats, i: Ints, at: Layout, ball: int, point: Floats) -> bool:
    """Whether a point lies in a ball and in no ball of strictly smaller radius."""
    i[at.near] = 0
    waiting, pair = 1, pair_of(f, i, at, point)
    while waiting > 0:
        waiting -= 1
        child = i[at.child + i[at.near + waiting]]
        while child >= 0:
            if distance(f, i, at, child, point, 0, pair) <= 2.0 * f[at.radius + child] * (1.0 + SLACK):
                if f[at.radius + child] < f[at.radius + ball] and _contains(f, i, at, child, point):
                    return False
                i[at.near + waiting] = child
                waiting += 1
            child = i[at.sibling + child]
    return _contains(f, i, at, ball, point)


@kernel
def teachable(i: Ints, number: int) -> bool:
    """Whether a reward for this decision still teaches: not when its epoch is over."""
    return i[DOUBLING] == 0 or epoch_of(number) == i[EPOCH]


@part
def _is_narrow(f: Floats, i: Ints, at: Layout, ball: int) -> bool:
    """Whether the slices of a ball's children would be hardly wider than what counts as none."""
    factor = f[at.factors + at.context]
    reach = math.sqrt(factor) if i[NORM] == NORM_TWO else factor
    return i[SPACE] == SLICES and f[at.radius + ball] <= NARROWEST * reach


@kernel
def split(f: Floats, i: Ints, at: Layout, ball: int, point: Floats, told: int) -> None:
    """Make a child at the point if the ball is full (Algorithm 1, lines 11-15).

    The counts are those before the decision's own rewards: bit o of `told` says that objective o has counted already.
    A decision makes one child at most, because its point then lies in the child.
    """
    if f[at.radius + ball] <= SMALLEST_RADIUS or _is_narrow(f, i, at, ball):
        return
    for o in range(at.learned):
        before = i[at.counts + o * at.capacity + ball] - ((told >> o) & 1)
        if not uncertainty(f, i, at, before) <= f[at.radius + ball]:
            return
    if in_domain(f, i, at, ball, point):
        add_ball(f, i, at, point, f[at.radius + ball] / 2.0, ball)
