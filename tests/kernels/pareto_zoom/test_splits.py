"""Which coordinates ParetoZoom halves, when bases or finite arms are very many."""

from __future__ import annotations

import numpy as np
import pytest

from paretozoom import Finite, Objective, Problem, Real
from paretozoom.kernels.pareto_zoom import pyramid, splits, trend_fit
from tests.kernels.pareto_zoom.feeding import fed
from tests.reference import levels

ONE = [Objective("r", bounded=False)]
PLANE = Problem(context=[Real("x")], arm=[Real("y")], objectives=ONE)


def _compare(problem: Problem, rewards: int) -> levels.Levels:
    """The splits of a policy with so many rewards are those of its twin."""
    policy, twin = fed(problem, rewards, 1)
    f, i = policy._floats, policy._ints
    at = pyramid.pyramid(i)
    digits = np.zeros((i[pyramid.BASES], at.context + at.finer), np.int64)
    arms = np.array([pyramid.digits_of(f, i, at, i[at.base_key + base], row) for base, row in enumerate(digits)])
    head = i[: pyramid.HEADER].copy()
    totals, squares = trend_fit.rest_of(f, i, at, digits, arms)
    chosen = splits.choose_splits(f, i, at, digits, totals, squares, head)
    found = [[level.inner, level.outer, len(level.arm_cells), *level.depth] for level in twin.choose_splits()]
    assert chosen[: head[pyramid.LEVELS]].tolist() == found
    return twin


def test_many_bases_are_judged_by_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    twin = _compare(PLANE, splits.MOST_JUDGED + 1000)
    assert len(twin.bases) > splits.MOST_JUDGED
    sampled = [twin.gain(j) for j in range(2)]
    monkeypatch.setattr(levels, "MOST_JUDGED", 10**9)
    whole = [twin.gain(j) for j in range(2)]
    # The sample is half of the rewards, and its standard error is small against what the first bits tell.
    assert whole != sampled
    assert sampled == pytest.approx(whole, rel=0.1)


@pytest.mark.parametrize(("arms", "groups"), [(4000, 4000), (4500, 2250)])
def test_arms_are_told_apart_in_so_many_groups(arms: int, groups: int) -> None:
    """Up to 4096; of more arms, all but the last bits of their numbers are."""
    problem = Problem(context=[], arm=Finite(list(range(arms))), objectives=ONE)
    twin = _compare(problem, 5000)
    assert max(len(level.arm_cells) for level in twin.choose_splits()) == groups
