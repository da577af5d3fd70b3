"""Decisions: one or many, once per request, among what is feasible."""

from __future__ import annotations

from typing import Any

import pytest
from litestar.testing import TestClient

from tests.service.remote import FULL, PLAIN, Remote, begin, number_in, refused, said

Service = TestClient[Any]


def test_a_decision_can_be_looked_up(experiment: Remote) -> None:
    answer = experiment.decide(0.25, request_id="mine")
    assert answer.status_code == 201
    made = answer.json()
    assert made == {
        "id": experiment.id(0),
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
    ("which", "status"),
    [("{epoch}-7", 404), ("{epoch}--1", 400), ("0000000000-0", 404), ("{epoch}-00", 400), ("one", 400), ("0.0", 400)],
)
def test_decisions_that_were_never_made_are_not_found(experiment: Remote, which: str, status: int) -> None:
    experiment.number()
    public = which.format(epoch=experiment.id(0).partition("-")[0])
    refused(experiment.get(f"/decisions/{public}"), status)
    refused(experiment.post(f"/decisions/{public}/cancel"), status)


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
    assert [said(made) for made in answer.json()["decisions"]] == [
        said(other.post("/decisions", wish).json()) for wish in wanted
    ]
    assert one.post("/decisions/batch", {"decisions": wanted}).json() == answer.json()
    assert one.count == 7


def test_a_batch_is_decided_whole_or_not_at_all(experiment: Remote) -> None:
    experiment.number(request_id="known")
    good, bad = {"context": [0.5], "request_id": "new"}, {"context": [7]}
    refused(experiment.post("/decisions/batch", {"decisions": [good, good, bad]}), 400, "decisions[2]: context['x']: 7")
    known = {"context": [0.75], "request_id": "known"}
    refused(experiment.post("/decisions/batch", {"decisions": [good, known]}), 409, "decisions[1]: request_id: 'known'")
    assert experiment.count == 2
    assert experiment.decide(request_id="new").json()["id"] == experiment.id(1)
    refused(experiment.post("/decisions/batch", {"decisions": [good, {"context": 3}]}), 400, "decisions[1].context")


def test_batches_have_a_size(experiment: Remote) -> None:
    for count in (0, 1001):
        wishes = [{"context": [0.5]}] * count
        refused(experiment.post("/decisions/batch", {"decisions": wishes}), 400, "decisions", str(count), "1 to 1000")
        rewards = [{"decision": experiment.id(0), "reward": FULL}] * count
        refused(experiment.post("/rewards/batch", {"rewards": rewards}), 400, "rewards", str(count), "1 to 1000")


def test_requests_that_arrive_together_are_all_answered(client: Service, experiment: Remote) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        bodies = [{"context": [7 if k % 4 == 0 else 0.5], "request_id": f"r{k // 2}"} for k in range(64)]
        answers = list(pool.map(lambda body: experiment.post("/decisions", body), bodies))
    made = [number_in(answer.json()["id"]) for answer in answers if answer.status_code == 201]
    assert len(made) == 48
    assert sorted(set(made)) == list(range(32))
    assert all(answer.status_code == 400 for answer in answers[::4])
