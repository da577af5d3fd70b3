"""Linear models of rewards: features of contexts and arms, and inverses that grow by one observation at a time.

A base vector is (1, context, arm): a real coordinate is itself, a periodic one its cosine and sine, a category a one
among zeros. Joint features are products of two entries of a base vector, scaled to a norm of at most 1.

A model of n features is a block of f: the inverse (n, n) of A = I + sum x x', then b = sum r x, (learned, n).
"""

from __future__ import annotations

import math

from paretozoom.kernels.arms.table import Table
from paretozoom.kernels.core.inverses import inner, multiply, raise_inverse
from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.core.kinds import CATEGORICAL, PERIODIC

# Constants of the policies with features or kernels: what multiplies the root of a variance; how many stages there are,
# the width at which they stop to explore, and whether they explore the widest arm alone; of a kernel its ridge, its
# length (0 for the linear kernel) and its budget (0 if there is no kernel); how many features each arm has of its own,
# how many entries a base vector has for the context (with the 1) and in all, how many joint features there are and
# their scale; then the pairs of entries whose products they are.
EXPLORATION, STAGES, FLOOR, WIDEST, RIDGE, LENGTH, BUDGET, OWN, CONTEXT_BASE, BASE, JOINT, SCALE, PAIRS = range(13)


@part
def constant(f: Floats, at: Table, which: int) -> int:
    """A constant that is a whole number."""
    return int(f[at.constants + which])


@kernel
def entries_of(kind: int, values: int, arms: int) -> int:
    """How many entries of a base vector a coordinate has; labels of finite arms are counted by the arms.

    >>> entries_of(CATEGORICAL, -3, 9), entries_of(CATEGORICAL, 0, 9), entries_of(PERIODIC, 0, 9)
    (3, 9, 2)
    """
    if kind == CATEGORICAL:
        return -values if values < 0 else arms
    return 2 if kind == PERIODIC else 1


@part
def _spread(i: Ints, at: Table, j: int, value: float, base: Floats, place: int) -> int:
    """Write the entries of coordinate j to base[place...]; returns the place after them."""
    kind = i[at.kinds + j]
    entries = entries_of(kind, i[at.values + j], at.arms)
    if kind == CATEGORICAL:
        for k in range(entries):
            base[place + k] = 0.0
        base[place + int(value)] = 1.0
    elif kind == PERIODIC:
        base[place] = math.cos(2.0 * math.pi * value)
        base[place + 1] = math.sin(2.0 * math.pi * value)
    else:
        base[place] = value
    return place + entries


@part
def spread_context(i: Ints, at: Table, point: Floats, base: Floats) -> None:
    """Write (1, context) to the head of a base vector."""
    base[0], place = 1.0, 1
    for j in range(at.context):
        place = _spread(i, at, j, point[j], base, place)


@part
def spread_arm(f: Floats, i: Ints, at: Table, arm: int, base: Floats) -> None:
    """Write an arm to the tail of a base vector."""
    place, coordinates = constant(f, at, CONTEXT_BASE), at.dim - at.context
    for j in range(coordinates):
        place = _spread(i, at, at.context + j, f[at.arm + arm * coordinates + j], base, place)


@part
def join(f: Floats, at: Table, base: Floats, joint: Floats) -> None:
    """Write the joint features of a base vector."""
    scale, pairs = f[at.constants + SCALE], at.constants + PAIRS
    for q in range(len(joint)):
        joint[q] = scale * base[int(f[pairs + 2 * q])] * base[int(f[pairs + 2 * q + 1])]


@inlined
def block_size(n: int, learned: int) -> int:
    """How many floats a model of n features holds."""
    return n * (n + learned)


@kernel
def estimate(f: Floats, start: int, x: Floats, solved: Floats, means: Floats) -> float:
    """Add a model's means b' A^-1 x to `means`; returns the variance x' A^-1 x, and A^-1 x in `solved`."""
    n = len(x)
    multiply(f, start, x, solved)
    for o in range(len(means)):
        place = start + n * (n + o)
        means[o] += inner(f[place : place + n], solved)
    return inner(x, solved)


@kernel
def observe(f: Floats, start: int, x: Floats, solved: Floats, rewards: Floats) -> None:
    """Add one observation to a model."""
    n = len(x)
    raise_inverse(f, start, n, x, solved)
    for o in range(len(rewards)):
        add_to(f, start + n * (n + o), rewards[o], x)


@kernel
def add_to(f: Floats, start: int, factor: float, x: Floats) -> None:
    """Add a multiple of x to f[start...]."""
    for k in range(len(x)):
        f[start + k] += factor * x[k]
