"""Which candidates ParetoZoom plays: the front of their indices, but for what others all but dominate.

Where estimates are off, a front of them is too large: beyond its ends arms are almost as good in one objective, worse
in the others, and of many some are lifted by noise. Levels and the smooth estimate tell how far estimates are off: as
far as the two differ, and, once the smooth one is given up, the less the more rewards came since.
"""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.jit import Floats, Ints, kernel, part
from paretozoom.kernels.pareto import mark_front
from paretozoom.kernels.pyramid import COMPARISONS, Pyramid
from paretozoom.kernels.smooth import difference_of, is_compared

WORSE = 1.0  # such differences: by so much a candidate may be worse in an objective and still take another's place
AHEAD = 2.0  # times that: by so much it must then be ahead in all objectives together
# Times that, times the square of the other objectives: so near to the best in an objective is what noise may have
# lifted in it. Elsewhere, a little better here and much worse there is how fronts are that bend inwards.
END = 0.5


@kernel
def mark_believed(f: Floats, i: Ints, at: Pyramid, listed: int) -> None:
    """Mark the listed candidates that are played with 1, the others with 0."""
    mark_front(f, at.indices, at.learned, i, at.arm_chosen, listed, at.spare)
    if at.learned > 1 and is_compared(f, at):
        _drop_all_but_dominated(f, i, at, listed)


@part
def _drop_all_but_dominated(f: Floats, i: Ints, at: Pyramid, listed: int) -> None:
    """Take the mark from ends of the front beside which another one is hardly worse anywhere, and ahead in all."""
    marked = 0
    for candidate in range(listed):
        i[at.spare + marked] = candidate
        marked += i[at.arm_chosen + candidate]
    value, total, end = np.empty((at.learned, marked)), np.zeros(marked), np.empty(at.learned)
    for o in range(at.learned):
        compared = f[at.compared + o * COMPARISONS :][:COMPARISONS]
        unit = 1.0 / (WORSE * math.sqrt(max(difference_of(compared) * f[at.noise + o], 1e-300)))
        best = -math.inf
        for k in range(marked):
            value[o, k] = unit * f[at.indices + o * listed + i[at.spare + k]]
            total[k] += value[o, k]
            best = max(best, value[o, k])
        end[o] = best - END * (at.learned - 1) * (at.learned - 1)
    for k in range(marked):
        if _is_end(value, k, end):
            for other in range(marked):  # none is ahead of the largest total, which stays
                if total[other] - total[k] >= AHEAD and _takes_place(value, other, k, end):
                    i[at.arm_chosen + i[at.spare + k]] = 0
                    break


@part
def _is_end(value: Floats, k: int, end: Floats) -> bool:
    """Whether a candidate is where the front ends in some objective."""
    above = 0
    for o in range(len(end)):
        above += value[o, k] >= end[o]
    return above > 0


@part
def _takes_place(value: Floats, one: int, other: int, end: Floats) -> bool:
    """Whether a candidate is behind another by at most 1 in all objectives, and in one of them where the front ends."""
    is_at_end = False
    for o in range(len(end)):
        if value[o, other] - value[o, one] > 1.0:
            return False
        is_at_end = is_at_end or (value[o, other] > value[o, one] and value[o, other] >= end[o])
    return is_at_end
