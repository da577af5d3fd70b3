"""Everything that is found in some rounds."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from paretozoom.findings.causes import Causes, cause_of, findings_about
from paretozoom.findings.finding import Finding
from paretozoom.findings.tails import Tails
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.rounds import Rounds

FEWEST = 100  # rewards of an objective, for anything to be said
MOST = 0.5  # of the variance: what explains so much is no noise, whatever its tails


class Look(msgspec.Struct, frozen=True):
    """What was found: how rewards are spread, and what they depend on."""

    problem: Problem
    tails: list[Tails]
    causes: list[Causes]

    @property
    def findings(self) -> list[Finding]:
        """What is to be said of it, shortest first to act on."""
        spread = [finding for tails in self.tails for finding in tails.findings]
        return spread + findings_about(self.problem, self.causes)

    def numbers(self) -> dict[str, dict[str, Any]]:
        """The same as numbers, by objective, whether or not there is something to say."""
        found: dict[str, dict[str, Any]] = {tails.objective: dict(tails.numbers()) for tails in self.tails}
        for cause in self.causes:
            found[cause.objective] |= {
                "explained_by_arms": cause.arms,
                "explained_by_contexts": cause.contexts,
                "explained_by_contexts_error": cause.contexts_error,
                "explained_by_contexts_most": cause.contexts_most,
                "p_of_idle_contexts": cause.p,
                "coordinates": cause.coordinates,
            }
        return found


def look_at(problem: Problem, point: Floats, arm: Ints, reward: Floats) -> Look:
    """Look at rounds in any order, the first some thousand of which stand for all: points, numbers of arms, rewards.

    Rewards are oriented and scaled, NaN where none was told.
    """
    tails, causes = [], []
    for o, objective in enumerate(problem.objectives):
        told = ~np.isnan(reward[:, o])
        if told.sum() < FEWEST:
            continue
        spread = Tails.of(objective, reward[told, o])
        rounds = point[told], arm[told], reward[told, o]
        cause = cause_of(problem, spread, *rounds)
        if spread.is_heavy and cause is not None:
            if cause.arms + cause.contexts >= MOST:
                spread = msgspec.structs.replace(spread, explained=True)
            else:
                cause = cause_of(problem, spread, *rounds, cut=True)
        tails.append(spread)
        causes += [] if cause is None else [cause]
    return Look(problem, tails, causes)


def look_at_rounds(rounds: Rounds) -> Look:
    """The same of rounds as they came.

    >>> from paretozoom import PaperTask, Random, simulate_in_chunks
    >>> task = PaperTask()
    >>> (rounds,) = simulate_in_chunks(Random(task.problem), task, 2000, seed=1)
    >>> [found.code for found in look_at_rounds(rounds).findings]
    ['coordinates']
    """
    columns = rounds.columns
    order = np.random.default_rng(0).permutation(len(columns.number))
    return look_at(rounds.problem, columns.point[order], columns.arm[order], columns.reward[order])
