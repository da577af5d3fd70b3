"""Distances, epochs and growth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretozoom import PCZ
from paretozoom.kernels.zooming import balls
from paretozoom.kernels.zooming.balls import epoch_of
from paretozoom.kernels.zooming.distances import gap_of
from paretozoom.similarity import Similarity
from tests.reference.play import World, play
from tests.reference.problems import PROBLEMS
from tests.reference.space import Space

unit = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.floats(0, 1))


@given(st.integers(0, 1 << 58))
def test_epochs_last_two_four_eight_decisions(number: int) -> None:
    # floor(log2(n/2 + 1)) in exact arithmetic: the epoch k with 2^(k+1) <= n + 2 < 2^(k+2).
    epoch = epoch_of(number)
    assert 2 << epoch <= number + 2 < 4 << epoch
    if number < 1 << 40:
        assert epoch == math.floor(math.log2(number / 2 + 1) + 1e-13)


@pytest.mark.parametrize("name", PROBLEMS)
def test_distances_are_those_of_the_similarity(name: str) -> None:
    problem = PROBLEMS[name]
    space, world = Space.of(problem), World(problem, seed=1)
    points = []
    for arm in PCZ(problem).front(world.context()) * 20:
        point = np.empty(problem.dim)
        problem.encode_context(world.context(), point)
        played = arm.arm if arm.arm is not None else [problem.arm[0].decode(world.rng.random())]
        problem.encode_arm(played, point)
        points.append(point)
    table = Similarity.of(problem).distances(np.array(points), np.array(points))
    for a in range(len(points)):
        for b in range(len(points)):
            assert space.distance(points[a].tolist(), points[b].tolist()) == table[a, b]
    assert table.max() <= 1
    assert table.max() > 0


@given(unit, unit, st.sampled_from(["linear", "periodic", "categorical"]))
def test_gaps(a: float, b: float, kind: str) -> None:
    space = Space([kind], 1, [], [0])
    gap = space.gap(0, a, b)
    assert gap_of(["linear", "periodic", "categorical"].index(kind), a, b) == gap
    assert gap == space.gap(0, b, a)
    assert 0 <= gap <= 1


def test_arrays_that_grew_hold_what_fresh_ones_do() -> None:
    # Capacities double from 64; a policy that loads a snapshot lays its balls out afresh.
    problem = PROBLEMS["mixed contexts"]
    policy, world, sizes = PCZ(problem, horizon=1000, confidence=0.001, seed=4), World(problem, seed=5), set()
    for _ in range(40):
        play([policy], world, 10, scrambled=False)
        fresh = PCZ(problem, horizon=1000, confidence=0.001)
        fresh.load(policy.dump())
        assert fresh.dump().to_bytes() == policy.dump().to_bytes()
        for _ in range(5):
            context = world.context()
            assert fresh.ask(context) == policy.ask(context)
        assert fresh.front(context) == policy.front(context)
        sizes.add(len(policy.balls.radius) // 64)
    assert sizes >= {0, 1, 2, 3}


def test_a_layout_is_read_by_name_in_python_too() -> None:
    names = balls.Layout.__annotations__
    assert not [name for name in names if hasattr(np.record, name)]  # a record has names of its own, which come first
    ints = PCZ(PROBLEMS["plane"])._ints
    at = balls.layout(ints)
    assert [getattr(at, name) for name in names] == ints[balls.LAYOUT : balls.HEADER].tolist()
    assert at.ints == len(ints)


def test_parts_of_a_layout_lie_behind_each_other() -> None:
    """Where two begin at the same place, one is in the place of the other, or empty."""
    same = {"away": "minimum", "heard": "least", "second": "highest", "gap_low": "cover_low", "gap_high": "cover_high"}
    at = balls.layout(PCZ(PROBLEMS["plane"])._ints)
    sizes = ["capacity", "context", "dim", "learned", "arms"]
    parts = [name for name in balls.Layout.__annotations__ if name not in [*sizes, "floats", "ints"]]
    cut, scratch = parts.index("kinds"), parts.index("slice_low")
    scratch_ints = parts.index("slice_place")
    for names, end in (
        (parts[:cut] + parts[scratch:scratch_ints], at.floats),
        (parts[cut:scratch] + parts[scratch_ints:], at.ints),
    ):
        begins = [getattr(at, name) for name in names if name not in same]
        assert begins == sorted(begins)
        assert begins[-1] <= end
    assert all(getattr(at, name) == getattr(at, other) for name, other in same.items())
