"""What variants do beside the defaults, on the runs that are known, and tables of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import NamedTuple

import msgspec
import numpy as np
from peers.kept import Run
from peers.schedule import Pair, Results

from ablations.variants import DEFAULTS, SWITCHES, changed, title_of
from paretozoom.kernels.pareto_zoom.settings import Settings

SURE = 3.0  # standard errors; of some hundred figures, two would point out several by luck alone
NOTHING = "–"  # noqa: RUF001


class Detail(msgspec.Struct, frozen=True):
    """What one variant did on one task: means over runs."""

    variant: str
    task: str
    horizon: int
    runs: int
    regret: float  # as a share of Random's
    local_entropy: float | None


class Effect(NamedTuple):
    """What a variant does beside the defaults: geometric means over tasks, with standard errors."""

    regret: tuple[float, float]
    entropy: tuple[float, float]
    worst: tuple[str, float]  # the task on which regret grows most, and its ratio
    is_same: bool  # every run is as with the defaults


def detail_of(results: Results, variant: str, task: str, horizon: int) -> Detail | None:
    """The means of a variant's runs on a task."""
    runs = results.of(Pair(variant, task, horizon))
    if not runs:
        return None
    entropies = [run.local_entropy for run in runs if run.local_entropy is not None]
    regret = sum(run.regret for run in runs) / sum(run.random for run in runs)
    entropy = float(f"{np.mean(entropies):.5g}") if entropies else None
    return Detail(variant, task, horizon, len(runs), float(f"{regret:.5g}"), entropy)


def effect_of(results: Results, variant: str, tasks: Sequence[str], horizon: int) -> Effect | None:
    """A variant beside the defaults, on the tasks that both have played; None if there are none."""
    known = {}
    for task in tasks:
        own, usual = (results.of(Pair(one, task, horizon)) for one in (variant, DEFAULTS))
        if {run.seed for run in own} & {run.seed for run in usual}:
            known[task] = own, usual
    if not known:
        return None
    pairs = list(known.values())
    regrets = ratios([(_by_seed(own, _share), _by_seed(usual, _share)) for own, usual in pairs])
    even = [(_by_seed(own, _entropy), _by_seed(usual, _entropy)) for own, usual in pairs]
    entropies = ratios([(own, usual) for own, usual in even if own.keys() & usual.keys()])
    by_task = dict(zip(known, regrets, strict=True))
    worst = max(by_task, key=lambda task: by_task[task])
    is_same = all(_same(*pair) for pair in pairs)
    return Effect(geometric(regrets), geometric(entropies), (worst, by_task[worst]), is_same)


def ratios(known: Sequence[tuple[dict[int, float], dict[int, float]]]) -> list[float]:
    """Of each task the mean of a variant, by seed, over that of the defaults, which may have more seeds.

    As far as runs of one seed go alike, the luck of the variant's seeds is taken off: what the defaults had on these
    beside what they have on all, times the slope of the one on the other within tasks.

    >>> luck = {0: 1.0, 1: 3.0, 2: 1.0, 3: 3.0}
    >>> ratios([({1: 3.0, 2: 1.0}, luck), ({1: 3.0}, luck)])
    [1.0, 1.0]
    >>> ratios([({1: 2.0, 2: 2.0}, luck), ({1: 3.0}, luck)])
    [1.0, 1.5]
    """
    found, both, square = [], 0.0, 0.0
    for own, usual in known:
        seeds, level = sorted(own.keys() & usual.keys()), float(np.mean(list(usual.values())))
        y, x = (np.array([of[seed] for seed in seeds]) / level for of in (own, usual))
        both += float((y - y.mean()) @ (x - x.mean()))
        square += float((x - x.mean()) @ (x - x.mean()))
        found.append((float(y.mean()), float(x.mean())))
    slope = min(1.0, max(0.0, both / square)) if square > 0.0 else 0.0
    return [y / (1.0 + slope * (x - 1.0)) for y, x in found]


