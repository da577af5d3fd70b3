"""SupLinUCB and SupKernelUCB, one decision at a time: stages that explore, narrow down, or play the best.

A round begins at stage 1 with all arms. What a stage learns is chosen by widths alone, never by that stage's rewards,
so these are independent of each other: this is what the proofs rest on. The credit of a decision is
stage * arms + arm, of stage 0 if its reward is not learned.
"""

from __future__ import annotations

import numpy as np

from paretozoom.kernels.arms.rows import play_arm, play_no_arm
from paretozoom.kernels.arms.table import KEY0, KEY1, Table, choose, list_arms, marked_place, table
from paretozoom.kernels.arms.uniform import room
from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.core.pareto import mark_front
from paretozoom.kernels.core.philox import uniforms
from paretozoom.kernels.linear.estimates import estimate_arms, learn, set_indices
from paretozoom.kernels.linear.linear import FLOOR, WIDEST

__all__ = ["ask", "estimate_arms", "room", "tell"]

TIE = 1e-9  # widths that differ by less than this part are equal but for rounding


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    """Draw an arm for the context in `point`, writing it there; returns (finite arm, density, stage and arm)."""
    at = table(i)
    listed = list_arms(f, i, at, allowed)
    if listed == 0:
        return play_no_arm(f, i, at, number, point, allowed, at.arms)
    u = uniforms(i[KEY0], i[KEY1], number, 0)[0]
    stage, arm, probability, teaches = 0, -1, 1.0, False
    while arm < 0:
        stage += 1
        widths = np.empty(listed)
        set_indices(f, i, at, stage - 1, point, listed, widths)
        widest = widths.max()
        if widest <= f[at.constants + FLOOR]:
            arm, probability = choose(f, i, at, listed, u)
        elif widest <= 2.0**-stage:
            listed = _narrow(f, i, at, listed, 2.0 ** (1 - stage))
        else:
            least = widest * (1.0 - TIE) if f[at.constants + WIDEST] == 1.0 else 2.0**-stage
            arm, probability = _wider(i, at, listed, widths, least, u)
            teaches = True
    row = stage * at.arms if teaches else 0
    return play_arm(f, i, at, number, point, allowed, row, arm, probability)


@part
def _wider(i: Ints, at: Table, listed: int, widths: Floats, least: float, u: float) -> tuple[int, float]:
    """Draw uniformly among the arms whose width is above `least`; returns arm and probability."""
    marked = 0
    for k in range(listed):
        i[at.chosen + k] = widths[k] > least
        marked += i[at.chosen + k]
    return i[at.listed + marked_place(i, at, int(u * marked))], 1.0 / marked


@part
def _narrow(f: Floats, i: Ints, at: Table, listed: int, margin: float) -> int:
    """Take the arms off the list that another exceeds by more than the margin in every number; returns how many stay.

    An arm that is exceeded so is exceeded so by one on the front of the indices.
    """
    mark_front(f, at.indices, at.learned, i, at.chosen, listed, at.spare)
    left = 0
    for k in range(listed):
        exceeded = False
        for other in range(listed):
            if i[at.chosen + other] == 1:
                above = True
                for o in range(at.learned):
                    row = at.indices + o * listed
                    above = above and f[row + other] - margin > f[row + k]
                exceeded = exceeded or above
        if not exceeded:
            i[at.listed + left] = i[at.listed + k]
            left += 1
    return left


@kernel
def tell(f: Floats, i: Ints, number: int, point: Floats, credit: int, reward: Floats, told: int) -> None:
    """Learn a reward in the stage and at the arm that are credited."""
    at = table(i)
    stage, arm = credit // at.arms, credit % at.arms
    i[at.ints + arm] += 1
    if stage > 0:
        learn(f, i, at, stage - 1, point, arm, reward)
