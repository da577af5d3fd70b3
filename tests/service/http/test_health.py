"""What whoever watches is told, and what all answers have in common."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from litestar.testing import TestClient

from tests.service.remote import Remote, refused

Service = TestClient[Any]


def test_metrics_are_counted(experiment: Remote) -> None:
    for k in range(3):
        experiment.reward(experiment.number(), left=k / 2)
    experiment.post(f"/decisions/{experiment.number()}/cancel")
    answer = experiment.client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    here = f'{{experiment="{experiment.name}"}}'
    for line in (
        f"paretozoom_decisions_total{here} 4.0",
        f"paretozoom_rewards_total{here} 3.0",
        f"paretozoom_cancellations_total{here} 1.0",
        f"paretozoom_expiries_total{here} 0.0",
        f"paretozoom_open_decisions{here} 3.0",
        f'paretozoom_mean_reward{{experiment="{experiment.name}",objective="left"}} 0.5',
    ):
        assert line in answer.text.splitlines()
    assert 'paretozoom_request_seconds_count{act="decide"}' in answer.text


def test_the_service_is_alive_before_it_is_ready(client: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.get("/ready").text == "ready\n"
    monkeypatch.setattr(client.app.state.experiments, "compiled", False)
    refused(client.get("/ready"), 503, "compiled")
    assert client.get("/live").text == "alive\n"


def test_what_is_not_compiled_yet_is_worth_another_try(client: Service, experiment: Remote) -> None:
    live = client.app.state.experiments.by_name[experiment.name]
    live.compiled = False
    for answer in (experiment.decide(), experiment.get("/front?context=[0.5]"), experiment.get("/snapshot")):
        refused(answer, 503, "compiled")
        assert answer.headers["retry-after"] == "1"
    assert experiment.get().json()["ready"] is False
    live.compiled = True
    assert experiment.number() == 0


def test_other_methods_are_told_which_are_allowed(client: Service, experiment: Remote) -> None:
    answer = client.delete(experiment.path)
    refused(answer, 405)
    assert "GET" in answer.headers["allow"]
    refused(client.get("/nothing/here"), 404)


def test_answers_are_what_the_types_say(experiment: Remote) -> None:
    from paretozoom.service.http.bodies import ExperimentAnswer
    from paretozoom.service.http.decisions import DecisionAnswer, DecisionState

    msgspec.json.decode(experiment.decide().content, type=DecisionAnswer)
    msgspec.json.decode(experiment.get("/decisions/0").content, type=DecisionState)
    msgspec.json.decode(experiment.get().content, type=ExperimentAnswer)
