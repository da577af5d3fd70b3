"""Pareto Thompson sampling (Yahyaa, Drugan and Manderick, 2014), one decision at a time."""

from __future__ import annotations

from paretozoom.kernels.arms.rows import play_arm, play_no_arm
from paretozoom.kernels.arms.table import KEY0, KEY1, Table, cell_of, learned_number, list_arms, marked_place, table
from paretozoom.kernels.arms.uniform import room
from paretozoom.kernels.core.jit import ZERO, Floats, Ints, kernel, part
from paretozoom.kernels.core.pareto import mark_front
from paretozoom.kernels.core.philox import uniforms
from paretozoom.kernels.tables.beta import BLOCKS, draw_beta
from paretozoom.kernels.tables.means import plays_of

__all__ = ["ask", "room", "tell"]

# constants: how often the means are drawn again to estimate the density

SAMPLE_STREAM = 1 << 32  # of the draws of means: BLOCKS streams for each sample, arm and number


@part
def sample_front(f: Floats, i: Ints, at: Table, cell: int, listed: int, number: int, sample: int) -> int:
    """Draw the means of every listed arm and mark those that no other dominates; returns how many they are."""
    for k in range(listed):
        arm = i[at.listed + k]
        row = cell * at.arms + arm
        for o in range(at.learned):
            ones = f[at.floats + row * at.learned + o]
            zeros = max(plays_of(i, at, row) - ones, 0.0)
            stream = SAMPLE_STREAM + ((sample * at.arms + arm) * at.learned + o) * BLOCKS
            f[at.indices + o * listed + k] = draw_beta(ones, zeros, i[KEY0], i[KEY1], number, stream)
    mark_front(f, at.indices, at.learned, i, at.chosen, listed, at.spare)
    marked = 0
    for k in range(listed):
        marked += i[at.chosen + k]
    return marked


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    """Draw an arm for the context in `point`, writing it there; returns (finite arm, density, cell and arm)."""
    at = table(i)
    cell, listed = cell_of(i, at, point), list_arms(f, i, at, allowed)
    if listed == 0:
        return play_no_arm(f, i, at, number, point, allowed, cell * at.arms)
    marked = sample_front(f, i, at, cell, listed, number, ZERO)
    place = marked_place(i, at, int(uniforms(i[KEY0], i[KEY1], number, 0)[0] * marked))
    probability, resamples = 1.0 / marked, int(f[at.constants])
    for sample in range(1, resamples + 1):
        marked = sample_front(f, i, at, cell, listed, number, sample)
        probability += i[at.chosen + place] / marked
    arm, row = i[at.listed + place], cell * at.arms
    return play_arm(f, i, at, number, point, allowed, row, arm, probability / (resamples + 1))


@kernel
def tell(f: Floats, i: Ints, number: int, point: Floats, credit: int, reward: Floats, told: int) -> None:
    """Add a reward to its row; what is outside the scale counts as its nearer end."""
    at = table(i)
    i[at.ints + credit] += 1
    for o in range(at.learned):
        f[at.floats + credit * at.learned + o] += min(1.0, max(0.0, learned_number(f, i, at, reward, o)))
