"""Which candidates are played, whatever their means and standard errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretozoom import Objective, ParetoZoom, Problem, Real
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.kernels.pareto_zoom.chooser import choose
from paretozoom.kernels.pareto_zoom.settings import Settings
from paretozoom.policies.fronts import on_front

S = Settings()
ERRORS = np.array([0.1, 3.0, 0.02])


def _used(d: int) -> ParetoZoom:
    objectives = [Objective(f"r{o}") for o in range(d)]
    policy = ParetoZoom(Problem(context=[], arm=[Real("y")], objectives=objectives), seed=1)
    for k in range(12):
        policy.tell(policy.ask(), [k % 3 / 2] * d)
    return policy


USED = {d: _used(d) for d in (1, 2, 3)}


def _marked(means: Any, errors: Any) -> list[int]:
    """The candidates that are played, if these are their means and standard errors: (candidates, objectives)."""
    means = np.array(means, float)
    policy = USED[means.shape[1]]
    f, i = policy._floats.copy(), policy._ints.copy()
    for name, table in (("mean", means), ("error", np.broadcast_to(errors, means.shape))):
        m.memory.view(name, f, i).ravel()[: table.size] = table.T.ravel()
    choose(f, i, len(means))
    return np.flatnonzero(m.memory.view("front", f, i)[0, : len(means)]).tolist()


def _expected(means: Any, errors: Any) -> list[int]:
    """By comparing all pairs."""
    means = np.array(means, float)
    d = means.shape[1]
    errors = np.broadcast_to(errors, means.shape)
    hopeful = means + S.optimism * errors
    front = np.flatnonzero(on_front(hopeful)).tolist()
    if d == 1:
        return front
    unit = S.worse * np.sqrt(np.maximum(np.mean(errors[front] ** 2, axis=0), 1e-300))
    v = hopeful / unit
    best = v[front].max(axis=0)

    def takes_place(one: int, other: int) -> bool:
        behind = v[other] - v[one]
        is_at_end = any(behind[o] > 0 and v[other, o] >= best[o] - S.end * (d - 1) ** 2 for o in range(d))
        return bool(behind.max() <= 1 and -behind.sum() >= S.ahead and is_at_end)

    return [k for k in front if not any(takes_place(other, k) for other in front)]


numbers = st.integers(-40, 40).map(lambda k: k / 7) | st.floats(-1e6, 1e6)
vectors = st.sampled_from([1, 2, 3]).flatmap(
    lambda d: st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=1, max_size=14)
)


@given(vectors, st.sampled_from([0.0, 0.01, 1.0]))
def test_by_comparing_all_pairs(means: list[list[float]], errors: float) -> None:
    marked = _marked(means, errors)
    assert marked == _expected(means, errors)
    assert marked


@pytest.mark.parametrize("seed", range(20))
def test_curved_fronts_of_many_candidates(seed: int) -> None:
    """With errors that differ; fronts of 3 objectives have other ends."""
    rng = np.random.default_rng(seed)
    for d in (2, 3):
        means = np.abs(rng.standard_normal((100, d)))
        means = 8 * means / (means**2).sum(axis=1, keepdims=True) ** 0.5 + 0.3 * rng.standard_normal((100, d))
        errors = rng.random((100, d))
        marked = _marked(means, errors)
        assert marked == _expected(means, errors)
        assert len(marked) < np.count_nonzero(on_front(means + S.optimism * errors)) or d == 2


def test_a_little_less_here_for_much_more_there() -> None:
    """An arm is not played if another is behind by less than an error and ahead by much, in one order or the other."""
    one, other = ERRORS[:2]
    little, much = 0.9 * S.worse, (S.ahead + 1.0) * S.worse
    pair = ERRORS[:2]
    assert _marked([[little * one, 0.0], [0.0, much * other]], pair) == [1]
    assert _marked([[0.0, much * other], [little * one, 0.0]], pair) == [0]
    assert _marked([[1.1 * S.worse * one, 0.0], [0.0, much * other]], pair) == [0, 1]
    assert _marked([[little * one, 0.0], [0.0, (S.ahead + 0.8) * S.worse * other]], pair) == [0, 1]


def test_only_the_ends_of_a_front_are_left_out() -> None:
    """A little better here for much less there is right in the middle of a front that bends inwards."""
    units = S.worse * ERRORS[:2]
    far, near = 1.0 + S.end + 1e-6, 1.0 + S.end - 1e-6
    middle, before = [0.0, 1.0], [S.ahead + 1.0, 0.1]
    assert _marked(units * [middle, before], ERRORS[:2]) == [1]
    assert _marked(units * [middle, before, [-1.0, far]], ERRORS[:2]) == [0, 1, 2]
    assert _marked(units * [middle, before, [-S.ahead, near]], ERRORS[:2]) == [1, 2]
