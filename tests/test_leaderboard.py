"""The standing comparison: same draws for all, nothing played twice, a table that says what the runs say."""

from __future__ import annotations

import doctest
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import leaderboard
import msgspec
import numpy as np
import pytest
import typer
from peers import adapter, kept, schedule, table, vowpal
from peers.adapter import Rival
from peers.figures import figure_of
from peers.grid_thompson import ThompsonChebyshev, ThompsonFront
from peers.kept import Files, Run
from peers.play import Board, Seat, fingerprint_of, measure
from peers.rivals import RIVALS
from peers.schedule import Pair, Results

from paretozoom import Catalogue, HeavyTails, PaperTask, ParetoZoom, Problem, Random, Tents
from paretozoom.environments.base import Task
from paretozoom.problem.dimensions import Floats
from paretozoom.rounds import Columns
from paretozoom.simulation import simulate_in_chunks
from paretozoom.study import Spec, Study

HORIZON = 100
MODULES = {"vw-adf": "vowpalwabbit", "vw-cats": "vowpalwabbit", "river-linucb": "river", "pyxab-hct": "PyXAB",
           "mabwiser-linucb": "mabwiser", "optuna-tpe": "optuna", "botorch-ucb": "botorch"}  # fmt: skip


class Parrot(Rival):
    """Plays the arms that it was given, round by round."""

    name = "parrot"

    def __init__(self, problem: Problem, horizon: int, seed: int, *, played: Columns) -> None:
        super().__init__(problem, horizon, seed)
        self.played = played
        self.rounds = 0

    def choose(self, context: Floats) -> int | Floats:
        arm, place = int(self.played.arm[self.rounds]), self.played.point[self.rounds, len(context) :]
        self.rounds += 1
        return arm if arm >= 0 else place

    def learn(self, context: Floats, arm: int | Floats, reward: Floats) -> None:
        """Nothing."""


def played(player: Any, task: Task, rounds: int = 150) -> Columns:
    chunks = [chunk.columns for chunk in simulate_in_chunks(player, task, rounds, seed=3)]
    return Columns._make(np.concatenate(columns) for columns in zip(*chunks, strict=True))


@pytest.mark.parametrize("task", [PaperTask(), Tents(spread=0.3), Catalogue()], ids=lambda task: task.name)
def test_rivals_meet_the_luck_of_the_compiled_loop(task: Task) -> None:
    own = played(ParetoZoom(task.problem), task)
    parrot = played(Seat(Parrot, task.problem, 150, {"played": own}), task)
    for column in ("number", "point", "arm", "reward"):
        np.testing.assert_array_equal(getattr(own, column), getattr(parrot, column))


@pytest.mark.parametrize("rival", [ThompsonChebyshev, ThompsonFront])
def test_grids_meet_the_contexts_of_random(rival: type[Rival]) -> None:
    for task in (PaperTask(), Tents(spread=0.3)):
        setting = rival.settings["16 x 32"]
        first, again = (played(Seat(rival, task.problem, 150, setting), task) for _ in range(2))
        np.testing.assert_array_equal(first.point, again.point)
        np.testing.assert_array_equal(first.point[:, 0], played(Random(task.problem), task).point[:, 0])


class Listener(Parrot):
    """Keeps what it was told, too."""

    def learn(self, context: Floats, arm: int | Floats, reward: Floats) -> None:
        """Remember."""
        self.played.reward[self.rounds - 1] = reward


def test_raw_rewards_are_told_as_they_were_drawn() -> None:
    task = HeavyTails()
    own = played(Random(task.problem), task)
    heard = own._replace(reward=np.zeros_like(own.reward))
    drawn = [played(Seat(Listener, task.problem, 150, {"played": heard}, raw), task).reward for raw in (False, True)]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    np.testing.assert_array_equal(heard.reward, drawn[1])
    assert heard.reward.max() > 1  # standardised ones are not


