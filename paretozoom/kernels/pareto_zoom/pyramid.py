"""The memory of ParetoZoom: rewards summed in ever smaller cells of contexts and arms.

Every coordinate is read as a number of bits. A *level* is the one before with one more bit of a coordinate of
contexts, of arms, or of both. It has few cells of arms, numbered through, and for each cell of contexts that was
visited a *block* of statistics and an estimate per objective and cell of arms. All rewards are also kept in *bases*,
cells of all bits, of which the levels can be made anew with other splits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paretozoom.kernels.core import lattice
from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.core.kinds import CATEGORICAL, MOST_CANDIDATES

# i[:LAYOUT]. FINER is how many coordinates arms are split by: their own, or features and number of a finite arm.
CONTEXT, DIM, LEARNED, ARMS, FINER, TOLD, NEXT, LEVELS, BASES, BLOCKS = range(10)
KEY0, KEY1 = lattice.KEY0, lattice.KEY1
BASE_ROOM, BLOCK_ROOM, CELL_ROOM = range(12, 15)
USED, CELLS, PER_CELL, NUMBERED, MOST_FINE, DUE, ALONG_FRONT = range(15, 22)
FUNCTIONS, CONTEXT_FUNCTIONS, TERMS, USES_TREND, FORGETS, FORGOTTEN = range(22, 28)
SMOOTH_ROOM, SMOOTH_TERMS, SEARCHED = range(28, 31)  # there are no terms as long as the smooth estimate is not used
PARTS = 31  # that were told since TOLD, the number of whole rewards that all parts add up to, last grew
LABELLED = 32  # cells of contexts that differ in labels, for arms that are labels; else 1
LAYOUT = 33

PLACE_BITS = 10  # of all coordinates together, that places are told apart by
PLACES = 1 << PLACE_BITS
MOST_LEVELS = 24
MOST_DEPTH = 24  # bits of a coordinate
MOST_MIXED = 3  # context coordinates between whose cells is interpolated
COUNT, TOTAL, SQUARES, ESTIMATE, DOUBT = range(5)  # of a cell: its rewards, and what is made of them
STATISTICS = 5
COMPARISONS = 5


class Pyramid:
    """Sizes, and where each part of the two arrays begins."""

    context: int
    dim: int
    learned: int
    arms: int
    finer: int
    candidates: int
    # parts of f
    cells: int  # (boxes, 2 * arm coordinates) boxes that make up the space of arms, if it is continuous
    feature: int  # (arms, arm coordinates) the finite arms
    offset: int  # (d,) the first reward that was told, which is subtracted from all; NaN before
    noise: int  # (d,) the variance of a reward
    roughness: int  # (MOST_LEVELS, d) the variance of what a level adds
    arm_value: int  # (arm functions, arms) the functions of the finite arms
    trend: int  # (d, terms) how much of each term the trend has
    missed: int  # (d,) the variance that the trend misses, relative to the noise
    smooth: int  # (d, smooth room) how much of each term the smooth estimate has
    inverse: int  # (d, smooth room, smooth room) the variance of these, relative to the noise
    compared: int  # (d, COMPARISONS) sums over rewards that were foretold by levels and by the smooth estimate
    watched: int  # (4,) sums over pairs of rewards at the same place
    last: int  # (PLACES, d) what the last reward at a place had above its estimate; 0 if there was none
    base_sum: int  # (d, base room)
    base_square: int  # (d, base room)
    block: int  # (cell room,) the blocks: (d, STATISTICS, cells of arms) each
    # parts of i
    kinds: int  # (dim,)
    values: int  # (dim,)
    bits: int  # (context + finer,) into how many bits a coordinate is read
    function: int  # (functions, 2) the coordinate of each, and which of its functions it is
    factor: int  # (terms, 3) the functions that a term is the product of
    smooth_factor: int  # (smooth room, 3) the functions that a term of the smooth estimate is the product of
    scale: int  # (d, dim) how far along each coordinate rewards are alike
    signal: int  # (d,) how much of the rewards is expected of all terms of the smooth estimate
    expected: int  # (d,) how large terms are expected to be
    arm_told: int  # (LABELLED, arms) how many parts of rewards were told of each finite arm beside labels of contexts
    inner: int  # (MOST_LEVELS,) the coordinate of arms of which a level has one bit more, or -1
    outer: int  # (MOST_LEVELS,) the coordinate of contexts of which a level has one bit more, or -1
    depth: int  # (MOST_LEVELS, context + finer) how many bits a level has of each coordinate
    arm_cells: int  # (MOST_LEVELS,) how many cells of arms a level has
    table: int  # (MOST_LEVELS,) where the numbered cells of arms of a level begin in `parent` and `beside`
    parent: int  # (numbered,) the cell of the level before that a cell of arms is in
    beside: int  # (numbered,) the cell next to that, on the side of the cell
    cell_of_arm: int  # (MOST_LEVELS, arms) the cell of each finite arm
    base_key: int  # (base room,)
    base_count: int  # (d, base room)
    base_slot: int  # (2 * base room,) 1 + the number of a base, by its key
    block_key: int  # (block room,)
    block_level: int  # (block room,)
    block_start: int  # (block room,)
    block_base: int  # (block room,) one of the bases in it
    block_told: int  # (block room,) how many rewards were told of it
    block_due: int  # (block room,) how many of them let its estimates be made anew
    block_slot: int  # (2 * block room,)
    # scratch in f
    arm: int  # (candidates, arm coordinates)
    row: int  # (d, most cells of arms) numbers between blocks
    corner_weight: int
    indices: int  # (d, candidates)
    value: int  # (functions,) at a place
    listed_value: int  # (arm functions, candidates)
    # scratch in i
    corner: int
    arm_chosen: int
    listed: int
    spare: int
    # lengths
    floats: int
    ints: int


# Where the layout is kept in i, behind what it follows from: a record, of which only the address is handed on.
_record: Any = np.dtype([(name, np.int64) for name in Pyramid.__annotations__])
HEADER = LAYOUT + len(Pyramid.__annotations__)


@kernel
def pyramid(i: Ints) -> Pyramid:
    """The layout in a memory, which must be kept as long as this is used."""
    at: Pyramid = i[LAYOUT:HEADER].view(_record)[0]
    return at


@kernel
def lay_out(i: Ints) -> None:
    """Write the layout that the numbers of a header ask for into it."""
    at = pyramid(i)
    context, dim, d, arms, finer = i[CONTEXT], i[DIM], i[LEARNED], i[ARMS], i[FINER]
    coordinates, bases, blocks = context + finer, i[BASE_ROOM], i[BLOCK_ROOM]
    candidates = arms if arms > 0 else MOST_CANDIDATES
    arm_functions = i[FUNCTIONS] - i[CONTEXT_FUNCTIONS]
    at.context, at.dim, at.learned, at.arms, at.finer, at.candidates = context, dim, d, arms, finer, candidates
    at.cells = 0
    at.feature = i[CELLS] * 2 * (dim - context)
    at.offset = at.feature + arms * (dim - context)
    at.noise = at.offset + d
    at.roughness = at.noise + d
    at.arm_value = at.roughness + MOST_LEVELS * d
    at.trend = at.arm_value + arm_functions * arms
    at.missed = at.trend + d * i[TERMS]
    at.smooth = at.missed + d
    at.inverse = at.smooth + d * i[SMOOTH_ROOM]
    at.compared = at.inverse + d * i[SMOOTH_ROOM] * i[SMOOTH_ROOM]
    at.watched = at.compared + COMPARISONS * d
    at.last = at.watched + 4
    at.base_sum = at.last + PLACES * d
    at.base_square = at.base_sum + d * bases
    at.block = at.base_square + d * bases
    at.arm = at.block + i[CELL_ROOM]
    at.row = at.arm + (0 if arms > 0 else candidates * (dim - context))
    at.corner_weight = at.row + d * i[MOST_FINE]
    at.indices = at.corner_weight + (candidates << MOST_MIXED)
    at.value = at.indices + d * candidates
    at.listed_value = at.value + i[FUNCTIONS]
    at.kinds = HEADER
    at.values = at.kinds + dim
    at.bits = at.values + dim
    at.function = at.bits + coordinates
    at.factor = at.function + 2 * i[FUNCTIONS]
    at.smooth_factor = at.factor + 3 * i[TERMS]
    at.scale = at.smooth_factor + 3 * i[SMOOTH_ROOM]
    at.signal = at.scale + d * dim
    at.expected = at.signal + d
    at.arm_told = at.expected + d
    at.inner = at.arm_told + i[LABELLED] * arms
    at.outer = at.inner + MOST_LEVELS
    at.depth = at.outer + MOST_LEVELS
    at.arm_cells = at.depth + MOST_LEVELS * coordinates
    at.table = at.arm_cells + MOST_LEVELS
    at.parent = at.table + MOST_LEVELS
    at.beside = at.parent + i[NUMBERED]
    at.cell_of_arm = at.beside + i[NUMBERED]
    at.base_key = at.cell_of_arm + MOST_LEVELS * arms
    at.base_count = at.base_key + bases
    at.base_slot = at.base_count + d * bases
    at.block_key = at.base_slot + 2 * bases
    at.block_level = at.block_key + blocks
    at.block_start = at.block_level + blocks
    at.block_base = at.block_start + blocks
    at.block_told = at.block_base + blocks
    at.block_due = at.block_told + blocks
    at.block_slot = at.block_due + blocks
    at.corner = at.block_slot + 2 * blocks
    at.arm_chosen = at.corner + (candidates << MOST_MIXED)
    at.listed = at.arm_chosen + candidates
    at.spare = at.listed + candidates
    at.ints = at.spare + candidates
    at.floats = at.listed_value + arm_functions * candidates


@kernel
def allocate(head: Ints) -> tuple[Floats, Ints]:
    """A memory with this header, and zeros."""
    lay_out(head)
    at = pyramid(head)
    f, i = np.zeros(at.floats), np.zeros(at.ints, np.int64)
    i[:HEADER] = head
    return f, i


@inlined
def mix(key: int, value: int) -> int:
    """A key with one more number in it."""
    key = (key ^ (value + 0x1E3779B97F4A7C15)) * 0x3F58476D1CE4E5B9
    key = (key ^ (key >> 29)) * 0x14D049BB133111EB
    return key ^ (key >> 32)


@inlined
def find_slot(i: Ints, slots: int, size: int, keys: int, key: int) -> int:
    """Where a key is among the slots, or the free slot where it belongs."""
    place = (key ^ (key >> 17)) & (size - 1)
    while i[slots + place] != 0 and i[keys + i[slots + place] - 1] != key:
        place = (place + 1) & (size - 1)
    return place


@inlined
def digit(kind: int, bits: int, coordinate: float) -> int:
    """A coordinate as a whole number of so many bits."""
    if kind == CATEGORICAL:
        return int(coordinate) & ((1 << bits) - 1)
    return min(int(coordinate * (1 << bits)), (1 << bits) - 1)


@part
def base_of(i: Ints, at: Pyramid, point: Floats, arm: int) -> int:
    """The key of the base that a point lies in: the digits of its coordinates, of a finite arm its number."""
    key = 0
    for j in range(at.context):
        key = (key << i[at.bits + j]) | digit(i[at.kinds + j], i[at.bits + j], point[j])
    if at.arms > 0:
        return (key << i[at.bits + at.context + at.finer - 1]) | arm
    for j in range(at.finer):
        bits = i[at.bits + at.context + j]
        key = (key << bits) | digit(i[at.kinds + at.context + j], bits, point[at.context + j])
    return key


@kernel
def digits_of(f: Floats, i: Ints, at: Pyramid, key: int, digits: Ints) -> int:
    """Write the digits of all coordinates that a base's key stands for; returns the finite arm, or -1."""
    arm = -1
    first_kept = at.context + at.finer - 1
    if at.arms > 0:
        bits = i[at.bits + first_kept]
        arm = key & ((1 << bits) - 1)
        digits_of_arm(f, i, at, arm, digits)
        key >>= bits
        first_kept = at.context - 1
    for j in range(first_kept, -1, -1):
        digits[j] = key & ((1 << i[at.bits + j]) - 1)
        key >>= i[at.bits + j]
    return arm


