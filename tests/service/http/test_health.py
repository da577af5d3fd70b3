"""What whoever watches is told, and what all answers have in common."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from litestar.testing import TestClient

from paretozoom.service import Limits
from paretozoom.service.access.tokens import append_event, new_token
from paretozoom.service.app import create_app
from paretozoom.service.http import health
from paretozoom.store import open_store
from tests.service.remote import Remote, begin, refused, serving, until
from tests.service.writing.test_neighbours import Held

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


def test_answers_are_counted_by_kind_and_status(client: Service, experiment: Remote) -> None:
    experiment.number()
    refused(experiment.decide("?"), 400)
    refused(client.get("/nothing/here"), 404)
    lines = client.get("/metrics").text.splitlines()
    for kind, status in (
        ("POST /v1/experiments/{name}/decisions", 201),
        ("POST /v1/experiments/{name}/decisions", 400),
        ("elsewhere", 404),
    ):
        here = f'paretozoom_answers_total{{kind="{kind}",status="{status}"}}'
        (count,) = [float(line.rpartition(" ")[2]) for line in lines if line.startswith(here)]
        assert count >= 1
    for what in ("commit", "learning", "longest_event", "loop_lag"):
        assert any(line.startswith(f"paretozoom_{what}_seconds_count") for line in lines)
    assert 'paretozoom_store_state{state="fine"} 1.0' in lines
    assert 'paretozoom_store_state{state="full"} 0.0' in lines
    for name in ("paretozoom_waiting", "paretozoom_waiting_seconds", "process_resident_memory_bytes"):
        assert any(line.startswith(f"{name} ") for line in lines)


def test_every_answer_has_an_id(client: Service, experiment: Remote) -> None:
    answers = [experiment.decide(), experiment.decide("?"), client.get("/nothing"), client.get("/live")]
    names = [answer.headers["x-request-id"] for answer in answers]
    assert len(set(names)) == 4
    assert client.get("/live", headers={"x-request-id": "mine-7"}).headers["x-request-id"] == "mine-7"
    for bad in ("a b", "x" * 200, '"', "{}"):
        assert client.get("/live", headers={"x-request-id": bad}).headers["x-request-id"] not in (bad, "")


def test_a_mistake_is_logged_with_the_id_of_its_request(
    client: Service, experiment: Remote, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("paretozoom.service.http.front.FrontAnswer", None)
    answer = experiment.get("/front?context=[0.5]")
    refused(answer, 500)
    assert answer.headers["x-request-id"] in [getattr(record, "request", None) for record in caplog.records]


def test_the_log_of_answers_says_who_asked(tmp_path: Path, lightly: None, caplog: pytest.LogCaptureFixture) -> None:
    store = open_store(tmp_path)
    text, event = new_token(["admin"], None, None)
    append_event(store, event)
    caplog.set_level(logging.INFO)
    app = create_app(store, access_log=True)
    with TestClient(app, base_url="http://127.0.0.1") as client:
        client.headers["authorization"] = f"Bearer {text}"
        until(lambda: client.get("/ready").status_code == 200)
        made = begin(client, "prices").decide().json()["id"]
        assert client.get("/v1/experiments", headers={"authorization": "Bearer pz_x_y"}).status_code == 401
    lines = [vars(record) for record in caplog.records if record.name == "paretozoom.access"]
    (decided,) = [line for line in lines if line["what"].endswith("/decisions")]
    assert (decided["by"], decided["experiment"], decided["status"]) == (event.id, "prices", 201)
    assert decided["decision"] == made
    assert [line.get("by") for line in lines if line["status"] == 401] == [None]
    assert text not in str(lines)


def test_the_service_is_alive_before_it_is_ready(client: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.get("/ready").text == "ready\n"
    monkeypatch.setattr(client.app.state.experiments, "compiled", False)
    refused(client.get("/ready"), 503, "compiled")
    assert client.get("/live").text == "alive\n"


@contextmanager
def waited_for(folder: Path, **limits: Any) -> Iterator[Remote]:
    """An experiment whose first decision is being written, which takes as long as the block runs."""
    store = Held(open_store(folder))
    with serving(store, limits=Limits(**limits)) as client, ThreadPoolExecutor(3) as pool:  # type: ignore[arg-type]
        experiment = begin(client, "prices")
        lane = client.app.state.writer._lane("prices")
        with store.held():
            waiting = [pool.submit(experiment.decide)]
            until(lambda: lane.group)
            waiting += [pool.submit(experiment.decide) for _ in range(2)]
            until(lambda: lane.waiting == 2)
            yield experiment
        assert [one.result().status_code for one in waiting] == [201] * 3


def test_a_service_that_is_behind_says_so(tmp_path: Path, lightly: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "SECONDS_BEHIND", 0.01)
    with waited_for(tmp_path, seconds_to_answer=60.0) as experiment:
        until(lambda: experiment.client.get("/ready").status_code == 503)
        refused(experiment.client.get("/ready"), 503, "the service is behind", "seconds already")
        assert experiment.client.get("/live").status_code == 200


def test_who_comes_when_too_many_wait_is_told_when_to_come_again(tmp_path: Path, lightly: None) -> None:
    with waited_for(tmp_path, seconds_to_answer=60.0, waiting=2) as experiment:
        answer = experiment.decide()
        refused(answer, 429, "prices")
        assert answer.headers["retry-after"] == "1"


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
    answer = client.put(experiment.path)
    refused(answer, 405)
    assert "GET" in answer.headers["allow"]
    refused(client.get("/nothing/here"), 404)


def test_answers_are_what_the_types_say(experiment: Remote) -> None:
    from paretozoom.service.http.bodies import ExperimentAnswer
    from paretozoom.service.http.decisions import DecisionAnswer, DecisionState

    msgspec.json.decode(experiment.decide().content, type=DecisionAnswer)
    msgspec.json.decode(experiment.get("/decisions/0").content, type=DecisionState)
    msgspec.json.decode(experiment.get().content, type=ExperimentAnswer)
