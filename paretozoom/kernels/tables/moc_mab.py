"""MOC-MAB (Tekin and Turgay, 2018): a dominant objective, then another one among arms that may be as good."""

from __future__ import annotations

import math

from paretozoom.kernels.arms.rows import play_arm, play_no_arm
from paretozoom.kernels.arms.table import KEY0, KEY1, Table, cell_of, list_arms, table
from paretozoom.kernels.arms.uniform import room
from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.core.philox import uniforms
from paretozoom.kernels.tables.means import mean_of, plays_of, tell

__all__ = ["ask", "room", "tell"]

# constants: the dominant objective, the second one, A times the square of the confidence, v, beta
DOMINANT, SECOND, LOGARITHM, VARIATION, BETA = range(5)


@kernel
def uncertainty(plays: int, logarithm: float) -> float:
    """How far a mean may be off: u = sqrt(2 A / N); infinite before the first play.

    >>> round(uncertainty(100, 50.6168305), 7)
    1.0061494
    """
    return math.sqrt(2.0 * logarithm / plays) if plays > 0 else math.inf


@part
def _index(f: Floats, i: Ints, at: Table, row: int, constant: int) -> float:
    """The optimistic mean of a row in one of the two objectives."""
    mean = mean_of(f, i, at, row, int(f[at.constants + constant]))
    return mean + uncertainty(plays_of(i, at, row), f[at.constants + LOGARITHM])


@kernel
def _threshold(f: Floats, i: Ints, at: Table, row: int) -> float:
    """What index in the dominant objective an arm needs that may be as good as a leader; NaN to play the leader itself.

    The leader is played itself as long as too little is known of it.
    """
    off, v = uncertainty(plays_of(i, at, row), f[at.constants + LOGARITHM]), f[at.constants + VARIATION]
    if off > f[at.constants + BETA] * v:
        return math.nan
    return mean_of(f, i, at, row, int(f[at.constants + DOMINANT])) - off - 2.0 * v


@part
def _best_second(f: Floats, i: Ints, at: Table, listed: int, rows: int, threshold: float) -> tuple[float, int]:
    """The largest index in the second objective above the threshold in the dominant one, and how many arms have it."""
    best, having = -math.inf, 0
    for k in range(listed):
        if f[at.indices + k] >= threshold:
            second = _index(f, i, at, rows + i[at.listed + k], SECOND)
            having = 1 if second > best else having + (second == best)
            best = max(best, second)
    return best, having


@kernel
def choose_second(f: Floats, i: Ints, at: Table, listed: int, rows: int, u: float, w: float) -> tuple[int, float]:
    """Draw a leader of the dominant objective and what is played for it; returns arm and its probability in all.

    `rows` is the first row of the context's cell; every leader that could have been drawn counts in the probability.
    """
    most, leaders, leader, place, probability = -math.inf, 0, 0, 0, 0.0
    for k in range(listed):
        index = _index(f, i, at, rows + i[at.listed + k], DOMINANT)
        f[at.indices + k] = index
        leaders = 1 if index > most else leaders + (index == most)
        most = max(most, index)
    steps = int(u * leaders)
    while f[at.indices + leader] != most or steps > 0:
        steps -= f[at.indices + leader] == most
        leader += 1
    threshold = _threshold(f, i, at, rows + i[at.listed + leader])
    if math.isnan(threshold):
        place = leader
    else:
        best, having = _best_second(f, i, at, listed, rows, threshold)
        steps = int(w * having)
        while steps >= 0:
            as_good = f[at.indices + place] >= threshold
            if as_good and _index(f, i, at, rows + i[at.listed + place], SECOND) == best:
                steps -= 1
            place += steps >= 0
    for other in range(listed):
        if f[at.indices + other] == most:
            threshold = _threshold(f, i, at, rows + i[at.listed + other])
            if math.isnan(threshold):
                probability += (other == place) / leaders
            elif f[at.indices + place] >= threshold:
                best, having = _best_second(f, i, at, listed, rows, threshold)
                if _index(f, i, at, rows + i[at.listed + place], SECOND) == best:
                    probability += 1.0 / (having * leaders)
    return i[at.listed + place], probability


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    """Draw an arm for the context in `point`, writing it there; returns (finite arm, density, cell and arm)."""
    at = table(i)
    cell, listed = cell_of(i, at, point), list_arms(f, i, at, allowed)
    if listed == 0:
        return play_no_arm(f, i, at, number, point, allowed, cell * at.arms)
    draws = uniforms(i[KEY0], i[KEY1], number, 0)
    arm, probability = choose_second(f, i, at, listed, cell * at.arms, draws[0], draws[1])
    return play_arm(f, i, at, number, point, allowed, cell * at.arms, arm, probability)
