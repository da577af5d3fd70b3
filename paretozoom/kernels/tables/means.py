"""Mean rewards per context cell and arm: what most policies with finitely many arms learn.

floats: (cells, arms, learned) sums of rewards; ints: (cells, arms) plays. The credit of a decision is its row,
cell * arms + arm.
"""

from __future__ import annotations

from paretozoom.kernels.arms.table import Table, learned_number, table
from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part


@inlined
def plays_of(i: Ints, at: Table, row: int) -> int:
    """How often the arm of a row (cell * arms + arm) was played and told."""
    return i[at.ints + row]


@part
def plays_in(i: Ints, at: Table, first: int) -> int:
    """How often all arms together were played and told, in the table of means that begins with a row."""
    plays = 0
    for arm in range(at.arms):
        plays += plays_of(i, at, first + arm)
    return plays


@inlined
def mean_of(f: Floats, i: Ints, at: Table, row: int, o: int) -> float:
    """The mean of number o of the rewards of a row; 0 if there are none."""
    return f[at.floats + row * at.learned + o] / max(i[at.ints + row], 1)


@kernel
def tell(f: Floats, i: Ints, number: int, point: Floats, credit: int, reward: Floats, told: int) -> None:
    """Add a reward to its row."""
    at = table(i)
    i[at.ints + credit] += 1
    for o in range(at.learned):
        f[at.floats + credit * at.learned + o] += learned_number(f, i, at, reward, o)
