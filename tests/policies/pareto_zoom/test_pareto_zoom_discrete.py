"""ParetoZoom: arms that are labels are tried again, and numbers with few values are halved no more than tells these."""

from __future__ import annotations

import math

import numpy as np
import pytest

from paretozoom import Categorical, Finite, Integer, Objective, ParetoZoom, Problem, Real
from paretozoom.environments import FiniteBandit
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.metrics.truth.of_rounds import gaps_of
from paretozoom.simulation import simulate_in_chunks

ROUNDS, LATE, SEEDS = 2_000, 400, 20


def _late_gap(task: FiniteBandit, seed: int) -> float:
    rounds = simulate_in_chunks(ParetoZoom(task.problem), task, ROUNDS, seed=seed)
    return float(np.concatenate([gaps_of(task, some) for some in rounds])[-LATE:].mean() / task.random_gap(1_000))


@pytest.mark.parametrize(("arms", "objectives", "bar"), [(10, 1, 0.11), (4, 2, 0.035)])
def test_labels_that_were_unlucky_are_tried_again(arms: int, objectives: int, bar: float) -> None:
    """Over 40 seeds late gaps are 0.029 (standard error 0.018) and 0.012 (0.004) of random play's.

    Bars are three standard errors of 20 seeds above. They were 0.59 and 0.11 when nothing was lifted: of 20 runs with
    one objective, 12 stayed with a wrong arm.
    """
    task = FiniteBandit(arms, objectives)
    assert np.mean([_late_gap(task, seed) for seed in range(SEEDS)]) < bar


@pytest.mark.parametrize("values", [2, 3, 8])
def test_arms_are_halved_no_more_than_tells_their_values_apart(values: int) -> None:
    problem = Problem(
        context=[Integer("visits", 1, values)],
        arm=[Integer("size", 1, values), Real("y")],
        objectives=[Objective("a"), Objective("b")],
    )
    policy, rng = ParetoZoom(problem, seed=1), np.random.default_rng(2)
    for _ in range(1_500):
        decision = policy.ask([rng.integers(1, values + 1)])
        y = decision.arm["y"]
        policy.tell(decision, [float(rng.random() < 1 - abs(y - 0.3)), float(rng.random() < 1 - abs(y - 0.6))])
    depths = m.memory.view("depth", policy._floats, policy._ints)[: policy.facts()["levels"]]
    enough = math.ceil(math.log2(values))
    assert depths[:, :2].max() <= enough
    assert depths[-1, 2] >= 4


def test_labels_are_tried_beside_each_label_of_a_context() -> None:
    """Of 100 runs 6 give a label up that is on the front. With less optimism, 0.1 instead of 0.5, 33 do; without, 64.

    So of 40 more than 7 do with a probability of 0.003.
    """
    problem = Problem(
        context=[Categorical("device", ["phone", "desk"])],
        arm=Finite(["a", "b", "c"]),
        objectives=[Objective("click"), Objective("minutes", goal="min", low=0, high=200)],
    )
    click, minutes = {"a": 0.3, "b": 0.5, "c": 0.7}, {"a": 40, "b": 60, "c": 150}
    given_up = 0
    for seed in range(40):
        policy, rng = ParetoZoom(problem, seed=seed), np.random.default_rng(seed)
        seen = set()
        for number in range(3_000):
            device = ("phone", "desk")[rng.integers(2)]
            decision = policy.ask([device])
            reward = {
                "click": float(rng.random() < click[decision.arm]),
                "minutes": minutes[decision.arm] + rng.normal(),
            }
            policy.tell(decision, reward)
            if number >= 1_500:
                seen.add((device, decision.arm))
        given_up += len(seen) < 6
    assert given_up <= 7
