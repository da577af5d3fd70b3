"""Draws along the front against the definition, and what they leave out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretozoom.kernels.pareto_zoom.chooser import draw_by_weight, weigh_front
from tests.kernels.pareto_zoom.along_front import weigh
from tests.reference.pareto import front

# Few values, so that equal vectors and equal distances are common.
entries = st.integers(0, 6).map(lambda k: k / 4) | st.floats(-1e6, 1e6).map(lambda x: round(x, 3))


@st.composite
def some_vectors(draw: st.DrawFn) -> list[list[float]]:
    """Up to fifteen vectors of one to four entries."""
    d = draw(st.integers(1, 4))
    return draw(st.lists(st.lists(entries, min_size=d, max_size=d), min_size=1, max_size=15))


@given(some_vectors(), st.floats(0, 1, exclude_max=True))
def test_weights_and_draws_are_those_of_the_definition(vectors: list[list[float]], u: float) -> None:
    marked = front(vectors)
    marks = np.array([k in marked for k in range(len(vectors))], np.int64)
    weights = weigh_front(np.transpose(vectors).copy(), marks)
    assert weights[marked] == pytest.approx(weigh(np.array(vectors)[marked]), rel=1e-9)
    assert (weights >= 0).all()
    assert not weights[marks == 0].any()
    drawn = draw_by_weight(weights, u)
    assert weights[drawn] > 0
    before = weights[:drawn].sum()
    assert before - 1e-9 * weights.sum() <= u * weights.sum() <= before + weights[drawn] + 1e-9 * weights.sum()


@given(some_vectors(), st.integers(0, 1000))
def test_scale_and_order_change_no_weight(vectors: list[list[float]], seed: int) -> None:
    marked = [vectors[k] for k in front(vectors)]
    order = np.random.default_rng(seed).permutation(len(marked))
    table, marks = np.transpose(marked).copy(), np.ones(len(marked), np.int64)
    weights = weigh_front(table, marks)
    assert weigh_front(table[:, order].copy(), marks) == pytest.approx(weights[order], rel=1e-9)
    # Powers of two scale without rounding.
    table *= np.exp2(np.arange(len(table)))[:, None]
    assert weigh_front(table, marks) == pytest.approx(weights, rel=1e-12)


@pytest.mark.parametrize(
    ("vectors", "weights"),
    [
        ([[3.0], [3.0]], [1, 1]),
        ([[0.0, 5.0]], [1]),
        ([[0.0, 1.0], [1.0, 0.0]], [0.5**0.5, 0.5**0.5]),
        # Three equal ones share what one would stand for, so that each of them is played.
        ([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]], [0.5**0.5, 0.5**0.5 / 3, 0.5**0.5 / 3, 0.5**0.5 / 3]),
        ([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [1, 1, 2, 2]),
        ([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [1, 1]),
    ],
)
def test_weights_by_hand(vectors: list[list[float]], weights: list[float]) -> None:
    found = weigh_front(np.transpose(vectors).copy(), np.ones(len(vectors), np.int64))
    assert found.tolist() == pytest.approx(weights, rel=1e-12)


def test_draws_follow_the_weights() -> None:
    weights = np.array([0.0, 1.0, 0.0, 2.0, 1.0, 0.0])
    assert [draw_by_weight(weights, u) for u in (0.0, 0.24, 0.25, 0.74, 0.75, 0.999)] == [1, 1, 3, 3, 4, 4]
