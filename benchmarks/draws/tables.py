"""The comparison as Markdown: all figures for the terminal, and the parts of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from peers.table import ruled

from draws.choosing import CHOSEN_AT, SHAPES, Choices, mean_of
from draws.players import FAIR, FAIR_LINEAR, PLAYERS, RIVALS
from draws.playing import Run
from draws.statements import FINITE, Game, games_of, of_shapes, statements

HORIZONS = (1_000, 10_000)
NONE = "–"  # noqa: RUF001


def whole_table(games: Sequence[Game], choices: Choices) -> str:
    """By shape and player: geometric means of regrets over Random's, and the mean local entropy."""
    heads = ["shape", "player", "tasks", "regret", "weighted", "first 300", "last fifth", "local entropy"]
    lines = [_row(heads), ruled("ll" + "r" * 6)]
    for shape, some in [*of_shapes(games), ("all", games)]:
        for player in _players(games):
            runs = [game[player] for game in some]
            setting = choices.get((player, shape))
            figures = [_mean(runs, name) for name in ("regret", "weighted", "early", "late")]
            name = player if setting is None else f"{player} ({setting})"
            lines.append(_row([shape, name, str(len(runs)), *figures, _entropy(runs)]))
    return "\n".join(lines)


def page_table(games: Sequence[Game]) -> str:
    """A row per player, a column per shape: regret / weighted regret; local entropy."""
    shapes = [*of_shapes(games), ("all", list(games))]
    lines = [_row(["player", *(f"{shape} ({len(some)})" for shape, some in shapes)]), ruled("l" * (1 + len(shapes)))]
    for player in _players(games):
        cells = [
            f"{_mean(runs, 'regret', 2)} / {_mean(runs, 'weighted', 2)}; {_entropy(runs)}"
            for runs in ([game[player] for game in some] for _, some in shapes)
        ]
        lines.append(_row([player, *cells]))
    return "\n".join(lines)


def fair_table(games: Sequence[Game]) -> str:
    """Tasks with finite arms, one by one: fair ParetoZoom beside LinUCB on a front; nothing if one has not played."""
    heads = ["seed", "shape", "regret", "local entropy", "LinUCB's regret", "its local entropy"]
    lines = [_row(heads), ruled("rlrrrr")]
    for shape, some in of_shapes(games, FINITE):
        for game in some:
            if FAIR not in game or FAIR_LINEAR not in game:
                return ""
            cells = [f for run in (game[FAIR], game[FAIR_LINEAR]) for f in (f"{run.regret:.3f}", _entropy([run]))]
            lines.append(_row([str(game[FAIR].seed), shape, *cells]))
    return "\n".join(lines)


def settings_table(choices: Choices) -> str:
    """The setting of each rival for each shape."""
    lines = [_row(["rival", *SHAPES]), ruled("l" * (1 + len(SHAPES)))]
    lines += [_row([player, *(choices.get((player, shape), NONE) for shape in SHAPES)]) for player in RIVALS]
    return "\n".join(lines)


def development_table(runs: Iterable[Run], choices: Choices) -> str:
    """What each setting had on development tasks: weighted regret, regret and local entropy by shape."""
    lines = [_row(["rival", "setting", *SHAPES]), ruled("l" * (2 + len(SHAPES)))]
    found = [run for run in runs if run.rounds == CHOSEN_AT]
    for player, about in RIVALS.items():
        for setting in about.settings:
            cells = []
            for shape in SHAPES:
                some = [
                    run
                    for run in found
                    if (run.player, run.setting, run.shape) == (player, setting, shape)
                    and run.seed in about.development
                ]
                cell = f"{_mean(some, 'weighted', 2)} / {_mean(some, 'regret', 2)}; {_entropy(some)}" if some else NONE
                cells.append(f"**{cell}**" if choices.get((player, shape)) == setting else cell)
            lines.append(_row([player, setting, *cells]))
    return "\n".join(lines)


def parts_of(runs: Sequence[Run], choices: Choices) -> dict[str, str]:
    """The parts of the page between its marks."""
    played = [(rounds, games_of(runs, rounds, choices)) for rounds in HORIZONS]
    lines = [f"- {line}" for rounds, games in played for line in statements(games, rounds)]
    tables = [f"T = {rounds:,}:\n\n{page_table(games)}" for rounds, games in played if games]
    return {
        "statements": "\n".join(lines) or "ParetoZoom was not played yet.",
        "table": "\n\n".join(tables) or "Nothing was played yet.",
        "settings": settings_table(choices),
    }


def _players(games: Sequence[Game]) -> list[str]:
    return [player for player in PLAYERS if games and player in games[0]]


def _mean(runs: Sequence[Run], name: str, digits: int = 3) -> str:
    return f"{mean_of(getattr(run, name) for run in runs):.{digits}f}"


def _entropy(runs: Sequence[Run]) -> str:
    found = [run.entropy for run in runs if run.entropy is not None]
    return f"{np.mean(found):.2f}" if found else NONE


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
