"""Kernel ridge regression that grows by one observation at a time, up to a budget of places.

A block holds n places with their rewards: place k was seen counts[k] times, with sums total[k] of rewards. Its means
and variances are those of G = K + ridge diag(1 / counts) and of the mean rewards, which is what the same rewards at
the same places give one by one. G is kept as its lower Cholesky factor L, and the mean rewards y as L^-1 y. A reward at
a place that is not held yet adds one; once the budget is full, it counts as one of the nearest place.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from paretozoom.kernels.arms.table import Table
from paretozoom.kernels.core.inverses import inner
from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.core.kinds import CATEGORICAL, PERIODIC
from paretozoom.kernels.linear.linear import (
    BASE,
    BUDGET,
    EXPLORATION,
    JOINT,
    LENGTH,
    RIDGE,
    constant,
    join,
    spread_arm,
    spread_context,
)

SMALLEST = 1e-12  # a squared cosine below this is a rounding error


class Gram(NamedTuple):
    """Sizes of a block, and where its parts begin."""

    n: int  # places held
    budget: int
    size: int  # numbers of a place: the point, or the joint features for the linear kernel
    # parts of f
    factor: int  # L, row by row, without the zeros
    white: int  # (budget, learned) L^-1 y
    total: int  # (budget, learned) sums of rewards
    place: int  # (budget, size)
    # parts of i
    held: int  # n
    counts: int  # (budget,)


@kernel
def gram_floats(budget: int, learned: int, size: int) -> int:
    """How many floats a block has; its ints are budget + 1."""
    return budget * (budget + 1) // 2 + budget * (2 * learned + size)


@part
def gram(f: Floats, i: Ints, at: Table, block: int) -> Gram:
    """Block number `block`; the blocks come first in f, and after the plays of the arms in i."""
    budget = constant(f, at, BUDGET)
    size = constant(f, at, JOINT) if f[at.constants + LENGTH] == 0.0 else at.dim
    factor = at.floats + block * gram_floats(budget, at.learned, size)
    white = factor + budget * (budget + 1) // 2
    total = white + budget * at.learned
    held = at.ints + at.arms + block * (budget + 1)
    return Gram(i[held], budget, size, factor, white, total, total + budget * at.learned, held, held + 1)


@inlined
def row_of(g: Gram, r: int) -> int:
    """Where row r of the factor begins."""
    return g.factor + r * (r + 1) // 2


@part
def locate(f: Floats, i: Ints, at: Table, point: Floats, arm: int, base: Floats, place: Floats) -> None:
    """Write the place of an arm at the context in `point`; of the linear kernel, `base` holds the context already."""
    if f[at.constants + LENGTH] == 0.0:
        spread_arm(f, i, at, arm, base)
        join(f, at, base, place)
        return
    coordinates = at.dim - at.context
    place[: at.context] = point[: at.context]
    for j in range(coordinates):
        place[at.context + j] = f[at.arm + arm * coordinates + j]


@part
def base_at(f: Floats, i: Ints, at: Table, point: Floats) -> Floats:
    """A base vector that holds the context in `point`."""
    base = np.empty(constant(f, at, BASE))
    spread_context(i, at, point, base)
    return base


@kernel
def distances(f: Floats, i: Ints, at: Table, g: Gram, place: Floats, out: Floats) -> None:
    """Write the squared distances of a place to those held.

    Periodic coordinates are chords of a circle of length 1, different categories are 1 apart.
    """
    linear = f[at.constants + LENGTH] == 0.0
    out[: g.n] = 0.0
    for j in range(g.size):
        kind = -1 if linear else i[at.kinds + j]
        for r in range(g.n):
            gap = place[j] - f[g.place + r * g.size + j]
            if kind == CATEGORICAL:
                out[r] += 1.0 if gap != 0.0 else 0.0
            elif kind == PERIODIC:
                out[r] += (math.sin(math.pi * gap) / math.pi) ** 2
            else:
                out[r] += gap * gap


@part
def likenesses(f: Floats, i: Ints, at: Table, g: Gram, place: Floats, out: Floats) -> float:
    """Write the kernel of a place with those held; returns that with itself.

    It is exp(-distance^2 / (2 length^2)), or the product of joint features.
    """
    length = f[at.constants + LENGTH]
    if length == 0.0:
        for r in range(g.n):
            out[r] = inner(place, f[g.place + r * g.size : g.place + (r + 1) * g.size])
        return inner(place, place)
    distances(f, i, at, g, place, out)
    for r in range(g.n):
        out[r] = math.exp(-out[r] / (2.0 * length * length))
    return 1.0


@part
def estimate_places(
    f: Floats, i: Ints, at: Table, block: int, point: Floats, listed: int, means: Floats, widths: Floats
) -> None:
    """Write means (listed, learned) and widths (listed,) of the listed arms at the context in `point`.

    L^-1 k is found for all arms at once: the innermost loop runs over arms.
    """
    g = gram(f, i, at, block)
    base, place = base_at(f, i, at, point), np.empty(g.size)
    alike, solved = np.empty(g.n), np.empty((g.n, listed))
    for k in range(listed):
        locate(f, i, at, point, i[at.listed + k], base, place)
        widths[k] = likenesses(f, i, at, g, place, alike)
        solved[:, k] = alike
        means[k] = 0.0
    for r in range(g.n):
        row, now = row_of(g, r), solved[r]
        for c in range(r):
            factor, before = f[row + c], solved[c]
            for k in range(listed):
                now[k] -= factor * before[k]
        for k in range(listed):
            now[k] /= f[row + r]
            widths[k] -= now[k] * now[k]
            for o in range(at.learned):
                means[k, o] += now[k] * f[g.white + r * at.learned + o]
    scale = f[at.constants + EXPLORATION] / math.sqrt(f[at.constants + RIDGE])
    for k in range(listed):
        widths[k] = scale * math.sqrt(max(widths[k], 0.0))


@part
def observe_place(f: Floats, i: Ints, at: Table, block: int, point: Floats, arm: int, rewards: Floats) -> None:
    """Add one observation to a block: a new place, or one more reward of a place that is held."""
    g = gram(f, i, at, block)
    place, apart = np.empty(g.size), np.empty(g.n)
    locate(f, i, at, point, arm, base_at(f, i, at, point), place)
    distances(f, i, at, g, place, apart)
    nearest, least = -1, math.inf
    for r in range(g.n):
        if apart[r] < least:
            nearest, least = r, apart[r]
    if least == 0.0 or g.n == g.budget:
        _lower_diagonal(f, g, nearest, f[at.constants + RIDGE] / (i[g.counts + nearest] * (i[g.counts + nearest] + 1)))
    else:
        nearest = g.n
        i[g.held] += 1
        f[g.place + nearest * g.size : g.place + (nearest + 1) * g.size] = place
        _add_row(f, i, at, g, place)
    i[g.counts + nearest] += 1
    for o in range(at.learned):
        f[g.total + nearest * at.learned + o] += rewards[o]
    _whiten(f, i, at, g, nearest, i[g.held])


@part
def _add_row(f: Floats, i: Ints, at: Table, g: Gram, place: Floats) -> None:
    """The factor's row of a new place."""
    new, alike = row_of(g, g.n), np.empty(g.n)
    left = likenesses(f, i, at, g, place, alike) + f[at.constants + RIDGE]
    for r in range(g.n):
        row = row_of(g, r)
        value = (alike[r] - inner(f[row : row + r], f[new : new + r])) / f[row + r]
        f[new + r] = value
        left -= value * value
    f[new + g.n] = math.sqrt(max(left, f[at.constants + RIDGE]))  # less by rounding alone


@part
def _lower_diagonal(f: Floats, g: Gram, first: int, by: float) -> None:
    """The factor of G with a lower entry on the diagonal: hyperbolic rotations, column by column."""
    x = np.zeros(g.n)
    x[first] = math.sqrt(by)
    for c in range(first, g.n):
        diagonal = f[row_of(g, c) + c]
        sine = x[c] / diagonal
        cosine = math.sqrt(max((1.0 - sine) * (1.0 + sine), SMALLEST))
        f[row_of(g, c) + c] = diagonal * cosine
        for r in range(c + 1, g.n):
            entry = row_of(g, r) + c
            f[entry] = (f[entry] - sine * x[r]) / cosine
            x[r] = cosine * x[r] - sine * f[entry]


@part
def _whiten(f: Floats, i: Ints, at: Table, g: Gram, first: int, n: int) -> None:
    """L^-1 y from one row on."""
    for r in range(first, n):
        row = row_of(g, r)
        for o in range(at.learned):
            value = f[g.total + r * at.learned + o] / i[g.counts + r]
            for c in range(r):
                value -= f[row + c] * f[g.white + c * at.learned + o]
            f[g.white + r * at.learned + o] = value / f[row + r]