def test_what_is_measured_does_not_depend_on_who_asks() -> None:
    task = PaperTask()
    own = played(ParetoZoom(task.problem), task)
    as_policy = measure(ParetoZoom(task.problem), task, 150, 3)
    as_rival = measure(Seat(Parrot, task.problem, 150, {"played": own}), task, 150, 3)
    assert {**as_policy, "per_second": 0} == {**as_rival, "per_second": 0}


def test_a_grid_learns() -> None:
    task = PaperTask()
    found = measure(Seat(ThompsonChebyshev, task.problem, 4000, {"cells": 8, "line": 16}), task, 4000, 0)
    assert found["regret"] < 0.5 * measure(Random(task.problem), task, 4000, 0)["regret"]


STUDY = Study(
    "small",
    HORIZON,
    1,
    (Spec("paper"), Spec("tents", parameters={"spread": 0.3})),
    (Spec("random"), Spec("pareto-zoom")),
)
PLAYERS = ["random", "pareto-zoom", "thompson-front"]


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Results:
    monkeypatch.setattr(schedule, "PILOT", {HORIZON: 2})
    return Results(Board(STUDY), Files(tmp_path / "runs.csv.gz", tmp_path / "rivals.jsonl", tmp_path / "ours.jsonl"))


def play(results: Results, tasks: list[str], jobs: int = 1) -> int:
    pairs = schedule.pairs_of(results.board, PLAYERS, tasks, [HORIZON])
    return sum(runs for _, runs in schedule.play_all(results, pairs, jobs, {HORIZON: 3}))


def again(results: Results, study: Study = STUDY) -> Results:
    return Results(Board(study), results.files)


def test_a_pilot_chooses_the_setting_and_nothing_is_played_twice(results: Results) -> None:
    play(results, ["paper"])
    pair = Pair("thompson-front", "paper", HORIZON)
    kept_runs = kept.read(results.files.rivals)
    assert len(kept_runs) == 3 * 2 + 1
    pilots = {
        name: np.mean([r.regret for r in kept_runs if r.setting == name and r.seed < 2])
        for name in ThompsonFront.settings
    }
    assert results.chosen(pair) == min(pilots, key=lambda name: float(pilots[name]))
    assert [run.seed for run in results.of(pair)] == [0, 1, 2]
    whole = results.files.rivals.read_bytes()
    results.files.rivals.write_bytes(whole[:-20])  # cut short in its last line, as by a crash
    resumed = again(results)
    before = results.files.ours.read_bytes()
    play(resumed, ["paper"])
    assert resumed.of(pair)[-1].regret == results.of(pair)[-1].regret
    assert results.files.ours.read_bytes() == before
    assert len(kept.read(results.files.rivals)) == 7


def test_a_process_of_its_own_finds_the_same(results: Results, tmp_path: Path) -> None:
    play(results, ["paper"])
    pair = Pair("thompson-front", "paper", HORIZON)
    files = results.files._replace(rivals=tmp_path / "others.jsonl")
    _, runs = schedule._played(STUDY, files, pair, {HORIZON: 3})
    assert len(runs) == 6 + 3
    for run in runs:
        assert run.regret == results.found[pair][run.setting, run.seed].regret


def test_results_of_a_changed_task_are_left_alone(results: Results) -> None:
    play(results, ["tents"])
    changed = msgspec.structs.replace(STUDY, environments=(Spec("paper"), Spec("tents", parameters={"spread": 0.31})))
    assert again(results).of(Pair("thompson-front", "tents", HORIZON))
    assert not again(results, changed).found
    assert fingerprint_of(Tents(spread=0.3)) != fingerprint_of(Tents(spread=0.31))
    assert fingerprint_of(Tents(spread=0.3)) == fingerprint_of(Tents(spread=0.3))


