"""What policies over a finite class of rules share: the class, values by inverse propensity, the draw of an arm.

A rule says which arm to play in a context. Rules of a table name an arm for each cell of contexts; those without a
table are affine: rule (a, b) plays the arm at clip(a - b x, 0, 1) along the arms in their order, where x is one
coordinate of the context or the mean of several.

constants: rules, sites, 1 if affine; (context,) how much of each coordinate x takes; (rules, sites) the table, if any;
then the policy's own. floats: (learned, rules) sums of reward / probability; (rules,) the weights that are played;
(rules,) the weights that were solved for; the smoothing. ints: the epoch entered, the decision it began with, how many
rewards taught; (sites,) how many of them at each site; (rules,) 1 if the rule is still in play.

A site stands for contexts that are alike: a cell of the table, or a part of the range of x. A credit holds the arm and
the probability it was played with, in parts of 2**35; none, and the reward teaches nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paretozoom.kernels.arms.table import (
    KEY0,
    KEY1,
    Table,
    cell_of,
    learned_number,
    list_arms,
    play,
    play_anywhere,
    table,
)
from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.core.pareto import mark_front
from paretozoom.kernels.core.philox import uniforms

STEPS = 11  # values of a and of b in the affine rules
PARTS = 1 << 35  # of a probability, in a credit
SHIFT = 36  # a credit is below 2**53 as long as there are no more than 2**17 arms


class Class(NamedTuple):
    """Sizes, and where each part begins."""

    rules: int
    sites: int
    affine: bool
    # parts of f
    along: int
    table: int
    own: int
    values: int
    weights: int
    solved: int
    smoothing: int
    # parts of i
    entered: int
    began: int
    told: int
    seen: int
    alive: int


@kernel
def class_of(f: Floats, at: Table) -> Class:
    """Read the layout off the constants."""
    rules, sites, affine = int(f[at.constants]), int(f[at.constants + 1]), f[at.constants + 2] == 1.0
    along = at.constants + 3
    own = along + at.context + (0 if affine else rules * sites)
    weights = at.floats + at.learned * rules
    return Class(
        rules,
        sites,
        affine,
        along,
        along + at.context,
        own,
        at.floats,
        weights,
        weights + rules,
        weights + 2 * rules,
        at.ints,
        at.ints + 1,
        at.ints + 2,
        at.ints + 3,
        at.ints + 3 + sites,
    )


@kernel
def affine_arm(rule: int, x: float, arms: int) -> int:
    """The arm of an affine rule: a of 0, .1, ..., 1 and b of -1, -.8, ..., 1, the arms side by side on [0, 1].

    >>> affine_arm(8 * 11 + 9, 0.5, 10), affine_arm(10 * 11 + 5, 0.5, 10), affine_arm(0, 0.55, 10)
    (4, 9, 5)
    """
    a, b = (rule // STEPS) / 10, (rule % STEPS) / 5 - 1.0
    return min(int(min(max(a - b * x, 0.0), 1.0) * arms), arms - 1)


@kernel
def place_of(f: Floats, at: Table, cl: Class, point: Floats) -> float:
    """The x of affine rules in a context."""
    x = 0.0
    for j in range(at.context):
        x += f[cl.along + j] * point[j]
    return x


@kernel
def site_of(f: Floats, i: Ints, at: Table, cl: Class, point: Floats) -> int:
    """The number of a context's site."""
    return min(int(place_of(f, at, cl, point) * cl.sites), cl.sites - 1) if cl.affine else cell_of(i, at, point)


@kernel
def arms_at(f: Floats, at: Table, cl: Class, site: int, x: float, out: Ints) -> None:
    """Write the arm of every rule in a context."""
    for rule in range(cl.rules):
        out[rule] = affine_arm(rule, x, at.arms) if cl.affine else int(f[cl.table + rule * cl.sites + site])


@part
def arms_at_sites(f: Floats, at: Table, cl: Class) -> Ints:
    """(sites, rules) The arm of every rule at the middle of every site."""
    arms = np.empty((cl.sites, cl.rules), np.int64)
    for site in range(cl.sites):
        arms_at(f, at, cl, site, (site + 0.5) / cl.sites, arms[site])
    return arms


@part
def share_of_sites(i: Ints, cl: Class) -> Floats:
    """(sites,) How much of the rewards that taught came from each site; all alike if there are none."""
    share = np.full(cl.sites, 1.0 / cl.sites)
    if i[cl.told] > 0:
        for site in range(cl.sites):
            share[site] = i[cl.seen + site] / i[cl.told]
    return share


