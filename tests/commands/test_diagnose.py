"""What `paretozoom diagnose` prints of an experiment."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from paretozoom import Decision, Objective, Problem, Real
from paretozoom.commands.cli import app
from paretozoom.store.events import Created, Decided, Event, Paused, Rewarded
from tests.store.entries import add
from tests.store.samples import opened

PROBLEM = Problem(
    [Real("hour", 0, 24), Real("idle", 0, 9)],
    [Real("price", 1, 9)],
    [Objective("sold"), Objective("spent", bounded=False, low=0, high=100)],
)


def events() -> Iterator[Event]:
    """Sales, one in a hundred, that nothing explains; spending with heavy tails by hour and price."""
    rng = np.random.default_rng(1)
    yield Created(PROBLEM, "pcz", {"horizon": 1000, "similarity": {"scale": 9.0}}, 1, 1, by="loopback")
    for number in range(3000):
        hour, idle, price = rng.uniform(0, 24), rng.uniform(0, 9), rng.uniform(1, 9)
        yield Decided(Decision(number, {"hour": hour, "idle": idle}, {"price": price}, 1.0, 0))
        spent = 2 * price + hour + 3 * float(rng.standard_t(2.1))
        yield Rewarded(number, {"sold": float(rng.random() < 0.01), "spent": spent})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("diagnosed") / "data"
    with opened(where) as store:
        add(store, "shop", *events())
        add(store, "_admin", Paused("ops"))
    return where


def diagnose(folder: Path, *more: str) -> Any:
    return CliRunner().invoke(app, ["diagnose", *more, "--store", str(folder)])


def test_what_is_found_is_said_in_paragraphs(folder: Path) -> None:
    done = diagnose(folder, "shop")
    assert done.exit_code == 0, done.exception
    assert max(map(len, done.stdout.splitlines())) <= 100
    head, similarity, *findings = " ".join(done.stdout.split("\n")).split("  ")
    assert head == "shop, 3,000 rounds"
    assert similarity.startswith("rewards change up to")
    text = " ".join(findings)
    for words in (
        "the similarity is too steep",
        "Try PCZ(..., similarity={'scale':",
        "sold: rare:",
        "spent: few rewards make",
        "of 3 coordinates 2 matter",
        "Nothing is seen of idle",
    ):
        assert words in text


def test_the_same_as_numbers(folder: Path) -> None:
    found = json.loads(diagnose(folder, "shop", "--json").stdout)
    codes = [finding["code"] for finding in found["findings"]]
    assert codes == ["steep-similarity", "rare-rewards", "few-rewards", "coordinates"]
    assert found["findings"][0]["numbers"]["similarity"]["weights"]["price"] > 0.2
    assert found["numbers"]["spent"]["largest_share"] > 0.25
    assert found["rounds"] == 3000


def test_an_unknown_experiment_is_refused(folder: Path) -> None:
    for name in ("shops", "_admin"):
        done = diagnose(folder, name)
        assert done.exit_code != 0
        assert "is not one of ['shop']" in str(done.exception)
