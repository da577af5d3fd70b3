"""How levels divide arms, and between which cells a place lies."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paretozoom import Finite, Objective, ParetoZoom, Problem, Real
from paretozoom.kernels.core.kinds import LINEAR, PERIODIC
from paretozoom.kernels.pareto_zoom.cells import between, number_arms
from paretozoom.kernels.pareto_zoom.settings import Settings
from paretozoom.policies.pareto_zoom.space import Level, Space

ONE = [Objective("r")]


def test_finite_arms_are_numbered_in_their_order() -> None:
    # Digits of the features, 5 bits: 0, 16, 31, 16, 31; of the numbers, 3 bits: 0, 1, 2, 3, 4.
    arm = Finite(list("abcde"), features=[[0.0], [0.5], [1.0], [0.5], [1.0]])
    policy = ParetoZoom(Problem(context=[], arm=arm, objectives=ONE))
    levels = np.array([[-1, -1, 1, 0, 0], [0, -1, 0, 1, 0], [0, -1, 0, 2, 0], [1, -1, 0, 2, 2], [1, -1, 0, 2, 3]])
    cells = number_arms(policy._floats, policy._ints, levels)
    assert cells.tolist() == [[0, 0, 0, 0, 0], [0, 1, 1, 1, 1], [0, 1, 2, 1, 2], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]
    assert levels[:, 2].tolist() == [1, 2, 3, 5, 5]


def _between(arm: list[Any], levels: list[list[int]]) -> list[tuple[list[int], list[int], list[float]]]:
    """Between which cells of the level before, and how, those of each level lie; rows are depths."""
    space = Space(Problem(context=[], arm=arm, objectives=ONE), Settings())
    before, found = Level(space, -1, -1, np.zeros(len(arm), np.int64)), []
    for depths in levels:
        split = next((j for j, (a, b) in enumerate(zip(before.depth, depths, strict=True)) if a < b), -1)
        level = Level(space, split, -1, np.array(depths), before)
        found.append((level.low.tolist(), level.high.tolist(), np.broadcast_to(level.share, level.cells).tolist()))
        before = level
    return found


def test_cells_of_a_line() -> None:
    found = _between([Real("y")], [[1], [2], [3]])
    assert [(low, high) for low, high, _ in found] == [
        ([0, 0], [0, 0]),
        ([0, 0, 0, 1], [0, 1, 1, 1]),
        ([0, 0, 0, 1, 1, 2, 2, 3], [0, 1, 1, 2, 2, 3, 3, 3]),
    ]
    assert found[1][2][1:3] == [0.25, 0.75]


def test_cells_of_a_circle() -> None:
    found = _between([Real("y", periodic=True)], [[1], [2]])
    assert found[1] == ([1, 0, 0, 1], [0, 1, 1, 0], [0.75, 0.25, 0.75, 0.25])


def test_cells_of_a_plane() -> None:
    """A cell's number is the bits of the first coordinate, then those of the second."""
    found = _between([Real("y"), Real("z", periodic=True)], [[1, 0], [1, 1], [1, 2], [2, 2]])
    assert found[2][:2] == ([1, 0, 0, 1, 3, 2, 2, 3], [0, 1, 1, 0, 2, 3, 3, 2])
    assert found[3][0] == [4 * low + z for low in (0, 0, 0, 1) for z in range(4)]
    assert found[3][1] == [4 * high + z for high in (0, 1, 1, 1) for z in range(4)]


def test_levels_that_split_contexts_alone_keep_their_cells() -> None:
    assert _between([Real("y")], [[1], [1]])[1][:2] == ([0, 1], [0, 1])


@given(st.sampled_from([LINEAR, PERIODIC]), st.integers(1, 10), st.floats(0, 1))
def test_between_two_centres(kind: int, bits: int, coordinate: float) -> None:
    cells = 1 << bits
    low, high, share = between(kind, cells, coordinate)
    assert 0 <= low < cells
    assert 0 <= high < cells
    assert 0 <= share < 1
    first, last = coordinate < 0.5 / cells, coordinate >= 1 - 0.5 / cells
    if kind == LINEAR and (first or last):
        assert low == high == (0 if first else cells - 1)
    else:
        assert high == (low + 1) % cells
        # The place is the mean of the two centres, up to whole turns.
        centre = (low + 0.5) / cells + share / cells
        assert abs(centre - coordinate - round(centre - coordinate)) < 1e-12
