"""The smooth estimate: what rewards would be if they changed slowly; the estimates of levels are mixed with it.

Before a reward is learned, levels and smooth estimate both foretell it. The share of the smooth one is what would have
foretold best; the less the smaller the two differ beside what there is to explain, as levels without a trend are right
in the end.
"""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.pareto_zoom.pyramid import COMPARISONS, SMOOTH_ROOM, SMOOTH_TERMS, TOLD, USES_TREND, Pyramid
from paretozoom.kernels.pareto_zoom.trend import add_terms, term_at

# What is compared of an objective: sums over how many rewards, and the variance that the smooth estimate explains.
GAIN, WEIGHED, APART, COMPARED, EXPLAINED = range(COMPARISONS)
LAST_TAUGHT = 1024  # rewards until which each is learned at once; later, with the next fit
EVEN = 4.0  # how sure it is beforehand that both foretell alike
FIRST_APART, FIRST_COMPARED = 1.0, 4.0
FAR = 9.0  # squares of differences, relative to the noise, beyond which a comparison counts less
NEAR = 0.1  # differences of the two, beside what is explained, at which the share is halved with many rewards
MANY = 4096.0
LARGEST = 16.0  # such a square that is summed: with very few rewards noise may seem to be next to nothing
LARGEST_SIZE = 1e140


@part
def is_compared(f: Floats, at: Pyramid) -> bool:
    """Whether levels and smooth estimate were ever compared."""
    compared = 0.0
    for o in range(at.learned):
        compared += f[at.compared + o * COMPARISONS + COMPARED]
    return compared > 0.0


@part
def difference_of(f: Floats, at: Pyramid, o: int) -> float:
    """The mean squared difference of the two in an objective, relative to the noise."""
    compared = at.compared + o * COMPARISONS
    return float((f[compared + APART] + FIRST_APART) / (f[compared + COMPARED] + FIRST_COMPARED))


@kernel
def share_of(f: Floats, i: Ints, at: Pyramid, o: int) -> float:
    """The share of the smooth estimate of an objective."""
    compared = at.compared + o * COMPARISONS
    best = min(1.0, max(0.0, (f[compared + GAIN] + 0.5 * EVEN) / (f[compared + WEIGHED] + EVEN)))
    if i[USES_TREND] == 1:  # levels that stand on a trend are no surer in the end
        return float(best)
    near = NEAR * min(1.0, i[TOLD] / MANY)
    far = difference_of(f, at, o) / (near * max(f[compared + EXPLAINED], 1e-9))
    return float(best * (1.0 - 1.0 / (1.0 + far * far)))


@part
def mix_in_smooth(f: Floats, i: Ints, at: Pyramid, listed: int) -> None:
    """Mix the smooth estimate into the indices of the listed candidates, where the functions are listed."""
    for o in range(at.learned):
        index, share = f[at.indices + o * listed :][:listed], share_of(f, i, at, o)
        for candidate in range(listed):
            index[candidate] *= 1.0 - share
        sizes = at.smooth + o * i[SMOOTH_ROOM]
        add_terms(f, i, at, listed, index, at.smooth_factor, i[SMOOTH_TERMS], sizes, share)


@part
def teach(f: Floats, i: Ints, at: Pyramid, rest: Floats, said: Floats, off: Floats) -> None:
    """Compare both with what was told where the functions stand, and let the smooth estimate learn it.

    Writes by how much the two, mixed, were off.
    """
    n, room = i[SMOOTH_TERMS], i[SMOOTH_ROOM]
    terms, gain = np.empty(n), np.empty(n)
    for t in range(n):
        terms[t] = term_at(f, i, at, at.smooth_factor + 3 * t)
    for o in range(at.learned):
        if math.isnan(rest[o]):
            continue
        sizes, foretold = f[at.smooth + o * room :][:n], 0.0
        for t in range(n):
            foretold += sizes[t] * terms[t]
        apart, noise, compared = foretold - said[o], f[at.noise + o], at.compared + o * COMPARISONS
        missed = rest[o] - said[o]
        off[o] = missed - share_of(f, i, at, o) * apart
        weight = 1.0 / (noise * max(1.0, (missed * missed + apart * apart) / (FAR * noise)))
        f[compared + GAIN] += weight * missed * apart
        f[compared + WEIGHED] += weight * apart * apart
        f[compared + APART] += min(LARGEST, apart * apart / noise)
        f[compared + COMPARED] += 1.0
        if i[TOLD] < LAST_TAUGHT:
            inverse = f[at.inverse + o * room * room :][: n * n].reshape((n, n))
            below = 1.0
            for t in range(n):
                gain[t] = 0.0
            for t in range(n):
                row, times = inverse[t], terms[t]
                for c in range(n):
                    gain[c] += times * row[c]
            for t in range(n):
                below += gain[t] * terms[t]
            if below < 0.5:  # nothing that was learned comes to that; the next fit mends it
                continue
            for t in range(n):
                row, step = inverse[t], gain[t] / below
                sizes[t] = min(LARGEST_SIZE, max(-LARGEST_SIZE, sizes[t] + step * (rest[o] - foretold)))
                for c in range(n):
                    row[c] -= step * gain[c]
