"""What the zooming policies share: seeing the relevant balls, drawing on chosen domains, growing balls."""

from __future__ import annotations

from paretozoom.kernels import finite, slices
from paretozoom.kernels.balls import (
    DOUBLING,
    EPOCH,
    SCALE,
    SLACK,
    Layout,
    epoch_of,
    squares,
    uncertainty,
)
from paretozoom.kernels.growth import add_ball
from paretozoom.kernels.jit import Floats, Ints, inlined, kernel
from paretozoom.kernels.minima import compute_indices

# Coordinates in [0, 1] cannot tell smaller balls apart.
SMALLEST_RADIUS = 2.0**-50

_finite_survey, finite_union, _finite_walk = finite.survey, finite.union, finite.walk
_finite_owners, _finite_contains = finite.owners, finite.contains
_slice_survey, slice_union, _slice_walk = slices.survey, slices.union, slices.walk
_slice_owners, _slice_contains = slices.owners, slices.contains


@inlined
def look(f: Floats, i: Ints, at: Layout, point: Floats) -> tuple[int, int]:
    """Find the relevant balls at the point's context and their indices; returns the numbers of levels and of balls."""
    if at.arms > 0:
        levels, relevant = 0, _finite_survey(f, i, at, point)
    else:
        levels, relevant = _slice_survey(f, i, at, point)
    compute_indices(f, i, at, relevant)
    return levels, relevant


@inlined
def draw_arm(f: Floats, i: Ints, at: Layout, point: Floats, levels: int, relevant: int, u: float) -> tuple[int, float]:
    """Draw uniformly on the union of the chosen balls' domains, into the point; returns finite arm and density."""
    if at.arms > 0:
        marked = finite_union(f, i, at, relevant)
        arm = _finite_walk(i, at, int(u * marked))
        coordinates = at.dim - at.context
        for j in range(coordinates):
            point[at.context + j] = f[at.arm + arm * coordinates + j]
        return arm, 1.0 / marked
    pieces, length = slice_union(f, i, at, levels)
    point[at.context] = _slice_walk(f, i, at, pieces, u * length)
    return -1, 1.0 / length


@kernel
def measure(f: Floats, i: Ints, at: Layout, levels: int, relevant: int) -> float:
    """The size of the union of the chosen balls' domains: a length, or a number of arms."""
    if at.arms > 0:
        return float(finite_union(f, i, at, relevant))
    return slice_union(f, i, at, levels)[1]


@inlined
def find_owners(f: Floats, i: Ints, at: Layout, point: Floats, levels: int, relevant: int, arm: int) -> int:
    """List in `near` the chosen balls whose domain contains the drawn arm, oldest first; returns how many they are."""
    if at.arms > 0:
        return _finite_owners(f, i, at, relevant, arm)
    return _slice_owners(f, i, at, levels, point[at.context])


@kernel
def _contains(f: Floats, i: Ints, at: Layout, ball: int, point: Floats) -> bool:
    f[at.context_part + ball] = squares(f, i, at, ball, 0, at.context, point, 0)
    if at.arms > 0:
        return _finite_contains(f, i, at, ball, point, at.context)
    return _slice_contains(f, i, at, ball, point[at.context])


@kernel
def in_domain(f: Floats, i: Ints, at: Layout, ball: int, point: Floats) -> bool:
    """Whether a point lies in a ball and in no ball of strictly smaller radius."""
    i[at.near] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        child = i[at.child + i[at.near + waiting]]
        while child >= 0:
            twice = 2.0 * f[at.radius + child] / f[SCALE]
            if squares(f, i, at, child, 0, at.dim, point, 0) <= at.dim * twice * twice * (1.0 + SLACK):
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


@kernel
def split(f: Floats, i: Ints, at: Layout, ball: int, point: Floats, told: int) -> None:
    """Make a child at the point if the ball is full (Algorithm 1, lines 11-15).

    The counts are those before the decision's own rewards: bit o of `told` says that objective o has counted already.
    A decision makes one child at most, because its point then lies in the child.
    """
    if f[at.radius + ball] <= SMALLEST_RADIUS:
        return
    for o in range(at.learned):
        before = i[at.counts + o * at.capacity + ball] - ((told >> o) & 1)
        if not uncertainty(f, i, at, before) <= f[at.radius + ball]:
            return
    if in_domain(f, i, at, ball, point):
        add_ball(f, i, at, point, f[at.radius + ball] / 2.0, ball)
