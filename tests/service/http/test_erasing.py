"""Decisions that are erased, logs that are pruned, experiments that are deleted."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from paretozoom.commands.cli import app as commands
from paretozoom.service.experiments import at_hand
from paretozoom.service.writing.loading import load_experiment, replay_experiment, verify
from paretozoom.store import FILE
from paretozoom.store.copying import copy_store
from paretozoom.store.events import Erased
from tests.service.remote import ALL, Clock, Remote, begin, new, refused, serving, until
from tests.store.samples import opened

NAME = "kept"
WHO = "frau-mueller-1974"


def replayed(folder: Path) -> Any:
    return CliRunner().invoke(commands, ["replay", "--store", str(folder)], env={"COLUMNS": "160"})


def live(client: Any) -> Any:
    return client.app.state.experiments.by_name[NAME].experiment


def played(client: Any, **more: Any) -> Remote:
    """An experiment with decisions about somebody: rewarded, in part, open, deferred; and about others."""
    experiment = begin(client, NAME, policy="pareto-ucb1", **more)
    for k in range(4):
        experiment.reward(experiment.number(k / 8, request_id=f"visit {k}"))
    for k, parts in enumerate([{"left": 0.5, "right": 0.5}, {"left": 0.25}, None, None]):
        number = experiment.number(0.625, request_id=f"{WHO} {k}", subject=WHO, deferred=k == 3)
        if parts:
            experiment.reward(number, **parts)
    experiment.number(0.875, request_id="open")
    return experiment


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir() if path.name.startswith(FILE))


def by_subject(experiment: Remote) -> dict[str, Any]:
    return {"subjects": [WHO]}


def by_request(experiment: Remote) -> dict[str, Any]:
    return {"request_ids": [f"{WHO} {k}" for k in range(4)]}


def by_decision(experiment: Remote) -> dict[str, Any]:
    return {"decisions": [experiment.id(4 + k) for k in range(4)]}


@pytest.mark.parametrize("wish", [by_subject, by_request, by_decision])
def test_what_is_erased_is_gone_and_the_chain_can_be_checked(folder: Path, lightly: None, wish: Any) -> None:
    with serving(folder, snapshot_every=5) as client:
        experiment = played(client)
        before = experiment.get().json()
        assert WHO.encode() in bytes_of(folder)
        assert experiment.post("/erase", wish(experiment)).json() == {"entries": 4 + 2}
        assert WHO.encode() not in bytes_of(folder)
        assert b"0.625" not in bytes_of(folder)
        assert experiment.post("/erase", wish(experiment)).status_code in (200, 404)
        after = experiment.get().json()
        assert after["open"] == 1
        assert after["counts"]["totals"] == before["counts"]["totals"]  # what was summed stays
        for number in range(4, 8):
            refused(experiment.get(f"/decisions/{number}"), 410, "was erased")
            refused(experiment.reward(number, left=0.125), 410, "was erased")
            refused(experiment.post(f"/decisions/{number}/cancel"), 410, "was erased")
        assert experiment.reward(8).status_code == 200
        assert experiment.decide(0.625, request_id=f"{WHO} 0").json()["id"] == experiment.id(9)  # new again
        state = live(client).digest()
    done = replayed(folder)
    assert done.exit_code == 0, done.output
    assert "folded from entry" in done.output
    with opened(folder) as store:
        assert replay_experiment(store, NAME).digest() == load_experiment(store, NAME)[0].digest() == state
        kinds = [type(entry.event).__name__ for entry in store.read(NAME)]
        assert kinds.count("Erased") == 6
        assert kinds.count("Removed") == 1
    with serving(folder) as client:
        assert live(client).digest() == state


def test_what_is_only_in_the_log_or_came_with_an_import_is_erased(
    folder: Path, lightly: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(at_hand, "KEPT", 0)
    with serving(folder) as client:
        experiment = played(client)
        data = experiment.get("/snapshot").content
        assert client.put(f"{ALL}/copy/snapshot", content=data).status_code == 201
        copy = Remote(client, "copy")
        until(lambda: copy.get().json()["ready"])
        assert experiment.post("/erase", {"subjects": [WHO]}).json() == {"entries": 4 + 2}
        assert copy.post("/erase", {"subjects": [WHO]}).json() == {"entries": 3}  # those that were open
        assert (experiment.get().json()["open"], copy.get().json()["open"]) == (1, 1)
        assert WHO.encode() not in bytes_of(folder)
        assert b"0.625" not in bytes_of(folder)
        last = experiment.id(8)
        assert copy.reward(last).status_code == experiment.reward(last).status_code == 200
    with opened(folder) as store:
        assert verify(store, NAME).fine
        assert verify(store, "copy").fine


def test_a_change_behind_an_erasure_is_noticed(folder: Path, lightly: None) -> None:
    with serving(folder) as client:
        played(client).post("/erase", {"subjects": [WHO]})
    with opened(folder) as store:
        seq = next(entry.seq for entry in store.read(NAME) if isinstance(entry.event, Erased))
    for change in (
        'body = CAST(replace(CAST(body AS TEXT), \'"digest":"\', \'"digest":"00\') AS BLOB)',
        'body = CAST(replace(CAST(body AS TEXT), \'"digest":"\', \'"digest":"z\') AS BLOB)',
        "number = 3",
        "salt = x'00'",
    ):
        with sqlite3.connect(folder / FILE) as base:
            kept = base.execute("SELECT body, number, salt FROM events WHERE seq = ?", [seq]).fetchone()
            base.execute(f"UPDATE events SET {change} WHERE seq = ?", [seq])
        assert f"log 'kept': entry {seq} is damaged" in replayed(folder).stderr
        with sqlite3.connect(folder / FILE) as base:
            base.execute("UPDATE events SET body = ?, number = ?, salt = ? WHERE seq = ?", [*kept, seq])
        base.close()
    assert replayed(folder).exit_code == 0


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, ["erase: nothing given"]),
        ({"subjects": []}, ["erase: nothing given"]),
        ({"subjects": [5]}, ["subjects[0]", "5"]),
        ({"decisions": [3]}, ["decisions[0]", "3"]),
        ({"subject": "a"}, ["subject"]),
    ],
)
def test_a_bad_wish_erases_nothing(experiment: Remote, body: Any, words: list[str]) -> None:
    count = experiment.count
    refused(experiment.post("/erase", body), 400, *words)
    assert experiment.post("/erase", {"subjects": ["nobody"]}).json() == {"entries": 0}
    assert experiment.post("/erase", {"request_ids": ["nobody"]}).json() == {"entries": 0}
    refused(experiment.post("/erase", {"decisions": ["0000000000-0"]}), 404)
    assert experiment.count == count


def test_old_entries_are_pruned_as_far_as_no_open_decision_needs_them(folder: Path, lightly: None) -> None:
    with serving(folder) as client:
        experiment = begin(client, NAME, policy="pareto-ucb1")
        clock = Clock(experiment)
        for k in range(10):
            number = experiment.number(k / 10)
            if k != 7:
                experiment.reward(number, left=k / 10, right=0.5)
            clock.now += 100
        everything, ids = experiment.count, [experiment.id(k) for k in range(10)]
        assert experiment.post("/prune", {"before": 0}).json() == {"entries": 0}
        assert experiment.post("/prune", {"before": clock.now - 750}).json() == {"entries": 1 + 2 * 3}
        assert experiment.events()[0]["seq"] == 8
        assert experiment.post("/prune", {"before": clock.now}).json() == {"entries": 2 * 4}  # number 7 is open
        assert experiment.count == everything + 2
        refused(experiment.get(f"/decisions/{ids[3]}"), 404, "is not in this log")
        refused(experiment.reward(ids[3]), 404, "is not in this log")
        assert experiment.reward(ids[7]).status_code == 200
        state = live(client).digest()
    assert replayed(folder).exit_code == 0
    with opened(folder) as store, opened(folder.parent / "copy") as copy:
        assert replay_experiment(store, NAME).digest() == state
        copy_store(store, copy)
        assert copy.beginning(NAME) == store.beginning(NAME)
        assert verify(copy, NAME).fine
        assert replay_experiment(copy, NAME).digest() == state
    with serving(folder.parent / "copy") as client:
        experiment = Remote(client, NAME)
        until(lambda: experiment.get().json()["ready"])
        assert experiment.decide().status_code == 201


def test_a_deleted_experiment_leaves_nothing_and_its_name_is_free(folder: Path, lightly: None) -> None:
    with serving(folder) as client:
        other = begin(client)
        experiment = played(client)
        made = experiment.id(0)
        assert client.delete(f"{ALL}/{NAME}").status_code == 204
        assert WHO.encode() not in bytes_of(folder)
        for answer in (experiment.get(), experiment.decide(), client.delete(f"{ALL}/{NAME}")):
            refused(answer, 404, "there is none of this name")
        again = begin(client, NAME, seed=8)
        assert again.number() == 0
        refused(again.reward(made), 404, made)
        assert other.number() == 0
    assert replayed(folder).exit_code == 0


def test_a_damaged_experiment_can_be_deleted(folder: Path, lightly: None) -> None:
    with serving(folder) as client:
        played(client)
    with sqlite3.connect(folder / FILE) as base:
        base.execute("DELETE FROM snapshots")
        base.execute("UPDATE events SET body = '{}' WHERE seq = 3")
    base.close()
    with serving(folder) as client:
        refused(client.get(f"{ALL}/{NAME}"), 503, "is damaged", "cannot be served")
        assert client.delete(f"{ALL}/{NAME}").status_code == 204
        assert client.get("/ready").text == "ready\n"
        assert client.post(ALL, json=new(NAME)).status_code == 201


def test_requests_beside_a_deletion_are_answered(folder: Path, lightly: None) -> None:
    with serving(folder) as client:
        experiment, other = begin(client, NAME), begin(client)
        with ThreadPoolExecutor(8) as pool:
            answers = [pool.submit((experiment, other)[k % 2].decide) for k in range(30)]
            gone = pool.submit(client.delete, f"{ALL}/{NAME}")
            answers += [pool.submit((experiment, other)[k % 2].decide) for k in range(30)]
        assert gone.result().status_code == 204
        assert {answer.result().status_code for answer in answers[::2]} <= {201, 404}
        assert {answer.result().status_code for answer in answers[1::2]} == {201}
