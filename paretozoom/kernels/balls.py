"""The balls of a zooming policy: where they lie in memory, distances, indices, growth.

A policy's whole state is two flat arrays, `f` of floats and `i` of ints, because handing two arrays around
costs a tenth of handing over twenty; a `Layout` says where in them each part begins. Shapes: capacity c,
dim = context coordinates + arm coordinates, d numbers learned per ball, K finite arms (0 when the arm is an
interval). Tables are stored column by column, c apart, so that loops over all balls run through memory in
order: ``f[at.radius + ball]`` is a radius, ``i[at.counts + o * at.capacity + ball]`` a count.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from paretozoom.kernels.jit import Floats, Ints, inlined, kernel
from paretozoom.kernels.kinds import LINEAR, PERIODIC

# i[:HEADER]
CAPACITY, SIZE, CONTEXT, DIM, LEARNED, ARMS, WEIGHTS, EPOCH, EPOCHS, DOUBLING, KEY0, KEY1 = range(12)
HEADER = 12
# f[:CONSTANTS]: the uncertainty of a count is MULTIPLIER * sqrt(numerator of the epoch / (count + OFFSET))
# and the similarity distance is min(1, SCALE * the root of the mean squared gap of the coordinates)
MULTIPLIER, OFFSET, SCALE = range(3)
CONSTANTS = 3

# Up to this capacity the distances between all centres are kept, not computed anew.
MOST_PAIRED = 128

LEVELS = 64  # more radii than there can be
# Distances are rounded: bounds that decide what is left unseen are this much more generous.
SLACK = 1e-9
ROOT_STREAM = 1 << 32  # far from the streams of decisions


class Layout(NamedTuple):
    """Sizes, and where each part of the two arrays begins."""

    # sizes
    capacity: int
    context: int
    dim: int
    learned: int
    arms: int
    # parts of f
    numerators: int  # (epochs,) one per epoch; a fixed horizon is a single epoch
    weights: int  # (weights,) how rewards are summed when one scalar is learned
    root: int  # (dim,) the centre asked for, or NaN for a random one
    arm: int  # (K, arm coordinates)
    centre: int  # (dim, c)
    radius: int  # (c,)
    total: int  # (d, c) sums of rewards
    pre: int  # (d, c) pre-indices
    least: int  # (d, c) the least pre-index of a ball and its descendants; kept if c > MOST_PAIRED
    minimum: int  # (d, c) min over all balls of (pre-index + distance)
    highest: int  # (d, c) at least the largest minimum of a ball and its descendants; kept if c > MOST_PAIRED
    pairs: int  # (c, c) distances between centres; not there if c > MOST_PAIRED
    # parts of i
    kinds: int  # (dim,) how coordinates are compared
    values: int  # (dim,) 0 if continuous, m if m equally spaced values, -m if m categories
    parent: int  # (c,) -1 for the root
    counts: int  # (d, c)
    nearest: int  # (d, c) the ball that gives the minimum
    child: int  # (c,) the newest child, or -1
    sibling: int  # (c,) the next older child of the same parent, or -1
    # scratch in f: nothing outlives the call that wrote it
    slice_low: int
    slice_high: int
    cell_low: int
    cell_high: int
    cover_low: int
    cover_high: int
    spare_low: int
    spare_high: int
    here: int  # (dim,) a centre
    context_part: int  # (c,) squared distances of all balls from the context of the round
    indices: int  # (c, d) indices of the relevant balls, row by row
    arm_radius: int  # (K,) radius of the balls that own an arm
    # scratch in i
    slice_ball: int
    slice_place: int  # place of the slice's ball among the relevant ones, or -1
    level_slice: int  # where the slices of a level begin
    level_cell: int  # where the cells of a level begin
    near: int  # (c,) balls whose descendants the context may reach, by falling radius; also a stack and a list
    relevant: int  # (c,) the relevant balls
    chosen: int  # (c,) a mark for each relevant ball
    arm_chosen: int  # (K,)
    # lengths of the two arrays
    floats: int
    ints: int


@kernel
def layout(i: Ints) -> Layout:
    """Read the layout off a header."""
    c, context, dim, d, arms = i[CAPACITY], i[CONTEXT], i[DIM], i[LEARNED], i[ARMS]
    long = 2 * c + 4  # a ball has at most two slices; disjoint parts end where slices end
    numerators = CONSTANTS
    weights = numerators + i[EPOCHS]
    root = weights + i[WEIGHTS]
    arm = root + dim
    centre = arm + arms * (dim - context)
    radius = centre + c * dim
    total = radius + c
    pre = total + c * d
    least = pre + c * d
    minimum = least + c * d
    highest = minimum + c * d
    pairs = highest + c * d
    slice_low = pairs + (c * c if c <= MOST_PAIRED else 0)
    here = slice_low + 8 * long
    context_part = here + dim
    indices = context_part + c
    arm_radius = indices + c * d
    kinds = HEADER
    values = kinds + dim
    parent = values + dim
    counts = parent + c
    nearest = counts + c * d
    child = nearest + c * d
    sibling = child + c
    slice_ball = sibling + c
    level_slice = slice_ball + 2 * long
    level_cell = level_slice + LEVELS
    near = level_cell + LEVELS
    relevant = near + c
    chosen = relevant + c
    arm_chosen = chosen + c
    return Layout(
        c,
        context,
        dim,
        d,
        arms,
        numerators,
        weights,
        root,
        arm,
        centre,
        radius,
        total,
        pre,
        least,
        minimum,
        highest,
        pairs,
        kinds,
        values,
        parent,
        counts,
        nearest,
        child,
        sibling,
        slice_low,
        slice_low + long,
        slice_low + 2 * long,
        slice_low + 3 * long,
        slice_low + 4 * long,
        slice_low + 5 * long,
        slice_low + 6 * long,
        slice_low + 7 * long,
        here,
        context_part,
        indices,
        arm_radius,
        slice_ball,
        slice_ball + long,
        level_slice,
        level_cell,
        near,
        relevant,
        chosen,
        arm_chosen,
        arm_radius + arms,
        arm_chosen + arms,
    )


@kernel
def squared(kind: int, a: float, b: float) -> float:
    """The squared distance of two encoded coordinates; each coordinate has range at most 1."""
    if kind == LINEAR:
        return (a - b) * (a - b)
    if kind == PERIODIC:
        gap = abs(a - b)
        gap = 2.0 * min(gap, 1.0 - gap)
        return gap * gap
    return 0.0 if a == b else 1.0


@inlined
def squares(f: Floats, i: Ints, at: Layout, ball: int, first: int, end: int, point: Floats, start: int) -> float:
    """The part that coordinates [first, end) have in the squared distance of a centre and point[start...]."""
    total = 0.0
    for j in range(first, end):
        total += squared(i[at.kinds + j], f[at.centre + j * at.capacity + ball], point[start + j])
    return total


@inlined
def uncertainty(f: Floats, i: Ints, at: Layout, count: int) -> float:
    """u_B of a count (Section 3 of the paper); infinite when nothing was seen, unless OFFSET is positive."""
    seen = count + f[OFFSET]
    if seen == 0.0:
        return math.inf
    return f[MULTIPLIER] * math.sqrt(f[at.numerators + i[EPOCH]] / seen)


@inlined
def refresh(f: Floats, i: Ints, at: Layout, ball: int, objective: int) -> None:
    """Recompute one pre-index: mean + u_B + r(B)."""
    entry = objective * at.capacity + ball
    seen = i[at.counts + entry]
    mean = f[at.total + entry] / seen if seen > 0 else 0.0
    f[at.pre + entry] = (mean + uncertainty(f, i, at, seen)) + f[at.radius + ball]


@kernel
def draw_coordinate(values: int, u: float) -> float:
    """A uniform draw of one encoded coordinate: any number in [0, 1), one of m spaced values, or of -m categories."""
    if values == 0:
        return u
    chosen = float(int(u * abs(values)))
    return chosen / (values - 1) if values > 0 else chosen


@kernel
def epoch_of(number: int) -> int:
    """The epoch of a decision under the doubling trick: lengths 2, 4, 8, ...

    >>> [epoch_of(n) for n in (0, 1, 2, 5, 6, 13, 14)]
    [0, 0, 1, 1, 2, 2, 3]
    """
    epoch, left = 0, (number + 2) // 4
    while left > 0:
        epoch, left = epoch + 1, left // 2
    return epoch


@kernel
def find_near(f: Floats, i: Ints, at: Layout, point: Floats) -> int:
    """List the balls that the context, or a descendant's ball, may reach, by falling radius; returns how many.

    A child's centre lies in its parent's ball and its radius is at most half as large, so all descendants of a ball
    of radius r lie within 2r of its centre. Writes the context part of each listed ball.
    """
    i[at.near] = 0
    f[at.context_part] = squares(f, i, at, 0, 0, at.context, point, 0)
    near, k = 1, 0
    while k < near:
        child = i[at.child + i[at.near + k]]
        while child >= 0:
            part = squares(f, i, at, child, 0, at.context, point, 0)
            twice = 2.0 * f[at.radius + child] / f[SCALE]
            if part <= at.dim * twice * twice * (1.0 + SLACK):
                f[at.context_part + child] = part
                i[at.near + near] = child
                near += 1
            child = i[at.sibling + child]
        k += 1
    for k in range(1, near):  # children come after parents, half as large: as a rule nothing is left to sort
        ball, place = i[at.near + k], k
        while f[at.radius + i[at.near + place - 1]] < f[at.radius + ball]:
            i[at.near + place] = i[at.near + place - 1]
            place -= 1
        i[at.near + place] = ball
    return near


@inlined
def list_owner(i: Ints, at: Layout, found: int, place: int) -> int:
    """Put a chosen relevant ball among the first `found` of the list in `near`, once, in order of creation."""
    if i[at.chosen + place] == 0:
        return found
    ball = i[at.relevant + place]
    k = found
    while k > 0 and i[at.near + k - 1] >= ball:
        if i[at.near + k - 1] == ball:
            return found
        k -= 1
    for later in range(found, k, -1):
        i[at.near + later] = i[at.near + later - 1]
    i[at.near + k] = ball
    return found + 1
