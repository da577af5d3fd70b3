"""What a stranger can send, and what a stranger gets to see."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from litestar.testing import TestClient

from paretozoom.service import Limits
from paretozoom.service.app import HEADERS
from tests.service.remote import ALL, PLAIN, Remote, begin, endpoints, refused, serving

Service = TestClient[Any]
JSON = {"content-type": "application/json"}


def test_every_answer_has_the_headers_of_security(client: Service, experiment: Remote) -> None:
    answers = [experiment.decide(), experiment.reward(0), experiment.reward(7), experiment.decide("?")]
    for path, methods in endpoints():
        here = path.replace("{name}", experiment.name).replace("{number}", "0").replace("{act}", "activate")
        answers += [client.request(method, here) for method in methods]
    answers += [client.get("/docs/openapi.json"), client.get("/nothing"), client.delete(experiment.path)]
    answers += [client.options(experiment.path), client.head(experiment.path)]
    assert {answer.status_code for answer in answers} >= {200, 201, 204, 400, 404, 405}
    for answer in answers:
        for name, value in HEADERS.items():
            assert answer.headers[name] == value, answer.request.url
        assert "server" not in answer.headers


def test_the_page_of_the_document_needs_nothing_from_elsewhere(client: Service) -> None:
    answer = client.get("/docs")
    assert answer.headers["content-type"].startswith("text/html")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert not re.findall(r"""(?:src|href)=["'](?!/)""", answer.text)
    assert "script" not in policy
    for path in client.get("/docs/openapi.json").json()["paths"]:
        assert f"<code>{path}</code>" in answer.text