@part
def digits_of_arm(f: Floats, i: Ints, at: Pyramid, arm: int, digits: Ints) -> None:
    """Write the digits of a finite arm: of its features, and its number."""
    for j in range(at.context, at.context + at.finer):
        digits[j] = digit_of_arm(f, i, at, arm, j)


@kernel
def digit_of_arm(f: Floats, i: Ints, at: Pyramid, arm: int, j: int) -> int:
    """One digit of a finite arm; the last coordinate is its number."""
    if j == at.dim:
        return arm
    return digit(i[at.kinds + j], i[at.bits + j], f[at.feature + arm * (at.dim - at.context) + j - at.context])


@part
def arm_cell(i: Ints, at: Pyramid, level: int, digits: Ints, arm: int) -> int:
    """The cell of arms, at a level, that some digits or a finite arm belong to."""
    if arm >= 0:
        return i[at.cell_of_arm + level * at.arms + arm]
    cell, depth = 0, at.depth + level * (at.context + at.finer)
    for j in range(at.context, at.context + at.finer):
        cell = (cell << i[depth + j]) | (digits[j] >> (i[at.bits + j] - i[depth + j]))
    return cell


@part
def context_key(i: Ints, at: Pyramid, level: int, digits: Ints, moved: int, place: int) -> int:
    """The key of the block, at a level, of the cell of contexts that some digits belong to.

    With one coordinate moved to another place, unless that is -1.
    """
    key, depth = mix(0, level), at.depth + level * (at.context + at.finer)
    for j in range(at.context):
        if i[depth + j] > 0:
            key = mix(key, place if j == moved else digits[j] >> (i[at.bits + j] - i[depth + j]))
    return key


