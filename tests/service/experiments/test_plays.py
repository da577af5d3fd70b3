"""Where decisions fall on the believed front, and how evenly."""

from __future__ import annotations

import math
import random

import pytest

from paretozoom import Decision, Finite, Objective, Piece, Problem, Real
from paretozoom.service.experiments.plays import KEPT, Plays, place_on

LINE = Problem(context=[], arm=[Real("y", 0, 10)], objectives=[Objective("r")])
LABELS = Problem(context=[], arm=Finite(["a", "b", "c"]), objectives=[Objective("r")])
PLANE = Problem(context=[], arm=[Real("y"), Real("z")], objectives=[Objective("r")])


def interval(low: float, high: float) -> Piece:
    return Piece(low, high, None, {}, {}, {}, {})


def label(arm: object) -> Piece:
    return Piece(None, None, arm, {}, {}, {}, {})


def test_places_along_a_line_are_by_length() -> None:
    front = [interval(1, 2), interval(5, 8)]
    assert place_on(front, {"y": 1.0}) == 0
    assert place_on(front, {"y": 5.0}) == 0.25
    assert place_on(front, {"y": 8.0}) == 1
    assert place_on(front, {"y": 3.0}) is None


@pytest.mark.parametrize("arms", [["a", "b", "c"], [{"c": "s"}, {"c": "t"}]])
def test_places_of_finite_arms_are_by_number(arms: list[object]) -> None:
    front = [label(arm) for arm in arms[:2]]
    assert [place_on(front, arm) for arm in arms] == [0.25, 0.75, None][: len(arms)]


def noted(places: list[float]) -> Plays:
    plays = Plays(LINE)
    for place in places:
        plays.note(Decision(0, {}, {"y": place}, 1.0, -1), [interval(0, 5)])
    return plays


def test_share_and_evenness_by_hand() -> None:
    plays = noted([0.1] * 20 + [4.9] * 20 + [7.0] * 10)
    assert plays.share == 0.8
    assert plays.evenness == pytest.approx((math.log(2) + 1 / 80) / math.log(6))


def test_fair_play_is_even_and_one_arm_is_not() -> None:
    luck = random.Random(1)
    fair = noted([luck.uniform(0, 5) for _ in range(KEPT)])
    # The entropy of 300 fair draws into 6 bins, corrected: mean 1, standard deviation about sqrt(5 / 2) / 300 / log 6.
    assert fair.evenness is not None
    assert fair.evenness > 1 - 6 * math.sqrt(2.5) / KEPT / math.log(6)
    assert noted([2.0] * 50).evenness == 0


def test_few_plays_say_nothing_and_old_ones_are_forgotten() -> None:
    assert noted([0.1] * 29).evenness is None
    assert noted([9.0] * KEPT + [1.0] * KEPT).share == 1


def test_in_a_space_of_arms_nothing_is_claimed() -> None:
    assert not Plays(PLANE).wants(0.0)
    assert Plays(LINE).wants(0.0)
    assert Plays(LABELS).wants(10.0)


def test_not_all_are_looked_at() -> None:
    plays = Plays(LINE)
    assert [now for now in (0.0, 0.1, 0.25, 0.4, 0.5) if plays.wants(now)] == [0.0, 0.25, 0.5]
