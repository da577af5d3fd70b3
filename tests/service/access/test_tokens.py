"""Who may do what: every kind of request with every kind of token."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient
from typer.testing import CliRunner

from paretozoom.commands.cli import app as commands
from paretozoom.records import Refused
from paretozoom.service import app as app_module
from paretozoom.service.access.tokens import SCOPES, Tokens, append_event, new_token
from paretozoom.service.experiments.fairness import RecentFairness
from paretozoom.service.running import serve
from paretozoom.store import Store, open_store
from paretozoom.store.events import TokenRevoked
from tests.service.remote import ALL, FULL, PLAIN, command, endpoints, light, refused, serving, until

MINE, OTHER = "mine", "other"
ONE = ALL + "/{name}"

# What each request needs (None: nothing), and what is sent with it.
NEEDS: dict[tuple[str, str], tuple[str | None, Any]] = {
    ("GET", "/live"): (None, None),
    ("GET", "/ready"): (None, None),
    ("GET", "/metrics"): ("read", None),
    ("GET", ALL): ("read", None),
    ("POST", ALL): ("admin", {"name": "new", "problem": PLAIN, "policy": "random"}),
    ("GET", ONE): ("read", None),
    ("PATCH", ONE): ("admin", {"wait": 60.0}),
    ("POST", ONE + "/clock"): ("admin", {"counts": True}),
    ("POST", ONE + "/{act}"): ("admin", None),
    ("POST", ONE + "/cancellations"): ("decide", {"decisions": [0]}),
    ("POST", ONE + "/decisions"): ("decide", {"context": [0.5]}),
    ("POST", ONE + "/decisions/batch"): ("decide", {"decisions": [{"context": [0.5]}]}),
    ("DELETE", ONE): ("admin", None),
    ("POST", ONE + "/erase"): ("admin", {"subjects": ["nobody"]}),
    ("POST", ONE + "/prune"): ("admin", {"before": 0}),
    ("GET", ONE + "/decisions/{id}"): ("read", None),
    ("POST", ONE + "/decisions/{id}/{act}"): ("decide", None),
    ("POST", ONE + "/rewards"): ("reward", {"decision": 0, "reward": FULL}),
    ("POST", ONE + "/rewards/batch"): ("reward", {"rewards": [{"decision": 0, "reward": FULL}]}),
    ("GET", ONE + "/front"): ("read", None),
    ("GET", ONE + "/events"): ("read", None),
    ("GET", ONE + "/snapshot"): ("admin", None),
    ("PUT", ONE + "/snapshot"): ("admin", b"not a snapshot"),
}
GUARDED = [key for key, (scope, _) in NEEDS.items() if scope is not None]


class Guarded:
    """A service with tokens, two experiments, and its store."""

    def __init__(self, client: TestClient[Any], store: Store, folder: Path) -> None:
        self.client = client
        self.store = store
        self.folder = folder

    def token(self, *scopes: str, experiment: str | None = None, expires: float | None = None, **more: Any) -> str:
        """A token that the service knows."""
        text, event = new_token(scopes, experiment, expires, **more)
        append_event(self.store, event)
        self.client.app.state.tokens.refresh(self.store)
        return text

    def revoke(self, token: str) -> None:
        append_event(self.store, TokenRevoked(token.split("_")[1]))
        self.client.app.state.tokens.refresh(self.store)

    def send(self, key: tuple[str, str], header: str | None, act: str = "pause") -> Any:
        method, path = key
        act = "cancel" if "{id}" in path else act
        made = self.client.app.state.experiments.by_name[MINE].experiment.epochs.id_of(0)
        here = path.replace("{name}", MINE).replace("{id}", made).replace("{act}", act)
        body = NEEDS[key][1]
        given = {"content": body} if isinstance(body, bytes) else {"json": body} if body is not None else {}
        headers = {} if header is None else {"authorization": header.encode("latin-1")}
        return self.client.request(method, here, headers=headers, **given)

    def fill(self, name: str, headers: dict[str, str]) -> None:
        """Begin an experiment, and decide once."""
        body = {"name": name, "problem": PLAIN, "policy": "random"}
        assert self.client.post(ALL, json=body, headers=headers).status_code == 201
        until(lambda: self.client.get(f"{ALL}/{name}", headers=headers).json()["ready"])
        assert self.client.post(f"{ALL}/{name}/decisions", json={"context": [0.5]}, headers=headers).status_code == 201

    def state(self) -> dict[str, int]:
        """How far every log is, but that of the tokens."""
        return {name: head for name, head in self.store.logs().items() if name != "_admin"}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder = tmp_path_factory.mktemp("guarded")
    store = open_store(folder)
    with pytest.MonkeyPatch.context() as patch:
        light(patch)
        with serving(folder) as client:
            guarded = Guarded(client, store, folder)
            headers = {"authorization": f"Bearer {guarded.token('admin')}"}
            for name in (OTHER, MINE):
                guarded.fill(name, headers)
            yield guarded
    store.close()


def test_a_token_may_be_good_for_so_much_and_no_more(guarded: Guarded) -> None:
    slow = {"authorization": f"Bearer {guarded.token('decide', rate=0.001)}"}
    free = {"authorization": f"Bearer {guarded.token('decide')}"}
    path, body = f"{ALL}/{OTHER}/decisions", {"context": [0.5]}
    before = guarded.state()[OTHER]
    assert guarded.client.post(path, json=body, headers=slow).status_code == 201
    answer = guarded.client.post(f"{path}/batch", json={"decisions": [body] * 5}, headers=slow)
    refused(answer, 429, "0.001 decisions and rewards per second")
    assert 900 <= int(answer.headers["retry-after"]) <= 1_000
    assert guarded.client.post(path, json=body, headers=free).status_code == 201
    assert guarded.state()[OTHER] == before + 2
    for rate in (0, -1.0, float("nan"), float("inf")):
        with pytest.raises(Refused, match="rate: "):
            new_token(["decide"], None, None, rate=rate)


def test_every_request_has_a_row() -> None:
    assert set(NEEDS) == {(method, path) for path, methods in endpoints() for method in methods}


def wrong_headers() -> dict[str, str | None]:
    text, _ = new_token(["admin"], None, None)
    return {
        "none": None,
        "empty": "",
        "no token": "Bearer",
        "basic": "Basic cHo6cHo=",
        "not ours": "Bearer abc",
        "half": "Bearer pz_abc",
        "no secret": "Bearer pz_abc_",
        "without bearer": text,
        "unknown": f"Bearer {text}",
        "long": "Bearer pz_a_" + "x" * 5_000,
        "strange": "Bearer pz_\xe9_\xff",
    }


@pytest.mark.parametrize("key", GUARDED, ids=" ".join)
def test_without_a_token_that_is_known_nothing_is_done(guarded: Guarded, key: tuple[str, str]) -> None:
    before = guarded.state()
    for name, header in wrong_headers().items():
        answer = guarded.send(key, header)
        refused(answer, 401)
        assert answer.headers["www-authenticate"] == "Bearer", name
    right = guarded.token(*SCOPES)
    refused(guarded.send(key, f"Bearer {right[:-1]}"), 401, "not known")
    refused(guarded.send(key, f"Bearer {right}x"), 401, "not known")
    guarded.revoke(right)
    refused(guarded.send(key, f"Bearer {right}"), 401, "revoked")
    assert guarded.state() == before


@pytest.mark.parametrize("key", GUARDED, ids=" ".join)
def test_an_expired_token_is_worth_nothing(guarded: Guarded, key: tuple[str, str]) -> None:
    before = guarded.state()
    refused(guarded.send(key, f"Bearer {guarded.token('admin', expires=time.time() - 1)}"), 401, "expired")
    assert guarded.state() == before


@pytest.mark.parametrize("key", GUARDED, ids=" ".join)
def test_a_token_of_another_scope_or_experiment_does_nothing(guarded: Guarded, key: tuple[str, str]) -> None:
    before = guarded.state()
    scope = NEEDS[key][0]
    others = [one for one in SCOPES if one not in (scope, "admin")]
    for count in range(1, len(others) + 1):
        for scopes in itertools.combinations(others, count):
            refused(guarded.send(key, f"Bearer {guarded.token(*scopes)}"), 403, repr(scope))
    if "{name}" in key[1] or scope == "admin":
        refused(guarded.send(key, f"Bearer {guarded.token(*SCOPES, experiment=OTHER)}"), 403)
    assert guarded.state() == before


@pytest.mark.parametrize("key", list(NEEDS), ids=" ".join)
def test_the_right_token_is_let_through(guarded: Guarded, key: tuple[str, str]) -> None:
    scope = NEEDS[key][0]
    tokens = [None] if scope is None else [guarded.token(scope), guarded.token("admin")]
    if scope is not None and "{name}" in key[1]:
        tokens.append(guarded.token(scope, experiment=MINE))
    for token in tokens:
        answer = guarded.send(key, None if token is None else f"Bearer {token}", act="resume")
        assert answer.status_code not in (401, 403, 404, 405, 500), answer.text
        if key[0] == "DELETE":
            guarded.fill(MINE, {"authorization": f"Bearer {guarded.token('admin')}"})


def test_a_token_for_one_experiment_sees_that_one_only(guarded: Guarded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RecentFairness, "front_share", 0.5)
    headers = {"authorization": f"bearer {guarded.token('read', experiment=OTHER)}"}
    listed = guarded.client.get(ALL, headers=headers).json()["experiments"]
    assert [one["name"] for one in listed] == [OTHER]
    metrics = guarded.client.get("/metrics", headers=headers).text
    assert f'paretozoom_front_share{{experiment="{OTHER}"}} 0.5' in metrics
    assert f'experiment="{MINE}"' not in metrics


def test_the_log_says_whose_token_it_was(guarded: Guarded) -> None:
    one, other = guarded.token("admin"), guarded.token("admin")
    for token, act in ((one, "pause"), (other, "resume")):
        answer = guarded.client.post(f"{ALL}/{OTHER}/{act}", headers={"authorization": f"Bearer {token}"})
        assert answer.status_code == 200
    events = guarded.client.get(f"{ALL}/{OTHER}/events", headers={"authorization": f"Bearer {one}"}).text
    by = re.findall(r'"by":"(\w+)"', events)
    assert by[-2:] == [one.split("_")[1], other.split("_")[1]]
    assert one.split("_", 2)[2] not in events


def test_a_page_with_a_token_may_come_from_anywhere(guarded: Guarded) -> None:
    headers = {"authorization": f"Bearer {guarded.token('read')}", "origin": "https://example.org"}
    assert guarded.client.get(ALL, headers=headers).status_code == 200


# The command line.


def run(*arguments: str) -> str:
    result = CliRunner().invoke(commands, ["token", *arguments], env={"COLUMNS": "120"})
    if result.exception is not None:
        raise result.exception
    return str(result.output).strip()


def test_tokens_are_created_listed_and_revoked(folder: Path) -> None:
    where = ["--store", str(folder)]
    first = run("create", "--scope", "decide", "--scope", "reward", "--experiment", MINE, "--label", "shop", *where)
    second = run("create", "--scope", "read", "--expires", "12h", *where)
    assert first.startswith("pz_")
    listed = run("list", *where).splitlines()
    assert len(listed) == 3
    assert [first.split("_")[1], "decide", "reward", MINE, "never", "shop"] == listed[1].split()
    assert "all" in listed[2]
    assert "never" not in listed[2]
    assert run("revoke", first, *where) == f"{first.split('_')[1]}: revoked"
    assert len(run("list", *where).splitlines()) == 2
    run("revoke", second.split("_")[1], *where)
    assert len(run("list", *where).splitlines()) == 1


def test_only_a_hash_of_a_token_is_kept(folder: Path) -> None:
    tokens = [run("create", "--scope", "admin", "--store", str(folder)) for _ in range(3)]
    kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    for token in tokens:
        _, name, secret = token.split("_", 2)
        assert name.encode() in kept
        assert secret.encode() not in kept
        assert len(secret) >= 40


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["create", "--scope", "all"], "scope: 'all'"),
        (["create", "--scope", "read", "--expires", "soon"], "expires: 'soon'"),
        (["create", "--scope", "read", "--expires", "-1d"], "expires: '-1d'"),
        (["revoke", "ab12"], "token: 'ab12'"),
    ],
)
def test_bad_tokens_are_refused(folder: Path, arguments: list[str], words: str) -> None:
    run("create", "--scope", "read", "--store", str(folder))
    with pytest.raises(Refused, match=words):
        run(*arguments, "--store", str(folder))


def test_a_running_service_sees_new_and_revoked_tokens(
    folder: Path, lightly: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert app_module.SECONDS_BETWEEN_LOOKS <= 1
    monkeypatch.setattr(app_module, "SECONDS_BETWEEN_LOOKS", 0.02)
    with serving(folder) as client:
        token = run("create", "--scope", "read", "--store", str(folder))

        def status() -> int:
            return int(client.get(ALL, headers={"authorization": f"Bearer {token}"}).status_code)

        until(lambda: status() == 200, patience=10)
        run("revoke", token, "--store", str(folder))
        until(lambda: status() == 401, patience=10)


def test_looking_for_tokens_goes_on_when_the_store_fails(
    folder: Path, lightly: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_module, "SECONDS_BETWEEN_LOOKS", 0.02)
    looks: list[int] = []

    def fail(self: Tokens, store: Store) -> None:
        looks.append(1)
        raise Refused("log: b'' is not an event")

    with serving(folder):
        monkeypatch.setattr(Tokens, "refresh", fail)
        until(lambda: len(looks) > 3, patience=10)


def test_without_tokens_only_this_machine_is_served(folder: Path) -> None:
    done = command("serve", "--host", "0.0.0.0", "--port", "0", "--store", str(folder))
    assert done.returncode != 0
    assert "host: '0.0.0.0' can be reached from elsewhere" in done.stderr
    assert "token create" in done.stderr
    assert "Traceback" not in done.stderr
    store = open_store(folder)
    for host in ("::", "192.0.2.1", "example.org", ""):
        with pytest.raises(Refused, match="can be reached from elsewhere"):
            serve(store, host, 0)
    store.close()
