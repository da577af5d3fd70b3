"""How policies with finitely many arms play what they chose: the ends that every `ask` may come to.

The credit of a decision is its row plus its arm, where a row is the first number of a context cell, a stage or a
function.
"""

from __future__ import annotations

from paretozoom.kernels.arms.table import KEY0, KEY1, Table, choose, play, play_anywhere
from paretozoom.kernels.core.jit import Floats, Ints, part
from paretozoom.kernels.core.philox import uniforms


@part
def play_arm(
    f: Floats, i: Ints, at: Table, number: int, point: Floats, allowed: Floats, row: int, arm: int, probability: float
) -> tuple[int, float, int]:
    """Play an arm that was chosen with some probability; returns what `ask` does."""
    finite, density = play(f, i, at, number, point, arm, probability, allowed)
    return finite, density, row + arm


@part
def play_no_arm(
    f: Floats, i: Ints, at: Table, number: int, point: Floats, allowed: Floats, row: int
) -> tuple[int, float, int]:
    """Play in feasible boxes that hold no arm of the grid, for the nearest one; returns what `ask` does."""
    arm, density = play_anywhere(f, i, at, number, point, allowed)
    return -1, density, row + arm


@part
def play_front(
    f: Floats, i: Ints, at: Table, number: int, point: Floats, allowed: Floats, row: int, listed: int
) -> tuple[int, float, int]:
    """Play one of the listed arms whose indices no other dominates, or no arm if none is listed; as `ask` returns."""
    if listed == 0:
        return play_no_arm(f, i, at, number, point, allowed, row)
    arm, probability = choose(f, i, at, listed, uniforms(i[KEY0], i[KEY1], number, 0)[0])
    return play_arm(f, i, at, number, point, allowed, row, arm, probability)