@inlined
def find_block(i: Ints, at: Pyramid, key: int) -> int:
    """The number of the block of a key, or -1."""
    return i[at.block_slot + find_slot(i, at.block_slot, 2 * i[BLOCK_ROOM], at.block_key, key)] - 1


@part
def told_beside(i: Ints, at: Pyramid, labels: Ints | Floats) -> int:
    """Where the rewards of all arms are counted beside the labels of a context; its other coordinates play no part."""
    cell = 0
    if i[LABELLED] > 1:
        for j in range(at.context):
            if i[at.kinds + j] == CATEGORICAL:
                cell = cell * -i[at.values + j] + int(labels[j])
    return at.arm_told + cell * at.arms


@part
def count_by_arm(i: Ints, at: Pyramid, base: int, digits: Ints, arm: int) -> None:
    """Add the rewards of a base to those of its finite arm."""
    for o in range(at.learned):
        i[told_beside(i, at, digits) + arm] += i[at.base_count + o * i[BASE_ROOM] + base]


@part
def add_to_base(f: Floats, i: Ints, at: Pyramid, key: int, reward: Floats) -> int:
    """Add a reward to its base; returns its number. Needs room for one more base."""
    place = find_slot(i, at.base_slot, 2 * i[BASE_ROOM], at.base_key, key)
    number = i[at.base_slot + place] - 1
    if number < 0:
        number = i[BASES]
        i[BASES] = number + 1
        i[at.base_slot + place] = number + 1
        i[at.base_key + number] = key
    for o in range(at.learned):
        if not np.isnan(reward[o]):
            entry = o * i[BASE_ROOM] + number
            i[at.base_count + entry] += 1
            f[at.base_sum + entry] += reward[o]
            f[at.base_square + entry] += reward[o] * reward[o]
    return number


