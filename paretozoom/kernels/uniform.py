"""The policy that draws every arm uniformly: the floor that every other policy must clear."""

from __future__ import annotations

from paretozoom.kernels.balls import draw_coordinate
from paretozoom.kernels.jit import Floats, Ints, kernel
from paretozoom.kernels.philox import uniforms

# i: this header, then the number of values of each coordinate as `draw_coordinate` reads it;
# f: the coordinates of the finite arms, row by row.
CONTEXT, DIM, ARMS, KEY0, KEY1 = range(5)
HEADER = 5


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats) -> tuple[int, float, int]:
    """Draw an arm uniformly, writing it to `point`; returns (finite arm, density, 0)."""
    context, dim, arms = i[CONTEXT], i[DIM], i[ARMS]
    draws = uniforms(i[KEY0], i[KEY1], number, 0)
    if arms > 0:
        arm = int(draws[0] * arms)
        for j in range(dim - context):
            point[context + j] = f[arm * (dim - context) + j]
        return arm, 1.0 / arms, 0
    density = 1.0
    for j in range(dim - context):
        if j > 0 and j % 4 == 0:
            draws = uniforms(i[KEY0], i[KEY1], number, j // 4)
        values = i[HEADER + context + j]
        point[context + j] = draw_coordinate(values, draws[j % 4])
        if values != 0:
            density /= abs(values)
    return -1, density, 0


@kernel
def tell(f: Floats, i: Ints, number: int, point: Floats, credit: int, reward: Floats, told: int) -> None:
    """Learn nothing."""


@kernel
def room(f: Floats, i: Ints) -> tuple[Floats, Ints]:
    """The same arrays: nothing grows."""
    return f, i
