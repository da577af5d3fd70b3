"""Cells of contexts with several coordinates."""

from __future__ import annotations

import numpy as np
import pytest

from paretozoom import Categorical, Objective, Problem, Real
from paretozoom.environments.base import SLICES, Task
from paretozoom.environments.shapes.cells import ContextCells
from paretozoom.environments.tasks.tents import _mean
from paretozoom.problem.dimensions import Dimension, Floats


class Flat(Task):
    """A task of which only the contexts matter."""

    mean_kernel = _mean

    def __init__(self, context: list[Dimension]) -> None:
        super().__init__(Problem(context=context, arm=[Real("y")], objectives=[Objective("r")]), world=np.zeros(4))


def slices(context: list[Dimension], points: Floats) -> list[int]:
    return Flat(context).slice_of(points).tolist()


def test_categories_are_kept_apart() -> None:
    points = np.array([[0.0, 0.5], [1.0, 0.5], [2.0, 0.5], [3.0, 0.5], [2.0, 0.1]])
    found = slices([Categorical("c", ["a", "b", "c", "d"])], points)
    assert len(set(found[:4])) == 4
    assert found[2] == found[4]


def test_several_coordinates_all_count() -> None:
    rng = np.random.default_rng(1)
    points = rng.random((5_000, 3))
    found = np.array(slices([Real("a"), Real("b")], points))
    assert set(found) == set(range(SLICES))
    for column in (0, 1):  # within a cell both coordinates vary far less than over all
        spread = [points[found == cell, column].std() for cell in range(SLICES)]
        assert max(spread) < 0.6 * points[:, column].std()


def test_the_cells_of_a_task_are_fixed() -> None:
    points = np.random.default_rng(2).random((100, 3))
    assert slices([Real("a"), Real("b")], points) == slices([Real("a"), Real("b")], points)


def test_a_periodic_coordinate_has_no_seam() -> None:
    circle = np.linspace(0, 1, 400, endpoint=False)[:, None]
    found = ContextCells(circle, np.array([1]), np.array([0]), 3).find(circle)
    assert (found != np.roll(found, 1)).sum() == 3  # three arcs, none of them cut where the circle closes


@pytest.mark.parametrize("context", [[Real("x")], []])
def test_one_number_is_cut_evenly(context: list[Dimension]) -> None:
    points = np.array([[0.0, 0.5], [0.999, 0.5]])[:, 2 - len(context) - 1 :]
    assert slices(context, points) == ([0, 19] if context else [0, 0])
