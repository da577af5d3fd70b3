"""What is damaged stays in its experiment: the others go on, it is named, and it can be repaired."""

from __future__ import annotations

import logging
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from paretozoom.commands.cli import app as commands
from paretozoom.service.experiments.experiment import Experiment
from paretozoom.service.writing import live
from paretozoom.service.writing.loading import load_experiment, replay_experiment, verify
from paretozoom.store import FILE, Damaged, Store
from tests.service.remote import ALL, Remote, begin, light, refused, serving, until
from tests.store.samples import opened

BAD, GOOD = "damaged", "healthy"
ENTRIES = 41


def change(folder: Path, statement: str) -> None:
    """Change what is stored of the damaged one; "here" is its log."""
    with sqlite3.connect(folder / FILE) as base:
        base.execute(statement.replace("here", f"log = (SELECT id FROM logs WHERE name = '{BAD}')"))
    base.close()


def live_a_while(folder: Path) -> None:
    """Serve decisions and rewards of both."""
    with serving(folder) as client:
        for name in (BAD, GOOD):
            there = client.get(f"{ALL}/{name}").status_code == 200
            experiment = Remote(client, name) if there else begin(client, name, policy="pareto-ucb1")
            until(lambda experiment=experiment: experiment.get().json()["ready"])
            for k in range(10):
                experiment.reward(experiment.number(k / 10), left=k / 10, right=0.5)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two experiments that are alike, and two snapshots of each."""
    folder = tmp_path_factory.mktemp("whole") / "data"
    with pytest.MonkeyPatch.context() as patch:
        light(patch)
        for _ in range(2):
            live_a_while(folder)
    with opened(folder) as store:
        assert store.logs() == {BAD: ENTRIES + 1, GOOD: ENTRIES + 1}  # with the second epoch
        assert len(store.snapshots(BAD)) == 2
    return folder


@pytest.fixture
def lived(whole: Path, folder: Path, lightly: None) -> Path:
    """A copy of it, to be damaged."""
    shutil.copytree(whole, folder)
    return folder


def states(folder: Path) -> dict[str, str]:
    """What the logs come to."""
    with opened(folder) as store:
        return {name: replay_experiment(store, name).digest() for name in (BAD, GOOD)}


def run(*arguments: str) -> Any:
    return CliRunner().invoke(commands, list(arguments), env={"COLUMNS": "160"})


SNAPSHOTS: dict[str, str] = {
    "newest changed": "UPDATE snapshots SET body = zeroblob(length(body)) WHERE here AND seq = 42",
    "newest cut": "UPDATE snapshots SET body = substr(body, 1, 1000) WHERE here AND seq = 42",
    "newest a byte": "UPDATE snapshots SET body = substr(body, 1, length(body) - 1) || x'ff' WHERE here AND seq = 42",
    "all": "UPDATE snapshots SET body = zeroblob(9) WHERE here",
    "none left": "DELETE FROM snapshots WHERE here",
}


@pytest.mark.parametrize("statement", SNAPSHOTS.values(), ids=SNAPSHOTS)
def test_a_damaged_snapshot_costs_time_and_nothing_else(lived: Path, statement: str) -> None:
    before = states(lived)
    change(lived, statement)
    with serving(lived) as client:
        for name in (BAD, GOOD):
            experiment = Remote(client, name)
            assert client.app.state.experiments.by_name[name].experiment.digest() == before[name]
            until(lambda experiment=experiment: experiment.get().json()["ready"])
            assert experiment.number() == 20
        assert client.get("/ready").text == "ready\n"


def test_replay_reports_each_and_repair_makes_snapshots_anew(lived: Path) -> None:
    before = states(lived)
    change(lived, SNAPSHOTS["all"])
    done = run("replay", "--store", str(lived))
    assert done.exit_code == 1
    rows = {words[0]: words for words in (line.split() for line in done.stdout.splitlines())}
    assert rows[BAD][2] == before[BAD][:16]
    assert done.stdout.count("DAMAGED") == 2
    assert rows[GOOD][2] == before[GOOD][:16]
    assert "log 'damaged': the snapshot of entry 42 is damaged" in done.stderr
    done = run("repair", BAD, "--store", str(lived))
    assert done.stdout == "damaged: snapshots were made anew from the log\n"
    assert run("repair", BAD, "--store", str(lived)).stdout == "damaged: nothing to repair\n"
    assert run("replay", "--store", str(lived)).exit_code == 0
    with opened(lived) as store:
        assert replay_experiment(store, BAD).digest() == load_experiment(store, BAD)[0].digest()


ENTRY: dict[str, str] = {
    "cut": "UPDATE events SET body = substr(body, 1, 20) WHERE here AND seq = 42",
    "changed": "UPDATE events SET body = CAST(replace(body, '0.9', '0.8') AS BLOB) WHERE here AND seq = 42",
    "a text": "UPDATE events SET body = body || '' WHERE here AND seq = 42",
    "missing": "DELETE FROM events WHERE here AND seq = 40",
}


def damage_the_end(folder: Path, how: str) -> None:
    """Damage entries after the newest snapshot that is left."""
    change(folder, "DELETE FROM snapshots WHERE here AND seq = 42")
    change(folder, ENTRY[how])


@pytest.mark.parametrize("how", ENTRY)
def test_a_damaged_entry_stays_in_its_experiment(lived: Path, how: str, caplog: pytest.LogCaptureFixture) -> None:
    before = states(lived)
    damage_the_end(lived, how)
    with caplog.at_level(logging.ERROR, "paretozoom"), serving(lived) as client:
        bad, good = Remote(client, BAD), Remote(client, GOOD)
        assert client.get("/ready").text == "ready\ndamaged: damaged\n"
        for answer in (bad.get(), bad.decide(), bad.reward("0000000000-0"), bad.get("/front"), bad.get("/snapshot")):
            refused(answer, 503, "experiment 'damaged': cannot be served, and others go on: log 'damaged': entry 4")
        refused(bad.get("/events"), 503, "what is stored is damaged: log 'damaged': entry 4")
        assert len(bad.events(limit=10)) == 10
        assert client.get(ALL).json()["damaged"].keys() == {BAD}
        assert [one["name"] for one in client.get(ALL).json()["experiments"]] == [GOOD]
        text = client.get("/metrics").text
        assert 'paretozoom_damaged{experiment="damaged"} 1.0' in text
        assert 'paretozoom_damaged{experiment="healthy"} 0.0' in text
        assert client.app.state.experiments.by_name[GOOD].experiment.digest() == before[GOOD]
        assert good.reward(good.number()).status_code == 200
    said = [record for record in caplog.records if record.message == "an experiment is damaged"]
    assert [record.experiment for record in said] == [BAD]
    done = run("replay", "--store", str(lived))
    assert done.exit_code == 1
    assert "log 'damaged': entry 4" in done.stderr
    assert "healthy" not in done.stderr


def test_what_is_damaged_is_not_read_again_and_again(lived: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def load(store: Store, name: str) -> tuple[Experiment, int]:
        read.append(name)
        if name == BAD:
            raise KeyError("a fold that fails")
        return load_experiment(store, name)

    monkeypatch.setattr(live, "load_experiment", load)
    clock = [0.0]
    with serving(lived) as client:
        client.app.state.experiments.now = lambda: clock[0]
        bad, good = Remote(client, BAD), Remote(client, GOOD)
        for _ in range(5):
            clock[0] += 10
            refused(bad.decide(), 503, "a fold that fails")
            assert good.decide().status_code == 201
        assert sorted(read) == [BAD, GOOD]


@pytest.mark.parametrize("how", ENTRY)
def test_what_cannot_be_saved_is_cut_only_if_it_is_wished(lived: Path, how: str) -> None:
    with opened(lived) as store:
        last = 41 if how != "missing" else 39
        wanted = replay_experiment(store, BAD, last).policy.dump().to_bytes()
    damage_the_end(lived, how)
    done = run("repair", BAD, "--store", str(lived))
    assert f"{42 - last} {'entry' if last == 41 else 'entries'}, from {last + 1} on, cannot be reached" in str(
        done.exception
    )
    done = run("repair", BAD, "--store", str(lived), "--cut")
    assert done.exit_code == 0, done.exception
    assert "thrown away" in done.stdout
    assert run("replay", "--store", str(lived)).exit_code == 0
    with opened(lived) as store:
        assert replay_experiment(store, BAD).policy.dump().to_bytes() == wanted
    with serving(lived) as client:
        bad = Remote(client, BAD)
        until(lambda: bad.get().json()["ready"])
        assert bad.reward(bad.number()).status_code == 200


@pytest.mark.parametrize("statement", [ENTRY["cut"].replace("42", "7"), ENTRY["missing"].replace("40", "7")])
def test_damage_behind_a_good_snapshot_becomes_a_tombstone(lived: Path, statement: str) -> None:
    before = states(lived)
    change(lived, statement)
    with serving(lived) as client:
        assert client.app.state.experiments.by_name[BAD].experiment.digest() == before[BAD]
    assert "log 'damaged': entry 7 is" in run("replay", "--store", str(lived)).stderr
    done = run("repair", BAD, "--store", str(lived))
    assert done.stdout == "damaged: 1 entry replaced by tombstones, what is known of them is in a snapshot\n"
    done = run("replay", "--store", str(lived))
    assert done.exit_code == 0, done.output
    assert "folded from entry 43" in done.stdout
    with opened(lived) as store:
        kinds = [type(entry.event).__name__ for entry in store.read(BAD)]
        assert kinds[6] == "Erased"
        assert kinds.count("Erased") == kinds.count("Removed") == 1
        assert store.damage(BAD) == []
        assert verify(store, BAD).fine


def test_a_repair_waits_for_the_end_of_a_service(lived: Path) -> None:
    with serving(lived):
        assert "another service is running on it" in str(run("repair", BAD, "--store", str(lived)).exception)


def test_a_page_that_the_disk_lost_stays_in_its_experiment(folder: Path, lightly: None) -> None:
    with serving(folder) as client:
        bad, good = begin(client, BAD), begin(client, GOOD)
        for k in range(400):
            bad.number(request_id=f"victim {k} {'x' * 100}")
        good.number()
    change(folder, "DELETE FROM snapshots WHERE here")
    with sqlite3.connect(folder / FILE) as base:
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        [size] = base.execute("PRAGMA page_size").fetchone()
    base.close()
    data = bytearray((folder / FILE).read_bytes())
    pages = [k for k in range(0, len(data), size) if data[k : k + size].count(b'"request":"victim') > 3]
    data[pages[3] : pages[3] + size] = bytes(size)
    (folder / FILE).write_bytes(data)
    with serving(folder) as client:
        bad, good = Remote(client, BAD), Remote(client, GOOD)
        refused(bad.decide(), 503, "cannot be served, and others go on")
        assert good.reward(good.number()).status_code == 200
    done = run("replay", "--store", str(folder))
    assert done.exit_code == 1
    assert "healthy" in done.stdout


class Broken:
    """A store that finds one log damaged when it is written to."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.broken = False

    def append(self, additions: list[Any]) -> None:
        if self.broken and any(addition.log == BAD for addition in additions):
            raise Damaged("a page of it is damaged")
        self._store.append(additions)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def test_damage_that_a_write_meets_harms_no_other(lived: Path) -> None:
    with opened(lived) as store:
        broken = Broken(store)
        with serving(broken) as client:  # type: ignore[arg-type]
            broken.broken = True
            with ThreadPoolExecutor(8) as pool:
                codes = list(pool.map(lambda k: Remote(client, (GOOD, BAD)[k % 2]).decide().status_code, range(40)))
            broken.broken = False
        assert set(codes[::2]) == {201}
        assert set(codes[1::2]) == {503}
    assert run("replay", "--store", str(lived)).exit_code == 0