def _by_seed(runs: Sequence[Run], what: Callable[[Run], float | None]) -> dict[int, float]:
    values = {run.seed: what(run) for run in runs}
    return {seed: value for seed, value in values.items() if value is not None}


def _share(run: Run) -> float:
    return run.regret / run.random


def _entropy(run: Run) -> float | None:
    return run.local_entropy


def _same(some: Sequence[Run], others: Sequence[Run]) -> bool:
    """Whether all seeds that both have played went alike."""
    one, other = ({run.seed: (run.regret, run.local_entropy) for run in runs} for runs in (some, others))
    return all(one[seed] == other[seed] for seed in one.keys() & other.keys())


def geometric(ratios: list[float]) -> tuple[float, float]:
    """The geometric mean of some ratios and its standard error.

    >>> [round(x, 6) for x in geometric([0.5, 2.0])]
    [1.0, 0.693147]
    """
    logs = np.log(ratios)
    mean = float(np.exp(logs.mean())) if len(logs) else math.nan
    return mean, mean * float(logs.std(ddof=1)) / math.sqrt(len(logs)) if len(logs) > 1 else math.nan


# Tables.


def cell(ratio: tuple[float, float]) -> str:
    """A ratio with its standard error, if it has one; in bold if it is surely not 1.

    >>> cell((1.2, 0.1)), cell((1.2, 0.01)), cell((1.2, math.nan))
    ('1.200 ± 0.100', '**1.200 ± 0.010**', '1.200')
    """
    mean, error = ratio
    text = f"{mean:.3f}" if math.isnan(error) else f"{mean:.3f} ± {error:.3f}"
    return f"**{text}**" if abs(mean - 1.0) > SURE * error > 0 else text


def cells(effect: Effect | None) -> list[str]:
    """Regret and local entropy of a variant."""
    if effect is None:
        return [NOTHING, NOTHING]
    return ["the same", "the same"] if effect.is_same else [cell(effect.regret), cell(effect.entropy)]


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """A table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def switches_table(results: Results, tasks: list[str], horizons: list[int]) -> str:
    """A row for each part that can be switched off."""
    head = ["switched off", "settings"]
    for horizon in horizons:
        head += [f"regret, T = {horizon:,}", "local entropy", "most regret on"]
    rows = []
    for name, settings in SWITCHES.items():
        row = [name, f"`{title_of(settings)}`"]
        for horizon in horizons:
            effect = effect_of(results, title_of(settings), tasks, horizon)
            worst = f"{effect.worst[0]}: {effect.worst[1]:.2f}" if effect and not effect.is_same else NOTHING
            row += [*cells(effect), worst]
        rows.append(row)
    return markdown(head, rows)


def numbers_table(results: Results, tasks: list[str], horizon: int) -> str:
    """A row for each number: with less of it, and with more."""
    head = ["setting", "default", "less", "regret", "local entropy", "more", "regret", "local entropy"]
    rows = []
    for setting in fields(Settings):
        row = [f"`{setting.name}`", f"{setting.default:g}"]
        for value in changed(setting):
            given = {} if value is None else {setting.name: value}
            effect = effect_of(results, title_of(given), tasks, horizon) if given else None
            row += [NOTHING if value is None else f"{value:g}", *cells(effect)]
        rows.append(row)
    return markdown(head, rows)


def defaults_table(details: list[Detail], horizons: list[int]) -> str:
    """What the defaults do, on average over tasks."""
    rows = []
    for horizon in horizons:
        of = [one for one in details if (one.variant, one.horizon) == (DEFAULTS, horizon)]
        if of:
            regret, _ = geometric([one.regret for one in of])
            entropy = float(np.mean([one.local_entropy for one in of if one.local_entropy is not None]))
            rows.append([f"{horizon:,}", str(of[0].runs), str(len(of)), f"{regret:.4f}", f"{entropy:.3f}"])
    return markdown(["rounds", "runs", "tasks", "regret", "local entropy"], rows)
