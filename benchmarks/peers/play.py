"""One run of one player on one task: the library's own line, luck and metrics, whoever plays."""

from __future__ import annotations

import hashlib
import math
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import msgspec
import numpy as np

from paretozoom.environments.base import Task
from paretozoom.kernels.core.sources import fingerprint, sources_of
from paretozoom.metrics import BinRatios, FrontShare, LocalEntropy, ParetoRegret
from paretozoom.metrics.truth.of_rounds import gaps_of, optimal_of, slices_and_bins_of
from paretozoom.policies import Policy, Random
from paretozoom.problem import Problem
from paretozoom.records import Decision, Refused
from paretozoom.rounds import Rounds
from paretozoom.simulation import simulate_in_chunks
from paretozoom.study import Study
from peers.adapter import Rival, UnitRewards
from peers.rivals import RIVALS

METRICS = (ParetoRegret, FrontShare, BinRatios, LocalEntropy)
FINGERPRINT_ROUNDS = 200


class Seat:
    """A rival at the table of the library: it is asked and told as a policy is, and its time is taken.

    Only the seconds that the rival itself spends count, in processor time, so that other work does not slow it. With
    `raw` rewards no rival's are standardised.
    """

    def __init__(
        self, rival: type[Rival], problem: Problem, horizon: int, setting: dict[str, Any], raw: bool = False
    ) -> None:
        self.problem = problem
        self.raw = raw or rival.wants_raw
        self.make: Callable[[int], Rival] = lambda seed: rival(problem, horizon, seed, **setting)
        self.rewards = UnitRewards(problem)
        self.seconds = 0.0
        self.number = 0

    def reseed(self, seed: int) -> None:
        """Sit down, with the seed that a policy would get."""
        self.rival: Rival = self.make(seed)

    def ask(self, context: Any) -> Decision:
        """The rival's choice as a decision; its density is not known."""
        point = np.empty(self.problem.dim)
        plain = self.problem.encode_context(context, point)
        self.context = point[: self.problem.encoding.context]
        begun = time.process_time()
        self.arm = self.rival.choose(self.context)
        self.seconds += time.process_time() - begun
        finite = len(self.problem.encoding.arms) > 0
        number = int(cast(int, self.arm)) if finite else -1
        place = self.rival.arms[self.arm] if isinstance(self.arm, int) else self.arm
        point[self.problem.encoding.context :] = place
        self.number += 1
        return Decision(self.number - 1, plain, self.problem.decode_arm(number, point), math.nan, 0)

    def tell(self, decision: Decision, reward: Any) -> None:
        """The reward, in the scale that the rival wants."""
        told = np.empty(len(self.problem.objectives))
        self.problem.encode_reward(reward, told)
        begun = time.process_time()
        self.rival.learn(self.context, self.arm, told if self.raw else self.rewards.scaled(told))
        self.seconds += time.process_time() - begun


def measure(player: Policy | Seat, task: Task, horizon: int, seed: int) -> dict[str, Any]:
    """The metrics of one run, and its speed."""
    metrics = [metric(task, horizon) for metric in METRICS]
    seconds = 0.0
    begun = time.process_time()
    for rounds in simulate_in_chunks(cast(Policy, player), task, horizon, seed=seed):
        seconds += time.process_time() - begun
        for metric in metrics:
            metric.update(rounds)
        begun = time.process_time()
    found: dict[str, Any] = {}
    for metric in metrics:
        found.update(metric.result())
    seconds = player.seconds if isinstance(player, Seat) else seconds
    kept = {
        "regret": found["regret"],
        "tail_gap": found["tail_gap"],
        "front_tail": found["front_share_tail"],
        "bin_ratio": found["bin_ratio"],
        "local_entropy": found["local_entropy"],
        "per_second": horizon / max(seconds, 1e-9),
    }
    return {name: None if value is None else float(f"{value:.6g}") for name, value in kept.items()}


