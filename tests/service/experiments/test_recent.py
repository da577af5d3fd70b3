"""The latest rounds of an experiment."""

from __future__ import annotations

import pytest

from paretozoom import Decision, Objective, Problem, Real
from paretozoom.service.experiments import recent as module
from paretozoom.service.experiments.recent import RecentRounds, look_at

LINE = Problem([Real("x")], [Real("y")], [Objective("a"), Objective("b")])


def decision(number: int) -> Decision:
    return Decision(number, {"x": 0.5}, {"y": 0.25}, 1.0, -1)


def told(n: int, first: int = 0) -> RecentRounds:
    recent = RecentRounds(LINE)
    for number in range(first, first + n):
        recent.tell(decision(number), {"a": 1.0})
    return recent


def test_parts_of_a_reward_come_together() -> None:
    recent = told(3)
    recent.tell(decision(1), {"b": 0.5})
    assert [round.reward for round in recent.rounds] == [{"a": 1.0}, {"a": 1.0, "b": 0.5}, {"a": 1.0}]


def test_the_oldest_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_KEPT", 5)
    assert [round.decision.number for round in told(8).rounds] == [3, 4, 5, 6, 7]
    monkeypatch.setattr(module, "MOST_NUMBERS", 12)  # a round has four
    assert len(told(8).rounds) == 3


def test_it_is_looked_at_again_when_a_tenth_is_new() -> None:
    assert not told(99).is_due
    recent = told(100)
    assert recent.is_due
    recent.look = look_at(LINE, recent.rounds)
    for number in range(100, 120):
        assert recent.is_due == (number >= 112)  # 12 of 112
        recent.tell(decision(number), {"a": 0.0})


def test_what_is_forgotten_is_not_kept() -> None:
    recent = told(4)
    recent.forget({1, 2, 99})
    assert [round.decision.number for round in recent.rounds] == [0, 3]


def test_what_was_found_in_forgotten_rounds_is_forgotten() -> None:
    recent = told(130)
    recent.look = look_at(LINE, recent.rounds)
    assert not recent.is_due
    recent.forget({7})
    assert recent.look is None
    assert recent.is_due
