"""Tasks in the user's units, their slices, and what they refuse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from paretozoom import Decision, Objective, PaperTask, Problem, Real, Refused, Tents
from paretozoom.environments.base import Task
from tests.environments.points import PAPER_LIPSCHITZ, grid_error


class Shop(Task):
    """The paper's means behind a problem in other units, with every kind of context."""

    name = "shop"
    mean_kernel = PaperTask.mean_kernel

    def __init__(self) -> None:
        super().__init__(
            Problem(
                context=[Real("load", 1, 1000, scale="log")],
                arm=[Real("price", 10, 20)],
                objectives=[Objective("profit", low=-5, high=5), Objective("wait", goal="min", low=0, high=60)],
            )
        )


def test_a_task_speaks_the_users_units() -> None:
    task, paper = Shop(), PaperTask()
    load, price = 1000**0.5, 15.0
    assert task.mean([load], [price]) == pytest.approx({"profit": 0.0, "wait": 30.0})
    assert task.gap([load], [13.0]) == pytest.approx(paper.gap([0.5], [0.3]), abs=grid_error(task, PAPER_LIPSCHITZ))
    assert task.front([load]) == [(pytest.approx(14, abs=0.01), pytest.approx(16, abs=0.01))]
    task.reset(2)
    paper.reset(2)
    for k in range(30):
        context, plain = task.observe(), paper.observe()
        assert context["load"] == pytest.approx(1000 ** plain["x"])
        reward = task.respond(Decision(k, context, {"price": 14.5}, 1.0, 0))
        luck = paper.respond(Decision(k, plain, {"y": 0.45}, 1.0, 0))
        assert reward == {"profit": 10 * luck["first"] - 5, "wait": 60 - 60 * luck["second"]}


def test_slices_are_parts_of_the_first_context() -> None:
    points = np.array([[0.0, 0.5], [0.049, 0.5], [0.05001, 0.5], [0.999, 0.5], [1.0, 0.5]])
    assert PaperTask().slice_of(points).tolist() == [0, 0, 1, 19, 19]


@pytest.mark.parametrize(
    ("parameters", "fragments"),
    [
        ({"objectives": 0}, ["objectives", "0"]),
        ({"objectives": -1}, ["objectives", "-1"]),
        ({"objectives": 2.5}, ["objectives", "2.5"]),
        ({"objectives": "2"}, ["objectives", "'2'"]),
        ({"objectives": True}, ["objectives", "True"]),
        ({"objectives": 33}, ["objectives", "33"]),
        ({"arms": 1}, ["arms", "1"]),
        ({"arms": 2.5}, ["arms", "2.5"]),
        ({"spread": -1}, ["spread", "-1"]),
        ({"spread": math.nan}, ["spread", "nan"]),
        ({"width": math.nan}, ["width", "nan"]),
        ({"slope": math.inf}, ["slope", "inf"]),
        ({"slope": "steep"}, ["slope", "'steep'"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_impossible_tents_are_refused(parameters: dict[str, Any], fragments: list[str]) -> None:
    with pytest.raises(Refused) as refusal:
        Tents(**parameters)
    assert all(fragment in str(refusal.value) for fragment in fragments)


@pytest.mark.parametrize("seed", [-1, 1.5, "x", True, None], ids=repr)
def test_bad_seeds_are_refused(seed: Any) -> None:
    task = PaperTask()
    task.reset(5)
    task.observe()
    key, observed = task.key.copy(), task.observed
    with pytest.raises(Refused, match="seed"):
        task.reset(seed)
    assert np.array_equal(task.key, key)
    assert task.observed == observed


def test_bad_questions_are_refused() -> None:
    task = PaperTask()
    with pytest.raises(Refused, match="noise: 'cauchy'"):
        Task(task.problem, noise="cauchy")  # type: ignore[arg-type]
    with pytest.raises(Refused, match="context"):
        task.gap([2.0], [0.5])
    with pytest.raises(Refused, match="arm"):
        task.mean([0.5], {"z": 0.5})
    with pytest.raises(Refused, match="context"):
        task.front({})
    with pytest.raises(Refused, match="arm"):
        task.respond(Decision(0, {"x": 0.5}, {"y": 7.0}, 1.0, 0))
