"""The in-round filter against the definition of dominance."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paretozoom.kernels.core.pareto import mark_front
from tests.reference.pareto import dominated, front

# Few values, so that ties and equal vectors are common; infinite ones, as an unseen root has.
entries = st.sampled_from([0.0, 0.25, 0.5, math.nextafter(0.5, 1), 1.0, math.inf])


@st.composite
def some_vectors(draw: st.DrawFn) -> list[list[float]]:
    """Up to twelve vectors of one to four entries."""
    d = draw(st.integers(1, 4))
    return draw(st.lists(st.lists(entries, min_size=d, max_size=d), min_size=1, max_size=12))


def marked(vectors: list[list[float]]) -> list[int]:
    """The places that the kernel marks, when its arrays hold other things before and after."""
    rows, d = len(vectors), len(vectors[0])
    floats = np.concatenate([[math.nan] * 3, np.transpose(vectors).ravel(), [math.nan] * 3])
    marks = np.full(2 * rows + 5, 7, np.int64)
    mark_front(floats, 3, d, marks, 2, rows, rows + 3)
    assert [*marks[:2].tolist(), marks[2 + rows], *marks[3 + 2 * rows :].tolist()] == [7] * 5
    assert set(marks[2 : 2 + rows].tolist()) <= {0, 1}
    return np.flatnonzero(marks[2 : 2 + rows]).tolist()


@given(some_vectors())
def test_marks_are_the_front(vectors: list[list[float]]) -> None:
    assert marked(vectors) == front(vectors)


@given(st.integers(0, 2**32 - 1), st.integers(1, 300), st.integers(1, 3), st.integers(2, 40))
def test_marks_of_many_vectors_are_the_front(seed: int, rows: int, d: int, steps: int) -> None:
    vectors = np.random.default_rng(seed).integers(steps, size=(rows, d)) / steps
    assert marked(vectors.tolist()) == front(vectors.tolist())


@given(some_vectors())
def test_every_other_vector_is_dominated_from_the_front(vectors: list[list[float]]) -> None:
    kept = marked(vectors)
    assert kept
    for k, vector in enumerate(vectors):
        assert (k in kept) != any(dominated(vector, vectors[b]) for b in kept)


def test_equal_vectors_stay_and_weakly_dominated_ones_go() -> None:
    assert marked([[1.0, 1.0], [1.0, 1.0], [1.0, 0.5], [0.0, 0.0]]) == [0, 1]
