"""What the latest rounds say, as numbers for whoever watches."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from litestar.testing import TestClient

from paretozoom import Objective, Problem, Real, Rounds
from paretozoom.findings import look_at_rounds
from paretozoom.service.experiments.recent import look_at
from paretozoom.service.watching import looking
from tests.findings.drawing import drawn
from tests.service.remote import Remote, until

Service = TestClient[Any]
N = 120


def metric(client: Service, name: str, **labels: str) -> float | None:
    """The value of a metric, None if it is not there."""
    shown = ",".join(f'{key}="{value}"' for key, value in sorted(labels.items()))
    lines = [line for line in client.get("/metrics").text.splitlines() if line.startswith(f"{name}{{{shown}}} ")]
    return float(lines[0].rpartition(" ")[2]) if lines else None


def test_rounds_are_looked_at_unasked(client: Service, experiment: Remote) -> None:
    for k in range(N):
        experiment.reward(experiment.number(), left=float(k % 2), right=0.5)
    labels = {"experiment": experiment.name, "objective": "left"}
    until(lambda: metric(client, "paretozoom_largest_share", **labels) is not None)
    share = metric(client, "paretozoom_largest_share", **labels)
    assert share == pytest.approx(0.01, abs=0.01)  # all deviations are alike: one or two in a hundred make as much
    assert metric(client, "paretozoom_other_share", **labels) == pytest.approx(0.5, abs=0.05)


def test_what_was_found_is_in_the_metrics(client: Service, experiment: Remote) -> None:
    problem = Problem([Real("x"), Real("idle")], [Real("y")], [Objective("r", bounded=False)])

    def reward(p: Any, rng: np.random.Generator) -> Any:
        return p[:, 0] + p[:, 2] + 0.3 * rng.normal(size=len(p))

    look = look_at_rounds(drawn(problem, [reward], 2000, 1))
    client.app.state.experiments.by_name[experiment.name].recent.look = look
    here, (cause,) = {"experiment": experiment.name, "objective": "r"}, look.causes
    assert metric(client, "paretozoom_explained", **here, by="arms") == cause.arms
    assert metric(client, "paretozoom_explained", **here, by="contexts") == cause.contexts
    for name in ("x", "idle", "y"):
        shown = metric(client, "paretozoom_coordinate_share", **here, coordinate=name)
        assert shown == cause.coordinates[name]
    assert metric(client, "paretozoom_findings", experiment=experiment.name, code="coordinates") == 1


def test_what_is_erased_is_forgotten(client: Service, experiment: Remote) -> None:
    numbers = [experiment.number() for _ in range(3)]
    for number in numbers:
        experiment.reward(number)
    recent = client.app.state.experiments.by_name[experiment.name].recent
    assert len(recent.rounds) == 3
    answer = experiment.post("/erase", {"decisions": [experiment.id(numbers[1])]})
    assert answer.status_code < 300, answer.text
    assert [round.decision.number for round in recent.rounds] == [numbers[0], numbers[2]]


def test_a_look_at_rounds_that_are_erased_meanwhile_is_not_kept(
    client: Service, experiment: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(N):
        experiment.reward(experiment.number(), left=0.5, right=0.5)
    experiments = client.app.state.experiments
    recent = experiments.by_name[experiment.name].recent
    until(lambda: recent.look is not None)

    def erased_meanwhile(problem: Problem, rounds: Rounds) -> Any:
        found = look_at(problem, rounds)
        assert experiment.post("/erase", {"decisions": [experiment.id(0)]}).json()["entries"], "erased before"
        return found

    monkeypatch.setattr(looking, "look_at", erased_meanwhile)
    asyncio.run(looking.look_again(experiments, experiments.by_name[experiment.name]))
    assert recent.look is None
    assert metric(client, "paretozoom_largest_share", experiment=experiment.name, objective="left") is None


def test_a_failed_look_harms_nobody(
    client: Service, experiment: Remote, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(problem: Problem, rounds: Rounds) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(looking, "look_at", fail)
    experiments = client.app.state.experiments
    live = experiments.by_name[experiment.name]
    for _ in range(N):
        experiment.reward(experiment.number(), left=0.5, right=0.5)
    asyncio.run(looking.look_again(experiments, live))
    assert "could not be looked at" in caplog.text
    assert live.recent.look is None
    assert not live.recent.is_due  # it would fail again, until others are there
    assert experiment.number() == N
