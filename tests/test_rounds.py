"""Rounds as columns: the same rounds, read as a sequence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from paretozoom import (
    Categorical,
    Decision,
    Finite,
    Integer,
    Objective,
    PaperTask,
    Problem,
    Random,
    Real,
    Refused,
    Round,
    Rounds,
    Tents,
    simulate,
)
from paretozoom.rounds import Columns

SHOP = Problem(
    context=[Categorical("country", ["cz", "tr"]), Integer("items", 1, 5)],
    arm=[Real("price", 1, 100, scale="log")],
    objectives=[Objective("profit", low=-10, high=90), Objective("wait", goal="min", low=0, high=60)],
)
SALES = [
    Round(
        Decision(k, {"country": "cztr"[2 * (k % 2) :][:2], "items": 1 + k % 5}, {"price": 1.5 + k}, 0.5, k // 3),
        {"profit": 10.0 * (k % 8), "wait": 60.0 - k},
    )
    for k in range(20)
]


@pytest.mark.parametrize("task", [PaperTask(), Tents(3), Tents(arms=7), Tents(spread=0.1)], ids=lambda t: t.name)
def test_exact_rounds_come_back_bit_for_bit(task: PaperTask | Tents) -> None:
    played = list(simulate(Random(task.problem), task, 25, seed=2))
    rounds = Rounds.of(task.problem, played)
    assert list(rounds) == played
    assert [rounds[k] for k in range(25)] == played


def test_other_rounds_come_back_within_rounding() -> None:
    rounds = Rounds.of(SHOP, iter(SALES))
    assert len(rounds) == len(SALES)
    for mine, theirs in zip(SALES, rounds, strict=True):
        one, other = mine.decision, theirs.decision
        assert (other.number, other.context, other.density, other.credit) == (
            one.number,
            one.context,
            one.density,
            one.credit,
        )
        assert other.arm == pytest.approx(one.arm, rel=1e-14)
        assert theirs.reward == pytest.approx(mine.reward, rel=1e-14, abs=1e-14)


def test_columns_are_encoded_and_typed() -> None:
    columns = Rounds.of(SHOP, SALES).columns
    assert columns.number.tolist() == list(range(20))
    assert columns.point.shape == (20, 3)
    assert columns.point[1].tolist() == pytest.approx([1.0, 0.25, np.log(2.5) / np.log(100)])
    assert columns.reward[2].tolist() == pytest.approx([0.3, 2 / 60])
    assert columns.arm.tolist() == [-1] * 20
    assert columns.credit.tolist() == [k // 3 for k in range(20)]
    assert [column.dtype.kind for column in columns] == ["i", "f", "i", "f", "i", "f"]


def test_finite_arms_are_numbered() -> None:
    problem = Problem(context=[], arm=Finite(["a", "b", "c"]), objectives=[Objective("r")])
    played = [Round(Decision(k, {}, label, 1 / 3, 0), {"r": 0.5}) for k, label in enumerate("bac")]
    rounds = Rounds.of(problem, played)
    assert rounds.columns.arm.tolist() == [1, 0, 2]
    assert list(rounds) == played


def test_they_read_as_a_sequence() -> None:
    rounds = Rounds.of(SHOP, SALES)
    assert isinstance(rounds, Sequence)
    assert rounds[-1] == rounds[19]
    assert rounds[np.int64(3)] == rounds[3]
    assert isinstance(rounds[5:15:2], Rounds)
    assert list(rounds[5:15:2]) == [rounds[k] for k in range(5, 15, 2)]
    assert list(rounds[::-1]) == list(reversed(rounds)) == [rounds[k] for k in range(19, -1, -1)]
    assert rounds[4] in rounds
    assert rounds.index(rounds[4]) == 4
    assert len(rounds[20:]) == 0
    for outside in (20, -21):
        with pytest.raises(IndexError):
            rounds[outside]


def test_no_rounds_are_rounds() -> None:
    rounds = Rounds.of(SHOP, [])
    assert len(rounds) == 0
    assert list(rounds) == []
    assert rounds.columns.point.shape == (0, 3)
    assert rounds.columns.reward.shape == (0, 2)
    assert isinstance(rounds.columns, Columns)


def test_what_was_not_told_stays_silent() -> None:
    partial = Round(SALES[0].decision, {"wait": 30.0})
    rounds = Rounds.of(SHOP, [partial])
    assert np.isnan(rounds.columns.reward[0, 0])
    assert rounds.columns.reward[0, 1] == 0.5
    assert rounds[0].reward == {"wait": 30.0}


def test_rounds_of_another_problem_are_refused() -> None:
    with pytest.raises(Refused, match="context"):
        Rounds.of(PaperTask().problem, SALES)
    with pytest.raises(Refused, match="'tip'"):
        Rounds.of(SHOP, [Round(SALES[0].decision, {"tip": 1.0})])
