"""Memory stays flat, apart from what the model itself holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from paretozoom import Client
from tests.service.crashing import NAME, PROBLEM, serving
from tests.store.samples import resident

BATCH = 100


def soak(where: Path, pairs: int, settled: int, policy: str = "pareto-zoom") -> tuple[float, float]:
    """Megabytes that the process and its model grew by, between the first `settled` pairs and the last."""
    with serving(where) as service, Client(service.url) as client:
        experiment = client.create(NAME, PROBLEM, seed=1, policy=policy)
        client.wait_until_ready(300)
        before = model = 0.0
        for n in range(0, pairs, BATCH):
            if n >= settled and not before:
                before, model = resident(service.process.pid), experiment.describe()["bytes"] / 1e6
            contexts = [[(n + k) * 0.61803 % 1.0] for k in range(BATCH)]
            decisions = experiment.ask_many(contexts)
            arms = [decision.arm["y"] for decision in decisions]
            experiment.tell_many(decisions, [[1 - abs(y - 0.2), 1 - abs(y - 0.7)] for y in arms])
        return resident(service.process.pid) - before, experiment.describe()["bytes"] / 1e6 - model


def test_memory_in_small(tmp_path: Path) -> None:
    grown, model = soak(tmp_path, pairs=6_000, settled=2_000)
    assert grown - model < 15


def test_a_model_that_does_not_grow_leaves_memory_flat(tmp_path: Path) -> None:
    grown, model = soak(tmp_path, pairs=6_000, settled=2_000, policy="random")
    assert model == 0
    assert grown < 10


@pytest.mark.proof
@pytest.mark.parametrize("policy", ["random", "pareto-zoom"])
def test_memory_after_200_000_pairs(tmp_path: Path, policy: str) -> None:
    pairs = 201_000  # at 200,000 a snapshot is being saved, which takes copies of the model for a moment
    grown, model = soak(tmp_path, pairs, settled=40_000, policy=policy)
    assert (model > 0) == (policy == "pareto-zoom")
    assert grown - model < 10
