"""What is played: the best of three settings by a pilot, then the rest of the runs, cheapest first, nothing twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

import paretozoom
from paretozoom.study import Study
from peers import kept
from peers.kept import Files, Run
from peers.play import Board
from peers.rivals import RIVALS

RANDOM = "random"
RUNS = {1_000: 50, 10_000: 10, 100_000: 3}
PILOT = {1_000: 5, 10_000: 2}  # runs per setting; beyond, the setting chosen at the horizon before is kept
SLOWEST = {100_000: 1_000.0, 10_000: 100.0}  # decisions per second without which a player stops before this horizon
OUR_SPEED = 100_000.0
OURS = f"paretozoom {paretozoom.__version__}"


class Pair(NamedTuple):
    """A player on a task for so many rounds."""

    player: str
    task: str
    horizon: int


class Results:
    """The runs that still hold, from the rivals' files and ours."""

    def __init__(self, board: Board, files: Files | None = None) -> None:
        self.board = board
        self.files = files or Files()
        self.found: dict[Pair, dict[tuple[str, int], Run]] = {}
        for run in [*kept.rivals_of(self.files), *kept.read(self.files.ours)]:
            if board.knows(run.player, run.setting, run.task):
                self.take(run)

    def take(self, run: Run) -> None:
        """Remember a run, if task and code are still what they were."""
        if run.fingerprint == self.board.fingerprint(run.player, run.task):
            self.found.setdefault(Pair(run.player, run.task, run.horizon), {})[run.setting, run.seed] = run

    def play(self, pair: Pair, setting: str, seed: int) -> Run:
        """A run of before, or a new one, which is kept."""
        known = self.found.get(pair, {}).get((setting, seed))
        if known is not None:
            return known
        random = None if pair.player == RANDOM else self.play(Pair(RANDOM, *pair[1:]), "defaults", seed)
        measured = self.board.play(pair.player, setting, pair.task, pair.horizon, seed)
        run = Run(
            **pair._asdict(),
            setting=setting,
            seed=seed,
            fingerprint=self.board.fingerprint(pair.player, pair.task),
            version=(RIVALS[pair.player].version() if pair.player in RIVALS else None) or OURS,
            random=measured["regret"] if random is None else random.regret,
            random_tail=measured["tail_gap"] if random is None else random.tail_gap,
            **measured,
        )
        kept.add(self.files.rivals if pair.player in RIVALS else self.files.ours, run)
        self.take(run)
        return run

    def of(self, pair: Pair) -> list[Run]:
        """The runs of the setting that a player was given, or would be by what is known so far."""
        setting = self.chosen(pair)
        found = self.found.get(pair, {})
        return sorted((run for (name, _), run in found.items() if name == setting), key=lambda run: run.seed)

    def chosen(self, pair: Pair) -> str | None:
        """The setting with the smallest mean regret in the pilot; None before there is a run."""
        if pair.horizon not in PILOT:
            before = max((h for h in PILOT if h < pair.horizon), default=None)
            earlier = None if before is None else self.chosen(pair._replace(horizon=before))
            if earlier is not None:
                return earlier
        played = Counter(setting for setting, _ in self.found.get(pair, {}))
        regrets: dict[str, list[float]] = {}
        for (setting, seed), run in self.found.get(pair, {}).items():
            if seed < (pilot_of(pair) or seed + 1):
                regrets.setdefault(setting, []).append(run.regret)
        most = max(map(len, regrets.values()), default=0)
        whole = [setting for setting, values in regrets.items() if len(values) == most]
        # On some tasks two settings play alike: then the one that went on.
        return min(whole, key=lambda name: (float(np.mean(regrets[name])), -played[name]), default=None)

    def speed(self, pair: Pair) -> float | None:
        """Decisions per second at the longest horizon before; None if there was none."""
        before = [other for other in self.found if other[:2] == pair[:2] and other.horizon < pair.horizon]
        if not before:
            return None
        longest = max(before, key=lambda other: other.horizon)
        return float(np.median([run.per_second for run in self.found[longest].values()]))

    def stops(self, pair: Pair) -> bool:
        """Whether a player is known to be too slow for a horizon, or not made for it."""
        if pair.player in RIVALS and pair.horizon > RIVALS[pair.player].longest:
            return True
        speed = self.speed(pair)
        return speed is not None and speed < SLOWEST.get(pair.horizon, 0.0)

    def seconds(self, pair: Pair) -> float:
        """What a pair takes, roughly."""
        usual = RIVALS[pair.player].speed if pair.player in RIVALS else OUR_SPEED
        return pair.horizon / (self.speed(pair) or usual) * RUNS.get(pair.horizon, 1)


def pilot_of(pair: Pair) -> int:
    """How many runs of each setting a player tries first: as many as all, or as it has time for; 0 for none."""
    usual = PILOT.get(pair.horizon, 0)
    return min(usual, RIVALS[pair.player].pilot.get(pair.horizon, usual)) if pair.player in RIVALS else usual


def pairs_of(board: Board, players: list[str], tasks: list[str], horizons: list[int]) -> list[Pair]:
    """What is to be played; what does not apply is left out."""
    return [Pair(p, t, h) for p in players for t in tasks for h in horizons if board.applies(p, t)]


def in_turn(results: Results, pairs: list[Pair]) -> Iterator[Pair]:
    """The cheapest of what is left, by what is known then; Random first, which all are measured by."""
    left = list(pairs)
    while left:
        pair = min(left, key=lambda p: (p.player != RANDOM, results.seconds(p), p.horizon))
        left.remove(pair)
        yield pair


def play(results: Results, pair: Pair, runs: Mapping[int, int] = RUNS) -> Iterator[Run]:
    """The runs of a pair: the pilot first, then those of the setting that it chose."""
    if results.stops(pair):
        return
    count = runs.get(pair.horizon, 1)
    settings = list(results.board.settings(pair.player))
    if len(settings) > 1 and pair.horizon in PILOT:
        for seed in range(min(pilot_of(pair), count)):
            for setting in settings:
                yield results.play(pair, setting, seed)
    setting = results.chosen(pair) or settings[0]
    for seed in range(count):
        yield results.play(pair, setting, seed)


def play_all(
    results: Results, pairs: list[Pair], jobs: int = 1, runs: Mapping[int, int] = RUNS
) -> Iterator[tuple[Pair, int]]:
    """Play pairs in turn, in so many processes; yields each as it is done, and how many runs it has."""
    if jobs == 1:
        for pair in in_turn(results, pairs):
            yield pair, sum(1 for _ in play(results, pair, runs))
        return
    from joblib import Parallel, delayed

    # Processes read Random's runs from the file, so these must be there before others begin.
    yield from play_all(results, [pair for pair in pairs if pair.player == RANDOM], 1, runs)
    others = [pair for pair in pairs if pair.player != RANDOM]
    for horizon in sorted({pair.horizon for pair in others}):  # the one before says who goes on, and with which setting
        waiting = in_turn(results, [pair for pair in others if pair.horizon == horizon])
        pool = Parallel(n_jobs=jobs, return_as="generator_unordered")
        for pair, played in pool(delayed(_played)(results.board.study, results.files, pair, runs) for pair in waiting):
            for run in played:
                results.take(run)
            yield pair, len(played)


def _played(study: Study, files: Files, pair: Pair, runs: Mapping[int, int]) -> tuple[Pair, list[Run]]:
    """A pair, in a process of its own."""
    results = Results(Board(study), files)
    return pair, list(play(results, pair, runs))
