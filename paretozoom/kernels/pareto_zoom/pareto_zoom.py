"""ParetoZoom, one decision at a time."""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.core.lattice import draw, lay, measure, size_of
from paretozoom.kernels.core.philox import uniforms
from paretozoom.kernels.pareto_zoom.along_front import draw_by_weight, weigh_front
from paretozoom.kernels.pareto_zoom.believed import mark_believed
from paretozoom.kernels.pareto_zoom.calibrate import copy_bases, rebuild
from paretozoom.kernels.pareto_zoom.forget import conclude, watch
from paretozoom.kernels.pareto_zoom.functions import stand_at_base, stand_at_point
from paretozoom.kernels.pareto_zoom.pyramid import (
    ALONG_FRONT,
    BASE_ROOM,
    BASES,
    BLOCK_ROOM,
    BLOCKS,
    CELL_ROOM,
    DUE,
    HEADER,
    KEY0,
    KEY1,
    LEARNED,
    LEVELS,
    NEXT,
    NUMBERED,
    PARTS,
    SMOOTH_TERMS,
    STATISTICS,
    TERMS,
    TOLD,
    USED,
    USES_TREND,
    Pyramid,
    add_to_base,
    add_to_cell,
    allocate,
    arm_cell,
    base_of,
    block_of,
    context_key,
    digits_of,
    find_block,
    find_slot,
    pyramid,
    rows_of,
    told_beside,
)
from paretozoom.kernels.pareto_zoom.refine import find_arm_corners, refine, refresh, refresh_all, row_of, values_at
from paretozoom.kernels.pareto_zoom.smooth import mix_in_smooth, teach
from paretozoom.kernels.pareto_zoom.trend import add_terms, list_functions, trend_at

OPTIMISM = 0.003  # standard deviations added to an estimate: of equal ones the less known is played


@part
def _look_at_levels(
    f: Floats, i: Ints, at: Pyramid, number: int, point: Floats, allowed: Floats, optimism: float
) -> int:
    """List the candidates of a decision and compute their indices, but for the trend; returns how many they are."""
    coordinates, corners = at.dim - at.context, 1
    level = refine(f, i, at, point, optimism)
    if at.arms > 0:
        listed = len(allowed) if len(allowed) > 0 else at.arms
        for k in range(listed):
            arm = int(allowed[k, 0]) if len(allowed) > 0 else k
            i[at.listed + k], f[at.corner_weight + k] = arm, 1.0
            i[at.corner + k] = i[at.cell_of_arm + level * at.arms + arm] if level >= 0 else 0
    else:
        listed = lay(f, i, at, number, allowed)
        if level >= 0:
            laid = f[at.arm : at.arm + listed * coordinates].reshape((listed, coordinates))
            corners = find_arm_corners(f, i, at, level, laid)
    for o in range(at.learned):
        index = f[at.indices + o * listed : at.indices + (o + 1) * listed]
        if level < 0:
            index[:] = 0.0
        else:
            values_at(f, i, at, listed, corners, row_of(i, at, o), index)
    return listed


@kernel
def look(f: Floats, i: Ints, at: Pyramid, number: int, point: Floats, allowed: Floats, optimism: float) -> int:
    """List the candidates of a decision and compute their indices; returns how many they are."""
    listed = _look_at_levels(f, i, at, number, point, allowed, optimism)
    if i[USES_TREND] == 1 or i[SMOOTH_TERMS] > 0:
        list_functions(f, i, at, point, listed)
    if i[USES_TREND] == 1:
        for o in range(at.learned):
            index = f[at.indices + o * listed :][:listed]
            add_terms(f, i, at, listed, index, at.factor, i[TERMS], at.trend + o * i[TERMS], 1.0)
    if i[SMOOTH_TERMS] > 0:
        mix_in_smooth(f, i, at, listed)
    return listed


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    """Draw an allowed arm for the context in `point`, writing it there; returns (finite arm, density, finite arm)."""
    at = pyramid(i)
    coordinates = at.dim - at.context
    listed = look(f, i, at, number, point, allowed, OPTIMISM)
    mark_believed(f, i, at, point, listed)
    u = uniforms(i[KEY0], i[KEY1], number, 0)[0]
    if i[ALONG_FRONT] == 1:
        vectors = f[at.indices : at.indices + at.learned * listed].reshape((at.learned, listed))
        weights = weigh_front(vectors, i[at.arm_chosen : at.arm_chosen + listed])
        k = draw_by_weight(weights, u)
        density = weights[k] / weights.sum()
        if at.arms == 0:
            density /= size_of(f, i, at, allowed, k)
    elif at.arms > 0:
        marked = 0
        for candidate in range(listed):
            i[at.spare + marked] = candidate
            marked += i[at.arm_chosen + candidate]
        k, density = i[at.spare + int(u * marked)], 1.0 / marked
    else:
        size = measure(f, i, at, allowed)
        k, density = draw(f, i, at, allowed, u * size), 1.0 / size
    arm, place = -1, at.arm + k * coordinates
    if at.arms > 0:
        arm = i[at.listed + k]
        place = at.feature + arm * coordinates
    for j in range(coordinates):
        point[at.context + j] = f[place + j]
    return arm, density, arm


