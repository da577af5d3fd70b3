"""Every kind of request: what it does, and what it says when it cannot."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from litestar.testing import TestClient

from paretozoom.service import Limits
from tests.service.remote import ALL, FULL, PLAIN, Remote, begin, refused, serving, until

Service = TestClient[Any]


def new(name: str = "never", **more: Any) -> dict[str, Any]:
    return {"name": name, "problem": PLAIN, "policy": "random", **more}


class Clock:
    """A time that passes when it is told to."""

    def __init__(self, remote: Remote) -> None:
        self.now = time.time()
        remote.client.app.state.experiments.now = lambda: self.now


# Experiments.


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
        (new(default={"left": 0, "right": 0}), ["default: {'left': 0.0, 'right': 0.0} given without wait"]),
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
    answers += [nobody.post("/rewards/batch", {"rewards": [{"decision": 0, "reward": FULL}]})]
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


# Decisions.


def test_a_decision_can_be_looked_up(experiment: Remote) -> None:
    answer = experiment.decide(0.25, request_id="mine")
    assert answer.status_code == 201
    made = answer.json()
    assert made == {
        "id": 0,
        "context": {"x": 0.25},
        "arm": made["arm"],
        "density": pytest.approx(1 / 3),
        "deferred": False,
        "request_id": "mine",
    }
    assert made["arm"] in "abc"
    found = experiment.get("/decisions/0").json()
    assert found["decision"] == made
    assert found["state"] == "open"
    assert found["reward"] == {}
    experiment.reward(0, left=1)
    experiment.reward(0, right=0)
    found = experiment.get("/decisions/0").json()
    assert found["state"] == "rewarded"
    assert found["reward"] == {"left": 1, "right": 0}
    assert found["default"] == {}


@pytest.mark.parametrize(
    ("number", "status"), [("7", 404), ("-1", 400), (str(1 << 53), 400), ("one", 404), ("1.0", 404)]
)
def test_decisions_that_were_never_made_are_not_found(experiment: Remote, number: str, status: int) -> None:
    refused(experiment.get(f"/decisions/{number}"), status)
    refused(experiment.post(f"/decisions/{number}/cancel"), status)


def test_contexts_may_be_objects_or_lists(experiment: Remote) -> None:
    made = [experiment.post("/decisions", {"context": context}).json() for context in ({"x": 1}, [1], [1.0])]
    assert [one["context"] for one in made] == [{"x": 1.0}] * 3


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, ["context", "x"]),
        ({"context": {"x": 2}}, ["context['x']", "2", "[0, 1]"]),
        ({"context": {"x": "0.5"}}, ["context['x']", "'0.5'", "not a number"]),
        ({"context": {"x": True}}, ["context['x']", "True"]),
        ({"context": {"x": None}}, ["context['x']", "None"]),
        ({"context": {"y": 1}}, ["context", "y"]),
        ({"context": {"x": 0.5, "y": 1}}, ["context", "y"]),
        ({"context": [0.5, 0.5]}, ["context"]),
        ({"context": 0.5}, ["context", "0.5", "expected"]),
        ({"context": [0.5], "feasible": []}, ["feasible", "[]", "empty"]),
        ({"context": [0.5], "feasible": ["d"]}, ["feasible", "'d'", "['a', 'b', 'c']"]),
        ({"context": [0.5], "feasible": {"y": [0, 1]}}, ["feasible", "labels"]),
        ({"context": [0.5], "feasible": [[["a"]]]}, ["feasible"]),
        ({"context": [0.5], "request_id": ""}, ["request_id", "''", ">= 1"]),
        ({"context": [0.5], "request_id": "x" * 201}, ["request_id", "<= 200"]),
        ({"context": [0.5], "request_id": "a\0b"}, ["request_id: 'a\\x00b': expected a text without"]),
        ({"context": [0.5], "request_id": 5}, ["request_id", "5", "str"]),
        ({"context": [0.5], "deferred": "yes"}, ["deferred", "'yes'", "bool"]),
        ({"context": [0.5], "contexts": 1}, ["contexts"]),
    ],
)
def test_a_bad_wish_for_a_decision_changes_nothing(experiment: Remote, body: Any, words: list[str]) -> None:
    refused(experiment.post("/decisions", body), 400, *words)
    assert experiment.count == 1
    assert experiment.number() == 0


def test_the_same_request_gets_the_same_decision(experiment: Remote) -> None:
    first = experiment.decide(request_id="again")
    experiment.decide()
    assert experiment.decide(request_id="again").json() == first.json()
    assert experiment.post("/decisions", {"context": [0.5], "request_id": "again"}).json() == first.json()
    assert experiment.get().json()["counts"]["decisions"] == 2
    refused(experiment.decide(0.75, request_id="again"), 409, "request_id", "'again'", "0.5")
    refused(experiment.decide("?", request_id="again"), 400, "context['x']")
    experiment.post("/pause")
    assert experiment.decide(request_id="again").json() == first.json()


def test_a_decision_is_one_of_the_feasible_arms(experiment: Remote) -> None:
    made = [experiment.decide(feasible=["b", "c"]).json() for _ in range(30)]
    assert {one["arm"] for one in made} == {"b", "c"}
    assert {one["density"] for one in made} == {0.5}
    assert experiment.events(after=1, limit=1)[0]["event"]["feasible"] == ["b", "c"]


def test_a_box_of_arms_may_be_feasible(client: Service) -> None:
    problem = {**PLAIN, "arm": [{"type": "real", "name": "price", "low": 1, "high": 9}]}
    experiment = begin(client, problem=problem)
    for _ in range(10):
        assert 2 <= experiment.decide(feasible={"price": [2, 3]}).json()["arm"]["price"] <= 3
    refused(experiment.decide(feasible={"price": [0, 3]}), 400, "feasible", "price")


def test_a_batch_decides_in_order_as_single_requests_would(client: Service) -> None:
    one, other = begin(client), begin(client)
    wanted = [{"context": {"x": k / 10}, "request_id": f"r{k}"} for k in range(6)]
    answer = one.post("/decisions/batch", {"decisions": wanted})
    assert answer.status_code == 201
    assert answer.json()["decisions"] == [other.post("/decisions", wish).json() for wish in wanted]
    assert one.post("/decisions/batch", {"decisions": wanted}).json() == answer.json()
    assert one.count == 7


def test_a_batch_is_decided_whole_or_not_at_all(experiment: Remote) -> None:
    experiment.number(request_id="known")
    good, bad = {"context": [0.5], "request_id": "new"}, {"context": [7]}
    refused(experiment.post("/decisions/batch", {"decisions": [good, good, bad]}), 400, "decisions[2]: context['x']: 7")
    known = {"context": [0.75], "request_id": "known"}
    refused(experiment.post("/decisions/batch", {"decisions": [good, known]}), 409, "decisions[1]: request_id: 'known'")
    assert experiment.count == 2
    assert experiment.decide(request_id="new").json()["id"] == 1
    refused(experiment.post("/decisions/batch", {"decisions": [good, {"context": 3}]}), 400, "decisions[1].context")


def test_batches_have_a_size(experiment: Remote) -> None:
    for count in (0, 1001):
        wishes = [{"context": [0.5]}] * count
        refused(experiment.post("/decisions/batch", {"decisions": wishes}), 400, "decisions", str(count), "1 to 1000")
        rewards = [{"decision": 0, "reward": FULL}] * count
        refused(experiment.post("/rewards/batch", {"rewards": rewards}), 400, "rewards", str(count), "1 to 1000")


# Rewards.


def test_a_reward_may_come_in_parts_and_again(experiment: Remote) -> None:
    number = experiment.number()
    assert experiment.reward(number, left=1).json() == {"accepted": 1, "repeated": 0}
    assert experiment.reward(number, left=1.0).json() == {"accepted": 0, "repeated": 1}
    assert experiment.get().json()["open"] == 1
    assert experiment.reward(number, left=None, right=0.25).json() == {"accepted": 1, "repeated": 0}
    assert experiment.get().json()["open"] == 0
    for reward in (FULL, {"left": 1}, {"right": 0.25}):
        assert experiment.reward(number, **reward).json() == {"accepted": 0, "repeated": 1}
    described = experiment.get().json()
    assert described["counts"]["rewards"] == 2
    assert described["counts"]["totals"] == FULL
    assert described["events"] == 4


def test_a_reward_may_bring_what_is_known_and_what_is_new(experiment: Remote) -> None:
    number = experiment.number()
    experiment.reward(number, left=1)
    assert experiment.reward(number, **FULL).json() == {"accepted": 1, "repeated": 0}
    assert experiment.events(after=3)[0]["event"]["reward"] == {"right": 0.25}


def test_a_reward_that_contradicts_another_is_declined(experiment: Remote) -> None:
    number = experiment.number()
    experiment.reward(number, left=1)
    refused(experiment.reward(number, left=0.5), 409, "left", "1.0", "0.5")
    refused(experiment.reward(number, left=0.5, right=1), 409, "left")
    experiment.reward(number, right=0)
    refused(experiment.reward(number, right=1), 409, "right")
    assert experiment.get(f"/decisions/{number}").json()["reward"] == {"left": 1, "right": 0}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"decision": 0, "reward": {}}, ["reward", "{}", "['left', 'right']"]),
        ({"decision": 0, "reward": {"left": None}}, ["reward", "tells nothing"]),
        ({"decision": 0, "reward": {"up": 1}}, ["reward", "'up'", "['left', 'right']"]),
        ({"decision": 0, "reward": {"left": 1.5}}, ["reward['left']", "1.5", "[0, 1]"]),
        ({"decision": 0, "reward": {"left": "1"}}, ["reward", "'1'", "float"]),
        ({"decision": 0, "reward": {"left": True}}, ["reward", "True", "float"]),
        ({"decision": 0, "reward": [1, 0]}, ["reward", "[1, 0]", "object"]),
        ({"decision": "0", "reward": FULL}, ["decision", "'0'", "int"]),
        ({"decision": -1, "reward": FULL}, ["decision", "-1"]),
        ({"decision": 0.5, "reward": FULL}, ["decision", "0.5", "int"]),
        ({"decision": 1 << 53, "reward": FULL}, ["decision"]),
        ({"reward": FULL}, ["decision"]),
    ],
)
def test_a_bad_reward_changes_nothing(experiment: Remote, body: Any, words: list[str]) -> None:
    experiment.number()
    refused(experiment.post("/rewards", body), 400, *words)
    assert experiment.count == 2


def test_a_reward_for_no_decision_is_not_found(experiment: Remote) -> None:
    refused(experiment.reward(0), 404, "decision 0")
    refused(experiment.reward((1 << 53) - 1), 404)


def test_rewards_of_a_batch_are_taken_together_or_not_at_all(experiment: Remote) -> None:
    first, second, third = (experiment.number() for _ in range(3))
    experiment.reward(first)

    def batch(*rewards: tuple[int, dict[str, float]]) -> Any:
        return experiment.post("/rewards/batch", {"rewards": [{"decision": d, "reward": r} for d, r in rewards]})

    for bad, status, why in [
        ((9, FULL), 404, "decision 9: there is no such decision"),
        ((first, {"left": 0}), 409, "reward['left']: decision 0"),
        ((third, {"left": 5}), 400, "reward['left']: 5"),
    ]:
        refused(batch((second, FULL), (first, FULL), bad), status, f"rewards[2]: {why}")
        refused(batch(bad, (second, FULL)), status, f"rewards[0]: {why}")
    refused(batch((second, {"left": 1}), (second, {"left": 0})), 409, "rewards[1]: reward['left']")
    assert experiment.state(second) == "open"
    answer = batch((second, {"left": 1}), (first, FULL), (second, {"right": 0}), (third, FULL), (third, FULL))
    assert answer.json() == {"accepted": 3, "repeated": 2}
    assert experiment.get().json()["open"] == 0


# Deferred, cancelled, expired.


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
    writer = client.app.state.writer
    serve = writer._serve
    monkeypatch.setattr(writer, "_serve", lambda group: turns.append(1) or serve(group))
    time.sleep(0.2)
    assert len(turns) < 5


# Limits.


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


# What was learned.


def test_the_front_is_that_of_the_policy(client: Service) -> None:
    experiment = begin(client, policy="pareto-ucb1")
    for _ in range(30):
        made = experiment.decide().json()
        experiment.reward(made["id"], left=float(made["arm"] == "b"), right=1 - float(made["arm"] == "b"))
    answer = experiment.get("/front", params={"context": '{"x": 0.5}'})
    assert answer.json()["context"] == {"x": 0.5}
    assert [piece["arm"] for piece in answer.json()["pieces"]] == ["b"]
    piece = answer.json()["pieces"][0]
    assert piece["mean"] == {"left": 1.0, "right": 0.0}
    assert answer.json() == experiment.get("/front", params={"context": "[0.5]"}).json()
    optimistic = experiment.get("/front", params={"context": "[0.5]", "believed": "false"}).json()
    assert "b" in [piece["arm"] for piece in optimistic["pieces"]]


@pytest.mark.parametrize("context", ["{", "5", '{"x": 2}', "[]", '{"y": 1}', "\ud800", "[" * 5000, '{"x": NaN}'])
def test_a_front_of_no_context_is_refused(experiment: Remote, context: str) -> None:
    escaped = "".join(f"%{byte:02x}" for byte in context.encode(errors="surrogatepass"))
    refused(experiment.get(f"/front?context={escaped}"), 400, "context")


def test_the_log_is_read_from_where_one_left_off(experiment: Remote) -> None:
    for k in range(4):
        experiment.reward(experiment.number(request_id=f"r{k}"))
    answer = experiment.get("/events")
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    whole = experiment.events()
    assert [entry["seq"] for entry in whole] == list(range(1, 10))
    assert whole[0]["event"]["type"] == "created"
    assert whole[1]["event"]["request"] == "r0"
    read: list[Any] = []
    while more := experiment.events(after=len(read), limit=4):
        assert len(more) <= 4
        read += more
    assert read == whole


@pytest.mark.parametrize("query", ["after=-1", "after=x", "limit=0", "limit=10001", "after=9007199254740992"])
def test_what_the_log_cannot_be_asked_is_refused(experiment: Remote, query: str) -> None:
    refused(experiment.get(f"/events?{query}"), 400, *query.split("="))


@pytest.mark.parametrize("policy", ["random", "pareto-zoom"])
def test_an_imported_experiment_goes_on_bit_for_bit(client: Service, policy: str) -> None:
    problem = {**PLAIN, "arm": [{"type": "real", "name": "y"}]}
    experiment = begin(client, policy=policy, problem=problem, wait=3600.0, default={"left": 0.0})
    for k in range(25):
        experiment.reward(experiment.number(k / 25), left=k / 25)
    data = experiment.get("/snapshot")
    assert data.headers["content-type"] == "application/octet-stream"
    answer = client.put(f"{ALL}/copy-of-{policy}/snapshot", content=data.content)
    assert answer.status_code == 201, answer.text
    copy = Remote(client, f"copy-of-{policy}")
    until(lambda: copy.get().json()["ready"])
    for k in range(25):
        made = experiment.decide(0.5).json()
        assert copy.decide(0.5).json() == made
        for one in (experiment, copy):
            one.reward(made["id"], left=0.5)
            one.reward(k, right=0.5)
    mine, theirs = experiment.get().json(), copy.get().json()
    for field in ("seed", "counts", "open", "wait", "default", "bytes", "parameters"):
        assert mine[field] == theirs[field]
    assert theirs["events"] == 1 + 75
    refused(copy.reward(0, left=0.0), 410, "decision 0: has all its rewards, some of them from before")
    assert copy.events()[0]["event"]["snapshot"] is True
    refused(client.put(f"{ALL}/copy-of-{policy}/snapshot", content=data.content), 409, "exists already")


def test_a_snapshot_may_be_larger_than_other_bodies(tmp_path: Path, lightly: None) -> None:
    with serving(tmp_path, limits=Limits(body=2_000)) as service:
        experiment = begin(service)
        for _ in range(50):
            experiment.number()
        data = experiment.get("/snapshot").content
        assert len(data) > 2_000
        assert service.put(f"{ALL}/copy/snapshot", content=data).status_code == 201


# Whoever watches.


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


def test_requests_that_arrive_together_are_all_answered(client: Service, experiment: Remote) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        bodies = [{"context": [7 if k % 4 == 0 else 0.5], "request_id": f"r{k // 2}"} for k in range(64)]
        answers = list(pool.map(lambda body: experiment.post("/decisions", body), bodies))
    made = [answer.json()["id"] for answer in answers if answer.status_code == 201]
    assert len(made) == 48
    assert sorted(set(made)) == list(range(32))
    assert all(answer.status_code == 400 for answer in answers[::4])


def test_a_parameter_that_asks_for_too_much_is_refused(client: Service) -> None:
    problem = {**PLAIN, "arm": [{"type": "real", "name": "y"}]}
    body = new(policy="pareto-ucb1", problem=problem, parameters={"arms": 1 << 62})
    refused(client.post(ALL, json=body), 400, "parameters")


def test_answers_are_what_the_types_say(experiment: Remote) -> None:
    from paretozoom.service.http.bodies import ExperimentAnswer
    from paretozoom.service.http.decisions import DecisionAnswer, DecisionState

    msgspec.json.decode(experiment.decide().content, type=DecisionAnswer)
    msgspec.json.decode(experiment.get("/decisions/0").content, type=DecisionState)
    msgspec.json.decode(experiment.get().content, type=ExperimentAnswer)
