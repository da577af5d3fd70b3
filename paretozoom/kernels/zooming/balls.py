"""The balls of a zooming policy: where they lie in memory, distances, indices, growth.

A policy's whole state is two flat arrays, `f` of floats and `i` of ints, because handing two arrays around
costs a tenth of handing over twenty; a `Layout`, kept in `i`, says where in them each part begins. Shapes: capacity c,
dim = context coordinates + arm coordinates, d numbers learned per ball, K finite arms (0 when the arm is an
interval). Tables are stored column by column, c apart, so that loops over all balls run through memory in
order: ``f[at.radius + ball]`` is a radius, ``i[at.counts + o * at.capacity + ball]`` a count.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel
from paretozoom.kernels.core.kinds import FINITE, LATTICE, MATRIX, MOST_CANDIDATES, MOST_INTERVALS

# i[:LAYOUT]; SPACE is how domains are found, NORM how distances are, PAIRS the size of a matrix of distances,
# FUNCTION the address of a user's distance, CELLS the number of boxes that make up the space of arms,
# PER_CELL how many candidates are laid in each at most.
CAPACITY, SIZE, CONTEXT, DIM, LEARNED, ARMS, WEIGHTS, EPOCH, EPOCHS, DOUBLING, KEY0, KEY1 = range(12)
SPACE, NORM, PAIRS, FUNCTION, CELLS, PER_CELL = range(12, 18)
LAYOUT = 18
# f[:CONSTANTS]: the uncertainty of a count is MULTIPLIER * sqrt(numerator of the epoch / (count + OFFSET));
# SCALE stretches the distances of a matrix or a function.
MULTIPLIER, OFFSET, SCALE = range(3)
CONSTANTS = 3

# Up to this capacity the distances between all centres are kept, not computed anew.
MOST_PAIRED = 512
# The first coordinate of contexts is then cut into so many strips, each with the balls that it may reach.
STRIPS = 32

LEVELS = 64  # more radii than there can be
# Distances are rounded: bounds that decide what is left unseen are this much more generous.
SLACK = 1e-9
ROOT_STREAM = 1 << 32  # far from the streams of decisions


class Layout:
    """Sizes, and where each part of the two arrays begins."""

    # sizes
    capacity: int
    context: int
    dim: int
    learned: int
    arms: int  # finitely many arms, or room for the candidates of a round; 0 if domains are slices
    # parts of f
    numerators: int  # (epochs,) one per epoch; a fixed horizon is a single epoch
    weights: int  # (weights,) how rewards are summed when one scalar is learned
    root: int  # (dim,) the centre asked for, or NaN for a random one
    factors: int  # (dim,) what the gaps of coordinates are multiplied with
    cells: int  # (cells, 2 * arm coordinates) boxes that make up the space of arms, if it is a lattice
    matrix: int  # (pairs, pairs) distances of all context-arm pairs, if they are given
    arm: int  # (arms, arm coordinates) the finite arms, or the candidates of the round
    centre: int  # (dim, c)
    radius: int  # (c,)
    limit: int  # (c,) the largest context part at which the context may reach the ball or a descendant
    total: int  # (d, c) sums of rewards
    pre: int  # (d, c) pre-indices
    # if c > MOST_PAIRED (`minima`)
    minimum: int  # (d, c) min over all balls of (pre-index + distance)
    least: int  # (d, c) the least pre-index of a ball and its descendants
    highest: int  # (d, c) at least the largest minimum of a ball and its descendants
    # in their place if c <= MOST_PAIRED (`pairs`)
    away: int  # (d, c) the distance of the ball that gives the minimum
    heard: int  # (d, c) the pre-index above which a fall of it concerns no ball that it does not give the minimum
    second: int  # (d, c) the sum up to which the minimum may rise and still be given by the same ball
    pairs: int  # (c, c) distances between centres; not there if c > MOST_PAIRED
    # parts of i
    kinds: int  # (dim,) how coordinates are compared
    values: int  # (dim,) 0 if continuous, m if m equally spaced values, -m if m categories
    parent: int  # (c,) -1 for the root
    counts: int  # (d, c)
    nearest: int  # (d, c) the ball that gives the minimum
    child: int  # (c,) the child of highest arm, or -1
    sibling: int  # (c,) the next lower child of the same parent, or -1
    pair: int  # (c,) the context-arm pair of the centre, if distances are given as a matrix
    # not there if c > MOST_PAIRED
    strip: int  # (STRIPS, c) balls that a context in a strip may reach, by falling radius, then by falling arm
    strip_size: int  # (STRIPS,) how many these are
    # scratch in f: nothing outlives the call that wrote it
    slice_low: int
    slice_high: int
    cell_low: int
    cell_high: int
    cover_low: int  # maximal intervals that a union covers
    cover_high: int
    gap_low: int  # in the same place while surveying: what no ball covers yet
    gap_high: int
    spare_low: int
    spare_high: int
    here: int  # (dim,) a point
    there: int  # (dim,) a centre
    context_part: int  # (c,) what the context adds to the distance of each ball
    indices: int  # (d, relevant balls) their indices
    arm_radius: int  # (arms,) radius of the balls that own an arm
    # scratch in i
    slice_place: int  # place of the slice's ball among the relevant ones
    level_slice: int  # where the slices of a level begin
    level_cell: int  # where the cells of a level begin
    near: int  # (c,) balls whose descendants the context may reach, by falling radius; also a stack and a list
    relevant: int  # (c,) the relevant balls
    chosen: int  # (c,) a mark for each relevant ball
    arm_chosen: int  # (arms,)
    arm_free: int  # (arms,) arms that no ball owns yet
    # lengths of the two arrays
    floats: int
    ints: int


# Where the layout is kept in i, behind what it follows from: a record, of which only the address is handed on.
_record: Any = np.dtype([(name, np.int64) for name in Layout.__annotations__])
HEADER = LAYOUT + len(Layout.__annotations__)


@kernel
def layout(i: Ints) -> Layout:
    """The layout in a memory, which must be kept as long as this is used."""
    at: Layout = i[LAYOUT:HEADER].view(_record)[0]
    return at


@kernel
def lay_out(i: Ints) -> None:
    """Write the layout that the numbers of a header ask for into it."""
    at = layout(i)
    c, context, dim, d = i[CAPACITY], i[CONTEXT], i[DIM], i[LEARNED]
    arms = i[ARMS] if i[SPACE] == FINITE else MOST_CANDIDATES if i[SPACE] == LATTICE else 0
    # A ball has at most two slices; disjoint parts end where slices or forbidden intervals begin or end.
    long = 4 if arms > 0 else 2 * c + MOST_INTERVALS + 4
    at.capacity, at.context, at.dim, at.learned, at.arms = c, context, dim, d, arms
    at.numerators = CONSTANTS
    at.weights = at.numerators + i[EPOCHS]
    at.root = at.weights + i[WEIGHTS]
    at.factors = at.root + dim
    at.cells = at.factors + dim
    at.matrix = at.cells + i[CELLS] * 2 * (dim - context)
    at.arm = at.matrix + i[PAIRS] * i[PAIRS]
    at.centre = at.arm + arms * (dim - context)
    at.radius = at.centre + c * dim
    at.limit = at.radius + c
    at.total = at.limit + c
    at.pre = at.total + c * d
    at.minimum = at.away = at.pre + c * d
    at.least = at.heard = at.minimum + c * d
    at.highest = at.second = at.least + c * d
    at.pairs = at.highest + c * d
    at.slice_low = at.pairs + (c * c if c <= MOST_PAIRED else 0)
    at.slice_high = at.slice_low + long
    at.cell_low = at.slice_high + long
    at.cell_high = at.cell_low + long
    at.cover_low = at.gap_low = at.cell_high + long
    at.cover_high = at.gap_high = at.cover_low + long
    at.spare_low = at.cover_high + long
    at.spare_high = at.spare_low + long
    at.here = at.spare_high + long
    at.there = at.here + dim
    at.context_part = at.there + dim
    at.indices = at.context_part + c
    at.arm_radius = at.indices + c * d
    at.floats = at.arm_radius + arms
    at.kinds = HEADER
    at.values = at.kinds + dim
    at.parent = at.values + dim
    at.counts = at.parent + c
    at.nearest = at.counts + c * d
    at.child = at.nearest + c * d
    at.sibling = at.child + c
    at.pair = at.sibling + c
    at.strip = at.pair + (c if i[NORM] == MATRIX else 0)
    at.strip_size = at.strip + (STRIPS * c if c <= MOST_PAIRED else 0)
    at.slice_place = at.strip_size + STRIPS
    at.level_slice = at.slice_place + long
    at.level_cell = at.level_slice + LEVELS
    at.near = at.level_cell + LEVELS
    at.relevant = at.near + c
    at.chosen = at.relevant + c
    at.arm_chosen = at.chosen + c
    at.arm_free = at.arm_chosen + arms
    at.ints = at.arm_free + arms


@kernel
def allocate(head: Ints) -> tuple[Floats, Ints]:
    """A memory with this header, and zeros."""
    lay_out(head)
    at = layout(head)
    f, i = np.zeros(at.floats), np.zeros(at.ints, np.int64)
    i[:HEADER] = head
    return f, i


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
def epoch_of(number: int) -> int:
    """The epoch of a decision under the doubling trick: lengths 2, 4, 8, ...

    >>> [epoch_of(n) for n in (0, 1, 2, 5, 6, 13, 14)]
    [0, 0, 1, 1, 2, 2, 3]
    """
    epoch, left = 0, (number + 2) // 4
    while left > 0:
        epoch, left = epoch + 1, left // 2
    return epoch
