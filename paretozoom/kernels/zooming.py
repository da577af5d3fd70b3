"""What the zooming policies share: seeing the relevant balls, drawing on chosen domains, growing balls."""

from __future__ import annotations

from paretozoom.kernels import finite, slices
from paretozoom.kernels.balls import (
    DOUBLING,
    EPOCH,
    SIZE,
    Layout,
    add_ball,
    compute_indices,
    epoch_of,
    measure_squares,
    refresh,
    uncertainty,
)
from paretozoom.kernels.jit import Floats, Ints, kernel

# In a decision's status, bit i says that objective i was told and SPAWNED that a child was made.
SPAWNED = 1 << 62

_finite_survey, finite_union, _finite_walk = finite.survey, finite.union, finite.walk
_finite_owners, _finite_contains = finite.owners, finite.contains
_slice_survey, slice_union, _slice_walk = slices.survey, slices.union, slices.walk
_slice_owners, _slice_contains = slices.owners, slices.contains


@kernel
def look(f: Floats, i: Ints, at: Layout, point: Floats) -> tuple[int, int]:
    """Find the relevant balls at the point's context and their indices; returns the numbers of levels and of balls."""
    if at.arms > 0:
        levels, relevant = 0, _finite_survey(f, i, at, point)
    else:
        levels, relevant = _slice_survey(f, i, at, point)
    compute_indices(f, i, at, relevant)
    return levels, relevant


@kernel
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


@kernel
def find_owners(f: Floats, i: Ints, at: Layout, point: Floats, levels: int, relevant: int, arm: int) -> int:
    """Mark with 2 the chosen balls whose domain contains the drawn arm; returns how many they are."""
    if at.arms > 0:
        return _finite_owners(f, i, at, relevant, arm)
    return _slice_owners(f, i, at, levels, point[at.context])


@kernel
def marked_place(i: Ints, at: Layout, relevant: int, mark: int, rank: int) -> int:
    """The place of the ball of given rank, in order of creation, among the relevant balls with a mark."""
    after = -1
    best_place = -1
    for _ in range(rank + 1):
        best_place = -1
        for place in range(relevant):
            ball = i[at.relevant + place]
            if i[at.chosen + place] == mark and ball > after and (best_place < 0 or ball < i[at.relevant + best_place]):
                best_place = place
        after = i[at.relevant + best_place]
    return best_place


@kernel
def _contains(f: Floats, i: Ints, at: Layout, ball: int, point: Floats) -> bool:
    if at.arms > 0:
        return _finite_contains(f, i, at, ball, point, at.context)
    return _slice_contains(f, i, at, ball, point[at.context])


@kernel
def in_domain(f: Floats, i: Ints, at: Layout, ball: int, point: Floats) -> bool:
    """Whether a point lies in a ball and in no ball of strictly smaller radius."""
    measure_squares(f, i, at, at.context, point, at.context_part)
    for k in range(i[SIZE]):
        other = i[at.order + k]
        if f[at.radius + other] >= f[at.radius + ball]:
            break
        if _contains(f, i, at, other, point):
            return False
    return _contains(f, i, at, ball, point)


@kernel
def teachable(i: Ints, number: int) -> bool:
    """Whether a reward for this decision still teaches: not when its epoch is over."""
    return i[DOUBLING] == 0 or epoch_of(number) == i[EPOCH]


@kernel
def split(f: Floats, i: Ints, at: Layout, ball: int, point: Floats, status: int) -> int:
    """Make a child at the point if the ball is full (Algorithm 1, lines 11-15); returns the new status.

    The counts are those before the decision's own rewards, whichever of its objectives were told already.
    """
    if status & SPAWNED:
        return status
    for o in range(at.learned):
        before = i[at.counts + o * at.capacity + ball] - ((status >> o) & 1)
        if not uncertainty(f, i, at, before) <= f[at.radius + ball]:
            return status
    if not in_domain(f, i, at, ball, point):
        return status
    add_ball(f, i, at, point, f[at.radius + ball] / 2.0, ball)
    return status | SPAWNED


@kernel
def credit_reward(f: Floats, i: Ints, at: Layout, ball: int, objective: int, reward: float) -> None:
    """Add one reward to a ball."""
    f[at.total + objective * at.capacity + ball] += reward
    i[at.counts + objective * at.capacity + ball] += 1
    refresh(f, i, at, ball, objective)
