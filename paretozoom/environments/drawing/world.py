"""A drawn task as numbers, and the kernels that read them: all drawn tasks share these.

Each column of a context gives one number, its *sign*: how far a number is from its middle, a wave, or what is in a
table for a category. A few weighted sums of signs, the *indices*, are all that means know of a context. What follows
from indices and arm to a number in [0, 1] depends on the shape; means are that, times a height, above a floor.
"""

from __future__ import annotations

import math

from paretozoom.kernels.core.jit import Bools, Floats, Ints, kernel

# The head of a world: what the task is like, and where its tables begin.
SHAPE, CONTEXT, INDICES, OBJECTIVES, ARM, LABELS, TOPICS, FACTORS = range(8)
COLUMNS, WEIGHTS, SCALES, OWN, PLACES, SPREADS, LAST, HEAD = range(8, 16)

ITEMS, FORMS, RIDGES, SMOOTH, BOXES, PRICES, MIXED = range(7)  # how means follow; labels of linear forms come first
NUMBER, WAVE, TABLE = range(3)  # what a column gives
KIND, POWER, SIZE, START, NOISE = range(5)  # of a column
COLUMN = 5
TERMS = 6  # of a smooth mean
NODES = 31  # of a tree, of which the last 16 are leaves


@kernel
def context(world: Floats, values: Ints, draws: Floats, point: Floats) -> None:
    """Write a context: columns follow topics and common factors, or are drawn each for itself."""
    n, factors = int(world[CONTEXT]), int(world[FACTORS])
    topic = int(draws[0] * world[TOPICS])
    row = int(world[PLACES]) + topic * n
    loads = int(world[PLACES]) + int(world[TOPICS]) * n
    for j in range(n):
        column = int(world[COLUMNS]) + COLUMN * j
        own = draws[1 + factors + j]
        if values[j] != 0:
            point[j] = float(int(own ** world[column + POWER] * abs(values[j])))
        elif world[column + NOISE] < 0.0:
            point[j] = own ** world[column + POWER]
        else:
            place = world[row + j] + world[column + NOISE] * (own - 0.5)
            for k in range(factors):
                place += world[loads + k * n + j] * (draws[1 + k] - 0.5)
            point[j] = min(1.0, max(0.0, place))


@kernel
def write_indices(world: Floats, point: Floats) -> None:
    """Write the indices of a context, unless they are those of the last one."""
    n, last = int(world[CONTEXT]), int(world[LAST])
    same = True
    for j in range(n):
        same = same and world[last + j] == point[j]
    if same and world[last + n] == 1.0:
        return
    first = last + n + 1
    for k in range(int(world[INDICES])):
        world[first + k] = 0.0
    for j in range(n):
        world[last + j] = point[j]
        column = int(world[COLUMNS]) + COLUMN * j
        if world[column + KIND] == NUMBER:
            sign = 3.5 * (point[j] - 0.5)
        elif world[column + KIND] == WAVE:
            sign = 1.4 * math.sin(2.0 * math.pi * (point[j] + world[column + SIZE]))
        else:
            sign = world[int(world[column + START]) + int(point[j])]
        for k in range(int(world[INDICES])):
            world[first + k] += world[int(world[WEIGHTS]) + k * n + j] * sign
    world[last + n] = 1.0


@kernel
def logistic(x: float) -> float:
    """A number between 0 and 1."""
    return 1.0 / (1.0 + math.exp(-x))


@kernel
def mean(world: Floats, point: Floats, out: Floats) -> None:
    """Write the means of a point."""
    write_indices(world, point)
    n, k = int(world[CONTEXT]), int(world[INDICES])
    z = world[int(world[LAST]) + n + 1 : int(world[LAST]) + n + 1 + k]
    d, arms, shape, own = int(world[OBJECTIVES]), int(world[ARM]), int(world[SHAPE]), int(world[OWN])
    y = point[n : n + arms]
    for o in range(d):
        if shape == ITEMS:
            out[o] = item(world, own + o * (1 + arms) * (1 + k), z, y)
        elif shape == FORMS:
            out[o] = form(world, own + (o * int(world[LABELS]) + int(y[0])) * (1 + k), z)
        elif shape == RIDGES:
            out[o] = ridge(world, own + o * (2 + arms), z, y)
        elif shape == SMOOTH:
            out[o] = smooth(world, own + o * TERMS * 4, z, y)
        elif shape == BOXES:
            out[o] = leaf(world, own + o * 2 * NODES, point)
        elif shape == PRICES:
            out[o] = price(world, own, o, z, y[0])
        else:
            out[o] = mixed(world, own + (o * int(world[LABELS]) + int(y[0])) * 4, z, y[1])
        out[o] = world[int(world[SCALES]) + 2 * o] + world[int(world[SCALES]) + 2 * o + 1] * out[o]


