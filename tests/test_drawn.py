"""The comparison on tasks drawn at random: settings are chosen by development tasks, statements say what runs say."""

from __future__ import annotations

import doctest
from pathlib import Path
from types import ModuleType

import drawn
import numpy as np
import pytest
from draws import choosing, playing, statements, tables
from draws.choosing import choices_of, setting_of, wanted
from draws.players import EQUAL, FAIR, FAIR_LINEAR, PLAYERS, RIVALS
from draws.playing import Key, Run
from draws.statements import games_of
from peers import kept

from paretozoom import LinUCB, Random

RIVER = "river-linucb"
FIRST, SECOND, THIRD = RIVALS[RIVER].settings
MAKESHIFT = {(player, shape): next(iter(RIVALS[player].settings)) for player in RIVALS for shape in choosing.SHAPES}


def run(
    player: str,
    seed: int,
    regret: float,
    entropy: float | None = 0.5,
    *,
    setting: str = "",
    shape: str = "labels",
    weighted: float = 1.0,
    rounds: int = 1_000,
) -> Run:
    setting = setting or next(iter(PLAYERS[player].settings))
    return Run(player, setting, seed, shape, rounds, "code", regret, weighted, regret, regret, entropy)


def test_the_setting_of_least_weighted_regret_is_chosen_for_each_shape() -> None:
    runs = [
        *(run(RIVER, seed, 0.1, setting=FIRST, weighted=w) for seed, w in ((0, 0.9), (1, 0.1))),  # geometric mean 0.3
        *(run(RIVER, seed, 0.9, setting=SECOND, weighted=w) for seed, w in ((0, 0.4), (1, 0.4))),
        *(run(RIVER, seed, 0.9, setting=THIRD, weighted=0.5) for seed in (0, 1)),
        run(RIVER, 2, 0.1, setting=SECOND, weighted=0.001),  # the others were not played there
        *(run(RIVER, 3, 0.1, setting=s, weighted=w, shape="items") for s, w in ((FIRST, 3), (SECOND, 2), (THIRD, 1))),
        *(run(RIVER, 4, 0.1, setting=s, weighted=w, rounds=10_000) for s, w in ((FIRST, 3), (SECOND, 2), (THIRD, 1))),
        *(run(RIVER, 150, 0.1, setting=s, weighted=w) for s, w in ((FIRST, 3), (SECOND, 2), (THIRD, 1))),
    ]
    choices = choices_of(runs)
    assert choices == {(RIVER, "labels"): FIRST, (RIVER, "items"): THIRD}
    assert setting_of(RIVER, "boxes", choices) is None
    assert setting_of(FAIR, "boxes", choices) == "defaults"


def test_all_settings_are_played_on_development_tasks_and_one_on_others() -> None:
    slow = "mabwiser-linucb"
    assert [key.setting for key in wanted([RIVER], [36], [1_000], {})] == [FIRST, SECOND, THIRD]
    assert list(wanted([RIVER], [136], [1_000], {})) == []
    assert list(wanted([RIVER, FAIR], [136], [10_000], MAKESHIFT)) == [
        Key(RIVER, FIRST, 136, 10_000),
        Key(FAIR, "defaults", 136, 10_000),
    ]
    assert list(wanted([slow], [60], [1_000], MAKESHIFT)) == list(wanted([slow], [136], [10_000], MAKESHIFT)) == []
    assert list(wanted([FAIR], [38, 74], [10_000], MAKESHIFT)) == []  # more than 100 items, a seed beyond the first 40
    assert len(list(wanted([FAIR], [38, 74], [1_000], MAKESHIFT))) == 2


RUNS = [
    *(run(EQUAL, seed, regret, 0.2) for seed, regret in ((100, 0.2), (101, 0.2), (102, 0.2))),
    *(run(RIVER, seed, regret, 0.3) for seed, regret in ((100, 0.4), (101, 0.175), (102, 0.1))),
    *(run("linucb", seed, regret, 0.3) for seed, regret in ((100, 0.1), (101, 0.8), (102, 0.8))),
    *(run(FAIR, seed, 0.4, entropy) for seed, entropy in ((100, 0.9), (101, 0.29), (102, None))),
    *(run(FAIR_LINEAR, seed, 0.35, 0.91) for seed in (100, 101, 102)),
]


