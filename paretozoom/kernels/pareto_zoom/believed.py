"""Which candidates ParetoZoom plays: the front of their indices, but for what others all but dominate.

Where estimates are off, a front of them is too large: beyond its ends arms are almost as good in one objective, worse
in the others, and of many some are lifted by noise. Levels and the smooth estimate tell how far estimates are off: as
far as the two differ, and, once the smooth one is given up, the less the more rewards came since.

Arms that are labels tell nothing of each other, so one that was unlucky when it was tried would never be tried again.
Their indices are lifted, the more the fewer rewards were told of them.
"""

from __future__ import annotations

import math

from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.core.kinds import CATEGORICAL
from paretozoom.kernels.core.pareto import mark_front
from paretozoom.kernels.pareto_zoom.pyramid import TOLD, Pyramid, told_beside
from paretozoom.kernels.pareto_zoom.smooth import difference_of, is_compared

WORSE = 1.0  # such differences: by so much a candidate may be worse in an objective and still take another's place
AHEAD = 2.0  # times that: by so much it must then be ahead in all objectives together
# Times that, times the square of the other objectives: so near to the best in an objective is what noise may have
# lifted in it. Elsewhere, a little better here and much worse there is how fronts are that bend inwards.
END = 0.5
LIFT = 0.5  # standard deviations of a reward, times the root of (the logarithm of how many all are, by the arm's own)


@kernel
def mark_believed(f: Floats, i: Ints, at: Pyramid, point: Floats, listed: int) -> None:
    """Mark the listed candidates that are played with 1, the others with 0. Lifts the indices of labels first.

    `point` begins with the context.
    """
    if at.arms > 0 and at.dim == at.context + 1 and i[at.kinds + at.context] == CATEGORICAL:
        _lift_labels(f, i, at, point, listed)
    mark_front(f, at.indices, at.learned, i, at.arm_chosen, listed, at.spare)
    if at.learned > 1 and listed > 1 and is_compared(f, at):
        _drop_all_but_dominated(f, i, at, listed)


@part
def _lift_labels(f: Floats, i: Ints, at: Pyramid, point: Floats, listed: int) -> None:
    """Add to the indices of arms what their few rewards beside these labels of contexts may have lacked in luck."""
    beside = told_beside(i, at, point)
    for o in range(at.learned):
        luck = LIFT * LIFT * f[at.noise + o] * math.log(1.0 + i[TOLD])
        for k in range(listed):
            told = i[beside + i[at.listed + k]] / at.learned
            f[at.indices + o * listed + k] += math.sqrt(luck / (1.0 + told))


@part
def _drop_all_but_dominated(f: Floats, i: Ints, at: Pyramid, listed: int) -> None:
    """Take the mark from ends of the front beside which another one is hardly worse anywhere, and ahead in all."""
    # The row of each objective has a number for every cell of arms, of which there are two or more; it is free by now.
    d, units, ends, front, marks = at.learned, at.row, at.row + at.learned, at.spare, at.arm_chosen
    marked = 0
    for candidate in range(listed):
        i[front + marked] = candidate
        marked += i[marks + candidate]
    for o in range(d):
        unit = 1.0 / (WORSE * math.sqrt(max(difference_of(f, at, o) * f[at.noise + o], 1e-300)))
        best, row = -math.inf, at.indices + o * listed
        for k in range(marked):
            best = max(best, f[row + i[front + k]])
        f[units + o], f[ends + o] = unit, unit * best - END * (d - 1) * (d - 1)
    first = at.indices
    for k in range(marked):
        candidate = first + i[front + k]
        end = _end_of(f, d, listed, units, ends, candidate)
        if end < 0:
            continue
        unit, row = f[units + end], end * listed
        own = unit * f[candidate + row]
        for other in range(marked):
            one = first + i[front + other]
            # At an end hardly any is near enough: most need not be looked at in all objectives.
            is_near = other != k and own - unit * f[one + row] <= 1.0
            if is_near and _takes_place(f, d, listed, units, ends, one, candidate):
                i[marks + i[front + k]] = 0
                break


@inlined
def _end_of(f: Floats, d: int, listed: int, units: int, ends: int, candidate: int) -> int:
    """An objective in which a candidate, by the place of its first index, is an end of the front; -1 if none is."""
    found = -1
    for o in range(d):
        found = o if f[units + o] * f[candidate + o * listed] >= f[ends + o] else found
    return found


@inlined
def _takes_place(f: Floats, d: int, listed: int, units: int, ends: int, one: int, other: int) -> bool:
    """Whether one candidate is hardly behind another in any objective, in one at an end, and ahead in all together.

    Of two, one at most takes the other's place; the one of largest sum stays.
    """
    ahead, is_at_end = 0.0, False
    for o in range(d):
        theirs = f[units + o] * f[other + o * listed]
        behind = theirs - f[units + o] * f[one + o * listed]
        if behind > 1.0:
            return False
        ahead -= behind
        is_at_end = is_at_end or (behind > 0.0 and theirs >= f[ends + o])
    return is_at_end and ahead >= AHEAD
