"""Which setting a rival gets for a shape of tasks, and which runs that makes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

import numpy as np

from draws.players import PLAYERS, RIVALS
from draws.playing import Key, Run, drawn

DEVELOPMENT = range(100)
JUDGED = range(100, 200)
CHOSEN_AT = 1_000  # rounds
FEWER = {10_000: 40}  # tasks at most, of each hundred
MOST_ARMS = {10_000: 100}  # finite arms at most
SHAPES = ("labels", "items", "ridges", "smooth", "boxes", "prices", "mixed")

Choices = Mapping[tuple[str, str], str]  # (player, shape) -> setting


def mean_of(values: Iterable[float]) -> float:
    """The geometric mean; what is below 1e-4 counts as that.

    >>> mean_of([0.5, 2.0])
    1.0
    """
    return math.exp(float(np.mean([math.log(max(1e-4, value)) for value in values])))


def choices_of(runs: Iterable[Run]) -> Choices:
    """For each rival and shape the setting of least weighted regret, in the geometric mean over development tasks.

    Tasks on which not all settings were played are left out.
    """
    by: dict[tuple[str, str], dict[int, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for run in runs:
        if run.player in RIVALS and run.rounds == CHOSEN_AT and run.seed in RIVALS[run.player].development:
            by[run.player, run.shape][run.seed][run.setting] = run.weighted
    chosen = {}
    for (player, shape), found in by.items():
        settings = list(RIVALS[player].settings)
        whole = [of for of in found.values() if set(settings) <= set(of)]
        if whole:
            means = {setting: mean_of(of[setting] for of in whole) for setting in settings}
            chosen[player, shape] = min(settings, key=means.__getitem__)
    return chosen


def setting_of(player: str, shape: str, choices: Choices) -> str | None:
    """The setting that a player has on tasks of a shape; None if it is not chosen yet."""
    settings = PLAYERS[player].settings
    return next(iter(settings)) if len(settings) == 1 else choices.get((player, shape))


def wanted(players: Sequence[str], seeds: Iterable[int], horizons: Sequence[int], choices: Choices) -> Iterator[Key]:
    """The runs to play: all settings on development tasks, the chosen ones on others; task by task."""
    for rounds in horizons:
        for seed in seeds:
            for player in players if is_played(seed, rounds) else []:
                for setting in _settings(player, seed, rounds, choices):
                    yield Key(player, setting, seed, rounds)


def _settings(player: str, seed: int, rounds: int, choices: Choices) -> list[str]:
    one = PLAYERS[player]
    if rounds > one.longest or (seed in DEVELOPMENT and seed not in one.development):
        return []
    if seed in DEVELOPMENT and rounds == CHOSEN_AT:
        return list(one.settings)
    setting = setting_of(player, _known(seed)[0], choices)
    return [] if setting is None else [setting]


def is_played(seed: int, rounds: int) -> bool:
    """Whether a task is played for so many rounds: the longer, the fewer of each hundred, and no long tables of items.

    >>> is_played(140, 1_000), is_played(140, 10_000)
    (True, False)
    """
    if seed % len(JUDGED) >= FEWER.get(rounds, len(JUDGED)):
        return False
    return rounds not in MOST_ARMS or _known(seed)[1] <= MOST_ARMS[rounds]


@cache
def _known(seed: int) -> tuple[str, int]:
    """The shape of a task, and its number of finite arms."""
    task = drawn(seed)
    return task.shape, len(task.problem.encoding.arms)