@kernel
def form(world: Floats, own: int, z: Floats) -> float:
    """A label's own linear form of the indices, made a share."""
    return logistic(form_of(world, own, z))


@kernel
def item(world: Floats, own: int, z: Floats, y: Floats) -> float:
    """A bilinear form of indices and features, made a share."""
    total = form_of(world, own, z)
    for a in range(len(y)):
        total += 3.5 * (y[a] - 0.5) * form_of(world, own + (1 + a) * (1 + len(z)), z)
    return logistic(total)


@kernel
def form_of(world: Floats, own: int, z: Floats) -> float:
    """A linear form of the indices."""
    total: float = world[own]
    for k in range(len(z)):
        total += world[own + 1 + k] * z[k]
    return total


@kernel
def ridge(world: Floats, own: int, z: Floats, y: Floats) -> float:
    """A peak that follows one index per arm coordinate, at some distance."""
    far = 0.0
    for a in range(len(y)):
        away = (y[a] - 0.15 - 0.7 * logistic(1.5 * z[a]) - world[own + 2 + a]) / world[own]
        far += away * away
    return 1.0 / (1.0 + far) if world[own + 1] > 0.5 else math.exp(-far)


@kernel
def smooth(world: Floats, own: int, z: Floats, y: Floats) -> float:
    """A sum of waves over arm coordinates that indices shift, made a share."""
    total = 0.0
    for t in range(TERMS):
        size, turn, follow, phase = world[own + 4 * t : own + 4 * t + 4]
        total += size * math.cos(turn * y[t % len(y)] + follow * z[t % len(z)] + phase)
    return logistic(total)


@kernel
def leaf(world: Floats, own: int, point: Floats) -> float:
    """The leaf of a tree of depth four."""
    node = 0
    while node < NODES // 2:
        node = 2 * node + (1 if point[int(world[own + 2 * node])] < world[own + 2 * node + 1] else 2)
    found: float = world[own + 2 * node]
    return found


@kernel
def price(world: Floats, own: int, o: int, z: Floats, y: float) -> float:
    """What a price brings: revenue, profit above costs that depend on the context, and demand near to what is made."""
    low, steep, cost, made = world[own], world[own + 1], world[own + 2], world[own + 3]
    asked, worth = low + (1.0 - low) * y, 0.15 + 0.8 * logistic(2.5 * z[0])
    demand = logistic(steep * (worth - asked))
    if o == 0:
        found: float = demand * asked
    elif o == 1:
        found = max(0.0, 0.3 + 0.7 * demand * (asked - cost * worth - 0.3 * logistic(2.0 * z[1])))
    else:
        found = 1.0 - abs(demand - made)
    return found


@kernel
def mixed(world: Floats, own: int, z: Floats, y: float) -> float:
    """A peak of a label, whose place and height follow indices."""
    which = int(world[own])
    away = (y - 0.1 - 0.8 * logistic(z[which] + world[own + 1])) / world[own + 2]
    height: float = logistic(world[own + 3] + z[(which + 1) % len(z)])
    return height / (1.0 + float(away * away))


@kernel
def spread(world: Floats, point: Floats, spreads: Floats) -> None:
    """Write the standard deviations of the noise, which may be less where the first column is low."""
    start, d = int(world[SPREADS]), len(spreads)
    share = world[start + d] + (1.0 - world[start + d]) * (point[0] if world[start + d] < 1.0 else 1.0)
    for o in range(d):
        spreads[o] = share * world[start + o]


@kernel
def judge(vectors: Floats, optimal: Bools, gaps: Floats) -> None:
    """Write which of some vectors no other dominates, and by how much another is ahead of each in all numbers."""
    for k in range(len(vectors)):
        optimal[k], gaps[k] = True, 0.0
        for other in range(len(vectors)):
            least, most = math.inf, -math.inf
            for o in range(vectors.shape[1]):
                ahead = vectors[other, o] - vectors[k, o]
                least, most = min(least, ahead), max(most, ahead)
            gaps[k] = max(gaps[k], least)
            optimal[k] = optimal[k] and not (least >= 0.0 and most > 0.0)
