"""What an upgrade would do is said before it is done; a second service waits for the end of the first."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from paretozoom import Random
from paretozoom.commands.cli import app as commands
from paretozoom.store.events import Paused
from tests.service.remote import Process, begin, command, light, served_at, serving, until
from tests.store.contract.opening import newer_version
from tests.store.entries import add
from tests.store.samples import opened


def check(folder: Path, *more: str) -> Any:
    return CliRunner().invoke(commands, ["upgrade", "--store", str(folder), *more], env={"COLUMNS": "160"})


@pytest.fixture
def lived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    light(monkeypatch)
    with serving(tmp_path / "data") as client:
        begin(client, "prices").number()
        begin(client, "doses", policy="pareto-ucb1").number()
    return tmp_path / "data"


def test_what_this_version_can_go_on_with_is_said(lived: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = check(lived, "--check")
    assert done.exit_code == 0
    assert [line.split()[-1] for line in done.stdout.splitlines()[1:]] == ["fine", "fine"]
    monkeypatch.setattr(Random, "version", 2)
    for more in (["--check"], []):
        done = check(lived, *more)
        assert done.exit_code == 1
        rows = {line.split()[0]: line.strip() for line in done.stdout.splitlines()}
        assert rows["doses"].endswith("fine")
        assert "is of version 1 of random, this is version 2" in rows["prices"]


def test_a_check_changes_no_tables(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as store:
        add(store, "_admin", Paused("ops"))
    with newer_version(tmp_path):
        for _ in range(2):
            done = check(tmp_path / "data", "--check")
            assert done.exit_code == 1
            assert "the tables have the form '2', this version of paretozoom needs '3'" in str(done.exception)
        assert check(tmp_path / "data").exit_code == 0
        assert check(tmp_path / "data", "--check").exit_code == 0


def test_a_standby_serves_when_the_first_has_ended(tmp_path: Path) -> None:
    first = Process(tmp_path / "data")
    line = served_at(tmp_path / "data", "--port", "0", "--standby")
    with (tmp_path / "standby.log").open("w") as said:
        standby = subprocess.Popen(line, stderr=said)
    try:

        def messages() -> list[str]:
            lines = (tmp_path / "standby.log").read_text().splitlines()
            return [json.loads(one)["message"] for one in lines if one.endswith("}")]

        until(lambda: messages() == ["standing by"], patience=60)
        assert command("serve", "--store", str(tmp_path / "data"), "--port", "0").returncode == 2
        assert first.stop() == 0
        until(lambda: len(messages()) == 2, patience=60)
        assert messages()[1].startswith("serving")
    finally:
        first.stop() if first.process.poll() is None else None
        standby.terminate()
        assert standby.wait(60) == 0
