"""How the set of balls begins, grows and begins again."""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.core.coordinates import draw_coordinate
from paretozoom.kernels.core.jit import MINUS_ONE, Floats, Ints, kernel, part
from paretozoom.kernels.core.kinds import FINITE, MATRIX
from paretozoom.kernels.core.philox import uniforms
from paretozoom.kernels.zooming.balls import (
    CAPACITY,
    DOUBLING,
    EPOCH,
    HEADER,
    KEY0,
    KEY1,
    MOST_PAIRED,
    NORM,
    ROOT_STREAM,
    SIZE,
    SPACE,
    STRIPS,
    Layout,
    allocate,
    epoch_of,
    layout,
    refresh,
)
from paretozoom.kernels.zooming.distances import pair_of
from paretozoom.kernels.zooming.minima import rebuild, settle, welcome
from paretozoom.kernels.zooming.tree import adopt


@part
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
    if i[NORM] == MATRIX:
        i[at.pair + ball] = pair_of(f, i, at, point)
    adopt(f, i, at, ball)
    welcome(f, i, at, ball)


@part
def credit_reward(f: Floats, i: Ints, at: Layout, ball: int, objective: int, reward: float) -> None:
    """Add one reward to a ball."""
    entry = objective * at.capacity + ball
    f[at.total + entry] += reward
    i[at.counts + entry] += 1
    before = f[at.pre + entry]
    refresh(f, i, at, ball, objective)
    settle(f, i, at, ball, objective, before)


@kernel
def refresh_all(f: Floats, i: Ints) -> None:
    """Recompute what follows from centres, radii, parents, counts and sums, after these were filled from outside."""
    at = layout(i)
    point = np.empty(at.dim)
    for ball in range(i[SIZE]):
        for o in range(at.learned):
            refresh(f, i, at, ball, o)
        if i[NORM] == MATRIX:
            for j in range(at.dim):
                point[j] = f[at.centre + j * at.capacity + ball]
            i[at.pair + ball] = pair_of(f, i, at, point)
        adopt(f, i, at, ball)
    rebuild(f, i, at)


@kernel
def room(f: Floats, i: Ints) -> tuple[Floats, Ints]:
    """The same state with space for at least one more ball: the arrays themselves, or copies twice as large."""
    if i[SIZE] < i[CAPACITY]:
        return f, i
    head = i[:HEADER].copy()
    head[CAPACITY] *= 2
    more_f, more_i = allocate(head)
    old, new = layout(i), layout(more_i)
    n, c = i[SIZE], old.capacity
    more_i[HEADER : new.parent] = i[HEADER : old.parent]
    more_f[: new.centre] = f[: old.centre]
    for column in range((old.pairs - old.centre) // c):
        start, new_start = old.centre + c * column, new.centre + 2 * c * column
        more_f[new_start : new_start + n] = f[start : start + n]
    for column in range((old.strip - old.parent) // c):
        start, new_start = old.parent + c * column, new.parent + 2 * c * column
        more_i[new_start : new_start + n] = i[start : start + n]
    if c <= MOST_PAIRED:  # the table of distances moves, or gives way to bounds
        rebuild(more_f, more_i, new)
    if 2 * c <= MOST_PAIRED:
        more_i[new.strip_size : new.strip_size + STRIPS] = i[old.strip_size : old.strip_size + STRIPS]
        for strip in range(STRIPS):
            start, new_start = old.strip + c * strip, new.strip + 2 * c * strip
            more_i[new_start : new_start + n] = i[start : start + n]
    return more_f, more_i


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
    if i[SPACE] == FINITE and math.isnan(f[at.root + at.context]):
        coordinates = at.dim - at.context
        arm = int(uniforms(i[KEY0], i[KEY1], epoch, ROOT_STREAM - 1)[0] * at.arms)
        for j in range(coordinates):
            point[at.context + j] = f[at.arm + arm * coordinates + j]
    add_ball(f, i, at, point, 1.0, MINUS_ONE)


@kernel
def enter(f: Floats, i: Ints, number: int) -> None:
    """Begin the epoch of a decision, if it has not begun."""
    if i[DOUBLING] == 1:
        epoch = epoch_of(number)
        if epoch > i[EPOCH]:
            restart(f, i, epoch)