@kernel
def mark_best(f: Floats, i: Ints, at: Table, cl: Class) -> Ints:
    """(rules,) 1 for each rule in play of largest value, or of a value that no other dominates if there are several."""
    values, marks = f[cl.values : cl.weights], np.zeros(2 * cl.rules, np.int64)
    if at.learned > 1:
        vectors = values.copy()
        for rule in range(cl.rules):
            for o in range(at.learned):
                if i[cl.alive + rule] == 0:
                    vectors[o * cl.rules + rule] = -np.inf
        mark_front(vectors, 0, at.learned, marks, 0, cl.rules, cl.rules)
        return marks[: cl.rules]
    most = -np.inf
    for rule in range(cl.rules):
        if i[cl.alive + rule] == 1:
            most = max(most, values[rule])
    for rule in range(cl.rules):
        marks[rule] = i[cl.alive + rule] == 1 and values[rule] == most
    return marks[: cl.rules]


@part
def shortfalls(f: Floats, i: Ints, at: Table, cl: Class, best: Ints, t: int) -> Floats:
    """(rules,) By how much the value of a rule falls short of the best: with several numbers, in all at once.

    A value is a sum over t decisions, divided by t; those that were not told add nothing.
    """
    short = np.zeros(cl.rules)
    for other in range(cl.rules):
        if best[other] == 0:
            continue
        for rule in range(cl.rules):
            least = np.inf
            for o in range(at.learned):
                row = cl.values + o * cl.rules
                least = min(least, f[row + other] - f[row + rule])
            short[rule] = max(short[rule], least / t)
    return short


@kernel
def epoch_start(number: int) -> int:
    """The largest power of two that is not above a decision's number; 0 for the first decision.

    >>> [epoch_start(n) for n in (0, 1, 2, 3, 4, 1023, 1024)]
    [0, 1, 2, 2, 4, 512, 1024]
    """
    start = 1 if number > 0 else 0
    while 0 < 2 * start <= number:
        start *= 2
    return start


@part
def begins_epoch(i: Ints, cl: Class, number: int) -> bool:
    """Whether a decision is the first of an epoch 1, 2, 4, ...; if so, the epoch is noted as entered."""
    start = epoch_start(number)
    if start <= i[cl.entered]:
        return False
    i[cl.entered] = start
    return True


@kernel
def draw_rule(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    """Draw an arm as the rules play it by their weights, smoothed; returns what `ask` does."""
    at = table(i)
    cl = class_of(f, at)
    smoothing, chosen = f[cl.smoothing], np.empty(cl.rules, np.int64)
    arms_at(f, at, cl, site_of(f, i, at, cl, point), place_of(f, at, cl, point), chosen)
    mass = np.full(at.arms, smoothing)
    for rule in range(cl.rules):
        mass[chosen[rule]] += (1.0 - at.arms * smoothing) * f[cl.weights + rule]
    return draw(f, i, at, number, point, allowed, mass, True)


@kernel
def draw(
    f: Floats, i: Ints, at: Table, number: int, point: Floats, allowed: Floats, mass: Floats, teaches: bool
) -> tuple[int, float, int]:
    """Draw a feasible arm in proportion to its mass, uniformly if there is none; returns what `ask` does."""
    listed = list_arms(f, i, at, allowed)
    if listed == 0:
        arm, density = play_anywhere(f, i, at, number, point, allowed)
        return -1, density, arm << SHIFT
    total = 0.0
    for k in range(listed):
        total += mass[i[at.listed + k]]
    if total <= 0.0:
        mass[:] = 1.0
        total = float(listed)
    left, arm = uniforms(i[KEY0], i[KEY1], number, 0)[0] * total, -1
    for k in range(listed):
        if mass[i[at.listed + k]] > 0.0:
            arm = i[at.listed + k]
            if left < mass[arm]:
                break
            left -= mass[arm]
    probability = mass[arm] / total
    finite, density = play(f, i, at, number, point, arm, probability, allowed)
    return finite, density, (arm << SHIFT) + (max(1, int(probability * PARTS + 0.5)) if teaches else 0)


@kernel
def tell(f: Floats, i: Ints, number: int, point: Floats, credit: int, reward: Floats, told: int) -> None:
    """Add reward / probability to every rule that would have played the arm, whichever epoch the decision was of."""
    parts = credit & ((1 << SHIFT) - 1)
    if parts == 0:
        return
    at = table(i)
    cl = class_of(f, at)
    site, arm, inverse = site_of(f, i, at, cl, point), credit >> SHIFT, PARTS / parts
    chosen = np.empty(cl.rules, np.int64)
    arms_at(f, at, cl, site, place_of(f, at, cl, point), chosen)
    i[cl.told] += 1
    i[cl.seen + site] += 1
    for o in range(at.learned):
        gained = learned_number(f, i, at, reward, o) * inverse
        for rule in range(cl.rules):
            if chosen[rule] == arm:
                f[cl.values + o * cl.rules + rule] += gained
