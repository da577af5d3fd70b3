"""Experiments that are exported and imported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient

from paretozoom.service import Limits
from tests.service.remote import ALL, PLAIN, Remote, begin, refused, said, serving, until

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


def test_a_snapshot_may_be_larger_than_other_bodies(tmp_path: Path, lightly: None) -> None:
    with serving(tmp_path, limits=Limits(body=2_000)) as service:
        experiment = begin(service)
        for _ in range(50):
            experiment.number()
        data = experiment.get("/snapshot").content
        assert len(data) > 2_000
        assert service.put(f"{ALL}/copy/snapshot", content=data).status_code == 201
