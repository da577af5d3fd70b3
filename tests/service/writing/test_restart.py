"""What is there again after the service has ended and started, and what replaying the log says of it."""

from __future__ import annotations

import json
import math
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient
from typer.testing import CliRunner

from paretozoom import Random
from paretozoom.commands.cli import app as commands
from paretozoom.records import Refused
from paretozoom.service.experiments.experiment import Experiment
from paretozoom.service.writing import live
from paretozoom.service.writing.loading import load_experiment, replay_experiment, verify
from paretozoom.store import Away
from tests.service.remote import ALL, Process, Remote, begin, command, refused, said, serving, until
from tests.store.samples import opened

NAME = "kept"


def digest(client: TestClient[Any], name: str = NAME) -> str:
    """Of the state that a service has in its memory."""
    experiment: Experiment = client.app.state.experiments.by_name[name].experiment
    return experiment.digest()


def live_a_little(experiment: Remote, rounds: int = 5) -> None:
    """Something of everything."""
    for k in range(rounds):
        experiment.reward(experiment.number(k / 10))
    experiment.reward(experiment.number(request_id="part"), left=1.0)
    experiment.post(f"/decisions/{experiment.number()}/cancel")
    experiment.number(deferred=True)
    experiment.post(f"/decisions/{experiment.number(deferred=True)}/activate")
    experiment.post("/pause")
    experiment.post("/resume")


@pytest.fixture
def lived(folder: Path, lightly: None) -> Path:
    """The folder of a service that has ended."""
    with serving(folder) as client:
        live_a_little(begin(client, NAME))
    return folder


def cut_snapshots(folder: Path) -> None:
    """As if the service had not ended in order."""
    with sqlite3.connect(folder / "paretozoom.db") as base:
        base.execute("DELETE FROM snapshots")
    base.close()


# Stop and start.


def fairness(client: TestClient[Any]) -> list[str]:
    lines = client.get("/metrics").text.splitlines()
    return [line for line in lines if line.startswith(("paretozoom_front_share{", "paretozoom_local_entropy{"))]


