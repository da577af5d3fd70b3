"""A service in this process, and experiments of it, for tests."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from litestar.testing import TestClient

from paretozoom import Finite, Objective, Problem, Real
from paretozoom.service import Limits, create_app
from paretozoom.service.writing import live
from paretozoom.store import Store, open_store

ALL = "/v1/experiments"
PROBLEM = Problem([Real("x")], Finite(["a", "b", "c"]), [Objective("left"), Objective("right", "min")])
PLAIN: dict[str, Any] = json.loads(msgspec.json.encode(PROBLEM))
FULL = {"left": 1.0, "right": 0.25}

LIGHT = """
import msgspec
from paretozoom.commands.cli import main
from paretozoom.service.writing import live

live.TYPICAL = msgspec.structs.replace(live.TYPICAL, policy="random")
main()
"""

_names = (f"test-{k}" for k in itertools.count())


def light(patch: pytest.MonkeyPatch) -> None:
    """Let services compile the cheapest policy when they start, instead of the usual one."""
    patch.setattr(live, "TYPICAL", msgspec.structs.replace(live.TYPICAL, policy="random"))


@contextmanager
def serving(
    where: Path | Store, *, limits: Limits | None = None, snapshot_every: int = 100_000
) -> Iterator[TestClient[Any]]:
    """A client of a service over a folder, from its start to its end."""
    store = open_store(where) if isinstance(where, Path) else where
    app = create_app(store, limits=limits, snapshot_every=snapshot_every)
    with TestClient(app, base_url="http://127.0.0.1") as client:
        until(lambda: client.get("/ready").status_code == 200)
        yield client


def until(happens: Any, patience: float = 300.0) -> None:
    """Wait until something is true."""
    end = time.monotonic() + patience
    while not happens():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)


def number_in(public: str) -> int:
    """The number that an id ends in."""
    return int(public.rpartition("-")[2])


def said(answer: dict[str, Any]) -> dict[str, Any]:
    """A decision without the epoch of its id, which no two logs share."""
    return {**answer, "id": number_in(answer["id"])}


class Remote:
    """An experiment of a service."""

    def __init__(self, client: TestClient[Any], name: str) -> None:
        self.client = client
        self.name = name
        self.path = f"{ALL}/{name}"

    def get(self, path: str = "", **more: Any) -> httpx.Response:
        return self.client.get(self.path + self._with_id(path), **more)

    def post(self, path: str, body: Any = None, **more: Any) -> httpx.Response:
        return self.client.post(self.path + self._with_id(path), json=body, **more)

    def id(self, number: int) -> str:
        """The id of a decision, as the log says."""
        epoch = "0" * 10
        for event in (entry.get("event", {"type": ""}) for entry in self.events()):
            if event["type"] == "decided" and event["decision"]["number"] > number:
                break
            epoch = event.get("epoch") or epoch
        return f"{epoch}-{number}"

    def _with_id(self, path: str) -> str:
        """A path in which a decision may be named by its number."""
        return re.sub(r"(?<=^/decisions/)\d+(?=/|$)", lambda found: self.id(int(found[0])), path)

    def decide(self, x: Any = 0.5, **more: Any) -> httpx.Response:
        return self.post("/decisions", {"context": {"x": x}, **more})

    def number(self, x: Any = 0.5, **more: Any) -> int:
        """The number of a new decision."""
        answer = self.decide(x, **more)
        assert answer.status_code == 201, answer.text
        return number_in(answer.json()["id"])

    def reward(self, decision: int | str, **reward: Any) -> httpx.Response:
        known = self.id(decision) if isinstance(decision, int) else decision
        return self.post("/rewards", {"decision": known, "reward": reward or FULL})

    def state(self, number: int) -> str:
        return str(self.get(f"/decisions/{number}").json()["state"])

    def events(self, **wanted: Any) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.get("/events", params=wanted).text.splitlines()]

    @property
    def count(self) -> int:
        """How many entries the log has."""
        return int(self.get().json()["events"])


def begin(client: TestClient[Any], name: str | None = None, **more: Any) -> Remote:
    """A new experiment that can decide."""
    name = name or next(_names)
    answer = client.post(ALL, json={"name": name, "problem": PLAIN, "policy": "random", "seed": 7, **more})
    assert answer.status_code == 201, answer.text
    remote = Remote(client, name)
    until(lambda: remote.get().json()["ready"])
    return remote


def new(name: str = "never", **more: Any) -> dict[str, Any]:
    """A request for a new experiment."""
    return {"name": name, "problem": PLAIN, "policy": "random", **more}


class Clock:
    """A time that passes when it is told to."""

    def __init__(self, remote: Remote) -> None:
        self.now = time.time()
        remote.client.app.state.experiments.now = lambda: self.now


def refused(answer: httpx.Response, status: int, *words: str) -> None:
    """Check that a request was not met, and that the answer says why."""
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert body.keys() == {"status", "detail"}
    assert body["status"] == status
    for word in words:
        assert word in body["detail"], body["detail"]


def endpoints() -> list[tuple[str, list[str]]]:
    """Every path of the service, as its document writes it, with its methods."""
    from paretozoom.service.http import ROUTES

    found: dict[str, set[str]] = {}
    for handler in ROUTES:
        for path in handler.paths:
            methods = {str(getattr(method, "value", method)) for method in handler.http_methods}
            found.setdefault(re.sub(r":\w+}", "}", path), set()).update(methods - {"HEAD", "OPTIONS"})
    return [(path, sorted(methods)) for path, methods in sorted(found.items())]


def served_at(where: Path | str, *more: str) -> list[str]:
    """The command line of `paretozoom serve`, which compiles the cheapest policy when it starts, instead of the usual.

    The tables are made here, where everything that makes them is imported already.
    """
    open_store(where).close()
    return [sys.executable, "-c", LIGHT, "serve", "--store", str(where), *more]


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run paretozoom's command line to its end."""
    line = [sys.executable, "-m", "paretozoom", *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)


class Process:
    """`paretozoom serve` as a process of its own."""

    def __init__(self, folder: Path, *more: str) -> None:
        line = served_at(folder, "--port", "0", *more)
        self._log = (folder.parent / f"{folder.name}.log").open("w+")
        self.process = subprocess.Popen(line, stderr=self._log, env={**os.environ, "PYTHONUNBUFFERED": "1"})
        until(lambda: '"at":' in self.log or self.process.poll() is not None)
        lines = [json.loads(line) for line in self.log.splitlines() if '"at":' in line]
        assert lines, self.log
        self.url = str(lines[0]["at"])

    @property
    def log(self) -> str:
        return Path(self._log.name).read_text()

    def stop(self) -> int:
        """End it as an operator would; its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        code = self.process.wait(timeout=60)
        self._log.close()
        return code
