"""Decisions that are deferred, cancelled, or expire."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient

from paretozoom.service.writing.groups import Groups
from tests.service.remote import Clock, Remote, begin, refused, serving, until

Service = TestClient[Any]


def test_a_deferred_decision_waits_to_be_shown(experiment: Remote) -> None:
    number = experiment.number(deferred=True)
    for _ in range(2):
        assert experiment.post(f"/decisions/{number}/activate").status_code == 204
    assert [entry["event"]["type"] for entry in experiment.events()] == ["created", "decided", "activated"]
    assert experiment.reward(number).status_code == 200
    refused(experiment.post(f"/decisions/{number}/activate"), 410, f"decision {number}: has all its rewards")


def test_a_decision_that_is_not_deferred_needs_no_activation(experiment: Remote) -> None:
    number = experiment.number()
    assert experiment.post(f"/decisions/{number}/activate").status_code == 204
    assert experiment.count == 2


def test_a_cancelled_decision_takes_no_reward(experiment: Remote) -> None:
    number = experiment.number()
    for _ in range(2):
        assert experiment.post(f"/decisions/{number}/cancel").status_code == 204
    refused(experiment.reward(number), 410, "cancelled")
    refused(experiment.post(f"/decisions/{number}/activate"), 410, "was cancelled")
    assert experiment.state(number) == "cancelled"
    assert experiment.get().json()["counts"]["cancellations"] == 1
    assert experiment.count == 3


def test_what_was_rewarded_cannot_be_cancelled(experiment: Remote) -> None:
    number = experiment.number()
    experiment.reward(number, left=1)
    refused(experiment.post(f"/decisions/{number}/cancel"), 409, "reward")
    experiment.reward(number, right=1)
    refused(experiment.post(f"/decisions/{number}/cancel"), 410, "has all its rewards")
    assert experiment.state(number) == "rewarded"


def test_a_decision_expires_by_itself(client: Service) -> None:
    experiment = begin(client, wait=0.05)
    number = experiment.number()
    until(lambda: experiment.get().json()["counts"]["expiries"] == 1)
    refused(experiment.reward(number), 410, "expired")
    refused(experiment.post(f"/decisions/{number}/cancel"), 410, "has expired")
    assert experiment.state(number) == "expired"
    described = experiment.get().json()
    assert described["open"] == 0
    assert described["counts"]["told"] == {}


def test_a_decision_expires_on_time_whoever_comes_first(tmp_path: Path, lightly: None) -> None:
    with serving(tmp_path) as service:
        experiment = begin(service, wait=60)
        clock = Clock(experiment)
        early, late = experiment.number(), experiment.number()
        clock.now += 59
        assert experiment.reward(early).status_code == 200
        clock.now += 2
        refused(experiment.reward(late), 410, "expired")
        assert experiment.reward(early).json() == {"accepted": 0, "repeated": 1}
        assert experiment.get().json()["counts"]["expiries"] == 1


def test_the_default_is_told_for_what_is_missing(tmp_path: Path, lightly: None) -> None:
    with serving(tmp_path) as service:
        experiment = begin(service, wait=60, default={"left": 0.0, "right": 1.0})
        clock = Clock(experiment)
        part, none = experiment.number(), experiment.number()
        experiment.reward(part, left=1.0)
        clock.now += 61
        experiment.decide()
        counts = experiment.get().json()["counts"]
        assert counts["expiries"] == 2
        assert counts["totals"] == {"left": 1.0, "right": 2.0}
        assert counts["told"] == {"left": 2, "right": 2}
        expired = {e["event"]["number"]: e["event"]["reward"] for e in experiment.events() if "expired" in str(e)}
        assert expired == {part: {"right": 1.0}, none: {"left": 0.0, "right": 1.0}}
        for number, told in ((part, {"left": 1.0}), (none, {})):
            found = experiment.get(f"/decisions/{number}").json()
            assert (found["state"], found["reward"], found["default"]) == ("expired", told, expired[number])


def test_a_deferred_decision_has_its_time_from_when_it_is_shown(tmp_path: Path, lightly: None) -> None:
    with serving(tmp_path) as service:
        experiment = begin(service, wait=60, default={"left": 0.0, "right": 1.0})
        clock = Clock(experiment)
        shown, forgotten = experiment.number(deferred=True), experiment.number(deferred=True)
        clock.now += 50
        assert experiment.post(f"/decisions/{shown}/activate").status_code == 204
        clock.now += 50
        assert experiment.reward(shown).status_code == 200
        refused(experiment.post(f"/decisions/{forgotten}/activate"), 410)
        assert experiment.get().json()["counts"]["told"] == {"left": 1, "right": 1}


def test_a_service_with_nothing_to_do_rests(client: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = begin(client, wait=0.05)
    experiment.reward(experiment.number())
    time.sleep(0.1)
    turns = []
    serve = Groups.serve
    monkeypatch.setattr(Groups, "serve", lambda groups, group: turns.append(1) or serve(groups, group))
    time.sleep(0.2)
    assert len(turns) < 5
