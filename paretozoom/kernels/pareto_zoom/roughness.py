"""How noisy rewards are, and how rough the levels of a pyramid."""

from __future__ import annotations

from paretozoom.kernels.core.jit import Floats, Ints, part
from paretozoom.kernels.pareto_zoom.pyramid import COUNT, ESTIMATE, SMOOTH_TERMS, SQUARES, TOTAL, Pyramid, rows_of

PRIOR_ROUGHNESS = 0.25  # of the first level, as a share of the variance of rewards
PRIOR_FALL = 0.25  # of the roughness from level to level
PRIOR_REWARDS = 2.0  # that these are worth
LEAST_ROUGHNESS = 0.01  # of what was expected
BOLDNESS = 32.0  # roughness counts so many times: what noise adds is found out by playing, what is smoothed away is not
LESS_BOLDNESS = 4.0  # beside a smooth estimate, which smooths away other things
SURE = 16.0  # rewards from which on a cell's mean counts fully when roughness is measured


@part
def boldness_of(i: Ints) -> float:
    """How many times roughness counts."""
    return LESS_BOLDNESS if i[SMOOTH_TERMS] > 0 else BOLDNESS


@part
def measure_noise(f: Floats, i: Ints, at: Pyramid, level: int, first: int, end: int, o: int, spread: float) -> float:
    """The variance of rewards within the cells of a level, whose blocks are numbered from `first`."""
    squares, free, cells = 2.0 * spread, 2.0, i[at.arm_cells + level]
    for number in range(first, end):
        start = rows_of(i, at, number, cells, o)
        for cell in range(start, start + cells):
            count, total = f[cell + COUNT * cells], f[cell + TOTAL * cells]
            if count > 1.0:
                squares += max(0.0, f[cell + SQUARES * cells] - total * total / count)
                free += count - 1.0
    return max(squares / free, 1e-300)


@part
def measure_roughness(
    f: Floats, i: Ints, at: Pyramid, level: int, first: int, end: int, o: int, spread: float
) -> float:
    """The variance of what a level adds to what was expected of its cells.

    The product of what two rewards of a cell have above what was expected, averaged over all pairs: noise of different
    rewards is independent, so it needs no correction for noise.
    """
    cells, rough = i[at.arm_cells + level], at.roughness + level * at.learned + o
    prior = PRIOR_ROUGHNESS * spread if level == 1 else PRIOR_FALL / boldness_of(i) * f[rough - at.learned]
    products, weights = PRIOR_REWARDS * prior, PRIOR_REWARDS
    for number in range(first, end):
        start = rows_of(i, at, number, cells, o)
        for cell in range(start, start + cells):
            count, total, expected = f[cell + COUNT * cells], f[cell + TOTAL * cells], f[cell + ESTIMATE * cells]
            if count > 1.0:
                above = total - count * expected
                squares = f[cell + SQUARES * cells] - expected * (2.0 * total - count * expected)
                weight = count * min(1.0, (count - 1.0) / SURE)
                weights += weight
                products += weight * (above * above - squares) / (count * (count - 1.0))
    return boldness_of(i) * max(products / weights, LEAST_ROUGHNESS * prior)
