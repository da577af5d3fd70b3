"""Estimates of ParetoZoom, once they are made anew, follow from the rewards alone, whatever came before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretozoom import Problem
from paretozoom.kernels.pareto_zoom import pyramid, refine
from tests.kernels.pareto_zoom.feeding import fed, places
from tests.reference.problems import LATTICE_PROBLEMS, PROBLEMS

ALL = {**PROBLEMS, **LATTICE_PROBLEMS}


def _rows(f: Any, i: Any, at: pyramid.Pyramid, point: Any, optimism: float) -> tuple[int, Any]:
    """The level that is played by, and the indices of its cells of arms."""
    level = refine.refine(f, i, at, point, optimism)
    cells = i[at.arm_cells + level]
    return level, np.array([f[refine.row_of(i, at, o) :][:cells] for o in range(at.learned)])


@pytest.mark.parametrize("name", ["periodic everywhere", "mixed contexts", "features", "three and two", "mixed arms"])
@settings(max_examples=4)
@given(rounds=st.integers(8, 150), seed=st.integers(0, 1000))
def test_rows_follow_from_the_rewards(name: str, rounds: int, seed: int) -> None:
    """The twin sums all rewards anew in the cells of the same levels, and makes their estimates once."""
    problem: Problem = ALL[name]
    policy, twin = fed(problem, rounds + 1, seed)
    f, i = policy._floats, policy._ints
    at = pyramid.pyramid(i)
    for level in twin.levels:
        twin._fill(level)
    twin.refresh_all()
    refine.refresh_all(f, i, at, np.zeros(at.context + at.finer, np.int64))
    for point in places(problem, 20, np.random.default_rng(seed)):
        # Doubts are roots: of what rounding leaves of a variance, about 1e-17, that is 3e-9.
        for optimism, rounding in ((0.0, 1e-12), (0.5, 1e-8)):
            level, rows = _rows(f, i, at, point, optimism)
            assert level == twin.last_level(point.tolist())
            direct = np.transpose(list(twin.row(level, point.tolist(), optimism).values()))
            assert np.allclose(rows, direct, rtol=1e-9, atol=rounding)
    blocks = i[pyramid.BLOCKS]
    assert (i[at.block_due :][:blocks] > i[at.block_told :][:blocks]).all()
    assert i[pyramid.DUE] > i[pyramid.TOLD]


@pytest.mark.parametrize("told", [0, 1, 15, 16, 31, 32, 1600])
def test_estimates_wait_for_one_in_sixteen_more(told: int) -> None:
    due = refine.due_after(told)
    assert due > told
    assert 16 * (due - told - 1) <= told < 16 * (due - told)
