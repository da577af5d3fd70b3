"""One run of a player on a task drawn at random, and the runs on disk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from peers import kept

from draws.players import PLAYERS
from paretozoom import Drawn, Random
from paretozoom.metrics import LocalEntropy
from paretozoom.metrics.truth.of_rounds import gaps_of
from paretozoom.problem.dimensions import Floats
from paretozoom.rounds import Rounds
from paretozoom.simulation import simulate_in_chunks

PLAYED = Path(__file__).parents[2] / "results" / "drawn" / "runs.jsonl"
KEPT = Path(__file__).parent / "runs.csv.gz"
EARLY = 300  # rounds


class Run(msgspec.Struct, frozen=True):
    """One player on one task: regret and weighted regret over Random's, and local entropy."""

    player: str
    setting: str
    seed: int
    shape: str
    rounds: int
    code: str
    regret: float
    weighted: float
    early: float  # regret of the first 300 rounds
    late: float  # of the last fifth
    entropy: float | None


class Key(NamedTuple):
    """What makes a run this one."""

    player: str
    setting: str
    seed: int
    rounds: int


class Table(NamedTuple):
    """What all players of a run meet: the task, Random's gaps, and the best weighted sum of each round's context."""

    task: Drawn
    gaps: Floats
    best: Floats
    short: Floats  # by how much Random's weighted sums are less


def key_of(run: Run) -> Key:
    """What makes a run this one.

    >>> key_of(Run("linucb", "alpha 1", 7, "items", 1_000, "", 0.5, 0.5, 0.9, 0.3, None))
    Key(player='linucb', setting='alpha 1', seed=7, rounds=1000)
    """
    return Key(run.player, run.setting, run.seed, run.rounds)


@lru_cache(maxsize=2)
def drawn(seed: int) -> Drawn:
    """A task."""
    return Drawn(seed)


@lru_cache(maxsize=2)
def table_of(seed: int, rounds: int) -> Table:
    """What all players of a run meet: contexts do not depend on who plays."""
    task = drawn(seed)
    chunks = _rounds(Random(task.problem), task, rounds, seed)
    points = _points(chunks)
    best = np.array([task.front_of_grid(point)[0].mean(axis=1).max() for point in points])
    return Table(task, _gaps(task, chunks), best, _short(task, points, best))


def play(key: Key) -> Run:
    """One run."""
    task, gaps, best, short = table_of(key.seed, key.rounds)
    player = PLAYERS[key.player]
    seat = player.sit(task.problem, key.rounds, player.settings[key.setting])
    chunks, metric = _rounds(seat, task, key.rounds, key.seed), LocalEntropy(task, key.rounds)
    for chunk in chunks:
        metric.update(chunk)
    own = _gaps(task, chunks)
    early, late = slice(0, EARLY), slice(-(key.rounds // 5), None)
    ratios = [_ratio(own[part], gaps[part]) for part in (slice(None), early, late)]
    weighted = _ratio(_short(task, _points(chunks), best), short)
    entropy = metric.result()["local_entropy"]
    return Run(
        **key._asdict(),
        shape=task.shape,
        code=player.code(),
        regret=ratios[0],
        weighted=weighted,
        early=ratios[1],
        late=ratios[2],
        entropy=None if entropy is None else _digits(entropy),
    )


def _rounds(player: Any, task: Drawn, rounds: int, seed: int) -> list[Rounds]:
    return list(simulate_in_chunks(player, task, rounds, seed=seed))


def _points(chunks: Sequence[Rounds]) -> Floats:
    return np.concatenate([chunk.columns.point for chunk in chunks])


def _gaps(task: Drawn, chunks: Sequence[Rounds]) -> Floats:
    return np.concatenate([gaps_of(task, chunk) for chunk in chunks])


def _short(task: Drawn, points: Floats, best: Floats) -> Floats:
    return np.asarray(np.maximum(0.0, best - task.means(points).mean(axis=1)))


def _ratio(own: Floats, random: Floats) -> float:
    return _digits(own.sum() / random.sum())


def _digits(value: float) -> float:
    return float(f"{value:.5g}")


# Runs on disk.


def read(played: Path = PLAYED, stored: Path = KEPT) -> dict[Key, Run]:
    """The newest run of each: those of the repository, then those played since; a line cut short is left out."""
    runs = kept.read_table(stored, Run)
    for line in played.read_bytes().split(b"\n") if played.exists() else []:
        try:
            runs.append(msgspec.json.decode(line, type=Run))
        except msgspec.MsgspecError:
            continue
    return {key_of(run): run for run in runs}


def holds(run: Run) -> bool:
    """Whether a run is of a player as it is now."""
    player = PLAYERS.get(run.player)
    return player is not None and run.setting in player.settings and (player.lasts or run.code == player.code())


def add(run: Run, played: Path = PLAYED) -> None:
    """Append a run, in one write."""
    played.parent.mkdir(parents=True, exist_ok=True)
    with played.open("ab", buffering=0) as file:
        file.write(b"\n" * _is_cut(played) + msgspec.json.encode(run) + b"\n")


def _is_cut(file: Path) -> bool:
    """Whether the last line of a file was cut short."""
    with file.open("rb") as opened:
        size = opened.seek(0, 2)
        opened.seek(max(0, size - 1))
        return size > 0 and opened.read(1) != b"\n"


def keep(runs: Iterable[Run], stored: Path = KEPT) -> None:
    """Write the table that the repository keeps, of known players and settings."""
    known = [run for run in runs if run.player in PLAYERS and run.setting in PLAYERS[run.player].settings]
    kept.write_table(stored, Run, sorted(known, key=key_of))
