"""The kernels of ParetoZoom compute what its definition says on any problem."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.policies.pareto_zoom.side_by_side import Both, contexts_of
from tests.reference.play import World
from tests.reference.problems import SHAPES, problems


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=8)
@given(data=st.data())
def test_any_problem(shape: str, data: st.DataObject) -> None:
    problem, seed = data.draw(problems(shape)), data.draw(st.integers(0, 1000))
    most = data.draw(st.sampled_from([2, 8]))  # functions of contexts without axes
    both, world = Both(problem, seed, directions=most), World(problem, seed)
    both.play(world, 60, scrambled=data.draw(st.booleans()))
    both.agree(contexts_of(problem, 3, seed))