def test_the_slow_stop_early(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "SLOWEST", {2 * HORIZON: 1e12})
    play(results, ["paper"])
    pair = Pair("thompson-front", "paper", 2 * HORIZON)
    assert list(schedule.play(results, pair, {2 * HORIZON: 1})) == []
    monkeypatch.setattr(schedule, "SLOWEST", {2 * HORIZON: 1e-6})
    assert [run.setting for run in schedule.play(results, pair, {2 * HORIZON: 1})] == [
        results.chosen(pair._replace(horizon=HORIZON))
    ]
    monkeypatch.setattr(RIVALS["thompson-front"], "longest", HORIZON)
    assert list(schedule.play(results, pair, {2 * HORIZON: 1})) == []


def test_the_table_says_what_the_runs_say(results: Results) -> None:
    play(results, ["paper"])
    runs = [run for run in kept.read(results.files.ours) if run.player == "pareto-zoom"]
    random = [run.regret for run in kept.read(results.files.ours) if run.player == "random"]
    own = sum(run.regret for run in runs) / sum(random)
    rows = table.rows_of(results, "paper", HORIZON)
    assert {row.player for row in rows} == {"pareto-zoom", "thompson-front"}
    row = next(row for row in rows if row.player == "pareto-zoom")
    assert row.regret == pytest.approx(own, rel=1e-5)
    assert row.runs == 3
    text = table.pairs_markdown(rows)
    assert f"| paper | {HORIZON} | {own:.3f} ±" in text
    near = sum(row.regret <= 1.15 * rows[0].regret for row in rows if row.player == "pareto-zoom")
    assert f"on {near} of 1 pairs" in text
    assert "met no rival" in table.pairs_markdown(table.rows_of(results, "tents", HORIZON))
    assert " 1 have all their runs and 0 some" in table.played_of(results, ["paper"], [HORIZON])
    figure = figure_of(results, "paper", [HORIZON])
    assert figure is not None
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["100 rounds"]


def row(player: str, regret: float, entropy: float | None) -> table.Row:
    return table.Row("task", 1, player, "defaults", 1, regret, None, None, None, None, entropy, None, 1.0)


def test_misses() -> None:
    def verdict(*rivals: table.Row) -> table.Verdict:
        found = table.verdict_of([row("pareto-zoom", 0.2, 0.9), *rivals])
        assert found is not None
        return found

    near = verdict(row("vw-adf", 0.18, 0.8), row("vw-cats", 0.9, 0.99))
    assert (near.rank, near.players, near.is_miss, near.ahead) == (2, 3, False, [])
    assert near.times == pytest.approx(0.2 / 0.18)
    assert verdict(row("vw-adf", 0.17, 0.8)).is_miss
    assert verdict(row("vw-adf", 0.19, 0.95)).ahead == [row("vw-adf", 0.19, 0.95)]
    assert not verdict(row("vw-adf", 0.19, None)).is_miss
    assert not verdict(row("pcz", 0.19, 0.95)).ahead  # ours
    assert table.verdict_of([row("pcz", 0.2, 0.9)]) is None


def test_the_table_of_the_page_has_the_best_rival_beside_ours() -> None:
    rows = [row("pareto-zoom", 0.2, 0.9), row("pcz", 0.1, 0.9), row("vw-cats", 0.4, 0.5), row("vw-adf", 0.18, 0.8)]
    lines = table.page_markdown(rows).splitlines()
    assert "| task | 0.200; 0.90 | 0.180; 0.80, **vw-adf** |" in lines
    assert "| *all tasks* | 0.200; 0.90 | 0.180; 0.80 |" in lines


def test_a_page_keeps_what_is_outside_its_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- results -->\nold\n<!-- end of results -->\nafter\n")
    leaderboard.write_page(page, {"results": "new\n"})
    assert page.read_text() == "before\n<!-- results -->\nnew\n<!-- end of results -->\nafter\n"


