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

import numpy as np

from paretozoom.kernels.jit import Floats, Ints, kernel
from paretozoom.kernels.kinds import LINEAR, PERIODIC
from paretozoom.kernels.philox import uniforms

# i[:HEADER]
CAPACITY, SIZE, CONTEXT, DIM, LEARNED, ARMS, WEIGHTS, EPOCH, EPOCHS, DOUBLING, KEY0, KEY1 = range(12)
HEADER = 12
# f[:CONSTANTS]: the uncertainty of a count is MULTIPLIER * sqrt(numerator of the epoch / (count + OFFSET))
MULTIPLIER, OFFSET = range(2)
CONSTANTS = 2

# Up to this capacity the distances between all centres are kept, not computed anew.
MOST_PAIRED = 128

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
    pairs: int  # (c, c) distances between centres; not there if c > MOST_PAIRED
    # parts of i
    kinds: int  # (dim,) how coordinates are compared
    values: int  # (dim,) 0 if continuous, m if m equally spaced values, -m if m categories
    parent: int  # (c,) -1 for the root
    counts: int  # (d, c)
    order: int  # (c,) the balls by ascending radius, then by creation
    # scratch in f: nothing outlives the call that wrote it
    slice_low: int
    slice_high: int
    slice_radius: int
    cell_low: int
    cell_high: int
    cover_low: int
    cover_high: int
    spare_low: int
    spare_high: int
    here: int  # (dim,) a centre
    apart: int  # (c,) distances of all balls from one of them
    context_part: int  # (c,) squared distances of all balls from the context of the round
    indices: int  # (c, d) indices of the relevant balls, row by row
    arm_radius: int  # (K,) radius of the balls that own an arm
    # scratch in i
    slice_ball: int
    slice_place: int  # place of the slice's ball among the relevant ones, or -1
    level_slice: int  # where the slices of a level begin
    level_cell: int  # where the cells of a level begin
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
    long = 4 * c + 4  # each ball has at most two slices, each slice two ends
    numerators = CONSTANTS
    weights = numerators + i[EPOCHS]
    root = weights + i[WEIGHTS]
    arm = root + dim
    centre = arm + arms * (dim - context)
    radius = centre + c * dim
    total = radius + c
    pre = total + c * d
    pairs = pre + c * d
    slice_low = pairs + (c * c if c <= MOST_PAIRED else 0)
    here = slice_low + 9 * long
    apart = here + dim
    context_part = apart + c
    indices = context_part + c
    arm_radius = indices + c * d
    kinds = HEADER
    values = kinds + dim
    parent = values + dim
    counts = parent + c
    order = counts + c * d
    slice_ball = order + c
    relevant = slice_ball + 4 * long
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
        pairs,
        kinds,
        values,
        parent,
        counts,
        order,
        slice_low,
        slice_low + long,
        slice_low + 2 * long,
        slice_low + 3 * long,
        slice_low + 4 * long,
        slice_low + 5 * long,
        slice_low + 6 * long,
        slice_low + 7 * long,
        slice_low + 8 * long,
        here,
        apart,
        context_part,
        indices,
        arm_radius,
        slice_ball,
        slice_ball + long,
        slice_ball + 2 * long,
        slice_ball + 3 * long,
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


@kernel
def measure_squares(f: Floats, i: Ints, at: Layout, coordinates: int, point: Floats, out: int) -> None:
    """Write to f[out...] the squared distance of every ball's centre from a point, in the first few coordinates."""
    n = i[SIZE]
    squares = f[out : out + n]
    squares[:] = 0.0
    for j in range(coordinates):
        here = point[j]
        column = f[at.centre + j * at.capacity : at.centre + j * at.capacity + n]
        if i[at.kinds + j] == LINEAR:  # apart from the others, so that the loop is vectorised
            for ball in range(n):
                squares[ball] += (column[ball] - here) * (column[ball] - here)
        else:
            for ball in range(n):
                squares[ball] += squared(i[at.kinds + j], column[ball], here)


@kernel
def measure_distances(f: Floats, i: Ints, at: Layout, ball: int, out: int) -> None:
    """Write to f[out...] the similarity distance D of every centre from that of one ball."""
    for j in range(at.dim):
        f[at.here + j] = f[at.centre + j * at.capacity + ball]
    measure_squares(f, i, at, at.dim, f[at.here : at.here + at.dim], out)
    distances = f[out : out + i[SIZE]]
    for other in range(len(distances)):
        distances[other] = math.sqrt(distances[other] / at.dim)


@kernel
def pair_up(f: Floats, i: Ints, at: Layout, ball: int) -> None:
    """Keep the distances between one ball and all others."""
    if at.capacity <= MOST_PAIRED:
        row = at.pairs + ball * at.capacity
        measure_distances(f, i, at, ball, row)
        for other in range(i[SIZE]):
            f[at.pairs + other * at.capacity + ball] = f[row + other]


