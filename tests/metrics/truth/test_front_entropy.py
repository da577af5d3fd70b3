"""Evenness along the front in every context slice."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from paretozoom import Tents
from paretozoom.environments import ConvexFront
from paretozoom.metrics import FrontEntropy, LocalEntropy
from paretozoom.records import Round
from tests.environments.shapes.test_along_front import Flat
from tests.metrics.slow import mean_entropy
from tests.metrics.toy import played

WIDTH, SHARP = 0.25, 0.12


def first_peak(x: Any) -> Any:
    return 0.03 + 0.69 * np.abs(2 * x - 1)


def length_to(along: float) -> float:
    """How long the convex front is up to an arm so far above the first peak, in 3,000 steps."""
    arms = np.linspace(0.0, along, 3_001)
    first, second = np.exp(-arms / SHARP), np.exp(-(WIDTH - arms) / SHARP)
    return float(np.hypot(np.diff(first), np.diff(second)).sum())


def slow_front_entropy(rounds: Iterable[Round]) -> float | None:
    """By definition, round by round; both objectives have the same range on the convex front."""
    per_slice: dict[int, Counter[int]] = {}
    for r in rounds:
        x = r.decision.context["x"]
        along = r.decision.arm["y"] - first_peak(x)
        if 0 <= along <= WIDTH:
            part = math.floor(6 * length_to(along) / length_to(WIDTH))
            per_slice.setdefault(math.floor(20 * x), Counter())[min(part, 5)] += 1
    return mean_entropy(per_slice)


def test_against_the_slow_twin(measure):
    rng, task = np.random.default_rng(1), ConvexFront()
    contexts = np.concatenate([rng.random(1_000) * 0.6, rng.random(20)])
    rounds = played(task, contexts, first_peak(contexts) + WIDTH * (1.2 * rng.random(len(contexts)) ** 2 - 0.1))
    expected = slow_front_entropy(rounds)
    assert expected < 0.97
    assert measure(FrontEntropy, task, rounds) == pytest.approx({"front_entropy": expected}, abs=1e-9)


def test_even_by_arms_and_even_along_the_front_are_told_apart(measure):
    rng, task, n = np.random.default_rng(2), ConvexFront(), 40_000
    contexts, draws = rng.random(n), rng.random(n)
    grid = np.linspace(0.0, WIDTH, 1_001)
    lengths = np.array([length_to(along) for along in grid])
    along_front = np.interp(draws * lengths[-1], lengths, grid)
    by_arms = played(task, contexts, first_peak(contexts) + draws * WIDTH)
    by_front = played(task, contexts, first_peak(contexts) + along_front)
    # In a slice of n even pulls the entropy over log 6 has standard deviation sqrt(5/2) / (n log 6), here 0.0005.
    assert measure(LocalEntropy, task, by_arms)["local_entropy"] > 0.998
    assert measure(FrontEntropy, task, by_front)["front_entropy"] > 0.998
    # Over N uneven pulls it is that of log(p) over sqrt(N) log 6, p the probability of the pull's bin: below 0.001.
    sixths = np.arange(7) / 6
    in_arm_bins = np.diff(np.interp(sixths * WIDTH, grid, lengths)) / lengths[-1]
    in_front_bins = np.diff(np.interp(sixths * lengths[-1], lengths, grid)) / WIDTH
    for metric, rounds, shares in ((LocalEntropy, by_front, in_arm_bins), (FrontEntropy, by_arms, in_front_bins)):
        expected = -(shares * np.log(shares)).sum() / math.log(6)
        assert expected < 0.992
        assert list(measure(metric, task, rounds).values()) == pytest.approx([expected], abs=0.004)


def test_on_the_paper_task_both_are_the_same(paper, random_run, measure):
    found = measure(FrontEntropy, paper, random_run)["front_entropy"]
    assert found == measure(LocalEntropy, paper, random_run)["local_entropy"]


def test_finite_arms_have_one_entropy(measure):
    task, rng = Tents(arms=21), np.random.default_rng(3)
    rounds = played(task, rng.random(20_000), rng.integers(21, size=20_000))
    found = measure(FrontEntropy, task, rounds)["front_entropy"]
    assert 0 < found == measure(LocalEntropy, task, rounds)["local_entropy"]


def test_a_front_of_one_vector_says_nothing(measure):
    task = Flat("y")
    rounds = played(task, 0.5, np.random.default_rng(4).random(40))
    assert measure(FrontEntropy, task, rounds) == {"front_entropy": None}