def test_statements_are_what_the_runs_add_up_to() -> None:
    games = games_of([*RUNS, run(FAIR, 103, 0.1), run(RIVER, 100, 9.0, setting=SECOND)], 1_000, MAKESHIFT)
    assert len(games) == 3  # not all have played on 103, and SECOND was not chosen
    assert statements.share_near(games) == pytest.approx(1 / 3)  # 0.2 is within 15 % of 0.175, not of 0.1
    best = statements.ratio_to_best(games)
    assert best.rival == RIVER  # 0.191 against 0.4
    assert best.times == pytest.approx(0.2 / (0.4 * 0.175 * 0.1) ** (1 / 3))
    # On 100 there is one of far less regret, but less fair, and one as fair, but of hardly less regret.
    assert statements.share_behind(games) == 0
    ahead = [
        run(FAIR_LINEAR, 100, 0.34, 0.92) if one.player == FAIR_LINEAR and one.seed == 100 else one for one in RUNS
    ]
    assert statements.share_behind(games_of(ahead, 1_000, MAKESHIFT)) == pytest.approx(1 / 3)
    said = "\n".join(statements.statements(games, 1_000))
    assert "on 33% of 3 tasks" in said
    assert "labels 1.05 (river-linucb)" in said
    assert "Of finite arms: labels 1.05 times river's." in said
    assert "On 0 of 3 tasks with finite arms" in said


def test_nothing_is_said_of_those_who_have_not_played() -> None:
    games = games_of([one for one in RUNS if one.player in RIVALS], 1_000, MAKESHIFT)
    assert statements.statements(games, 1_000) == []
    assert tables.fair_table(games).count("\n") == 0
    assert games_of([], 1_000, MAKESHIFT) == []
    assert tables.parts_of([], MAKESHIFT)["table"] == "Nothing was played yet."


def test_tables_have_geometric_means() -> None:
    games = games_of(RUNS, 1_000, MAKESHIFT)
    assert "| river-linucb | 0.19 / 1.00; 0.30 | 0.19 / 1.00; 0.30 |" in tables.page_table(games)
    assert f"| labels | {RIVER} ({FIRST}) | 3 | 0.191 | 1.000 | 0.191 | 0.191 | 0.30 |" in tables.whole_table(
        games, MAKESHIFT
    )
    assert "| 102 | labels | 0.400 | – | 0.350 | 0.91 |" in tables.fair_table(games)  # noqa: RUF001


def test_all_players_meet_the_same_contexts_and_random_has_all_of_its_regret() -> None:
    task, _, best, short = playing.table_of(36, 200)
    own, random = (playing._points(playing._rounds(policy(task.problem), task, 200, 36)) for policy in (LinUCB, Random))
    context = task.problem.encoding.context
    np.testing.assert_array_equal(own[:, :context], random[:, :context])
    np.testing.assert_array_equal(playing._short(task, random, best), short)
    found = playing.play(Key("linucb", "alpha 1", 36, 1_000))
    assert 0 < found.regret < 1
    assert 0 < found.weighted < 1
    assert found == playing.play(Key("linucb", "alpha 1", 36, 1_000))


def test_runs_are_kept_and_the_newest_counts(tmp_path: Path) -> None:
    played, stored = tmp_path / "results" / "runs.jsonl", tmp_path / "runs.csv.gz"
    assert playing.read(played, stored) == {}
    for one in RUNS[:3]:
        playing.add(one, played)
    played.write_bytes(played.read_bytes()[:-20])  # cut short in its last line, as by a crash
    newer = run(EQUAL, 100, 0.15, None)
    playing.add(newer, played)
    found = playing.read(played, stored)
    assert list(found.values()) == [newer, RUNS[1]]
    playing.keep(found.values(), stored)
    assert playing.read(tmp_path / "none", stored) == found
    assert not playing.holds(newer)  # its code is another
    assert playing.holds(run(RIVER, 100, 0.5))


def test_the_page_shows_what_the_kept_runs_say() -> None:
    page = drawn.PAGE.read_text()
    runs = list(playing.read(Path("none")).values())
    choices = choices_of(runs)
    for name, part in tables.parts_of(runs, choices).items():
        assert f"<!-- {name} -->\n{part.strip()}\n<!-- end of {name} -->" in page
    assert set(choices) == {(run.player, shape) for run in runs if run.player in RIVALS for shape in choosing.SHAPES}
    for player in PLAYERS:
        assert f"**{player}**" in page
    assert all(len(RIVALS[player].settings) == 3 for player in RIVALS)


def test_kept_runs_are_of_known_settings_and_no_setting_was_spared_a_development_task() -> None:
    runs = kept.read_table(playing.KEPT, Run)
    found = {playing.key_of(one) for one in runs}
    assert len(found) == len(runs)
    assert all(one.setting in PLAYERS[one.player].settings for one in runs)
    assert playing.KEPT.stat().st_size < 500_000
    for name in {one.player for one in runs} & set(RIVALS):
        player = RIVALS[name]
        keys = {Key(name, setting, seed, 1_000) for setting in player.settings for seed in player.development}
        assert keys <= found


@pytest.mark.parametrize("module", [choosing, playing])
def test_examples(module: ModuleType) -> None:
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0