def test_where_decisions_fell_is_known_again(folder: Path, lightly: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paretozoom.service.experiments.fairness.SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr("paretozoom.service.experiments.fairness.MOST_TIME", math.inf)
    with serving(folder) as client:
        experiment = begin(client, NAME, policy="pareto-ucb1")
        for k in range(80):
            experiment.reward(experiment.number(), left=k % 3 / 2, right=0.5)
        before = fairness(client)
        assert len(before) == 2
        assert not any(line.endswith(" 0.0") for line in before)
    with serving(folder) as client:
        assert fairness(client) == before
        assert Remote(client, NAME).post("/erase", {"decisions": [Remote(client, NAME).id(3)]}).status_code == 200
    with serving(folder) as client:
        assert fairness(client) == before
        state = digest(client)
    with opened(folder) as store:
        assert replay_experiment(store, NAME).digest() == state
        assert verify(store, NAME).fine


@pytest.mark.parametrize("policy", ["random", "pareto-ucb1"])
@pytest.mark.parametrize("orderly", [True, False])
def test_everything_is_there_again(folder: Path, lightly: None, policy: str, orderly: bool) -> None:
    with serving(folder) as client:
        experiment = begin(client, NAME, policy=policy, wait=3600, default={"left": 0})
        live_a_little(experiment)
        before, part, state = experiment.get().json(), experiment.get("/decisions/5").json(), digest(client)
        log = experiment.events()
    if not orderly:
        cut_snapshots(folder)
    with serving(folder) as client:
        experiment = Remote(client, NAME)
        until(lambda: experiment.get().json()["ready"])
        assert experiment.get().json() == before
        assert experiment.events() == log
        assert digest(client) == state
        assert experiment.get("/decisions/5").json() == part
        assert experiment.decide(request_id="part").json()["id"] == experiment.id(5)
        refused(experiment.decide(0.75, request_id="part"), 409)
        assert experiment.reward(0).json() == {"accepted": 0, "repeated": 1}
        assert experiment.reward(5, left=1.0).json() == {"accepted": 0, "repeated": 1}
        assert experiment.reward(5, right=0.5).json() == {"accepted": 1, "repeated": 0}
        refused(experiment.reward(6), 410, "cancelled")
        assert experiment.number() == 9
        state = digest(client)
    with opened(folder) as store:
        assert replay_experiment(store, NAME).digest() == state
        assert load_experiment(store, NAME)[0].digest() == state


def test_a_service_that_was_stopped_draws_as_one_that_was_not(folder: Path, tmp_path: Path, lightly: None) -> None:
    with serving(tmp_path / "other") as client:
        other = begin(client, NAME, policy="pareto-ucb1")
        made = []
        for _ in range(10):
            made.append(other.decide().json())
            other.reward(made[-1]["id"])
    for k in range(0, 10, 5):
        with serving(folder) as client:
            experiment = begin(client, NAME, policy="pareto-ucb1") if k == 0 else Remote(client, NAME)
            until(lambda experiment=experiment: experiment.get().json()["ready"])
            for wanted in made[k : k + 5]:
                decision = experiment.decide().json()
                assert said(decision) == said(wanted)
                experiment.reward(decision["id"])


def test_what_expired_while_the_service_was_away_is_closed(folder: Path, lightly: None) -> None:
    with serving(folder) as client:
        experiment = begin(client, NAME, wait=0.2, default={"left": 0.0})
        experiment.number()
    with serving(folder) as client:
        experiment = Remote(client, NAME)
        until(lambda: experiment.get().json()["counts"]["expiries"] == 1, patience=3)
        assert experiment.get().json()["counts"]["totals"] == {"left": 0.0}


def test_an_experiment_that_could_not_be_read_at_the_start_is_read_later(
    lived: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = [Away("the database is not there")]

    def load(*arguments: Any) -> Any:
        if failures:
            raise failures.pop()
        return load_experiment(*arguments)

    monkeypatch.setattr(live, "load_experiment", load)
    with serving(lived) as client:
        experiment = Remote(client, NAME)
        until(lambda: experiment.decide().status_code == 201, patience=3)
        assert experiment.get().json()["ready"] is True


def test_an_imported_experiment_is_there_again(lived: Path) -> None:
    with serving(lived) as client:
        data = Remote(client, NAME).get("/snapshot").content
        assert client.put(f"{ALL}/copy/snapshot", content=data).status_code == 201
        copy = Remote(client, "copy")
        until(lambda: copy.get().json()["ready"])
        copy.reward(copy.number())
        state = digest(client, "copy")
    with opened(lived) as store:
        assert replay_experiment(store, "copy").digest() == state
    with serving(lived) as client:
        assert digest(client, "copy") == state


def test_snapshots_are_saved_now_and_then(folder: Path, lightly: None) -> None:
    with serving(folder, snapshot_every=10) as client:
        experiment = begin(client, NAME)
        for _ in range(30):
            experiment.reward(experiment.number())
        with opened(folder) as store:
            found = store.snapshot(NAME)
            assert found is not None
            assert 45 <= found[0] <= 61
    with opened(folder) as store:
        checked = verify(store, NAME)
        assert checked.entries == 61
        assert checked.snapshots
        assert checked.fine


# Two at once.


def test_an_experiment_that_another_process_holds_is_not_served(lived: Path) -> None:
    with opened(lived) as store:
        store.lock(NAME)
        done = command("serve", "--port", "0", "--store", str(lived))
        assert done.returncode == 2
        lock = lived / "locks" / "kept.lock"
        assert done.stderr == f"paretozoom: store: log 'kept': another process has it open (it holds {lock})\n"
    with serving(lived) as client:
        assert client.get(f"{ALL}/{NAME}").status_code == 200


def test_an_experiment_that_another_process_began_is_declined(lived: Path) -> None:
    with serving(lived) as client, opened(lived) as store:
        store.lock("copy")
        answer = client.put(f"{ALL}/copy/snapshot", content=client.get(f"{ALL}/{NAME}/snapshot").content)
        refused(answer, 503, "another process holds this experiment")


# The command line.


def replay(folder: Path, *more: str) -> Any:
    return CliRunner().invoke(commands, ["replay", "--store", str(folder), *more], env={"COLUMNS": "120"})


def test_replay_agrees_with_the_service(lived: Path) -> None:
    with serving(lived) as client:
        state = digest(client)
    done = command("replay", "--store", str(lived))
    assert done.returncode == 0, done.stderr
    words = done.stdout.splitlines()[1].split()
    assert words[:3] == [NAME, "20", state[:16]]
    assert "same" in words
    assert replay(lived, "--experiment", NAME).exit_code == 0
    refusal = replay(lived, "--experiment", "none").exception
    assert isinstance(refusal, Refused)
    assert "'none' is not one of ['kept']" in str(refusal)


def test_replay_may_stop_at_an_entry(lived: Path) -> None:
    with opened(lived) as store:
        states = {until: replay_experiment(store, NAME, until).digest()[:16] for until in (1, 7, 20)}
        assert replay_experiment(store, NAME, 7).counts.decisions == 3
    for until_entry, state in states.items():
        done = replay(lived, "--until", str(until_entry))
        assert done.exit_code == 0
        assert done.output.splitlines()[1].split()[:3] == [NAME, str(until_entry), state]
    assert len(set(states.values())) == 3
    assert str(replay(lived, "--until", "0").exception) == "until: 0 is not an entry of a log, the first of which is 1"


@pytest.mark.parametrize(
    ("seq", "before", "after"),
    [
        (3, b'"left":1.0', b'"left":0.5'),  # another reward
        (2, b'"number":0', b'"number":1'),  # another number
        (2, b'"arm":"', b'"arm":"z'),  # an arm that is none
        (4, b'"type":"decided"', b'"type":"imagined"'),
    ],
)
def test_a_log_that_was_tampered_with_is_noticed(
    folder: Path, lightly: None, seq: int, before: bytes, after: bytes
) -> None:
    with serving(folder) as client:
        live_a_little(begin(client, NAME, policy="pareto-ucb1"))
    assert replay(folder).exit_code == 0
    with sqlite3.connect(folder / "paretozoom.db") as base:
        [body] = base.execute("SELECT body FROM events WHERE seq = ?", [seq]).fetchone()
        assert before in body
        base.execute("UPDATE events SET body = ? WHERE seq = ?", [bytes(body).replace(before, after), seq])
    base.close()
    done = replay(folder)
    assert done.exit_code == 1
    assert f"log 'kept': entry {seq} is damaged" in done.output


def test_a_log_with_a_hole_is_noticed(lived: Path) -> None:
    with sqlite3.connect(lived / "paretozoom.db") as base:
        base.execute("DELETE FROM events WHERE seq = 5")
    base.close()
    assert "entry 5 is missing" in replay(lived).output


# Other versions of a policy.


@pytest.mark.parametrize("saved", [True, False])
def test_the_log_of_another_version_is_refused(lived: Path, monkeypatch: pytest.MonkeyPatch, saved: bool) -> None:
    if not saved:
        cut_snapshots(lived)
    monkeypatch.setattr(Random, "version", 2)
    with opened(lived) as store:
        words = "experiment 'kept': is of version 1 of random, this is version 2"
        for read in (load_experiment, replay_experiment):
            with pytest.raises(Refused, match=words):
                read(store, NAME)
        assert words in verify(store, NAME).troubles[0]
        assert store.logs() == {NAME: 20}
    with serving(lived) as client:
        refused(client.get(f"{ALL}/{NAME}"), 503, words)


def test_a_snapshot_of_another_version_is_refused(lived: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lived) as client:
        data = Remote(client, NAME).get("/snapshot").content
    monkeypatch.setattr(Random, "version", 2)
    with serving(lived.parent / "other") as client:
        refused(client.put(f"{ALL}/copy/snapshot", content=data), 400, "version 1 of random, this is version 2")
        assert client.get(ALL).json() == {"experiments": [], "damaged": {}}


# The process.


def test_a_process_ends_in_order_and_starts_again(folder: Path) -> None:
    import httpx

    for k in range(2):
        process = Process(folder)
        try:
            with httpx.Client(base_url=process.url) as client:
                if k == 0:
                    begin(client, NAME)  # type: ignore[arg-type]
                experiment = Remote(client, NAME)  # type: ignore[arg-type]
                until(lambda experiment=experiment: experiment.get().json()["ready"])
                assert experiment.number() == k
                for name in ("x-content-type-options", "content-security-policy"):
                    assert name in client.get("/live").headers
                assert "server" not in client.get("/live").headers
        finally:
            assert process.stop() == 0
        said = [json.loads(line) for line in process.log.splitlines()]
        assert said[0]["message"] == "serving without tokens, on loopback only"
        assert (said[-1]["message"], said[-1]["experiments"]) == ("ended", 1)
    with opened(folder) as store:
        found = store.snapshot(NAME)
        assert found is not None
        assert found[0] == store.logs()[NAME] == 4  # with the second epoch
