"""Sites: all that was told, summed by points that are read in a few bits of each coordinate.

Refits read sites, so they cost in proportion to the places visited, whatever the order in which rewards came. Sites
are found by a hash table.
"""

from __future__ import annotations

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.core.kinds import CATEGORICAL
from paretozoom.kernels.pareto_zoom import memory as m


@inlined
def find_slot(slots: Ints, keys: Ints, key: int) -> int:
    """Where a key is among the slots (1 + its number), or the free slot where it belongs."""
    place = (key ^ (key >> 17)) & (len(slots) - 1)
    while slots[place] != 0 and keys[slots[place] - 1] != key:
        place = (place + 1) & (len(slots) - 1)
    return place


@part
def fill_slots(slots: Ints, keys: Ints, n: int) -> None:
    """Find the first n keys a slot each."""
    slots[:] = 0
    for number in range(n):
        slots[find_slot(slots, keys, keys[number])] = number + 1


@kernel
def fill_slots_of(f: Floats, i: Ints) -> None:
    """Find all sites their slots."""
    fill_slots(m.site_slot(f, i), m.site_key(f, i), i[m.SITES])


@inlined
def digit(kind: int, bits: int, coordinate: float) -> int:
    """A coordinate as a whole number of so many bits."""
    if kind == CATEGORICAL:
        return int(coordinate) & ((1 << bits) - 1)
    return min(int(coordinate * (1 << bits)), (1 << bits) - 1)


@part
def digits_at(f: Floats, i: Ints, point: Floats, arm: int, digits: Ints) -> int:
    """Write the digits of all coordinates of a point; returns the key of its site.

    The last digit of a finite arm is its number.
    """
    kinds, bits, context, key = m.kinds(f, i), m.bits(f, i), i[m.CONTEXT], 0
    for j in range(i[m.COORDINATES]):
        if j < i[m.DIM]:
            digits[j] = digit(kinds[j], bits[j], point[j])
        else:
            digits[j] = arm
        if j < context or arm < 0 or j == i[m.DIM]:
            key = (key << bits[j]) | digits[j]
    return key


@kernel
def digits_of_point(f: Floats, i: Ints, point: Floats, arm: int) -> Ints:
    """The digits of all coordinates of a point."""
    digits = np.empty(i[m.COORDINATES], np.int64)
    digits_at(f, i, point, arm, digits)
    return digits


@part
def digits_of(f: Floats, i: Ints, key: int, digits: Ints) -> int:
    """Write the digits that a site's key stands for; returns the finite arm, or -1."""
    bits, context, dim = m.bits(f, i), i[m.CONTEXT], i[m.DIM]
    arm, last = -1, i[m.COORDINATES] - 1
    if i[m.ARMS] > 0:
        arm = key & ((1 << bits[dim]) - 1)
        digits_of_arm(f, i, arm, digits)
        key >>= bits[dim]
        last = context - 1
    for j in range(last, -1, -1):
        digits[j] = key & ((1 << bits[j]) - 1)
        key >>= bits[j]
    return arm


@kernel
def digits_of_arm(f: Floats, i: Ints, arm: int, digits: Ints) -> None:
    """Write the digits of a finite arm: of its features, and its number."""
    kinds, bits, features = m.kinds(f, i), m.bits(f, i), m.features(f, i)
    for j in range(i[m.CONTEXT], i[m.DIM]):
        digits[j] = digit(kinds[j], bits[j], features[arm, j - i[m.CONTEXT]])
    digits[i[m.DIM]] = arm


@part
def middle_of(f: Floats, i: Ints, digits: Ints, arm: int, point: Floats) -> None:
    """Write the middle of the site that digits, or a finite arm, stand for."""
    kinds, bits, features = m.kinds(f, i), m.bits(f, i), m.features(f, i)
    for j in range(i[m.DIM]):
        if arm >= 0 and j >= i[m.CONTEXT]:
            point[j] = features[arm, j - i[m.CONTEXT]]
        elif kinds[j] == CATEGORICAL:
            point[j] = float(digits[j])
        else:
            point[j] = (digits[j] + 0.5) / (1 << bits[j])


@part
def add_to_site(f: Floats, i: Ints, key: int, reward: Floats) -> int:
    """Add a reward to its site; returns its number. Needs room for one more site."""
    slots, keys = m.site_slot(f, i), m.site_key(f, i)
    counts, totals, squares = m.site_count(f, i), m.site_total(f, i), m.site_square(f, i)
    place = find_slot(slots, keys, key)
    site = slots[place] - 1
    if site < 0:
        site = i[m.SITES]
        i[m.SITES] = site + 1
        slots[place] = site + 1
        keys[site] = key
    for o in range(len(reward)):
        if not np.isnan(reward[o]):
            counts[o, site] += 1
            totals[o, site] += reward[o]
            squares[o, site] += reward[o] * reward[o]
    return site


@kernel
def list_digits(f: Floats, i: Ints) -> tuple[Ints, Ints]:
    """The digits (rows) and finite arms of all sites."""
    digits, arms = np.zeros((i[m.SITES], i[m.COORDINATES]), np.int64), np.zeros(i[m.SITES], np.int64)
    keys = m.site_key(f, i)
    for site in range(i[m.SITES]):
        arms[site] = digits_of(f, i, keys[site], digits[site])
    return digits, arms


@part
def spread_of(f: Floats, i: Ints, o: int) -> float:
    """The variance of all rewards of an objective; 1 if there are none."""
    counts, totals, squares = m.site_count(f, i), m.site_total(f, i), m.site_square(f, i)
    count, total, square = 0, 0.0, 0.0
    for site in range(i[m.SITES]):
        count += counts[o, site]
        total += totals[o, site]
        square += squares[o, site]
    return max(square / count - (total / count) ** 2, 1e-300) if count > 0 else 1.0


@part
def most_told(f: Floats, i: Ints, site: int) -> int:
    """How many rewards a site has, of the objective that was told most."""
    counts, most = m.site_count(f, i), 0
    for o in range(i[m.OBJECTIVES]):
        most = max(most, counts[o, site])
    return most


@part
def forget_half(f: Floats, i: Ints) -> None:
    """Forget the older half of the sites that had one reward, and half of the rewards of the others.

    Sites are numbered in the order of their first rewards.
    """
    keys, d = m.site_key(f, i), i[m.OBJECTIVES]
    counts, totals, squares = m.site_count(f, i), m.site_total(f, i), m.site_square(f, i)
    single, stay, parts = 0, 0, 0
    for site in range(i[m.SITES]):
        single += most_told(f, i, site) <= 1
    older = single // 2
    for site in range(i[m.SITES]):
        if most_told(f, i, site) <= 1:
            older -= 1
            if older >= 0:
                continue
        keys[stay] = keys[site]
        for o in range(d):
            count = counts[o, site]
            left = (count + 1) // 2
            rest = left / count if count > 0 else 0.0
            parts += left
            counts[o, stay] = left
            totals[o, stay], squares[o, stay] = rest * totals[o, site], rest * squares[o, site]
        stay += 1
    for o in range(d):
        counts[o, stay : i[m.SITES]] = 0
        totals[o, stay : i[m.SITES]] = 0.0
        squares[o, stay : i[m.SITES]] = 0.0
    fill_slots(m.site_slot(f, i), keys, stay)
    i[m.SITES], i[m.TOLD], i[m.PARTS], i[m.FORGETS] = stay, parts // d, parts % d, 0
    i[m.FORGOTTEN] += 1