@kernel
def seen(f: Floats, i: Ints, at: Pyramid, point: Floats, arm: int) -> Ints:
    """How many rewards of each objective are in the finest cell of a point, of those that estimates are made of."""
    digits, counts = np.empty(at.context + at.finer, np.int64), np.zeros(at.learned, np.int64)
    digits_of(f, i, at, base_of(i, at, point, arm), digits)
    level = refine(f, i, at, point, 0.0)
    number = find_block(i, at, context_key(i, at, level, digits, -1, 0)) if level >= 0 else -1
    if number >= 0:
        cells = i[at.arm_cells + level]
        for o in range(at.learned):
            counts[o] = int(f[rows_of(i, at, number, cells, o) + arm_cell(i, at, level, digits, arm)])
    return counts


@part
def _foretell(f: Floats, i: Ints, at: Pyramid, point: Floats, arm: int) -> Floats:
    """What levels and trend say of the rewards at a point, where the functions then stand."""
    said, value, corners, level = np.zeros(at.learned), np.zeros(1), 1, refine(f, i, at, point, 0.0)
    if level >= 0:
        if at.arms > 0:
            i[at.corner], f[at.corner_weight] = i[at.cell_of_arm + level * at.arms + arm], 1.0
        else:
            corners = find_arm_corners(f, i, at, level, point[at.context :].copy().reshape((1, at.dim - at.context)))
        for o in range(at.learned):
            values_at(f, i, at, 1, corners, row_of(i, at, o), value)
            said[o] = value[0]
    stand_at_point(f, i, at, point, arm)
    if i[USES_TREND] == 1:
        for o in range(at.learned):
            said[o] += trend_at(f, i, at, o)
    return said


@kernel
def tell(f: Floats, i: Ints, number: int, point: Floats, arm: int, reward: Floats, told: int) -> None:
    """Learn from the entries of `reward` that are not NaN. Needs room."""
    at = pyramid(i)
    key = base_of(i, at, point, arm)
    rest = f[at.indices : at.indices + at.learned]
    for o in range(at.learned):
        if math.isnan(f[at.offset + o]):
            f[at.offset + o] = reward[o]
        rest[o] = reward[o] - f[at.offset + o]
    off = np.zeros(at.learned)
    if i[SMOOTH_TERMS] > 0:
        said = _foretell(f, i, at, point, arm)
        teach(f, i, at, rest, said, off)
    base = add_to_base(f, i, at, key, rest)
    digits, stale, parts = np.empty(at.context + at.finer, np.int64), False, at.learned - np.isnan(rest).sum()
    digits_of(f, i, at, key, digits)
    if at.arms > 0:
        i[told_beside(i, at, digits) + arm] += parts
    if i[USES_TREND] == 1:
        stand_at_base(f, i, at, digits, arm, np.empty(at.dim))
        for o in range(at.learned):
            rest[o] -= trend_at(f, i, at, o)
    for level in range(i[LEVELS]):
        number, cell = block_of(i, at, level, digits, base), arm_cell(i, at, level, digits, arm)
        cells = i[at.arm_cells + level]
        if level > 0 and level == i[LEVELS] - 1:
            watch(f, i, at, number, cell, cells, digits, rest, off)
        for o in range(at.learned):
            if not math.isnan(rest[o]):
                start = rows_of(i, at, number, cells, o) + cell
                add_to_cell(f, start, cells, 1, rest[o], rest[o] * rest[o])
        i[at.block_told + number] += 1
        stale = stale or i[at.block_told + number] >= i[at.block_due + number]
        if stale:
            refresh(f, i, at, level, number, digits)
    i[PARTS] += parts
    i[TOLD] += i[PARTS] // at.learned
    i[PARTS] %= at.learned
    if i[TOLD] >= i[DUE]:
        conclude(f, i, at)
        refresh_all(f, i, at, digits)


@kernel
def room(f: Floats, i: Ints) -> tuple[Floats, Ints]:
    """The same state with space for what one more reward may need, and levels made anew if their time has come."""
    if i[TOLD] >= i[NEXT]:
        f, i = rebuild(f, i)
    cells = i[LEARNED] * STATISTICS * i[NUMBERED]
    if i[BASES] < i[BASE_ROOM] and i[BLOCKS] + i[LEVELS] <= i[BLOCK_ROOM] and i[USED] + cells <= i[CELL_ROOM]:
        return f, i
    at, head = pyramid(i), i[:HEADER].copy()
    while head[BASE_ROOM] <= i[BASES]:
        head[BASE_ROOM] *= 2
    while head[BLOCK_ROOM] < i[BLOCKS] + i[LEVELS]:
        head[BLOCK_ROOM] *= 2
    if head[CELL_ROOM] < i[USED] + cells:
        head[CELL_ROOM] = 2 * (i[USED] + cells)
    more_f, more_i = allocate(head)
    new = pyramid(more_i)
    copy_bases(f, i, at, more_f, more_i, new)
    more_i[new.parent : new.base_key] = i[at.parent : at.base_key]
    n = i[BLOCKS]
    more_i[new.block_key : new.block_key + n] = i[at.block_key : at.block_key + n]
    more_i[new.block_level : new.block_level + n] = i[at.block_level : at.block_level + n]
    more_i[new.block_start : new.block_start + n] = i[at.block_start : at.block_start + n]
    more_i[new.block_base : new.block_base + n] = i[at.block_base : at.block_base + n]
    more_i[new.block_told : new.block_told + n] = i[at.block_told : at.block_told + n]
    more_i[new.block_due : new.block_due + n] = i[at.block_due : at.block_due + n]
    for block in range(n):
        place = find_slot(more_i, new.block_slot, 2 * head[BLOCK_ROOM], new.block_key, more_i[new.block_key + block])
        more_i[new.block_slot + place] = block + 1
    more_f[new.block : new.block + i[USED]] = f[at.block : at.block + i[USED]]
    return more_f, more_i