@pytest.mark.parametrize("body", ["/decisions", "/front?context=[0.5]", ""])
def test_a_mistake_of_the_service_shows_nothing_of_its_inside(
    experiment: Remote, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("a secret of the inside")

    policy = type(experiment.client.app.state.experiments.by_name[experiment.name].experiment.policy)
    with monkeypatch.context() as patch:
        for name in ("propose", "front"):
            patch.setattr(policy, name, fail)
        patch.setattr(policy, "nbytes", property(fail))
        answer = experiment.decide() if body == "/decisions" else experiment.get(body)
        refused(answer, 500, "its log says which")
        assert "secret" not in answer.text
        assert "Traceback" not in answer.text
        for name, value in HEADERS.items():
            assert answer.headers[name] == value
    assert experiment.number() == 0


def test_a_large_body_is_refused_before_it_is_read(tmp_path: Path, lightly: None) -> None:
    with serving(tmp_path, limits=Limits(body=1_000)) as service:
        begin(service, "small")
        for path, methods in endpoints():
            if "POST" not in methods or "{act}" in path:
                continue
            body = b'{"x": "' + b"a" * 2_000 + b'"}'
            refused(service.post(path.replace("{name}", "small"), content=body, headers=JSON), 413)


@pytest.mark.parametrize("depth", [500, 900, 950, 1000, 1100, 10_000, 500_000])
@pytest.mark.parametrize("shape", ["[]", "{}"])
def test_json_may_not_be_nested_without_end(experiment: Remote, depth: int, shape: str) -> None:
    start, end = ("[", "]") if shape == "[]" else ('{"a":', "}")
    deep = start * depth + "1" + end * depth
    path = experiment.path
    for where, body in [
        (f"{path}/decisions", '{"context": %s}'),
        (f"{path}/decisions", '{"context": [0.5], "feasible": %s}'),
        (f"{path}/decisions", '{"more": %s}'),
        (f"{path}/rewards", '{"decision": 0, "reward": {"left": %s}}'),
        (ALL, '{"name": "deep", "policy": "random", "parameters": %s}'),
        (ALL, '{"name": "deep", "problem": %s}'),
        (ALL, "%s"),
    ]:
        refused(experiment.client.post(where, content=body % deep, headers=JSON), 400)
    assert experiment.number() == 0


@pytest.mark.parametrize(
    "number",
    ["1e400", "-1e400", "9" * 400, "9" * 5_000, "1e-400", "NaN", "Infinity", "-Infinity", "0x10", "1e99999999"],
)
def test_numbers_that_are_none_are_refused(experiment: Remote, number: str) -> None:
    decision = experiment.number()
    post = experiment.client.post
    bodies = [
        (f"{experiment.path}/rewards", f'{{"decision": {number}, "reward": {{"left": 1}}}}'),
        (ALL, f'{{"name": "n", "policy": "random", "problem": {json.dumps(PLAIN)}, "seed": {number}}}'),
    ]
    if number != "1e-400":  # which is 0, and fine
        bodies.append((f"{experiment.path}/decisions", f'{{"context": [{number}]}}'))
        bodies.append((f"{experiment.path}/rewards", f'{{"decision": {decision}, "reward": {{"left": {number}}}}}'))
    for path, body in bodies:
        refused(post(path, content=body, headers=JSON), 400)
    assert experiment.count == 2


NAMES = ["..", "../../etc/passwd", "a/b", "a\\b", "ü", "a b", "a\tb", "a\nb", "a\n", "a\0", ".a", "-a", "A", "名"]


def test_no_name_leads_out_of_the_store(tmp_path: Path, lightly: None) -> None:
    store = tmp_path / "inner" / "store"
    with serving(store) as service:
        begin(service, "good")
        data = service.get(f"{ALL}/good/snapshot").content
        for name in NAMES:
            refused(service.post(ALL, json={"name": name, "problem": PLAIN, "policy": "random"}), 400, "name")
            path = f"{ALL}/{quote(name, safe='')}"
            assert service.put(f"{path}/snapshot", content=data).status_code in (400, 404, 405)
            assert service.get(path).status_code in (400, 404, 405)
            assert len(service.get(ALL).json()["experiments"]) == 1
    assert [one.name for one in (tmp_path / "inner").iterdir()] == ["store"]
    assert sorted(one.name for one in (store / "locks").iterdir()) == ["_service.lock", "good.lock"]


def test_pages_from_elsewhere_may_not_use_a_service_without_tokens(client: Service, experiment: Remote) -> None:
    for origin in ("https://example.org", "http://example.org:8080", "null", "http://127.0.0.1.example.org", "file://"):
        refused(experiment.post("/retire", headers={"origin": origin}), 403, origin)
        plain = {"origin": origin, "content-type": "text/plain"}
        refused(client.post(f"{experiment.path}/decisions", content=b'{"context": [0.5]}', headers=plain), 403)
    assert experiment.count == 1
    for origin in ("http://127.0.0.1:8080", "http://localhost:8080", "http://[::1]:8080"):
        assert experiment.post("/pause", headers={"origin": origin}).status_code == 200


@pytest.mark.parametrize("host", ["example.org", "example.org:8080", "127.0.0.1.example.org", "10.0.0.7", ""])
def test_a_name_from_elsewhere_that_leads_here_is_refused(experiment: Remote, host: str) -> None:
    refused(experiment.post("/decisions", {"context": [0.5]}, headers={"host": host}), 403, "host")
    refused(experiment.get(headers={"host": host}), 403)
    assert experiment.get(headers={"host": "localhost:9"}).status_code == 200
    assert experiment.get(headers={"host": "[::1]:9"}).json()["events"] == 1


@pytest.mark.parametrize("field", ["origin", "host"])
@pytest.mark.parametrize("address", ["http://[::1", "http://[", "//[x]"])
def test_what_is_not_an_address_is_refused(experiment: Remote, field: str, address: str) -> None:
    answer = experiment.get(headers={field: address.removeprefix("http://") if field == "host" else address})
    assert answer.status_code in (400, 403), answer.text
    assert answer.status_code == 400 or "[x]" in address


@pytest.mark.parametrize("given", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_a_body_of_another_type_is_not_read(client: Service, experiment: Remote, given: str) -> None:
    body, headers = b'{"context": [0.5]}', {"content-type": given}
    refused(client.post(f"{experiment.path}/decisions", content=body, headers=headers), 415, "content-type")
    data = experiment.get("/snapshot").content
    if given:
        refused(client.put(f"{ALL}/typed/snapshot", content=data, headers=headers), 415, "content-type")
    plain = {"content-type": "Application/JSON; charset=utf-8"}
    assert client.post(f"{experiment.path}/decisions", content=body, headers=plain).status_code == 201


@pytest.mark.parametrize(
    "body",
    [
        '{"context": [0.5], "context": [0.9]}',
        '{"context": {"x": 0.5, "x": 0.9}}',
        '{"context": {"x": 0.5, "\\u0078": 0.9}}',
        '{"context": [0.5], "feasible": [{"a": 1, "a": 1}]}',
    ],
)
def test_what_is_said_twice_is_refused(client: Service, experiment: Remote, body: str) -> None:
    refused(client.post(f"{experiment.path}/decisions", content=body, headers=JSON), 400, "twice")
    refused(
        client.post(f"{experiment.path}/decisions/batch", content=f'{{"decisions": [{body}]}}', headers=JSON),
        400,
        "twice",
    )
    assert experiment.count == 1


def test_what_is_sent_comes_back_only_as_json(client: Service) -> None:
    answer = client.get(f"{ALL}/{quote('<script>alert(1)', safe='')}")
    refused(answer, 400)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_one_bad_request_does_not_harm_those_that_come_with_it(client: Service, experiment: Remote) -> None:
    from concurrent.futures import ThreadPoolExecutor

    deep = "[" * 900 + "]" * 900

    def send(k: int) -> int:
        body = f'{{"context": [0.5], "feasible": {deep}}}' if k % 2 else '{"context": [0.5]}'
        return int(client.post(f"{experiment.path}/decisions", content=body, headers=JSON).status_code)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(send, range(32))) == [201, 400] * 16
