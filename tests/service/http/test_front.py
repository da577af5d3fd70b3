"""What was learned, as requests show it."""

from __future__ import annotations

from typing import Any

import pytest
from litestar.testing import TestClient

from tests.service.remote import Remote, begin, refused

Service = TestClient[Any]


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
