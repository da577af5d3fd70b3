"""The memory of ParetoZoom: tables that grow, numbered cells of arms, and weights between cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretozoom import Finite, Objective, ParetoZoom, Problem, Real
from paretozoom.kernels.core.kinds import CATEGORICAL, LINEAR, PERIODIC
from paretozoom.kernels.pareto_zoom import calibrate, pyramid, refine, trend_fit
from tests.reference.play import World
from tests.reference.problems import LATTICE_PROBLEMS, PROBLEMS

ALL = {**PROBLEMS, **LATTICE_PROBLEMS}
ONE = [Objective("r")]


def told(problem: Problem, rounds: int) -> tuple[Any, Any, Any]:
    """The arrays and the layout of a policy with some rewards."""
    policy, world = ParetoZoom(problem, seed=1), World(problem, seed=2)
    for _ in range(rounds):
        decision = policy.ask(world.context())
        policy.tell(decision, world.reward(decision))
    return policy._floats, policy._ints, pyramid.pyramid(policy._ints)


def test_a_layout_is_read_by_name_in_python_too() -> None:
    names = pyramid.Pyramid.__annotations__
    assert not [name for name in names if hasattr(np.record, name)]  # a record has names of its own, which come first
    _, i, at = told(ALL["plane"], 10)
    assert [getattr(at, name) for name in names] == i[pyramid.LAYOUT : pyramid.HEADER].tolist()


@pytest.mark.parametrize("name", ["plane", "mixed contexts", "features"])
def test_tables_survive_growth(name: str) -> None:
    """There is room for 64 places at first, and for 64 blocks; every one is found by its key in tables that grew."""
    rooms = set()
    for rounds in (10, 63, 64, 65, 130, 300):
        f, i, at = told(ALL[name], rounds)
        rooms.add((int(i[pyramid.BASE_ROOM]), int(i[pyramid.BLOCK_ROOM])))
        for base in range(i[pyramid.BASES]):
            key = i[at.base_key + base]
            place = pyramid.find_slot(i, at.base_slot, 2 * i[pyramid.BASE_ROOM], at.base_key, key)
            assert i[at.base_slot + place] == base + 1
        digits = np.zeros((i[pyramid.BASES], at.context + at.finer), np.int64)
        arms = np.array([pyramid.digits_of(f, i, at, i[at.base_key + k], row) for k, row in enumerate(digits)])
        totals, _ = trend_fit.rest_of(f, i, at, digits, arms)
        counts = np.zeros((i[pyramid.LEVELS], at.learned))
        sums = np.zeros((i[pyramid.LEVELS], at.learned))
        for block in range(i[pyramid.BLOCKS]):
            assert pyramid.find_block(i, at, i[at.block_key + block]) == block
            level, start = i[at.block_level + block], at.block + i[at.block_start + block]
            cells = i[at.arm_cells + level]
            parts = f[start : start + at.learned * pyramid.STATISTICS * cells].reshape(at.learned, -1, cells)
            counts[level] += parts[:, pyramid.COUNT].sum(axis=1)
            sums[level] += parts[:, pyramid.TOTAL].sum(axis=1)
        assert (counts == rounds).all()
        assert np.allclose(sums, totals.sum(axis=1), rtol=1e-9)
    assert len({bases for bases, _ in rooms}) >= 3
    assert len({blocks for _, blocks in rooms}) >= 2


def test_a_key_that_is_not_there() -> None:
    f, i, at = told(PROBLEMS["plane"], 100)
    known = set(i[at.block_key : at.block_key + i[pyramid.BLOCKS]].tolist())
    for key in range(-500, 500):
        assert (pyramid.find_block(i, at, key) >= 0) == (key in known)
    assert len(f) == at.floats


def test_finite_arms_are_numbered_in_their_order() -> None:
    # Digits of the features, 5 bits: 0, 16, 31, 16, 31; of the numbers, 3 bits: 0, 1, 2, 3, 4.
    arm = Finite(list("abcde"), features=[[0.0], [0.5], [1.0], [0.5], [1.0]])
    policy = ParetoZoom(Problem(context=[], arm=arm, objectives=ONE))
    levels = np.array([[-1, -1, 1, 0, 0], [0, -1, 0, 1, 0], [0, -1, 0, 2, 0], [1, -1, 0, 2, 2], [1, -1, 0, 2, 3]])
    cells = np.zeros((len(levels), 5), np.int64)
    calibrate.number_arms(policy._floats, policy._ints, pyramid.pyramid(policy._ints), levels, cells)
    assert cells.tolist() == [[0, 0, 0, 0, 0], [0, 1, 1, 1, 1], [0, 1, 2, 1, 2], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]
    assert levels[:, 2].tolist() == [1, 2, 3, 5, 5]


def _parents(arm: list[Any], levels: list[list[int]]) -> list[tuple[list[int], list[int]]]:
    """(parents, neighbours of them) of the cells of arms of each level but the first; rows are depths."""
    policy = ParetoZoom(Problem(context=[], arm=arm, objectives=ONE))
    rows, before = [], [0] * len(arm)
    for depths in levels:
        split = next((j for j, (a, b) in enumerate(zip(before, depths, strict=True)) if a < b), -1)
        rows.append([split, -1, 1 << sum(depths), *depths])
        before = depths
    chosen = np.array(rows)
    head = policy._ints[: pyramid.HEADER].copy()
    head[pyramid.LEVELS], head[pyramid.NUMBERED] = len(rows), chosen[:, 2].sum()
    _, i = pyramid.allocate(head)
    at = pyramid.pyramid(i)
    i[at.kinds : at.values] = policy.problem.encoding.kinds
    calibrate.write_levels(i, at, chosen, len(rows), np.zeros((len(rows), 0), np.int64))
    found = []
    for level in range(1, len(rows)):
        start, cells = i[at.table + level], i[at.arm_cells + level]
        parts = i[at.parent + start :][:cells], i[at.beside + start :][:cells]
        found.append((parts[0].tolist(), parts[1].tolist()))
    return found


def test_cells_of_a_line() -> None:
    assert _parents([Real("y")], [[0], [1], [2], [3]]) == [
        ([0, 0], [0, 0]),
        ([0, 0, 1, 1], [0, 1, 0, 1]),
        ([0, 0, 1, 1, 2, 2, 3, 3], [0, 1, 0, 2, 1, 3, 2, 3]),
    ]


def test_cells_of_a_circle() -> None:
    assert _parents([Real("y", periodic=True)], [[0], [1], [2], [3]]) == [
        ([0, 0], [0, 0]),
        ([0, 0, 1, 1], [1, 1, 0, 0]),
        ([0, 0, 1, 1, 2, 2, 3, 3], [3, 1, 0, 2, 1, 3, 2, 0]),
    ]


def test_cells_of_a_plane() -> None:
    # A cell's number is the bits of the first coordinate, then those of the second.
    arm = [Real("y"), Real("z", periodic=True)]
    levels = [[0, 0], [1, 0], [1, 1], [1, 2], [2, 2]]
    found = _parents(arm, levels)
    assert found[:3] == [
        ([0, 0], [0, 0]),
        ([0, 0, 1, 1], [0, 0, 1, 1]),
        ([0, 0, 1, 1, 2, 2, 3, 3], [1, 1, 0, 0, 3, 3, 2, 2]),
    ]
    # Then the first coordinate goes from one bit to two: its cells 0, 1, 2, 3 lie in 0, 0, 1, 1 beside 0, 1, 0, 1.
    assert found[3] == (
        [4 * parent + z for parent in (0, 0, 1, 1) for z in range(4)],
        [4 * beside + z for beside in (0, 1, 0, 1) for z in range(4)],
    )


def test_levels_that_split_contexts_alone_keep_their_cells() -> None:
    assert _parents([Real("y")], [[0], [1], [1]])[1] == ([0, 1], [0, 1])


@given(st.sampled_from([LINEAR, PERIODIC]), st.integers(1, 10), st.floats(0, 1))
def test_between_two_centres(kind: int, bits: int, coordinate: float) -> None:
    cells = 1 << bits
    low, high, share = refine.between(kind, cells, coordinate)
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


@pytest.mark.parametrize("name", [*LATTICE_PROBLEMS, "plane", "periodic everywhere"])
def test_weights_of_cells_of_arms_add_up_to_one(name: str) -> None:
    f, i, at = told(ALL[name], 60)
    points = np.random.default_rng(1).random((50, at.finer))
    points[0], points[1] = 0.0, 1.0
    for j in range(at.finer):
        if i[at.kinds + at.context + j] == CATEGORICAL:
            points[:, j] = np.floor(points[:, j] * 3).clip(0, 2)
    for level in range(i[pyramid.LEVELS]):
        corners = refine.find_arm_corners(f, i, at, level, points)
        assert corners <= 1 << pyramid.MOST_MIXED
        cells = i[at.corner :][: corners * 50].reshape(corners, 50)
        weights = f[at.corner_weight :][: corners * 50].reshape(corners, 50)
        assert cells.min() >= 0
        assert cells.max() < i[at.arm_cells + level]
        assert weights.min() >= 0
        assert np.allclose(weights.sum(axis=0), 1, rtol=0, atol=1e-14)
        # What is the same in all cells is so between them.
        f[at.row : at.row + i[pyramid.MOST_FINE]], out = 0.7, np.zeros(50)
        refine.values_at(f, i, at, 50, corners, at.row, out)
        assert np.allclose(out, 0.7, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", ["plane", "two contexts", "mixed contexts", "three and two"])
def test_weights_of_cells_of_contexts_add_up_to_one_where_all_were_visited(name: str) -> None:
    f, i, at = told(ALL[name], 200)
    rng, whole = np.random.default_rng(1), 0
    for level in range(i[pyramid.LEVELS]):
        for _ in range(20):
            point = rng.random(at.dim)
            corners, weight = refine.find_corners(f, i, at, level, point)
            assert weight == pytest.approx(f[at.corner_weight :][:corners].sum(), rel=1e-14)
            assert weight < 1 + 1e-14
            assert level > 0 or (corners == 1 and weight == 1)
            assert set(i[at.corner :][:corners].tolist()) <= set(_at_level(i, at, level))
            whole += abs(weight - 1) < 1e-14
    assert whole > 40


def _at_level(i: Any, at: Any, level: int) -> list[int]:
    return np.flatnonzero(i[at.block_level :][: i[pyramid.BLOCKS]] == level).tolist()