class Board:
    """The tasks and our own policies, from a study's file; and all that can play on them."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.tasks = [spec.title for spec in study.environments]
        self.ours = list(dict.fromkeys(spec.title for spec in study.policies))
        # A board lives as long as the command, and so may what it built.
        self.task = cache(self._task)
        self.fingerprint = cache(self._fingerprint)
        self.applies = cache(self._applies)

    def _task(self, title: str) -> Task:
        """A task by its title."""
        return self.study.environment(self.tasks.index(title))

    def settings(self, player: str) -> dict[str, dict[str, Any]]:
        """What a player may be set to: three settings of a rival, one of ours."""
        return RIVALS[player].settings if player in RIVALS else {"defaults": {}}

    def knows(self, player: str, setting: str, title: str) -> bool:
        """Whether a result is still of interest."""
        known = player in RIVALS or player in self.ours
        return known and title in self.tasks and setting in self.settings(player) and self.applies(player, title)

    def _applies(self, player: str, title: str) -> bool:
        """Whether a player plays on a task: not if a policy refuses such problems."""
        if player in RIVALS:
            return RIVALS[player].plays(self.task(title).problem)
        try:
            self._policy(player, title, 10)
        except (Refused, LookupError):
            return False
        return True

    def play(self, player: str, setting: str, title: str, horizon: int, seed: int) -> dict[str, Any]:
        """One run."""
        task = self.task(title)
        if player in RIVALS:
            return measure(
                Seat(RIVALS[player], task.problem, horizon, self.settings(player)[setting]), task, horizon, seed
            )
        for _ in simulate_in_chunks(self._policy(player, title, horizon), task, 1, seed=0):
            pass  # compile, so that the speed is that of playing
        return measure(self._policy(player, title, horizon), task, horizon, seed)

    def _policy(self, player: str, title: str, horizon: int) -> Policy:
        study = msgspec.structs.replace(self.study, rounds=horizon)
        numbers = {study.policies[p].title: p for p in study.players(self.tasks.index(title))}
        return study.policy(numbers[player], self.task(title).problem)

    def _fingerprint(self, player: str, title: str) -> str:
        """What a result depends on: the task's draws and truth, and for our own policies their code."""
        digest = hashlib.sha256(fingerprint_of(self.task(title)).encode())
        if player not in RIVALS:
            policy = self._policy(player, title, 10)
            kernel = getattr(policy, "kernel", None)  # a policy in Python has none
            kernels = [f for f in vars(kernel or object).values() if hasattr(f, "py_func")]
            files = {Path(str(module.__file__)) for module in modules_behind(sys.modules[type(policy).__module__])}
            digest.update(fingerprint(*sorted(files.union(sources_of(*kernels).files))).encode())
            digest.update(repr(sorted(policy.parameters.items(), key=str)).encode())
        return digest.hexdigest()[:12]


def modules_behind(module: ModuleType) -> set[ModuleType]:
    """A policy's module, and those of the package's policies that it takes something from, directly or not.

    >>> from paretozoom.policies.pareto_zoom import pareto_zoom
    >>> names = {module.__name__.rpartition(".")[2] for module in modules_behind(pareto_zoom)}
    >>> {"pareto_zoom", "base", "memory", "terms"} <= names, "pcz" in names
    (True, False)
    """
    found, waiting = set(), [module]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            values = vars(one).values()
            names = {getattr(v, "__name__" if isinstance(v, ModuleType) else "__module__", "") for v in values}
            waiting += [sys.modules[name] for name in names if str(name).startswith("paretozoom.policies.")]
    return found


def fingerprint_of(task: Task) -> str:
    """A hash of a task's draws and truth: what Random meets in 200 rounds, up to rounding."""
    digest = hashlib.sha256(repr(task.problem).encode() + np.round(task.world, 9).tobytes())
    for rounds in simulate_in_chunks(Random(task.problem), task, FINGERPRINT_ROUNDS, seed=0):
        for column in _seen(task, rounds):
            digest.update(np.round(np.asarray(column, float), 9).tobytes())
    return digest.hexdigest()[:12]


def _seen(task: Task, rounds: Rounds) -> Iterator[Any]:
    yield rounds.columns.point
    yield rounds.columns.reward
    yield gaps_of(task, rounds)
    yield optimal_of(task, rounds)
    yield from slices_and_bins_of(task, rounds)
