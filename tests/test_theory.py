"""The paper's formulas, packings, and the zooming numbers of tasks with known truth."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretozoom.environments import PaperTask, Tents
from paretozoom.kernels.core.kinds import CATEGORICAL, LINEAR, NORM_TWO, PERIODIC
from paretozoom.kernels.theory import packing
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Categorical, Finite, Integer, Objective, Real
from paretozoom.records import Refused
from paretozoom.similarity import Similarity
from paretozoom.theory import (
    confidence_constant,
    corollary_bound,
    greedy_packing,
    is_vacuous,
    lemma5_bound,
    lower_bound_exponent,
    theorem1_bound,
    tightest_bound,
    uncertainty,
    zooming_dimension,
    zooming_number,
)
from tests.reference import packing as reference

T, DELTA = 100_000, 1e-5
PAPER_A = confidence_constant(2, T, DELTA)
LOG = (1 + PAPER_A) / 2


class NoGap:
    """A truth in which every arm is optimal."""

    def __init__(self, **spaces):
        self.problem = Problem(objectives=[Objective("r")], **spaces)

    def gaps(self, points):
        return np.zeros(len(points))


class Hopeless(NoGap):
    """A task in which every arm is far from optimal, which no task is."""

    def gaps(self, points):
        return np.full(len(points), 100.0)


@pytest.fixture(scope="module")
def paper_numbers():
    return {2.0**-i: zooming_number(PaperTask(), 2.0**-i) for i in range(8)}


# Confidence radii.


@pytest.mark.parametrize(
    ("objectives", "horizon", "delta", "expected"),
    [(2, T, DELTA, 62.0303632), (2, 1000, 0.05, 31.1804663), (1, T, DELTA, 60.6440689)],
)
def test_confidence_constant(objectives, horizon, delta, expected):
    assert confidence_constant(objectives, horizon, delta) == pytest.approx(expected, abs=5e-8)


@pytest.mark.parametrize(("count", "expected"), [(100, 1.1138255), (124, 1.0002448), (125, 0.9962358), (0, math.inf)])
def test_uncertainty(count, expected):
    assert uncertainty(PAPER_A, count) == pytest.approx(expected, abs=5e-8)


def test_uncertainty_of_a_short_run():
    constant = confidence_constant(2, 1000, 0.05)
    assert uncertainty(constant, 50) == pytest.approx(1.1167894, abs=5e-8)
    assert uncertainty(constant, 63) <= 1 < uncertainty(constant, 62)


@pytest.mark.parametrize(("r", "samples"), [(1, 125), (1 / 2, 497), (1 / 4, 1985), (1 / 8, 7940), (1 / 16, 31760)])
def test_samples_needed_to_be_full(r, samples):
    assert uncertainty(PAPER_A, samples) <= r < uncertainty(PAPER_A, samples - 1)


def test_one_objective_is_full_after_122_samples():
    constant = confidence_constant(1, T, DELTA)
    assert uncertainty(constant, 122) <= 1 < uncertainty(constant, 121)


# Bounds.


def test_theorem1_is_7_66_million_at_one_dimension():
    bound = theorem1_bound(2, T, DELTA, 1, 1)
    assert bound == pytest.approx(3557.7 * T ** (2 / 3), rel=1e-5)
    assert bound == pytest.approx(7.66e6, rel=1e-3)
    assert bound == pytest.approx((28 + 112 * math.log(2 * math.sqrt(2) * 2 * T**2.5 * math.e)) * T ** (2 / 3))


def test_corollary_adds_the_largest_gap():
    by_hand = (28 + 112 * 3 * math.log(2 * math.sqrt(2) * 4 * 500**2.5 * math.e)) * 500**0.75 + 0.7
    assert corollary_bound(4, 500, 3, 2, 0.7) == pytest.approx(by_hand)


def test_lemma5_by_hand():
    numbers = {1.0: 2, 0.5: 5, 0.25: 12}
    assert lemma5_bound(numbers, 1.0, 2, T, DELTA) == pytest.approx(28 * T + 56 * 2 * LOG)
    assert lemma5_bound(numbers, 0.3, 2, T, DELTA) == pytest.approx(28 * T * 0.3 + 56 * (2 + 2 * 5) * LOG)
    assert lemma5_bound(numbers, 0.25, 2, T, DELTA) == pytest.approx(7 * T + 56 * (2 + 2 * 5 + 4 * 12) * LOG)


@given(st.floats(0.1, 20), st.floats(0, 4), st.integers(1, 10**6), st.integers(1, 5))
def test_theorem1_follows_from_lemma5(p, dimension, horizon, objectives):
    r0 = horizon ** (-1 / (2 + dimension))
    delta = 1 / (horizon + 1)
    lemma = lemma5_bound(lambda r: p * r**-dimension, r0, objectives, horizon, delta)
    assert lemma <= theorem1_bound(objectives, horizon, delta, p, dimension) * (1 + 1e-9)


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=9), st.integers(1, 10**7))
def test_tightest_bound_is_the_infimum_of_lemma5(counts, horizon):
    numbers = {2.0**-i: count for i, count in enumerate(counts)}
    tightest = tightest_bound(numbers, 2, horizon, 0.1)
    last = 2.0 ** -len(counts)
    radii = [r for r in np.concatenate([np.geomspace(last, 1, 200), 2.0 ** -np.arange(len(counts))]) if last < r <= 1]
    assert all(tightest <= lemma5_bound(numbers, r, 2, horizon, 0.1) for r in radii)
    just_above = [lemma5_bound(numbers, r / 2 * (1 + 1e-12), 2, horizon, 0.1) for r in numbers]
    assert tightest == pytest.approx(min(just_above))


def test_tightest_bound_of_a_function_looks_no_further_than_needed(paper_numbers):
    asked = []

    def number(r):
        asked.append(r)
        return paper_numbers[r]

    assert tightest_bound(number, 2, T, DELTA) == tightest_bound(paper_numbers, 2, T, DELTA)
    assert asked == [1, 1 / 2, 1 / 4, 1 / 8]


def test_every_bound_is_vacuous_on_the_papers_task(paper_numbers):
    tightest = tightest_bound(paper_numbers, 2, T, DELTA)
    assert tightest == pytest.approx(14 * T / 4 + 56 * (2 + 2 * 4 + 4 * 12) * LOG)
    assert tightest < theorem1_bound(2, T, DELTA, 2, 2)
    assert is_vacuous(tightest, T, 0.5)
    assert not is_vacuous(0.49 * T, T, 0.5)
    assert is_vacuous(0.5 * T, T, 0.5)


@pytest.mark.parametrize(("dimension", "exponent"), [(0, 1 / 2), (1, 2 / 3), (2, 3 / 4), (1.5, 5 / 7)])
def test_lower_bound_exponent(dimension, exponent):
    assert lower_bound_exponent(dimension) == pytest.approx(exponent)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lemma5_bound({1.0: 2}, 0, 2, T, DELTA), "r0: 0 is outside"),
        (lambda: lemma5_bound({1.0: 2}, 0.5, 2, T, DELTA), "r = 0.5 is missing"),
        (lambda: lemma5_bound({1.0: 0}, 1, 2, T, DELTA), "zooming_numbers: 0 at r = 1"),
        (lambda: lemma5_bound({1.0: 2}, 1, 2, T, 0), "delta 0: expected"),
        (lambda: tightest_bound({0.25: 2}, 2, T, DELTA), "r = 1 is missing"),
        (lambda: tightest_bound(lambda r: 0, 2, T, DELTA), "zooming_numbers: 0 at r = 1"),
        (lambda: theorem1_bound(2, T, DELTA, 0, 1), "p: 0 is not positive"),
        (lambda: theorem1_bound(0, T, DELTA, 1, 1), "objectives 0"),
        (lambda: lower_bound_exponent(-1), "dimension: -1 is negative"),
        (lambda: greedy_packing(np.zeros((1, 1)), 0, similarity_of([LINEAR])), "r: 0 is not positive"),
        (lambda: zooming_number(PaperTask(), 0), "r: 0 is not positive"),
        (lambda: zooming_number(Tents(), 2.0**-7, steps=1000), "take a larger r"),
        (lambda: zooming_number(Hopeless(context=[], arm=[Real("y")]), 0.5), "no point of the grid"),
        (lambda: zooming_dimension(Tents(), levels=[3]), r"levels: \[3\] given"),
    ],
)
def test_refusals_name_the_value(call, message):
    with pytest.raises(Refused, match=message):
        call()


# Packings.


def similarity_of(kinds, **parameters):
    """A similarity on coordinates of some kinds."""
    makers = {LINEAR: Real, PERIODIC: lambda name: Real(name, periodic=True)}
    makers[CATEGORICAL] = lambda name: Categorical(name, ["a", "b", "c", "d", "e"])
    arm = [makers[kind](f"y{j}") for j, kind in enumerate(kinds)]
    return Similarity.of(Problem(context=[], arm=arm, objectives=[Objective("r")]), **parameters)


@st.composite
def clouds(draw):
    """Points on a coarse grid, so that distances of exactly r and equal points occur, a similarity, and a radius."""
    kinds = draw(st.lists(st.sampled_from([LINEAR, PERIODIC, CATEGORICAL]), min_size=1, max_size=4))
    coordinate = [
        st.integers(0, 4) if kind == CATEGORICAL else st.integers(0, 32).map(lambda v: v / 32) for kind in kinds
    ]
    points = draw(st.lists(st.tuples(*coordinate), max_size=80))
    r = draw(st.sampled_from([1 / 16, 1 / 8, 0.2, 1 / 4, 1 / 2, 1.0]) | st.floats(0.01, 1.5))
    norm, scale = draw(st.sampled_from([1, 2, math.inf])), draw(st.sampled_from([0.5, 1.0, 3.0]))
    weights = draw(st.lists(st.sampled_from([0.5, 1.0, 4.0]), min_size=len(kinds), max_size=len(kinds)))
    similarity = similarity_of(kinds, norm=norm, weights=weights, scale=scale)
    return np.array(points, float).reshape(len(points), len(kinds)), similarity, r


@given(clouds(), st.none() | st.integers(0, 20))
def test_packing_agrees_with_its_slow_twin(cloud, limit):
    points, similarity, r = cloud
    slow = reference.pack(points.tolist(), similarity, r, len(points) if limit is None else limit)
    assert greedy_packing(points, r, similarity, limit).tolist() == slow


@given(st.integers(0, 2**32 - 1), st.floats(0.02, 0.4), st.sampled_from([1, 2, math.inf]))
def test_packing_of_scattered_points_agrees_with_its_slow_twin(seed, r, norm):
    points = np.random.default_rng(seed).random((300, 3))
    points[:, 2] = np.floor(points[:, 2] * 3)
    similarity = similarity_of([LINEAR, PERIODIC, CATEGORICAL], norm=norm)
    slow = reference.pack(points.tolist(), similarity, r, len(points))
    assert greedy_packing(points, r, similarity).tolist() == slow


def test_packing_under_a_function_agrees_with_its_slow_twin():
    points = np.random.default_rng(1).random((60, 2))
    similarity = similarity_of([LINEAR, LINEAR], function=lambda a, b: max(abs(a[0] - b[0]), abs(a[1] - b[1])))
    largest = similarity_of([LINEAR, LINEAR], norm=math.inf)
    assert greedy_packing(points, 0.2, similarity).tolist() == greedy_packing(points, 0.2, largest).tolist()


@given(clouds())
def test_packing_is_apart_and_maximal(cloud):
    points, similarity, r = cloud
    chosen = greedy_packing(points, r, similarity)
    apart = similarity.distances(points, points[chosen])
    assert all(apart[a, b] >= r for b, a in enumerate(chosen) for b in range(b))
    assert len(points) == 0 or (apart.min(axis=1) < r).all()


def packing_number(apart, r):
    """By trying all subsets."""
    n = len(apart)
    return max(
        size
        for size in range(n + 1)
        for some in itertools.combinations(range(n), size)
        if all(apart[a, b] >= r for a, b in itertools.combinations(some, 2))
    )


@pytest.mark.parametrize("seed", range(5))
def test_greedy_size_lies_between_two_packing_numbers(seed):
    points = np.random.default_rng(seed).random((11, 2))
    similarity = similarity_of([LINEAR, LINEAR])
    apart = similarity.distances(points, points)
    for r in (0.1, 0.2, 0.3):
        assert packing_number(apart, 2 * r) <= len(greedy_packing(points, r, similarity)) <= packing_number(apart, r)


def test_buckets_are_bounded_and_categories_stay_whole():
    points = np.array([[0.0] * 6, [99.0] * 2 + [1.0] * 4])
    kinds = np.array([CATEGORICAL] * 2 + [LINEAR] * 4)
    space = kinds, NORM_TWO, np.full(6, 1 / 6)
    cells = packing.buckets(points, *space, 1e-4)
    assert cells[:2].tolist() == [100, 100]
    assert np.prod(cells) <= packing.MOST_BUCKETS
    assert packing.buckets(points, *space, 0.9).tolist() == [1] * 6


# Zooming numbers.


def test_zooming_numbers_of_the_papers_task(paper_numbers):
    """Other greedy orders gave 150, 414, 1453 and 5360."""
    for r, other in {2**-4: 150, 2**-5: 414, 2**-6: 1453, 2**-7: 5360}.items():
        assert paper_numbers[r] == pytest.approx(other, rel=0.15)
    assert paper_numbers[1.0] == 2  # opposite corners


def test_zooming_numbers_of_the_papers_task_fit_dimension_2_and_p_2(paper_numbers):
    """p cannot be smaller: the opposite corners are a packing for every r < 1."""
    assert all(number <= 2 * r**-2 for r, number in paper_numbers.items())


def test_zooming_dimension_of_the_papers_task(paper_numbers):
    slope, p, numbers = zooming_dimension(PaperTask())
    assert numbers == {2.0**-i: paper_numbers[2.0**-i] for i in range(8)}
    assert 1.6 < slope < 2.1
    assert all(number <= p * r**-slope * (1 + 1e-12) for r, number in numbers.items())
    assert any(number == pytest.approx(p * r**-slope) for r, number in numbers.items())


def test_one_objective_has_a_smaller_dimension():
    """Its Pareto set is a curve, so in the end N_r grows like 1 / r: the last slope is well below 2."""
    assert zooming_dimension(Tents(objectives=1), levels=[6, 7]).slope < 1.2
    assert zooming_dimension(Tents(objectives=2, width=0.4), levels=[6, 7]).slope > 1.2


def test_finite_arms_are_the_arms_themselves():
    assert zooming_number(NoGap(context=[], arm=Finite(list("abcde"))), 0.01) == 5
    assert zooming_number(NoGap(context=[], arm=Finite([1, 2, 3], features=[[0], [1], [5]])), 0.3) == 2
    numbers = zooming_dimension(Tents(arms=11)).numbers
    assert numbers[2.0**-7] < zooming_number(Tents(), 2.0**-7) / 4


def test_spaces_of_every_kind():
    assert zooming_number(NoGap(context=[], arm=[Real("angle", periodic=True)]), 0.5) == 4
    assert zooming_number(NoGap(context=[], arm=[Real("y")]), 0.5) == 3
    assert (
        zooming_number(NoGap(context=[Categorical("c", ["a", "b"])], arm=[Categorical("a", ["x", "y", "z"])]), 0.5) == 6
    )
    assert zooming_number(NoGap(context=[Integer("n", 1, 5)], arm=[Integer("m", 0, 1)]), 0.01) == 10
    assert zooming_number(NoGap(context=[], arm=[Integer("n", 0, 10**6)]), 0.25) == 5


def test_falling_numbers_have_dimension_zero():
    class Peak(NoGap):
        def gaps(self, points):
            return np.where(points[:, 0] == 0, 0.0, 2.0)

    found = zooming_dimension(Peak(context=[], arm=[Real("y")]), levels=[2, 4, 6])
    assert {r: found.numbers[r] for r in (0.25, 0.0625, 0.015625)} == {0.25: 5, 0.0625: 1, 0.015625: 1}
    assert (found.slope, found.p) == (0.0, 5.0)
