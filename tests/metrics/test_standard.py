"""What all metrics promise."""

from __future__ import annotations

import itertools
import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretozoom import PaperTask, Random, Tents
from paretozoom.metrics import STANDARD, Hypervolume, Metric
from paretozoom.rounds import Rounds
from paretozoom.simulation import simulate_in_chunks

ROUNDS = 3_000
TASKS = {
    "paper": PaperTask(),
    "finite": Tents(arms=11),
    "three objectives": Tents(objectives=3, spread=0.1),
}


@cache
def run_of(task: str) -> Rounds:
    policy = Random(TASKS[task].problem)
    return next(simulate_in_chunks(policy, TASKS[task], ROUNDS, seed=5, chunk=ROUNDS))


def read(metric: Metric, rounds: Rounds, cuts: list[int]) -> tuple[dict[str, Any], dict[str, list[float]]]:
    ends = [0, *sorted(cuts), len(rounds)]
    for start, end in itertools.pairwise(ends):
        metric.update(rounds[start:end])
    return metric.result(), {name: curve.tolist() for name, curve in metric.curves().items()}


def test_the_names_and_keys_are_different():
    names = [metric.name for metric in STANDARD]
    keys = [key for metric in STANDARD for key in metric(TASKS["paper"], ROUNDS).result()]
    assert len(set(names)) == len(names)
    assert len(set(keys)) == len(keys)
    for metric in STANDARD:
        assert {column.key for column in metric.columns} <= metric(TASKS["paper"], ROUNDS).result().keys()
        assert metric.words, f"{metric.name}: reports do not say what it is"


@pytest.mark.parametrize("metric", STANDARD, ids=lambda metric: metric.name)
@pytest.mark.parametrize("task", TASKS)
@given(cuts=st.lists(st.integers(0, ROUNDS), max_size=8))
def test_chunks_leave_no_trace(task, metric, cuts):
    whole = read(metric(TASKS[task], ROUNDS), run_of(task), [])
    parts = read(metric(TASKS[task], ROUNDS), run_of(task), cuts)
    assert parts == whole or metric is Hypervolume
    if metric is Hypervolume:  # whose vectors may be added in another order
        assert parts[0] == pytest.approx(whole[0], rel=1e-12)


@pytest.mark.parametrize("metric", STANDARD, ids=lambda metric: metric.name)
@pytest.mark.parametrize("task", TASKS)
def test_one_round_at_a_time(task, metric):
    rounds = run_of(task)[:400]
    whole = read(metric(TASKS[task], 400), rounds, [])
    single = read(metric(TASKS[task], 400), rounds, list(range(400)))
    assert single == whole or metric is Hypervolume
    if metric is Hypervolume:
        assert single[0] == pytest.approx(whole[0], rel=1e-12)


@pytest.mark.parametrize("metric", STANDARD, ids=lambda metric: metric.name)
@pytest.mark.parametrize("task", TASKS)
def test_results_are_json_ready(task, metric):
    for rounds in (run_of(task), run_of(task)[:0]):
        result, curves = read(metric(TASKS[task], ROUNDS), rounds, [])
        assert json.loads(json.dumps(result, allow_nan=False)) == result
        assert all(isinstance(curve, list) for curve in curves.values())


def test_rounds_are_not_changed(paper, random_run):
    before = [column.copy() for column in random_run.columns]
    for metric in STANDARD:
        read(metric(paper, len(random_run)), random_run, [8192])
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(before, random_run.columns, strict=True))
