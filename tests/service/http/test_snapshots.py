"""Experiments that are exported and imported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient

from paretozoom.records import Snapshot
from paretozoom.service import Limits
from paretozoom.service.experiments.carrying import with_carried
from paretozoom.service.http import snapshots
from tests.service.remote import ALL, PLAIN, Remote, begin, number_in, refused, said, serving, until

Service = TestClient[Any]


@pytest.mark.parametrize("policy", ["random", "pareto-zoom"])
def test_an_imported_experiment_goes_on_bit_for_bit(client: Service, policy: str) -> None:
    problem = {**PLAIN, "arm": [{"type": "real", "name": "y"}]}
    experiment = begin(client, policy=policy, problem=problem, wait=3600.0, default={"left": 0.0})
    before: list[str] = []  # ids that the copy knows too
    for k in range(25):
        before.append(experiment.id(experiment.number(k / 25)))
        experiment.reward(before[k], left=k / 25)
    data = experiment.get("/snapshot")
    assert data.headers["content-type"] == "application/octet-stream"
    answer = client.put(f"{ALL}/copy-of-{policy}/snapshot", content=data.content)
    assert answer.status_code == 201, answer.text
    copy = Remote(client, f"copy-of-{policy}")
    until(lambda: copy.get().json()["ready"])
    for k in range(25):
        made = [one.decide(0.5).json() for one in (experiment, copy)]
        assert said(made[0]) == said(made[1])
        for one, decision in zip((experiment, copy), made, strict=True):
            assert one.reward(decision["id"], left=0.5).status_code == 200
            assert one.reward(before[k], right=0.5).status_code == 200
    mine, theirs = experiment.get().json(), copy.get().json()
    for field in ("seed", "counts", "open", "wait", "default", "bytes", "parameters"):
        assert mine[field] == theirs[field]
    assert theirs["events"] == 1 + 25 + 75
    assert [entry["event"]["type"] for entry in copy.events()[:27]] == ["created"] + ["carried"] * 25 + ["decided"]
    refused(copy.reward(made[0]["id"]), 404, "there is no such decision")
    refused(copy.reward(before[0], left=0.5), 409, "decision 0 was rewarded with 0.0")
    assert copy.reward(before[0], left=0.0).json() == {"accepted": 0, "repeated": 1}
    assert copy.get(f"/decisions/{before[0]}").json()["reward"] == {"left": 0.0, "right": 0.5}
    assert copy.events()[0]["event"]["snapshot"] is True
    refused(client.put(f"{ALL}/copy-of-{policy}/snapshot", content=data.content), 409, "exists already")


def test_names_need_not_be_in_order(client: Service) -> None:
    dimensions = [{"type": "real", "name": name} for name in "yxz"]
    experiment = begin(client, problem={**PLAIN, "context": dimensions[:2], "arm": dimensions})
    made = experiment.post("/decisions", {"context": {"y": 0.5, "x": 0.25}}).json()
    answer = client.put(f"{ALL}/out-of-order/snapshot", content=experiment.get("/snapshot").content)
    assert answer.status_code == 201, answer.text
    copy = Remote(client, "out-of-order")
    assert copy.get(f"/decisions/{made['id']}").json()["decision"] == made


def test_requests_of_open_decisions_are_known_to_an_import(client: Service) -> None:
    experiment = begin(client)
    known: dict[str, Any] = {}
    for name, more in {
        "open": {"feasible": ["a", "b"]},
        "deferred": {"deferred": True},
        "shown": {"deferred": True},
        "in part": {},
        "rewarded": {},
    }.items():
        known[name] = experiment.decide(request_id=name, **more).json()
    assert experiment.post(f"/decisions/{number_in(known['shown']['id'])}/activate").status_code == 204
    experiment.reward(known["in part"]["id"], left=0.5)
    experiment.reward(known["rewarded"]["id"])
    data = experiment.get("/snapshot").content
    assert client.put(f"{ALL}/copy-of-requests/snapshot", content=data).status_code == 201
    copy = Remote(client, "copy-of-requests")
    until(lambda: copy.get().json()["ready"])
    again = copy.decide(request_id="open", feasible=["a", "b"])
    assert (again.status_code, again.json()) == (201, known["open"])
    for name in ("deferred", "shown", "in part"):
        answer = copy.decide(request_id=name, deferred=known[name]["deferred"])
        assert {**answer.json(), "deferred": known[name]["deferred"]} == known[name]
    assert copy.decide(request_id="rewarded").json()["id"] != known["rewarded"]["id"]  # only what is open is carried
    refused(copy.decide(0.25, request_id="in part"), 409, "'in part' was used with the context")
    refused(copy.decide(request_id="open", feasible=["a"]), 409, "'open' was used")
    assert copy.post("/rewards", {"request_id": "in part", "reward": {"right": 0.25}}).json()["accepted"] == 1
    assert copy.post("/erase", {"request_ids": ["open"]}).json() == {"entries": 1}
    assert copy.decide(request_id="open", feasible=["a", "b"]).json()["id"] != known["open"]["id"]
    assert copy.get().json()["counts"]["decisions"] == 5 + 2


@pytest.mark.parametrize(
    ("requests", "words"),
    [
        (("a", "a"), "requests are ['a', 'a'], expected each once"),
        (("a" * 201, None), "requests: 'aaa"),
        (("a\0", "b"), "is not a text of 1 to 200 characters"),
        (("", None), "requests: '' is not a text"),
    ],
)
def test_impossible_requests_are_not_imported(client: Service, requests: tuple[str | None, ...], words: str) -> None:
    experiment = begin(client)
    for _ in requests:
        experiment.number()
    snapshot = Snapshot.from_bytes(experiment.get("/snapshot").content)
    for carried, request in zip(snapshot.header["carried"], requests, strict=True):
        carried["request"] = request
    answer = client.put(f"{ALL}/never/snapshot", content=snapshot.to_bytes())
    refused(answer, 400, "snapshot: carried: requests", words)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("carried", 0, "subject"), "a\0", "subjects: 'a\\x00' is not a text of 1 to 200 characters"),
        (("carried", 0, "subject"), "a" * 201, "subjects: 'aaa"),
        (("seed",), "9" * 5_000, "seed is '999"),
        (("experiment", "counts", "rewards"), 10**400, "`$.counts.rewards`"),
        (("experiment", "counts", "decisions"), -1, "`$.counts.decisions`"),
        (("experiment", "counts", "told"), {"left": -1}, "`$.counts.told[...]`"),
        (("experiment", "counts", "told"), {"lift": 1}, "counts.told are of ['lift'], which are no objectives"),
        (("experiment", "counts", "totals"), {"lift": 1.0}, "counts.totals are of ['lift']"),
        (("experiment", "counts", "totals"), {"left": "nan"}, "`$.counts.totals[...]`"),
        (("experiment", "jumps"), [[0.0, 1e308]], "the clock jumped from 0.0 to 1e+308"),
        (("experiment", "jumps"), [[2.0, 1.0]], "the clock jumped from 2.0 to 1.0"),
    ],
)
def test_what_no_service_exports_is_not_imported(
    client: Service, path: tuple[Any, ...], value: Any, words: str
) -> None:
    experiment = begin(client)
    experiment.number(subject="somebody")
    snapshot = Snapshot.from_bytes(experiment.get("/snapshot").content)
    place: Any = snapshot.header
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    refused(client.put(f"{ALL}/never/snapshot", content=snapshot.to_bytes()), 400, "snapshot: ", words)
    assert client.get("/metrics").status_code == 200


def test_an_export_beside_an_erasure_is_whole(client: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = begin(client)
    for name in ("a", "b"):
        experiment.number(subject=name)
    erased: list[Any] = []

    def erased_meanwhile(snapshot: Snapshot, entries: Any) -> Snapshot:
        if not erased:
            erased.append(experiment.post("/erase", {"subjects": ["a"]}).json())
        return with_carried(snapshot, entries)

    monkeypatch.setattr(snapshots, "with_carried", erased_meanwhile)
    answer = experiment.get("/snapshot")
    assert answer.status_code == 200, answer.text
    assert erased == [{"entries": 1}]
    carried = Snapshot.from_bytes(answer.content).header["carried"]
    assert [one["subject"] for one in carried] == ["b"]


def test_a_default_without_wait_is_not_imported(client: Service) -> None:
    snapshot = Snapshot.from_bytes(begin(client, default={"left": 0.5}).get("/snapshot").content)
    snapshot.header["experiment"]["wait"] = None
    answer = client.put(f"{ALL}/never/snapshot", content=snapshot.to_bytes())
    refused(answer, 400, "default: {'left': 0.5} given without wait")


def test_a_snapshot_may_be_larger_than_other_bodies(tmp_path: Path, lightly: None) -> None:
    with serving(tmp_path, limits=Limits(body=2_000)) as service:
        experiment = begin(service)
        for _ in range(50):
            experiment.number()
        data = experiment.get("/snapshot").content
        assert len(data) > 2_000
        assert service.put(f"{ALL}/copy/snapshot", content=data).status_code == 201