@part
def block_of(i: Ints, at: Pyramid, level: int, digits: Ints, base: int) -> int:
    """The number of the block of a base's digits at a level; made if it is not there. Needs room for it."""
    key = context_key(i, at, level, digits, -1, 0)
    place = find_slot(i, at.block_slot, 2 * i[BLOCK_ROOM], at.block_key, key)
    number = i[at.block_slot + place] - 1
    if number < 0:
        number = i[BLOCKS]
        i[BLOCKS] = number + 1
        i[at.block_slot + place] = number + 1
        i[at.block_key + number] = key
        i[at.block_level + number] = level
        i[at.block_start + number] = i[USED]
        i[at.block_base + number] = base
        i[USED] += at.learned * STATISTICS * i[at.arm_cells + level]
    return number


@inlined
def rows_of(i: Ints, at: Pyramid, number: int, cells: int, o: int) -> int:
    """Where the statistics of a block's cells begin in one objective."""
    return at.block + i[at.block_start + number] + o * STATISTICS * cells


@kernel
def add_to_cell(f: Floats, cell: int, cells: int, count: int, total: float, square: float) -> None:
    """Add rewards of one objective to a cell of arms."""
    f[cell + COUNT * cells] += count
    f[cell + TOTAL * cells] += total
    f[cell + SQUARES * cells] += square
