"""Which candidates ParetoZoom plays: the front of their indices, but for what others all but dominate.

Where estimates are off, a front of them is too large: beyond its ends arms are almost as good in one objective, worse
in the others, and of many some are lifted by noise. Levels and the smooth estimate tell how far estimates are off: as
far as the two differ, and, once the smooth one is given up, the less the more rewards came since.
"""

from __future__ import annotations

import math

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
    if at.learned > 1 and listed > 1 and is_compared(f, at):
        _drop_all_but_dominated(f, i, at, listed)


@part
def _drop_all_but_dominated(f: Floats, i: Ints, at: Pyramid, listed: int) -> None:
    """Take the mark from ends of the front beside which another one is hardly worse anywhere, and ahead in all."""
    marked = 0
    for candidate in range(listed):
        i[at.spare + marked] = candidate
        marked += i[at.arm_chosen + candidate]
    # The row of each objective has a number for every cell of arms, of which there are two or more; it is free by now.
    unit, end = f[at.row :][: at.learned], f[at.row + at.learned :][: at.learned]
    for o in range(at.learned):
        compared = f[at.compared + o * COMPARISONS :][:COMPARISONS]
        unit[o] = 1.0 / (WORSE * math.sqrt(max(difference_of(compared) * f[at.noise + o], 1e-300)))
        best, index = -math.inf, at.indices + o * listed
        for k in range(marked):
            best = max(best, f[index + i[at.spare + k]])
        end[o] = unit[o] * best - END * (at.learned - 1) * (at.learned - 1)
    for k in range(marked):
        candidate = at.indices + i[at.spare + k]
        if _is_end(f, listed, unit, end, candidate):
            for other in range(marked):
                if _takes_place(f, listed, unit, end, at.indices + i[at.spare + other], candidate):
                    i[at.arm_chosen + i[at.spare + k]] = 0
                    break


@part
def _is_end(f: Floats, listed: int, unit: Floats, end: Floats, candidate: int) -> bool:
    """Whether a candidate, by the place of its first index, is where the front ends in some objective."""
    ends = 0
    for o in range(len(unit)):
        ends += unit[o] * f[candidate + o * listed] >= end[o]
    return ends > 0


@part
def _takes_place(f: Floats, listed: int, unit: Floats, end: Floats, one: int, other: int) -> bool:
    """Whether one candidate is hardly behind another in any objective, in one at an end, and ahead in all together.

    Of two, one at most takes the other's place; the one of largest sum stays.
    """
    ahead, is_at_end = 0.0, False
    for o in range(len(unit)):
        theirs = unit[o] * f[other + o * listed]
        behind = theirs - unit[o] * f[one + o * listed]
        if behind > 1.0:
            return False
        ahead -= behind
        is_at_end = is_at_end or (behind > 0.0 and theirs >= end[o])
    return is_at_end and ahead >= AHEAD
