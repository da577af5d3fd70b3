"""What LinUCB, SupLinUCB and the kernel policies share: means and widths of all arms, by a linear or a kernel model.

ints: (arms,) rewards told, then the model's. Stages are numbered from 0 here.
"""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.arms.table import Table, learned_number
from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.linear.gram import estimate_places, observe_place
from paretozoom.kernels.linear.hybrid import estimate_linear, observe_linear
from paretozoom.kernels.linear.linear import BUDGET, constant

GRAIN = 2.0**-36


@kernel
def estimate_arms(
    f: Floats, i: Ints, at: Table, stage: int, point: Floats, listed: int, means: Floats, widths: Floats
) -> None:
    """Write a stage's means (listed, learned) and widths (listed,) of the listed arms at the context in `point`."""
    if constant(f, at, BUDGET) == 0:
        estimate_linear(f, i, at, stage, point, listed, means, widths)
    else:
        estimate_places(f, i, at, stage, point, listed, means, widths)


@part
def set_indices(f: Floats, i: Ints, at: Table, stage: int, point: Floats, listed: int, widths: Floats) -> None:
    """Write the widths (listed,) of the listed arms, and where `choose` reads them the indices: means plus widths.

    Indices that are equal but for rounding errors must tie, so they are rounded to a grain.
    """
    means = np.empty((listed, at.learned))
    estimate_arms(f, i, at, stage, point, listed, means, widths)
    for o in range(at.learned):
        for k in range(listed):
            f[at.indices + o * listed + k] = math.floor((means[k, o] + widths[k]) / GRAIN + 0.5) * GRAIN


@part
def learn(f: Floats, i: Ints, at: Table, stage: int, point: Floats, arm: int, reward: Floats) -> None:
    """Learn a reward of an arm at the context in `point`."""
    rewards = np.empty(at.learned)
    for o in range(at.learned):
        rewards[o] = learned_number(f, i, at, reward, o)
    if constant(f, at, BUDGET) == 0:
        observe_linear(f, i, at, stage, point, arm, rewards)
    else:
        observe_place(f, i, at, stage, point, arm, rewards)
