"""Which candidates are played, whatever their indices."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paretozoom import ParetoZoom
from paretozoom.kernels import pyramid
from paretozoom.kernels.believed import AHEAD, WORSE, mark_believed
from paretozoom.kernels.smooth import APART, COMPARED, FIRST_APART, FIRST_COMPARED
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


def _marked(vectors: Any, i: Any = None) -> list[int]:
    """The candidates that are played if these are their indices."""
    f, i = USED._floats.copy(), USED._ints.copy() if i is None else i
    at, indices = pyramid.pyramid(i), np.array(vectors, float)
    f[at.indices : at.indices + indices.size] = indices.T.ravel()
    mark_believed(f, i, at, len(indices))
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


def test_without_a_smooth_estimate_the_whole_front_is_played() -> None:
    one, other = _doubts()
    ints = USED._ints.copy()
    ints[pyramid.SMOOTH_TERMS] = 0
    assert _marked([[0.9 * one, 0.0], [0.0, 9.0 * other]], ints) == [0, 1]
