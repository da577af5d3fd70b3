"""What the runs say of ParetoZoom beside its rivals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from draws.choosing import JUDGED, SHAPES, Choices, mean_of, setting_of
from draws.players import EQUAL, FAIR, FAIR_LINEAR, PLAYERS, RIVALS
from draws.playing import Run

NEAR = 1.15  # times the least regret
AHEAD = 0.85  # times our regret
FAIRER = 0.02  # more local entropy
RIVER = ("river-linucb",)
VOWPAL = ("vw-epsilon", "vw-squarecb")
FINITE = ("labels", "items")

Game = dict[str, Run]  # the runs of all players on one task


class Ratio(NamedTuple):
    """A geometric mean of regrets over that of a rival."""

    rival: str
    times: float


def games_of(runs: Iterable[Run], rounds: int, choices: Choices) -> list[Game]:
    """The tasks of the table on which all have played who played at this horizon, with the chosen settings."""
    by: dict[int, Game] = defaultdict(dict)
    for run in runs:
        is_chosen = run.player in PLAYERS and run.setting == setting_of(run.player, run.shape, choices)
        if run.rounds == rounds and run.seed in JUDGED and is_chosen:
            by[run.seed][run.player] = run
    players = {player for game in by.values() for player in game}
    return [by[seed] for seed in sorted(by) if set(by[seed]) == players]


def shape_of(game: Game) -> str:
    """The shape of a game's task."""
    return next(iter(game.values())).shape


def of_shapes(games: Sequence[Game], shapes: Sequence[str] = SHAPES) -> Iterator[tuple[str, list[Game]]]:
    """The games of each shape that there is."""
    for shape in shapes:
        some = [game for game in games if shape_of(game) == shape]
        if some:
            yield shape, some


def share_near(games: Sequence[Game], own: str = EQUAL) -> float:
    """The share of tasks on which no rival has less regret, or ours is at most 15 % more than the least."""
    return sum(game[own].regret <= NEAR * min(run.regret for run in rivals_of(game)) for game in games) / len(games)


def rivals_of(game: Game) -> list[Run]:
    """The runs of those that play for one number and are not ParetoZoom."""
    return [run for player, run in game.items() if player in RIVALS]


def mean_regret(games: Sequence[Game], player: str) -> float:
    """A player's geometric mean."""
    return mean_of(game[player].regret for game in games)


def ratio_to_best(games: Sequence[Game], own: str = EQUAL, rivals: Sequence[str] = tuple(RIVALS)) -> Ratio:
    """Our geometric mean over the least that a single rival has."""
    best = min((player for player in games[0] if player in rivals), key=lambda player: mean_regret(games, player))
    return Ratio(best, mean_regret(games, own) / mean_regret(games, best))


def share_behind(games: Sequence[Game], own: str = FAIR) -> float:
    """The share of tasks on which some rival has 15 % less regret and at least 0.02 more local entropy."""
    rivals = [*RIVALS, FAIR_LINEAR]
    return sum(any(_is_ahead(game[p], game[own]) for p in rivals if p in game) for game in games) / len(games)


def _is_ahead(rival: Run, own: Run) -> bool:
    if rival.entropy is None or own.entropy is None:
        return False
    return rival.regret <= AHEAD * own.regret and rival.entropy >= own.entropy + FAIRER


def statements(games: Sequence[Game], rounds: int) -> list[str]:
    """What the table says, a line each; of ParetoZoom nothing as long as it has not played."""
    lines = []
    players = set(games[0]) if games else set()
    if EQUAL in players:
        best = ratio_to_best(games)
        lines += [
            f"With equal weights, ParetoZoom has the least regret, or at most 15 % more, on {share_near(games):.0%} of "
            f"{len(games)} tasks.",
            f"Its geometric mean is {best.times:.2f} times that of the best single rival, {best.rival}.",
            f"By shape, over the best rival of each: {_by_shape(games)}.",
        ]
        finite = ", ".join(
            f"{shape} {ratio_to_best(some, EQUAL, rivals).times:.2f} times {whose}"
            for shape, some in of_shapes(games, FINITE)
            for rivals, whose in ((RIVER, "river's"), (VOWPAL, "Vowpal Wabbit's"))
            if players & set(rivals)
        )
        lines += [f"Of finite arms: {finite}."] if finite else []
    if FAIR in players:
        lines.append(
            "Played fairly, some rival has 15 % less regret and 0.02 more local entropy on "
            f"{share_behind(games):.0%} of {len(games)} tasks."
        )
        beside = [game for shape, some in of_shapes(games, FINITE) for game in some if FAIR_LINEAR in game]
        if beside:
            less = sum(game[FAIR].regret < game[FAIR_LINEAR].regret for game in beside)
            lines.append(
                f"On {less} of {len(beside)} tasks with finite arms, fair ParetoZoom has less regret than "
                "`LinUCB(pareto=True)`."
            )
    return [f"T = {rounds:,}. {line}" for line in lines]


def _by_shape(games: Sequence[Game]) -> str:
    ratios = [(shape, ratio_to_best(some)) for shape, some in of_shapes(games)]
    return ", ".join(f"{shape} {ratio.times:.2f} ({ratio.rival})" for shape, ratio in ratios)
