"""Experiments are begun, described, paused and retired, within limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient

from paretozoom.service import Limits
from tests.service.remote import ALL, FULL, PLAIN, Remote, begin, new, refused, serving, until

Service = TestClient[Any]


def test_an_experiment_is_described_as_it_was_created(client: Service) -> None:
    given = new("described", seed=11, wait=60.0, default={"left": 0.0})
    answer = client.post(ALL, json=given)
    assert answer.status_code == 201
    body = answer.json()
    assert {field: body[field] for field in ("name", "policy", "wait", "default")} == {
        field: given[field] for field in ("name", "policy", "wait", "default")
    }
    assert body["problem"] == PLAIN
    assert body["seed"] == "11"
    assert body["status"] == "running"
    assert body["events"] == 1
    until(lambda: client.get(f"{ALL}/described").json()["ready"])
    assert client.get(f"{ALL}/described").json() == {**body, "ready": True}
    listed = client.get(ALL).json()["experiments"]
    assert [one["name"] for one in listed] == sorted(one["name"] for one in listed)
    assert {**body, "ready": True} in listed


def test_a_seed_is_drawn_if_none_is_given_and_can_be_given_again(client: Service) -> None:
    first = client.post(ALL, json=new("drawn")).json()
    again = begin(client, "drawn-again", seed=int(first["seed"]))
    until(lambda: client.get(f"{ALL}/drawn").json()["ready"])
    arms = [[Remote(client, name).decide().json()["arm"] for _ in range(8)] for name in ("drawn", again.name)]
    assert arms[0] == arms[1]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"name": "never", "policy": "random"}, ["problem"]),
        ({"problem": PLAIN}, ["name"]),
        (new(name="Never"), ["name: 'Never': expected 1 to 64 lower-case letters, digits"]),
        (new(name="never\n"), ["name: 'never\\n': expected 1 to 64 lower-case letters"]),
        (new(name=""), ["name"]),
        (new(name="_admin"), ["name", "'_admin'"]),
        (new(name="a" * 65), ["name"]),
        (new(name=5), ["name", "5", "expected `str`"]),
        (new(policy="rando"), ["policy: 'rando' is not one of", "pareto-zoom"]),
        (new(policy="os:system"), ["policy", "'os:system'"]),
        (new(policy="paretozoom.policies.arms.random:Random"), ["policy"]),
        (new(policy="p" * 65), ["policy"]),
        (new(parameters={"horizon": 3}), ["parameters", "'horizon'", "random"]),
        (new(policy="epoch-greedy", parameters={"horizons": 3}), ["which takes ['rules', 'cells', ", ", 'within']"]),
        (new(parameters={"seed": 3}), ["parameters", "seed"]),
        (new(parameters=[1]), ["parameters", "[1]", "object"]),
        (new(policy="pcz", parameters={"horizon": "long"}), ["horizon", "'long'"]),
        (
            new(policy="pcz", parameters={"horizon": 9, "similarity": {"function": "os:system"}}),
            ["parameters", "similarity", "function"],
        ),
        (new(policy="pcz", parameters={"horizon": 9, "similarity": "os:system"}), ["similarity", "'os:system'"]),
        (new(seed=-1), ["seed", "-1"]),
        (new(seed=1 << 60), ["seed"]),
        (new(seed="1"), ["seed", "'1'", "int"]),
        (new(wait=0), ["wait", "0"]),
        (new(wait=1e10), ["wait"]),
        (new(wait=60, default={"up": 1}), ["default: 'up' is not one of the objectives ['left', 'right']"]),
        (new(wait=60, default={"left": 7}), ["default['left']: 7.0 is outside [0, 1]"]),
        (new(wait=60, default={}), ["default: {} tells nothing"]),
        (new(wait=None, default={"left": 0, "right": 0}), ["default: {'left': 0.0, 'right': 0.0} given without wait"]),
        (new(more=1), ["more"]),
        (new(problem=3), ["problem", "3", "object"]),
        (new(problem={**PLAIN, "arm": []}), ["problem", "arm"]),
        (new(problem={**PLAIN, "objectives": []}), ["problem", "objectives"]),
        (new(problem={**PLAIN, "context": [{"type": "imaginary", "name": "x"}]}), ["context", "imaginary"]),
        (new(problem={**PLAIN, "context": [{"type": "real", "name": "x", "low": 1, "high": 0}]}), ["low", "high"]),
    ],
)
def test_a_bad_experiment_is_refused_by_field_and_value(client: Service, body: Any, words: list[str]) -> None:
    refused(client.post(ALL, json=body), 400, *words)
    assert client.get(f"{ALL}/never").status_code == 404


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"name": "a\xff"}', b"name=x"])
def test_what_is_not_an_object_in_json_is_refused(client: Service, body: bytes) -> None:
    for path in (ALL, f"{ALL}/none/decisions", f"{ALL}/none/rewards"):
        refused(client.post(path, content=body, headers={"content-type": "application/json"}), 400)


def test_a_name_is_given_once(client: Service, experiment: Remote) -> None:
    refused(client.post(ALL, json=new(experiment.name)), 409, experiment.name, "exists already")
    assert experiment.count == 1


def test_an_experiment_that_is_not_there_is_not_found(client: Service) -> None:
    nobody = Remote(client, "nobody")
    answers = [nobody.get(path) for path in ("", "/front", "/events", "/snapshot", "/decisions/0")]
    answers += [nobody.post(path) for path in ("/pause", "/resume", "/retire", "/decisions/0/cancel")]
    answers += [nobody.decide(), nobody.reward(0), nobody.post("/decisions/batch", {"decisions": [{}]})]
    answers += [nobody.post("/rewards/batch", {"rewards": [{"decision": nobody.id(0), "reward": FULL}]})]
    for answer in answers:
        refused(answer, 404, "'nobody'")


def test_a_paused_experiment_takes_rewards_but_decides_nothing(experiment: Remote) -> None:
    number = experiment.number()
    for _ in range(2):  # again is fine
        assert experiment.post("/pause").json()["status"] == "paused"
    refused(experiment.decide(), 409, "paused")
    assert experiment.reward(number).status_code == 200
    for _ in range(2):
        assert experiment.post("/resume").json()["status"] == "running"
    assert experiment.number() == number + 1
    assert [entry["event"]["type"] for entry in experiment.events()][2:5] == ["paused", "rewarded", "resumed"]
    assert experiment.events()[2]["event"]["by"] == "loopback"


def test_a_retired_experiment_takes_nothing_but_can_be_read(experiment: Remote) -> None:
    number = experiment.number(request_id="one")
    for _ in range(2):
        assert experiment.post("/retire").json()["status"] == "retired"
    for answer in (
        experiment.decide(),
        experiment.reward(number),
        experiment.post("/pause"),
        experiment.post("/resume"),
        experiment.post(f"/decisions/{number}/cancel"),
    ):
        refused(answer, 410, "is retired")
    assert experiment.state(number) == "retired"
    assert experiment.get().json()["open"] == 0
    assert experiment.get("/snapshot").status_code == 200
    assert len(experiment.events()) == 3
    assert experiment.number(request_id="one") == number


def test_what_is_done_to_an_experiment_is_logged(experiment: Remote, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "paretozoom")
    for act in ("pause", "pause", "resume", "resume", "retire", "retire"):
        experiment.post(f"/{act}")
    said = [(line.getMessage(), line.experiment, line.by) for line in caplog.records if line.name == "paretozoom"]
    assert said == [(f"experiment {act}", experiment.name, "loopback") for act in ("paused", "resumed", "retired")]


@pytest.mark.parametrize("name", ["Nobody", "_service", "a" * 65])
def test_a_path_with_a_name_that_none_can_have_is_refused_in_words(client: Service, name: str) -> None:
    refused(client.get(f"{ALL}/{name}"), 400, f"name: {name!r}: expected 1 to 64 lower-case letters, digits")


@pytest.mark.parametrize("act", ["stop", "Pause", "pause%0A", "reply", "__init__"])
def test_what_cannot_be_done_to_an_experiment_is_refused(experiment: Remote, act: str) -> None:
    refused(experiment.post(f"/{act}"), 400, "act")
    refused(experiment.post(f"/decisions/{experiment.number()}/{act}"), 400, "act")


def test_a_parameter_that_asks_for_too_much_is_refused(client: Service) -> None:
    problem = {**PLAIN, "arm": [{"type": "real", "name": "y"}]}
    body = new(policy="pareto-ucb1", problem=problem, parameters={"arms": 1 << 62})
    refused(client.post(ALL, json=body), 400, "parameters")


def test_limits_are_kept(tmp_path: Path, lightly: None) -> None:
    with serving(tmp_path, limits=Limits(body=2000, batch=2, open=2, experiments=2)) as service:
        experiment = begin(service)
        number = experiment.number()
        both = {"decisions": [{"context": [0.5]}] * 2}
        refused(experiment.post("/decisions/batch", both), 429, "2", "wait for rewards")
        experiment.number()
        refused(experiment.decide(), 429)
        experiment.reward(number)
        assert experiment.number() == 2
        refused(experiment.post("/decisions/batch", {"decisions": [{}] * 3}), 400, "1 to 2")
        begin(service)
        refused(service.post(ALL, json=new("third")), 429, "2")
        refused(experiment.decide(request_id="x" * 2000), 413, "body: is longer than 2,000 bytes")
        long = [b'{"context": [0.5], "request_id": "', b"x" * 2000, b'"}']  # without a length in its head
        refused(service.post(experiment.path + "/decisions", content=iter(long)), 413, "2,000 bytes")
        assert experiment.count == 5
