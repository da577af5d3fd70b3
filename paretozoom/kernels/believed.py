"""Which candidates ParetoZoom plays: the front of their indices, but for what others all but dominate.

Where estimates are off, a front of them is too large: its ends, and what noise lifts in one objective, are seldom of
the true one. Levels and the smooth estimate tell how far estimates are off: as far as the two differ.
"""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.jit import Floats, Ints, kernel, part
from paretozoom.kernels.pareto import mark_front
from paretozoom.kernels.pyramid import COMPARISONS, SMOOTH_TERMS, Pyramid
from paretozoom.kernels.smooth import difference_of

WORSE = 1.0  # such differences: by so much a candidate may be worse in an objective and still take another's place
AHEAD = 2.0  # times that: by so much it must then be ahead in all objectives together


@kernel
def mark_believed(f: Floats, i: Ints, at: Pyramid, listed: int) -> None:
    """Mark the listed candidates that are played with 1, the others with 0."""
    mark_front(f, at.indices, at.learned, i, at.arm_chosen, listed, at.spare)
    if i[SMOOTH_TERMS] > 0 and at.learned > 1:
        _drop_all_but_dominated(f, i, at, listed)


@part
def _drop_all_but_dominated(f: Floats, i: Ints, at: Pyramid, listed: int) -> None:
    """Take the mark from candidates of the front beside which another is hardly worse anywhere, and ahead in all."""
    marked = 0
    for candidate in range(listed):
        i[at.spare + marked] = candidate
        marked += i[at.arm_chosen + candidate]
    value, total = np.empty((marked, at.learned)), np.zeros(marked)
    for o in range(at.learned):
        compared = f[at.compared + o * COMPARISONS :][:COMPARISONS]
        unit = 1.0 / (WORSE * math.sqrt(max(difference_of(compared) * f[at.noise + o], 1e-300)))
        for k in range(marked):
            value[k, o] = unit * f[at.indices + o * listed + i[at.spare + k]]
            total[k] += value[k, o]
    for k in range(marked):
        for other in range(marked):  # none is ahead of the largest total, which stays
            if total[other] - total[k] >= AHEAD and _is_hardly_worse(value[other], value[k]):
                i[at.arm_chosen + i[at.spare + k]] = 0
                break


@part
def _is_hardly_worse(one: Floats, other: Floats) -> bool:
    """Whether one vector is not behind the other by more than 1 in any objective."""
    worst = 0.0
    for o in range(len(one)):
        worst = max(worst, other[o] - one[o])
    return worst <= 1.0
