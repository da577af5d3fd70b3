"""The contract of metrics."""

from __future__ import annotations

import msgspec
import numpy as np

from paretozoom.checks.expecting import expect
from paretozoom.environments.base import Task
from paretozoom.metrics.base import Metric
from paretozoom.policies import BASELINE
from paretozoom.rounds import Rounds
from paretozoom.simulation import simulate


def check_metric(metric: type[Metric], environment: Task, rounds: int = 500) -> None:
    """Test a metric on rounds of random play in an environment.

    >>> from paretozoom.environments import PaperTask
    >>> from paretozoom.metrics import FrontShare
    >>> check_metric(FrontShare, PaperTask())
    """
    played = Rounds.of(environment.problem, simulate(BASELINE(environment.problem), environment, rounds, seed=1))
    whole, pieces = metric(environment, rounds), metric(environment, rounds)
    whole.update(played)
    for start in range(0, rounds, 37):
        pieces.update(played[start : start + 37])
    a, b = whole.result(), pieces.result()
    msgspec.json.encode(a)  # refuses what is not JSON-ready
    expect(sorted(a) == sorted(b), "a metric gives the same names however the rounds come")
    for key, value in a.items():
        here, there = (list(v.values()) if isinstance(v, dict) else v for v in (value, b[key]))
        same = here is there if here is None else np.allclose(here, there, rtol=1e-9)
        expect(bool(same), f"{key} does not depend on the chunks")
    empty = metric(environment, rounds).result()
    msgspec.json.encode(empty)
