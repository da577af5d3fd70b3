"""What the metrics ask of a task."""

from __future__ import annotations

import numpy as np
import pytest

from paretozoom import Categorical, Finite, Integer, Objective, PaperTask, Problem, Real, Tents
from paretozoom.environments.base import Task
from paretozoom.metrics.truth.of_rounds import gaps_of, possible_bins, spread_points
from tests.metrics.toy import Table, played, table_mean


class Anything(Task):
    """A task of any problem, for its coordinates."""

    name = "anything"
    mean_kernel = table_mean


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_points_are_spread_evenly(dimensions):
    problem = Problem(
        context=[Real(f"x{k}") for k in range(dimensions - 1)], arm=[Real("y")], objectives=[Objective("r")]
    )
    points = spread_points(Anything(problem), 8_000)
    cells, _ = np.histogramdd(points, bins=4, range=[(0, 1)] * dimensions)
    assert cells.min() > 0.85 * 8_000 / 4**dimensions
    assert cells.max() < 1.15 * 8_000 / 4**dimensions


def test_discrete_coordinates_take_all_their_values():
    context = [Integer("n", 1, 5), Categorical("c", ["p", "q", "r"])]
    task = Anything(Problem(context=context, arm=[Real("y")], objectives=[Objective("r")]))
    points = spread_points(task, 1_000)
    assert np.unique(points[:, 0]).tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert np.unique(points[:, 1]).tolist() == [0, 1, 2]


def test_without_contexts_every_finite_arm_stands_once():
    task = Anything(Problem(context=[], arm=Finite(["a", "b", "c"]), objectives=[Objective("r")]))
    assert spread_points(task, 1_000).tolist() == [[0], [1], [2]]


def test_possible_bins_of_finite_arms_agree_with_the_task():
    task = Tents(arms=15)
    found = possible_bins(task)
    contexts = np.linspace(0.001, 0.999, 500)
    for x in contexts:
        points = np.column_stack([np.full(15, x), task.problem.encoding.arms])
        assert found[task.slice_of(points)[0]][task.are_optimal(points)].all()
    assert not found.all(axis=0).any()


def test_weakly_dominated_arms_are_not_possible_but_equal_ones_are():
    assert possible_bins(Table())[0].tolist() == [True, True, False, False]
    assert possible_bins(Table({"a": (1.0, 0.5), "b": (1.0, 0.5), "c": (0.5, 0.5)}))[0].tolist() == [True, True, False]


def test_a_chunk_is_looked_up_once_and_never_mistaken():
    paper, tents = PaperTask(), Tents()
    first, second = played(paper, 0.5, [0.1]), played(paper, 0.5, [0.5])
    assert gaps_of(paper, first) is gaps_of(paper, first)
    assert gaps_of(paper, first)[0] == pytest.approx(0.5)
    assert gaps_of(paper, second)[0] == pytest.approx(0.0)
    assert gaps_of(tents, first)[0] == pytest.approx(tents.gap([0.5], [0.1]))
