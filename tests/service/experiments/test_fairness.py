"""Where decisions fall on the believed front, and how evenly."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from paretozoom import Decision, Finite, Objective, Piece, Problem, Real
from paretozoom.records import Refused, Snapshot
from paretozoom.service.experiments.fairness import (
    SAMPLES,
    SECONDS_BETWEEN,
    RecentFairness,
    position_on,
    positions_in,
    with_positions,
)

LINE = Problem(context=[], arm=[Real("y", 0, 10)], objectives=[Objective("r")])
LABELS = Problem(context=[], arm=Finite(["a", "b", "c"]), objectives=[Objective("r")])
PLANE = Problem(context=[], arm=[Real("y"), Real("z")], objectives=[Objective("r")])


def interval(low: float, high: float) -> Piece:
    return Piece(low, high, None, {}, {}, {}, {})


def label(arm: object) -> Piece:
    return Piece(None, None, arm, {}, {}, {}, {})


def test_positions_along_a_line_are_by_length() -> None:
    front = [interval(1, 2), interval(5, 8)]
    assert position_on(front, {"y": 1.0}) == 0
    assert position_on(front, {"y": 5.0}) == 0.25
    assert position_on(front, {"y": 8.0}) == 1
    assert position_on(front, {"y": 3.0}) is None


@pytest.mark.parametrize("arms", [["a", "b", "c"], [{"c": "s"}, {"c": "t"}]])
def test_positions_of_finite_arms_are_by_number(arms: list[object]) -> None:
    front = [label(arm) for arm in arms[:2]]
    assert [position_on(front, arm) for arm in arms] == [0.25, 0.75, None][: len(arms)]


class Believer:
    """A policy as far as it is asked for its front; it notes when."""

    def __init__(self, *front: Piece) -> None:
        self._front = list(front)
        self.asked: list[dict[str, Any]] = []

    def front(self, context: dict[str, Any], *, believed: bool) -> list[Piece]:
        assert believed
        self.asked.append(context)
        return self._front


def sampled(arms: list[float]) -> RecentFairness:
    """The fairness of some decisions, far enough apart, where the front is from 0 to 5."""
    fairness, policy = RecentFairness(LINE), Believer(interval(0, 5))
    for k, arm in enumerate(arms):
        fairness.sample(Decision(k, {}, {"y": arm}, 1.0, -1), policy, now=k * SECONDS_BETWEEN * 1.01)  # type: ignore[arg-type]
    return fairness


def test_share_and_entropy_by_hand() -> None:
    fairness = sampled([0.1] * 20 + [4.9] * 20 + [7.0] * 10)
    assert fairness.front_share == 0.8
    assert fairness.local_entropy == pytest.approx((math.log(2) + 1 / 80) / math.log(6))


def test_fair_play_is_even_and_one_arm_is_not() -> None:
    luck = random.Random(1)
    fair = sampled([luck.uniform(0, 5) for _ in range(SAMPLES)])
    # The entropy of 300 fair draws into 6 bins, corrected: mean 1, standard deviation about sqrt(5 / 2) / 300 / log 6.
    assert fair.local_entropy is not None
    assert fair.local_entropy > 1 - 6 * math.sqrt(2.5) / SAMPLES / math.log(6)
    assert sampled([2.0] * 50).local_entropy == 0


def test_few_decisions_say_nothing_and_old_ones_are_forgotten() -> None:
    assert sampled([0.1] * 29).local_entropy is None
    assert sampled([9.0] * SAMPLES + [1.0] * SAMPLES).front_share == 1


def times_asked(problem: Problem, times: list[float], *front: Piece) -> tuple[list[float], float | None]:
    """At which of some times a policy is asked for its front, and the share of decisions on it."""
    fairness, policy = RecentFairness(problem), Believer(*front)
    for now in times:
        fairness.sample(Decision(0, {"now": now}, "a", 1.0, -1), policy, now)  # type: ignore[arg-type]
    return [context["now"] for context in policy.asked], fairness.front_share


def test_in_a_space_of_arms_nothing_is_claimed() -> None:
    assert times_asked(PLANE, [0.0, 10.0]) == ([], None)
    assert times_asked(LABELS, [0.0, 10.0], label("a")) == ([0.0, 10.0], 1.0)


def test_not_all_are_sampled() -> None:
    assert times_asked(LINE, [0.0, 0.1, 0.25, 0.4, 0.5]) == ([0.0, 0.25, 0.5], None)


def test_it_goes_on_from_what_was_saved() -> None:
    fairness = sampled([0.1] * 20 + [4.9] * 20 + [7.0] * 10)
    saved = Snapshot.from_bytes(with_positions(Snapshot({"number": 5}, {}), fairness.positions).to_bytes())
    again = RecentFairness(LINE, positions_in(saved))
    assert (again.front_share, again.local_entropy) == (fairness.front_share, fairness.local_entropy)
    assert positions_in(Snapshot({}, {})) == []
    for wrong in ([2.0], ["a"], 7):
        with pytest.raises(Refused, match="snapshot: positions"):
            positions_in(with_positions(saved, wrong))  # type: ignore[arg-type]
