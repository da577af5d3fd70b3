"""LinUCB and KernelUCB, one decision at a time: the arm of the highest index. The credit of a decision is its arm."""

from __future__ import annotations

import numpy as np

from paretozoom.kernels.arms.rows import play_front
from paretozoom.kernels.arms.table import list_arms, table
from paretozoom.kernels.arms.uniform import room
from paretozoom.kernels.core.jit import ZERO, Floats, Ints, kernel
from paretozoom.kernels.linear.estimates import estimate_arms, learn, set_indices

__all__ = ["ask", "estimate_arms", "room", "tell"]


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    """Draw an arm for the context in `point`, writing it there; returns (finite arm, density, arm)."""
    at = table(i)
    listed = list_arms(f, i, at, allowed)
    set_indices(f, i, at, ZERO, point, listed, np.empty(listed))
    return play_front(f, i, at, number, point, allowed, ZERO, listed)


@kernel
def tell(f: Floats, i: Ints, number: int, point: Floats, credit: int, reward: Floats, told: int) -> None:
    """Learn a reward at the context in `point` and the arm that is credited."""
    at = table(i)
    i[at.ints + credit] += 1
    learn(f, i, at, ZERO, point, credit, reward)
