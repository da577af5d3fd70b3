"""When rewards contradict what was learned before, half of it is forgotten.

Of two rewards that follow each other at a *place*, a rather large cell, each less its estimate, the product is on
average the squared error of estimates. If that is much larger than doubts and cells say, the world has changed.
"""

from __future__ import annotations

import math

from paretozoom.kernels.core.jit import Floats, Ints, part
from paretozoom.kernels.pareto_zoom.pyramid import (
    BASE_ROOM,
    BASES,
    COUNT,
    DOUBT,
    ESTIMATE,
    FORGETS,
    FORGOTTEN,
    LEVELS,
    NEXT,
    PARTS,
    PLACE_BITS,
    PLACES,
    SMOOTH_TERMS,
    TOLD,
    Pyramid,
    find_slot,
    rows_of,
)
from paretozoom.kernels.pareto_zoom.roughness import boldness_of

PAIRS, PRODUCTS, SQUARED, EXPECTED = range(4)  # what is summed: pairs, products, their squares, what they should be
LEAST_KNOWN = 16.0  # rewards of a cell whose estimates are trusted: new ground is no change
LEAST_PAIRS = 250.0  # before something is concluded
SURE, SURER = 4.0, 5.0  # standard errors that products are from 0: so many, and beside a smooth estimate
BEYOND = 4.0  # times what they should be
LARGEST = 1e60  # product that is summed


@part
def watch(
    f: Floats, i: Ints, at: Pyramid, number: int, cell: int, cells: int, digits: Ints, rest: Floats, off: Floats
) -> None:
    """Compare what was told with the estimates of its cell of the last level, before it is learned.

    Beside a smooth estimate, by how much that and levels were `off` counts if it is less: cells are large then.

    A product should be the squared doubt, and what halves of the cell have beyond it, as the last level did.
    """
    coordinates, place, level = at.context + at.finer, 0, i[LEVELS] - 1
    for j in range(coordinates):
        depth = min(max(1, PLACE_BITS // coordinates), i[at.bits + j])
        place = (place << depth) | (digits[j] >> (i[at.bits + j] - depth))
    place = at.last + (place & (PLACES - 1)) * at.learned
    pairs, product, expected = 0, 0.0, 0.0
    for o in range(at.learned):
        start = rows_of(i, at, number, cells, o) + cell
        doubt, before = f[start + DOUBT * cells], f[place + o]
        # A block has no doubts before its first estimates.
        if not math.isnan(rest[o]) and doubt > 0.0 and f[start + COUNT * cells] >= LEAST_KNOWN:
            above, noise = rest[o] - f[start + ESTIMATE * cells], f[at.noise + o]
            if i[SMOOTH_TERMS] > 0 and abs(off[o]) < abs(above):
                above = off[o]
            f[place + o] = above
            if before != 0.0:
                pairs += 1
                product += above * before / noise
                expected += (doubt * doubt + f[at.roughness + level * at.learned + o] / boldness_of(i)) / noise
    if pairs > 0:
        product = max(-LARGEST, min(LARGEST, product))
        f[at.watched + PAIRS] += 1.0
        f[at.watched + PRODUCTS] += product
        f[at.watched + SQUARED] += product * product
        f[at.watched + EXPECTED] += min(LARGEST, expected)


@part
def conclude(f: Floats, i: Ints, at: Pyramid) -> None:
    """If enough was watched, decide whether to forget; if so, levels are made anew with the next reward."""
    products, sure = f[at.watched + PRODUCTS], SURER if i[SMOOTH_TERMS] > 0 else SURE
    if f[at.watched + PAIRS] >= LEAST_PAIRS:
        if products > sure * math.sqrt(f[at.watched + SQUARED]) and products > BEYOND * f[at.watched + EXPECTED]:
            i[FORGETS], i[NEXT] = 1, i[TOLD]
        f[at.watched : at.last] = 0.0


@part
def forget_half(f: Floats, i: Ints, at: Pyramid) -> None:
    """Forget the older half of the bases that had one reward, and half of the rewards of the others.

    Bases are numbered in the order of their first rewards.
    """
    room, single, kept, parts = i[BASE_ROOM], 0, 0, 0
    for base in range(i[BASES]):
        single += _most(i, at, base) <= 1
    older = single // 2
    for base in range(i[BASES]):
        if _most(i, at, base) <= 1:
            older -= 1
            if older >= 0:
                continue
        i[at.base_key + kept] = i[at.base_key + base]
        for o in range(at.learned):
            here, there = o * room + base, o * room + kept
            count = i[at.base_count + here]
            left = (count + 1) // 2
            share = left / count if count > 0 else 0.0
            i[at.base_count + there] = left
            parts += left
            f[at.base_sum + there] = share * f[at.base_sum + here]
            f[at.base_square + there] = share * f[at.base_square + here]
        kept += 1
    i[at.base_slot : at.base_slot + 2 * room] = 0
    for base in range(kept):
        place = find_slot(i, at.base_slot, 2 * room, at.base_key, i[at.base_key + base])
        i[at.base_slot + place] = base + 1
    for o in range(at.learned):
        for base in range(kept, i[BASES]):
            entry = o * room + base
            i[at.base_count + entry], f[at.base_sum + entry], f[at.base_square + entry] = 0, 0.0, 0.0
    f[at.watched : at.base_sum] = 0.0
    i[BASES], i[TOLD], i[PARTS], i[FORGETS] = kept, parts // at.learned, parts % at.learned, 0
    i[FORGOTTEN] += 1


@part
def _most(i: Ints, at: Pyramid, base: int) -> int:
    """How many rewards a base has, of the objective that was told most."""
    most = 0
    for o in range(at.learned):
        most = max(most, i[at.base_count + o * i[BASE_ROOM] + base])
    return most
