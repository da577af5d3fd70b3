"""Events that cannot be replayed are refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from paretozoom import Asked, Decision, Dropped, Told
from paretozoom.policies.base import Policy
from tests.policies.border import MAKERS, UNIT, altered, every_policy, every_zooming, refuses, used


@every_policy
@pytest.mark.parametrize(
    ("changes", "fragments"),
    [
        ({"number": 38}, ["38", "39"]),
        ({"number": 40}, ["40", "39"]),
        ({"number": -1}, ["-1", "39"]),
        ({"number": "39"}, ["39"]),
        ({"number": 39.0}, ["39.0"]),
        ({"number": None}, ["None"]),
        ({"context": {"x": 1.5}}, ["context['x']", "1.5"]),
        ({"context": {}}, ["context", "'x'"]),
        ({"context": None}, ["context", "None"]),
        ({"arm": {"y": -0.5}}, ["arm['y']", "-0.5"]),
        ({"arm": "y"}, ["arm", "'y'"]),
        ({"density": math.nan}, ["density", "nan"]),
        ({"density": math.inf}, ["density", "inf"]),
        ({"density": -1.0}, ["density", "-1.0"]),
        ({"density": 0.0}, ["density", "0.0"]),
        ({"density": None}, ["density", "None"]),
        ({"credit": "0"}, ["credit", "'0'"]),
        ({"credit": None}, ["credit", "None"]),
        ({"credit": 0.5}, ["credit", "0.5"]),
    ],
    ids=" ".join,
)
def test_bad_asked_events_are_refused(
    make: Callable[..., Policy], changes: dict[str, Any], fragments: list[str]
) -> None:
    policy = used(make)
    good = Decision(39, {"x": 0.3}, {"y": 0.5}, 1.0, 0)
    with refuses(policy, *fragments):
        policy.replay(Asked(altered(good, **changes)))
    policy.replay(Asked(good))


@every_policy
@pytest.mark.parametrize(
    ("event", "fragments"),
    [
        (None, ["event", "None"]),
        ("asked", ["event", "'asked'"]),
        (Decision(39, {"x": 0.3}, {"y": 0.5}, 1.0, 0), ["event", "Decision"]),
        (Asked(None), ["None"]),
        (Told(0, {"a": 0.5}), ["decision 0"]),
        (Told(36, {"a": 0.5}), ["decision 36", "dropped"]),
        (Told(39, {"a": 0.5}), ["decision 39"]),
        (Told(-1, {"a": 0.5}), ["decision -1"]),
        (Told([38], {"a": 0.5}), ["[38]"]),
        (Told(38, {}), ["reward", "{}"]),
        (Told(38, None), ["reward", "None"]),
        (Told(38, {"c": 0.5}), ["reward", "'c'"]),
        (Told(38, {"a": math.nan}), ["reward['a']", "nan"]),
        (Told(38, {"a": 0.5, "b": 7.0}), ["reward['b']", "7.0"]),
        (Told(37, {"a": 0.5}), ["reward['a']", "37"]),
        (Dropped(0), ["decision 0"]),
        (Dropped(39), ["decision 39"]),
        (Dropped([38]), ["[38]"]),
    ],
)
def test_bad_events_are_refused(make: Callable[..., Policy], event: Any, fragments: list[str]) -> None:
    policy = used(make)
    with refuses(policy, *fragments):
        policy.replay(event)


@every_zooming
@pytest.mark.parametrize("credit", [-1, 999])
def test_replayed_decisions_of_balls_that_do_not_exist_are_refused(make: Callable[..., Policy], credit: int) -> None:
    policy = used(make)
    with refuses(policy, "39", str(credit)):
        policy.replay(Asked(Decision(39, {"x": 0.3}, {"y": 0.5}, 1.0, credit)))


def test_a_replayed_decision_cannot_credit_a_ball_of_the_last_epoch() -> None:
    policy = MAKERS["pcz-doubling"](UNIT)
    for _ in range(62):  # five whole epochs: the next decision begins with a root alone
        policy.tell(policy.ask([0.3]), [0.5, 0.5])
    assert len(policy.dump().arrays["radius"]) > 5
    with refuses(policy, "62", "5"):
        policy.replay(Asked(Decision(62, {"x": 0.3}, {"y": 0.5}, 1.0, 5)))