@kernel
def room(f: Floats, i: Ints) -> tuple[Floats, Ints]:
    """The same state with space for at least one more ball: the arrays themselves, or copies twice as large."""
    if i[SIZE] < i[CAPACITY]:
        return f, i
    old = layout(i)
    head = i[:HEADER].copy()
    head[CAPACITY] *= 2
    new = layout(head)
    more_f, more_i = np.zeros(new.floats), np.zeros(new.ints, np.int64)
    n, c = i[SIZE], old.capacity
    more_i[: new.parent] = i[: old.parent]
    more_i[:HEADER] = head
    more_f[: new.centre] = f[: old.centre]
    for column in range((old.pairs - old.centre) // c):
        more_f[new.centre + 2 * c * column : new.centre + 2 * c * column + n] = f[
            old.centre + c * column : old.centre + c * column + n
        ]
    for column in range((old.slice_ball - old.parent) // c):
        more_i[new.parent + 2 * c * column : new.parent + 2 * c * column + n] = i[
            old.parent + c * column : old.parent + c * column + n
        ]
    for ball in range(n):
        pair_up(more_f, more_i, new, ball)
    return more_f, more_i


@kernel
def uncertainty(f: Floats, i: Ints, at: Layout, count: int) -> float:
    """u_B of a count (Section 3 of the paper); infinite when nothing was seen, unless OFFSET is positive."""
    seen = count + f[OFFSET]
    if seen == 0.0:
        return math.inf
    return f[MULTIPLIER] * math.sqrt(f[at.numerators + i[EPOCH]] / seen)


@kernel
def refresh(f: Floats, i: Ints, at: Layout, ball: int, objective: int) -> None:
    """Recompute one pre-index: mean + u_B + r(B)."""
    entry = objective * at.capacity + ball
    seen = i[at.counts + entry]
    mean = f[at.total + entry] / seen if seen > 0 else 0.0
    f[at.pre + entry] = (mean + uncertainty(f, i, at, seen)) + f[at.radius + ball]


@kernel
def refresh_all(f: Floats, i: Ints) -> None:
    """Recompute what follows from centres, radii, counts and sums, after these were filled from outside."""
    at = layout(i)
    for ball in range(i[SIZE]):
        insert_in_order(f, i, at, ball)
        pair_up(f, i, at, ball)
        for o in range(at.learned):
            refresh(f, i, at, ball, o)


@kernel
def add_ball(f: Floats, i: Ints, at: Layout, point: Floats, radius: float, parent: int) -> None:
    """Append an empty ball; the caller has made room."""
    ball = i[SIZE]
    i[SIZE] = ball + 1
    for j in range(at.dim):
        f[at.centre + j * at.capacity + ball] = point[j]
    f[at.radius + ball] = radius
    i[at.parent + ball] = parent
    for o in range(at.learned):
        f[at.total + o * at.capacity + ball] = 0.0
        i[at.counts + o * at.capacity + ball] = 0
        refresh(f, i, at, ball, o)
    insert_in_order(f, i, at, ball)
    pair_up(f, i, at, ball)


@kernel
def insert_in_order(f: Floats, i: Ints, at: Layout, ball: int) -> None:
    """Put the newest ball in its place in `order`."""
    k = ball
    while k > 0 and f[at.radius + i[at.order + k - 1]] > f[at.radius + ball]:
        i[at.order + k] = i[at.order + k - 1]
        k -= 1
    i[at.order + k] = ball


@kernel
def draw_coordinate(values: int, u: float) -> float:
    """A uniform draw of one encoded coordinate: any number in [0, 1), one of m spaced values, or of -m categories."""
    if values == 0:
        return u
    chosen = float(int(u * abs(values)))
    return chosen / (values - 1) if values > 0 else chosen


@kernel
def restart(f: Floats, i: Ints, epoch: int) -> None:
    """Forget every ball and begin `epoch` with a root whose centre is a function of (key, epoch)."""
    at = layout(i)
    i[SIZE], i[EPOCH] = 0, epoch
    point = np.empty(at.dim)
    for j in range(at.dim):
        point[j] = f[at.root + j]
        if math.isnan(point[j]):
            draw = uniforms(i[KEY0], i[KEY1], epoch, ROOT_STREAM + j // 4)[j % 4]
            point[j] = draw_coordinate(i[at.values + j], draw)
    if at.arms > 0 and math.isnan(f[at.root + at.context]):
        coordinates = at.dim - at.context
        arm = int(uniforms(i[KEY0], i[KEY1], epoch, ROOT_STREAM - 1)[0] * at.arms)
        for j in range(coordinates):
            point[at.context + j] = f[at.arm + arm * coordinates + j]
    add_ball(f, i, at, point, 1.0, -1)


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
def enter(f: Floats, i: Ints, number: int) -> None:
    """Begin the epoch of a decision, if it has not begun."""
    if i[DOUBLING] == 1:
        epoch = epoch_of(number)
        if epoch > i[EPOCH]:
            restart(f, i, epoch)


@kernel
def compute_indices(f: Floats, i: Ints, at: Layout, relevant: int) -> None:
    """g_B = r(B) + min over all balls B' of (pre-index of B' + D(B', B)), per objective, for relevant balls."""
    n, c = i[SIZE], at.capacity
    pre = f[at.pre : at.pre + at.learned * c].reshape((at.learned, c))
    for place in range(relevant):
        ball = i[at.relevant + place]
        if c <= MOST_PAIRED:
            apart = f[at.pairs + ball * c : at.pairs + ball * c + n]
        else:
            measure_distances(f, i, at, ball, at.apart)
            apart = f[at.apart : at.apart + n]
        for o in range(at.learned):
            # Four minima side by side wait a quarter as long for each other.
            least, least1, least2, least3 = math.inf, math.inf, math.inf, math.inf
            for k in range(0, n - 3, 4):
                least = min(least, pre[o, k] + apart[k])
                least1 = min(least1, pre[o, k + 1] + apart[k + 1])
                least2 = min(least2, pre[o, k + 2] + apart[k + 2])
                least3 = min(least3, pre[o, k + 3] + apart[k + 3])
            for k in range(n - n % 4, n):
                least = min(least, pre[o, k] + apart[k])
            least = min(min(least, least1), min(least2, least3))
            f[at.indices + place * at.learned + o] = f[at.radius + ball] + least
