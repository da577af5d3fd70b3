"""The service does what its OpenAPI document says, whatever it is sent."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
import requests
import schemathesis
from hypothesis import Phase, given, reject, settings
from hypothesis import strategies as st
from litestar.testing import TestClient
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from tests.service.remote import PLAIN, begin, endpoints

NAME = "known"
OTHER = [
    {"type": "integer", "name": "size", "low": 1, "high": 9},
    {"type": "categorical", "name": "kind", "choices": [0, 2.5, "three", True]},
]
OPERATIONS = [(path, method) for path, methods in endpoints() for method in methods]


@pytest.fixture(scope="module")
def document(client: TestClient[Any]) -> Any:
    """The document of a service that has one experiment."""
    experiment = begin(client, NAME)
    for _ in range(3):
        experiment.number()
    for arm in (OTHER, {"type": "finite", "labels": [1, 2.5, "three", False]}):
        rich = begin(client, problem={**PLAIN, "arm": arm, "context": []}, parameters={}, wait=60, default={"left": 0})
        rich.post("/decisions", {})
    return schemathesis.openapi.from_dict(client.get("/docs/openapi.json").json())


def send(client: TestClient[Any], case: Any) -> httpx.Response:
    """Send a request that was made up."""
    request = requests.Request(**case.as_transport_kwargs(base_url="http://127.0.0.1")).prepare()
    if len(str(request.url)) > 60_000:
        reject()  # the client's own limit
    return client.request(str(request.method), str(request.url), content=request.body, headers=dict(request.headers))


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_the_service_keeps_to_its_document(
    client: TestClient[Any], document: Any, path: str, method: str, mode: GenerationMode
) -> None:
    operation = document[path][method]
    if mode is GenerationMode.NEGATIVE and not (operation.path_parameters or operation.query or operation.body):
        pytest.skip("nothing is sent that could be wrong")

    @settings(max_examples=10, phases=[Phase.generate])
    @given(operation.as_strategy(generation_mode=mode), st.booleans())
    def check(case: Any, known: bool) -> None:
        # What the problem of an experiment allows is not in the document, so it may refuse what the document allows.
        excluded = [positive_data_acceptance]
        if known and "name" in (case.path_parameters or {}):
            case.path_parameters["name"] = NAME
            excluded.append(negative_data_rejection)  # the name may have been what was wrong
        case.validate_response(send(client, case), excluded_checks=excluded)

    check()


def test_the_document_tells_what_is_needed(document: Any) -> None:
    raw = document.raw_schema
    schemas = raw["components"]["schemas"]
    assert {path for path, _ in endpoints()} == set(raw["paths"])
    for name in ("NewExperiment", "NewDecision", "NewDecisions", "NewReward", "NewRewards"):
        assert schemas[name]["additionalProperties"] is False
    assert set(schemas["NewExperiment"]["required"]) == {"name", "problem"}
    assert "oneOf" not in str(schemas)
    acts = raw["paths"]["/v1/experiments/{name}/{act}"]["post"]["parameters"]
    assert next(one for one in acts if one["name"] == "act")["schema"]["enum"] == ["pause", "resume", "retire"]
    body = raw["paths"]["/v1/experiments/{name}/snapshot"]["put"]["requestBody"]
    assert list(body["content"]) == ["application/octet-stream"]
    assert all(operation["summary"] for methods in raw["paths"].values() for operation in methods.values())