def test_details_need_ours_and_keep_what_was_not_played_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaderboard, "RUNS", {1: 1})
    page, details = tmp_path / "page.md", tmp_path / "details.csv.gz"
    page.write_text("<!-- results -->\n<!-- end of results -->\n")
    board = Board(msgspec.structs.replace(STUDY, environments=(Spec("paper", label="task"),)))
    rows = [row("vw-adf", 0.18, None), row("pareto-zoom", 0.2, 0.9)]
    with pytest.raises(typer.BadParameter, match="pareto-zoom was not played on task at 1"):
        leaderboard.write_details(rows[:1], board, details, page)
    assert not details.exists()
    leaderboard.write_details(rows, board, details, page)
    assert kept.read_table(details, table.Row) == rows
    leaderboard.write_details([row("pareto-zoom", 0.1, 0.9)], board, details, page)
    assert kept.read_table(details, table.Row) == [row("pareto-zoom", 0.1, 0.9), rows[0]]
    assert "| task | 0.100; 0.90 | 0.180; –, vw-adf |" in page.read_text()  # noqa: RUF001


def test_the_page_shows_what_the_details_say_and_names_every_rival() -> None:
    page = leaderboard.PAGE.read_text()
    rows = kept.read_table(kept.DETAILS, table.Row)
    assert table.page_markdown(rows) in page
    for name, rival in RIVALS.items():
        assert len(rival.settings) == 3
        assert f"**{name}**" in page
    for one in rows:
        assert one.setting in (RIVALS[one.player].settings if one.player in RIVALS else {"defaults"})


def test_kept_runs_are_of_known_settings_and_seeds() -> None:
    runs = kept.rivals_of(Files())
    assert len({(run.player, run.setting, run.task, run.horizon, run.seed) for run in runs}) == len(runs) > 10_000
    for run in runs:
        assert run.setting in RIVALS[run.player].settings
        assert 0 <= run.seed < schedule.RUNS[run.horizon]


def test_kept_files_are_small_and_their_bytes_follow_from_the_runs(tmp_path: Path) -> None:
    runs = kept.read_table(Files().kept, Run)
    for name in ("once", "again"):
        kept.write_table(tmp_path / name, Run, runs)
    assert (tmp_path / "once").read_bytes() == (tmp_path / "again").read_bytes()
    assert kept.read_table(tmp_path / "once", Run) == runs
    assert sum(path.stat().st_size for path in kept.HERE.iterdir() if path.is_file()) < 1_000_000


def test_new_runs_join_those_that_are_kept(results: Results) -> None:
    play(results, ["paper"])
    before = {pair: runs for pair, runs in again(results).found.items() if pair.player in RIVALS}
    kept.keep(results.files)
    assert not results.files.rivals.exists()
    assert {pair: runs for pair, runs in again(results).found.items() if pair.player in RIVALS} == before
    whole = results.files.kept.read_bytes()
    kept.keep(results.files)
    assert results.files.kept.read_bytes() == whole
    kept.keep(results.files, ["thompson-front"])
    assert kept.rivals_of(results.files) == []


@pytest.mark.proof  # needs the extra peers, gigabytes of packages
@pytest.mark.filterwarnings("ignore")  # of their own packages
@pytest.mark.parametrize("name", sorted(MODULES))
def test_rivals_play(name: str) -> None:
    if find_spec(MODULES[name]) is None:
        pytest.skip("the extra peers is not installed")
    rival = RIVALS[name]
    for task in (PaperTask(), Catalogue(), Tents(spread=0.3)):
        if rival.plays(task.problem):
            for setting in rival.settings.values():
                assert measure(Seat(rival, task.problem, 40, setting), task, 40, 0)["regret"] > 0


@pytest.mark.parametrize("module", [adapter, table, vowpal])
def test_examples(module: Any) -> None:
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0


def test_a_run_survives_its_line() -> None:
    run = Run("p", "s", "t", 1, 0, "f", "v", 1.0, 2.0, None, 0.1, 0.2, None, 0.3, 4.0)
    assert msgspec.json.decode(msgspec.json.encode(run), type=Run) == run
