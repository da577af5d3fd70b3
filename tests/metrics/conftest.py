"""One long run of Random on the paper's task, which many tests read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from paretozoom import PaperTask, Random, Rounds
from paretozoom.environments.base import Task
from paretozoom.metrics import Metric
from paretozoom.simulation import simulate_in_chunks

ROUNDS = 100_000
Measure = Callable[[type[Metric], Task, Rounds], dict[str, Any]]


@pytest.fixture(scope="session")
def paper() -> PaperTask:
    return PaperTask()


@pytest.fixture(scope="session")
def random_run(paper: PaperTask) -> Rounds:
    (rounds,) = simulate_in_chunks(Random(paper.problem), paper, ROUNDS, seed=7, chunk=ROUNDS)
    return rounds


@pytest.fixture(scope="session")
def measure() -> Measure:
    """What a metric says about rounds that are a whole run."""

    def read(metric: type[Metric], task: Task, rounds: Rounds) -> dict[str, Any]:
        reader = metric(task, len(rounds))
        reader.update(rounds)
        return reader.result()

    return read
