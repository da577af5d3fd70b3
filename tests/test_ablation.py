"""The ablation: variants that ParetoZoom takes, ratios that are right, nothing played twice."""

from __future__ import annotations

import doctest
import math
from collections import Counter
from dataclasses import asdict, fields
from pathlib import Path
from types import ModuleType

import ablation
import pytest
import typer
from ablations import effects, variants
from peers import kept
from peers.kept import Files, Run
from peers.schedule import RANDOM, Pair, Results

from paretozoom import PaperTask, ParetoZoom
from paretozoom.kernels.pareto_zoom.settings import Settings

USUAL = asdict(Settings())
TASKS = ["paper", "islands"]
NO_OPTIMISM = variants.title_of(variants.SWITCHES["no optimism"])


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    found = Files(tmp_path / "none", tmp_path / "none", tmp_path / "runs.jsonl")
    monkeypatch.setattr(ablation, "FILES", found)
    return found


def keep(files: Files, player: str, task: str, seed: int, regret: float, entropy: float | None = 0.9) -> None:
    fingerprint = ablation.board_of([task]).fingerprint(player, task)
    about = [player, variants.DEFAULTS, task, 1_000, seed, fingerprint, "", regret, 100.0]
    kept.add(files.ours, Run(*about, None, None, None, None, entropy, 1.0))


@pytest.mark.parametrize("module", [variants, effects])
def test_examples_run(module: ModuleType) -> None:
    found = doctest.testmod(module)
    assert found.failed == 0
    assert found.attempted > 0


def test_variants_are_settings_that_differ_from_the_defaults() -> None:
    known, problem = variants.variants(), PaperTask().problem
    assert len(known) > 100
    for title, given in known.items():
        assert title == variants.DEFAULTS or given
        policy = ParetoZoom(problem, settings=given)
        assert {name: asdict(policy.settings)[name] for name in given} == given
        assert all(value != USUAL[name] for name, value in given.items())


def test_every_number_is_changed() -> None:
    for setting in fields(Settings):
        less, more = variants.changed(setting)
        assert less is not None
        assert less < USUAL[setting.name] < (math.inf if more is None else more)


def test_effects_are_geometric_means_over_tasks(files: Files) -> None:
    for task, ratio in (("paper", 2.0), ("islands", 0.5)):
        for seed in (0, 1):
            keep(files, variants.DEFAULTS, task, seed, 10.0)
            keep(files, NO_OPTIMISM, task, seed, 10.0 * ratio, 0.45)
    keep(files, variants.DEFAULTS, "paper", 2, 10.0)  # luck that the variant did not meet
    found = effects.effect_of(Results(ablation.board_of(TASKS), files), NO_OPTIMISM, TASKS, 1_000)
    assert found is not None
    assert found.regret == pytest.approx((1.0, math.log(2.0)))
    assert found.entropy == pytest.approx((0.5, 0.0))
    assert found.worst == ("paper", pytest.approx(2.0))
    assert not found.is_same


def test_effects_of_what_changes_nothing(files: Files) -> None:
    for player in (variants.DEFAULTS, NO_OPTIMISM):
        keep(files, player, "paper", 0, 10.0)
    keep(files, variants.DEFAULTS, "paper", 1, 30.0)
    results = Results(ablation.board_of(["paper"]), files)
    found = effects.effect_of(results, NO_OPTIMISM, ["paper"], 1_000)
    assert found is not None
    assert found.is_same
    assert effects.effect_of(results, "bias=0", ["paper"], 1_000) is None


def test_tables_have_a_row_for_each_variant(files: Files) -> None:
    for player in (variants.DEFAULTS, NO_OPTIMISM, "bias=0"):
        keep(files, player, "paper", 0, 12.0 if player == NO_OPTIMISM else 10.0)
    results = Results(ablation.board_of(["paper"]), files)
    detail = effects.detail_of(results, NO_OPTIMISM, "paper", 1_000)
    assert detail == effects.Detail(NO_OPTIMISM, "paper", 1_000, 1, 0.12, 0.9)
    table = effects.switches_table(results, ["paper"], [1_000])
    assert table.count("\n") == 2 + len(variants.SWITCHES)
    assert f"| `{NO_OPTIMISM}` | 1.200 | 1.000 | paper: 1.20 |" in table
    assert "| `bias=0` | the same | the same | – |" in table  # noqa: RUF001
    numbers = effects.numbers_table(results, ["paper"], 1_000)
    assert all(f"| `{setting.name}` | " in numbers for setting in fields(Settings))


def test_nothing_is_played_twice(files: Files) -> None:
    pairs = [Pair(player, "paper", 60) for player in (RANDOM, variants.DEFAULTS, "bias=0")]
    ablation.play_all(pairs, {60: 2}, 1)
    runs = kept.read(files.ours)
    assert Counter(run.player for run in runs) == {RANDOM: 16, variants.DEFAULTS: 16, "bias=0": 2}
    ablation.play_all(pairs, {60: 2}, 1)
    assert kept.read(files.ours) == runs
    own = {run.seed: run for run in runs if run.player == variants.DEFAULTS}
    random = {run.seed: run for run in runs if run.player == RANDOM}
    assert {seed: run.random for seed, run in own.items()} == {seed: run.regret for seed, run in random.items()}


def test_a_page_of_some_tasks_only_is_refused() -> None:
    with pytest.raises(typer.BadParameter, match="all tasks"):
        ablation.main(tasks="paper", page=True, only_table=True)
