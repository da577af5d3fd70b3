"""Decisions that wait: for how long, in what memory, and what becomes of many at once."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient

from paretozoom.service.experiments import at_hand
from paretozoom.service.writing import live_experiment
from paretozoom.service.writing.loading import replay_experiment, verify
from paretozoom.store import open_store
from tests.service.remote import ALL, FULL, Clock, Remote, begin, refused, serving, until

Service = TestClient[Any]
MONTH = 30 * 86_400.0


def test_a_month_is_the_usual_time_and_the_answer_says_so(client: Service) -> None:
    usual, short = begin(client).get().json(), begin(client, wait=60).get().json()
    assert (usual["wait"], usual["notes"]) == (MONTH, ["decisions wait for their rewards for 30 days"])
    assert (short["wait"], short["notes"]) == (60.0, [])
    forever = begin(client, wait=None).get().json()
    assert (forever["wait"], forever["notes"]) == (None, ["decisions wait for their rewards for ever"])


def test_another_wait_holds_for_what_is_open_from_its_own_beginning(tmp_path: Path, lightly: None) -> None:
    with serving(tmp_path) as service:
        experiment = begin(service, name="shop", wait=1000)
        clock = Clock(experiment)
        old = experiment.number()
        clock.now += 100
        young = experiment.number()
        changed = service.patch(experiment.path, json={"wait": 90, "default": {"left": 0.0}})
        assert (changed.status_code, changed.json()["wait"], changed.json()["default"]) == (200, 90.0, {"left": 0.0})
        until(lambda: experiment.get().json()["counts"]["expiries"] == 1)
        assert (experiment.state(old), experiment.state(young)) == ("expired", "open")
        assert experiment.get(f"/decisions/{old}").json()["default"] == {"left": 0.0}
        assert service.patch(experiment.path, json={"wait": 200}).json()["default"] == {"left": 0.0}
        clock.now += 150
        assert experiment.reward(young).status_code == 200
        types = [entry["event"]["type"] for entry in experiment.events()]
        assert types == ["created", "decided", "decided", "wait-changed", "expired", "wait-changed", "rewarded"]
        count = experiment.count
        assert service.patch(experiment.path, json={"wait": 200.0}).status_code == 200
        assert experiment.count == count  # nothing new, no entry
    with serving(tmp_path) as service:
        described = service.get(f"{ALL}/shop").json()
        assert (described["wait"], described["default"]) == (200.0, {"left": 0.0})


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"wait": 0}, ["wait", "0"]),
        ({"wait": "1"}, ["wait", "'1'"]),
        ({"wait": None}, ["default: {'left': 0.0} given without wait"]),
        ({"default": {"up": 1}}, ["default: 'up'"]),
        ({"default": {}}, ["default: {} tells nothing"]),
        ({"waits": 3}, ["waits"]),
    ],
)
def test_a_bad_wait_is_refused(client: Service, body: Any, words: list[str]) -> None:
    experiment = begin(client, wait=60, default={"left": 0})
    refused(client.patch(experiment.path, json=body), 400, *words)
    assert experiment.count == 1


def test_a_retired_experiment_waits_for_nothing(client: Service) -> None:
    experiment = begin(client)
    experiment.post("/retire")
    refused(client.patch(experiment.path, json={"wait": 60}), 410, "retired")


@pytest.mark.parametrize("default", [None, {"left": 0.0, "right": 1.0}])
def test_thousands_expire_in_groups(
    tmp_path: Path, lightly: None, monkeypatch: pytest.MonkeyPatch, default: dict[str, float] | None
) -> None:
    monkeypatch.setattr(live_experiment, "LATE_AT_ONCE", 400)
    monkeypatch.setattr(at_hand, "KEPT", 100)
    with serving(tmp_path) as service:
        experiment = begin(service, name="shop", wait=60, default=default)
        clock = Clock(experiment)
        for _ in range(3):
            body = {"decisions": [{"context": [k / 1000]} for k in range(1000)]}
            assert experiment.post("/decisions/batch", body).status_code == 201
        last = experiment.number()
        clock.now += 59
        experiment.reward(last, left=0.5)
        clock.now += 2
        experiment.decide()
        until(lambda: experiment.get().json()["open"] == 1)
        counts = experiment.get().json()["counts"]
        assert counts["expiries"] == 3001
        assert counts["told"] == ({"left": 3001, "right": 3001} if default else {"left": 1})
    store = open_store(tmp_path)
    found = verify(store, "shop")
    assert (found.fine, len(found.snapshots)) == (True, 1)
    assert replay_experiment(store, "shop").counts.expiries == 3001
    store.close()


def test_many_are_cancelled_in_one_request(client: Service) -> None:
    experiment = begin(client)
    ids = [experiment.decide().json()["id"] for _ in range(6)]
    answer = experiment.post("/cancellations", {"decisions": ids[:3]})
    assert (answer.status_code, answer.json()) == (200, {"cancelled": 3, "repeated": 0})
    assert experiment.post("/cancellations", {"decisions": ids[:4]}).json() == {"cancelled": 1, "repeated": 3}
    experiment.reward(ids[5], left=1.0)
    count, unknown = experiment.count, experiment.id(999)
    refused(experiment.post("/cancellations", {"decisions": [ids[4], ids[5]]}), 409, "decisions[1]", "a reward")
    refused(
        experiment.post("/cancellations", {"decisions": [ids[4], unknown]}), 404, f"decisions[1]: decision '{unknown}'"
    )
    refused(experiment.post("/cancellations", {"decisions": [ids[4], "0000000000-4"]}), 404, "gave no such id")
    refused(experiment.post("/cancellations", {"decisions": [4]}), 400, "decisions[0]")
    refused(experiment.post("/cancellations", {"decisions": []}), 400, "0 given, expected 1 to")
    assert experiment.count == count
    states = [experiment.get(f"/decisions/{one}").json()["state"] for one in ids]
    assert states == ["cancelled"] * 4 + ["open"] * 2
    experiment.reward(ids[4])
    refused(experiment.post("/cancellations", {"decisions": [ids[4]]}), 410, "decisions[0]", "all its rewards")


@pytest.mark.parametrize("policy", ["linucb", "pareto-ucb1"])
def test_rewards_of_decisions_that_are_only_in_the_log(
    tmp_path: Path, lightly: None, monkeypatch: pytest.MonkeyPatch, policy: str
) -> None:
    """Alone, in batches, in parts, again, contradicted, after a restart: the bytes are those of a whole replay."""
    monkeypatch.setattr(at_hand, "KEPT", 0)
    with serving(tmp_path) as service:
        experiment = begin(service, name="shop", policy=policy)
        numbers = [experiment.decide(k / 20).json()["id"] for k in range(20)]
        assert experiment.reward(numbers[0]).json() == {"accepted": 1, "repeated": 0}
        experiment.reward(numbers[1], left=0.5)
        assert experiment.reward(numbers[1], left=0.5).json() == {"accepted": 0, "repeated": 1}
        refused(experiment.reward(numbers[1], left=0.25), 409, "was rewarded with 0.5")
        batch = {"rewards": [{"decision": number, "reward": FULL} for number in numbers[2:8]]}
        assert experiment.post("/rewards/batch", batch).json() == {"accepted": 6, "repeated": 0}
        batch["rewards"] += [
            {"decision": numbers[8], "reward": {"left": 0.5}},
            {"decision": experiment.id(99), "reward": FULL},
        ]
        refused(experiment.post("/rewards/batch", batch), 404, "rewards[7]: decision '", "-99'")
    with serving(tmp_path) as service:
        experiment = Remote(service, "shop")
        until(lambda: experiment.get().json()["ready"])
        assert service.app.state.experiments.by_name["shop"].experiment.policy.open == []
        assert experiment.reward(numbers[1], right=0.5).json() == {"accepted": 1, "repeated": 0}
        assert experiment.reward(numbers[9]).json() == {"accepted": 1, "repeated": 0}
        assert experiment.get().json()["open"] == 11
    store = open_store(tmp_path)
    found = verify(store, "shop")
    assert (found.fine, len(found.snapshots)) == (True, 2)
    assert len(replay_experiment(store, "shop").open_decisions) == 11
    store.close()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE events SET body = CAST(replace(CAST(body AS TEXT), '0.5', '0.75') AS BLOB) WHERE number = ?",
        "UPDATE events SET body = '{}' WHERE number = ?",
        "DELETE FROM events WHERE number = ?",
    ],
)
def test_a_decision_that_the_log_tells_otherwise_is_not_learned(
    tmp_path: Path, lightly: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, change: str
) -> None:
    """Only that one suffers: its reward waits for a repair, and at its time it expires and teaches nothing."""
    monkeypatch.setattr(at_hand, "KEPT", 0)
    with serving(tmp_path) as service:
        experiment = begin(service, name="shop", wait=60, default={"left": 0.0})
        clock = Clock(experiment)
        number, fine = experiment.number(), experiment.number()
        public, other = experiment.id(number), experiment.id(fine)
        with sqlite3.connect(tmp_path / "paretozoom.db") as database:
            assert database.execute(change, (number,)).rowcount == 1
        for _ in range(2):
            refused(experiment.reward(public), 503, f"decision {number}: the log is damaged")
        assert "the log is damaged" in caplog.text
        batch = {"rewards": [{"decision": one, "reward": FULL} for one in (other, public)]}
        refused(experiment.post("/rewards/batch", batch), 503, "rewards[1]", "the log is damaged")
        assert experiment.reward(other).status_code == 200
        clock.now += 61
        experiment.decide()
        until(lambda: experiment.get().json()["counts"]["expiries"] == 1)
        counts = experiment.get().json()["counts"]
        assert counts["told"] == {"left": 1, "right": 1}  # of the other one: no default for what nobody knows
