"""Which candidates are played, whatever their indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretozoom import ParetoZoom
from paretozoom.kernels.pareto_zoom import pyramid
from paretozoom.kernels.pareto_zoom.believed import AHEAD, END, WORSE, mark_believed
from paretozoom.kernels.pareto_zoom.pareto_zoom import room
from paretozoom.kernels.pareto_zoom.smooth import APART, COMPARED, FIRST_APART, FIRST_COMPARED, GAIN
from paretozoom.kernels.pareto_zoom.smooth_fit import LAST_FIT, MEMORY
from paretozoom.policies.fronts import on_front
from tests.reference.play import World
from tests.reference.problems import PROBLEMS


def _used() -> ParetoZoom:
    problem = PROBLEMS["plane"]
    policy, world = ParetoZoom(problem, seed=1), World(problem, seed=2)
    for _ in range(60):
        decision = policy.ask(world.context())
        policy.tell(decision, world.reward(decision))
    return policy


USED = _used()


def _marked(vectors: Any, terms: int | None = None, compared: bool = True) -> list[int]:
    """The candidates that are played if these are their indices."""
    f, i = USED._floats.copy(), USED._ints.copy()
    at, indices = pyramid.pyramid(i), np.array(vectors, float)
    i[pyramid.SMOOTH_TERMS] = i[pyramid.SMOOTH_TERMS] if terms is None else terms
    f[at.compared : at.watched] *= compared
    f[at.indices : at.indices + indices.size] = indices.T.ravel()
    mark_believed(f, i, at, np.zeros(at.dim), len(indices))
    return np.flatnonzero(i[at.arm_chosen : at.arm_chosen + len(indices)]).tolist()


def _doubts() -> Any:
    """How far the two estimates of each objective are apart."""
    at = pyramid.pyramid(USED._ints)
    compared = USED._floats[at.compared : at.compared + 2 * pyramid.COMPARISONS].reshape(2, -1)
    differences = (compared[:, APART] + FIRST_APART) / (compared[:, COMPARED] + FIRST_COMPARED)
    return np.sqrt(differences * USED._floats[at.noise : at.noise + 2])


numbers = st.floats(-3, 3) | st.sampled_from([0.0, 1.0, 1e150, -1e150])


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=12))
def test_some_of_the_front_are_played(vectors: list[tuple[float, float]]) -> None:
    front = np.flatnonzero(on_front(np.array(vectors))).tolist()
    marked = _marked(vectors)
    assert marked
    assert set(marked) <= set(front)
    best = max(front, key=lambda k: sum(np.array(vectors[k]) / _doubts()))
    assert best in marked


def test_a_little_less_here_for_much_more_there() -> None:
    """An arm is not played if another is behind by less than a doubt and ahead by much, in one order or the other."""
    one, other = _doubts()
    little, much = 0.9 * WORSE, (AHEAD + 1.0) * WORSE
    assert _marked([[little * one, 0.0], [0.0, much * other]]) == [1]
    assert _marked([[0.0, much * other], [little * one, 0.0]]) == [0]
    assert _marked([[1.1 * WORSE * one, 0.0], [0.0, much * other]]) == [0, 1]
    assert _marked([[little * one, 0.0], [0.0, (AHEAD + 0.8) * WORSE * other]]) == [0, 1]


def test_only_the_ends_of_a_front_are_left_out() -> None:
    """A little better here for much less there is right in the middle of a front that bends inwards."""
    units = WORSE * _doubts()
    far, near = 1.0 + END + 1e-6, 1.0 + END - 1e-6
    middle, before = [0.0, 1.0], [AHEAD + 1.0, 0.1]
    assert _marked(units * [middle, before]) == [1]
    assert _marked(units * [middle, before, [-1.0, far]]) == [0, 1, 2]
    assert _marked(units * [middle, before, [-AHEAD, near]]) == [1, 2]


def test_it_goes_on_when_the_smooth_estimate_is_given_up() -> None:
    vectors = _doubts() * [[0.9, 0.0], [0.0, 9.0]]
    assert _marked(vectors, terms=0) == [1]
    assert _marked(vectors, terms=0, compared=False) == [0, 1]


@pytest.mark.parametrize(("terms", "times"), [(0, MEMORY), (None, 1.0)])
def test_from_then_on_levels_are_taken_to_be_off_by_less(terms: int | None, times: float) -> None:
    """Each time they are made anew."""
    f, i = USED._floats.copy(), USED._ints.copy()
    i[pyramid.SMOOTH_TERMS] = i[pyramid.SMOOTH_TERMS] if terms is None else terms
    i[pyramid.TOLD] = i[pyramid.NEXT] = LAST_FIT + 1
    at = pyramid.pyramid(i)
    f[at.compared : at.watched].reshape(2, -1)[:, GAIN] = 1e9  # a share that is not given up
    expected = f[at.compared : at.watched].reshape(2, -1).copy()
    expected[:, APART] *= times
    after, ints = room(f, i)
    new = pyramid.pyramid(ints)
    np.testing.assert_array_equal(after[new.compared : new.watched].reshape(2, -1), expected)
