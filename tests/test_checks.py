"""Every policy, environment and metric keeps its contract without being listed, and broken ones are caught."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from paretozoom import Decision, Problem, Random, Snapshot, Tents
from paretozoom.checks import PROBLEMS, CheckFailed, check_environment, check_metric, check_policy
from paretozoom.environments import PaperTask, Task
from paretozoom.metrics import Metric
from paretozoom.policies import PCZ, Policy
from paretozoom.records import Values
from paretozoom.registry import find_members
from paretozoom.rounds import Rounds

POLICIES = find_members("paretozoom.policies", Policy)
ENVIRONMENTS = find_members("paretozoom.environments", Task)
METRICS = find_members("paretozoom.metrics", Metric)


@pytest.mark.parametrize("name", POLICIES)
def test_policy(name: str) -> None:
    assert check_policy(POLICIES[name]) == list(PROBLEMS)


def test_pcz_with_a_horizon_and_many_balls() -> None:
    check_policy(lambda problem, seed: PCZ(problem, horizon=200, confidence=0.05, seed=seed), rounds=300)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_environment(name: str) -> None:
    check_environment(ENVIRONMENTS[name])


@pytest.mark.parametrize("arms", [2, 7])
def test_finite_environment(arms: int) -> None:
    check_environment(Tents(objectives=3, arms=arms))


@pytest.mark.parametrize("name", METRICS)
def test_metric(name: str) -> None:
    for environment in (PaperTask(), Tents(objectives=3, arms=7)):
        check_metric(METRICS[name], environment)


class Forgetful(Random):
    """Loses its open decisions when dumped."""

    name = "forgetful"

    def dump(self) -> Any:
        snapshot = super().dump()
        arrays = {"open_reward": snapshot.arrays["open_reward"][:0], "open_told": snapshot.arrays["open_told"][:0]}
        return Snapshot({**snapshot.header, "open": []}, {**snapshot.arrays, **arrays})


class Careless(Random):
    """Counts a decision before it looks at the context."""

    name = "careless"

    def ask(self, context: Values = ()) -> Decision:
        self.number += 1
        try:
            return super().ask(context)
        finally:
            self.number -= 0


class Moody(Random):
    """Ignores its seed."""

    name = "moody"

    def __init__(self, problem: Problem, *, seed: int = 0) -> None:
        super().__init__(problem, seed=0)


class Boastful(PCZ):
    """Says that it draws uniformly, whatever it does."""

    name = "boastful"

    def ask(self, context: Values = ()) -> Decision:
        decision = msgspec.structs.replace(super().ask(context), density=1.0)
        self._open[decision.number].source = decision
        return decision

    def __init__(self, problem: Problem, *, seed: int = 0) -> None:
        super().__init__(problem, horizon=200, confidence=0.05, seed=seed)


@pytest.mark.parametrize("broken", [Forgetful, Careless, Moody, Boastful])
def test_broken_policies_are_caught(broken: type[Random] | type[Boastful]) -> None:
    with pytest.raises(CheckFailed):
        check_policy(broken)


class Lucky(PaperTask):
    """Draws its rewards in the order of the calls."""

    name = "lucky"

    def respond(self, decision: Decision) -> dict[str, float]:
        self.observed += 1
        return {"first": float(self.observed % 2), "second": 0.0}


class Optimist(PaperTask):
    """Calls every arm optimal."""

    name = "optimist"

    def are_optimal(self, points: Any) -> Any:
        return super().are_optimal(points) | True


@pytest.mark.parametrize("broken", [Lucky, Optimist])
def test_broken_environments_are_caught(broken: type[Task]) -> None:
    with pytest.raises(CheckFailed):
        check_environment(broken())


class LastChunk(Metric):
    """Remembers the last chunk only."""

    name = "last-chunk"

    def update(self, rounds: Rounds) -> None:
        self.count = len(rounds)

    def result(self) -> dict[str, Any]:
        return {"count": getattr(self, "count", 0)}


def test_broken_metric_is_caught() -> None:
    with pytest.raises(CheckFailed):
        check_metric(LastChunk, PaperTask())
