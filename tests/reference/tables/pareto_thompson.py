"""Pareto Thompson sampling (Yahyaa, Drugan and Manderick, 2014), from the paper."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from paretozoom import Decision, Problem
from tests.reference.finite import FiniteTwin

BLOCKS = 32
SAMPLE_STREAM = 1 << 32


def beta(a: float, b: float, uniforms: Callable[[int], list[float]]) -> float:
    """Cheng's algorithm BA (1978), without his shortcuts: rejection from a log-logistic distribution."""
    total, least = a + b, min(a, b)
    slope = math.sqrt((total - 2) / (2 * a * b - total)) if least > 1 else least
    # It is symmetric: what is drawn is the odds of the smaller parameter.
    for block in range(BLOCKS):
        draws = uniforms(block)
        for u, v in (draws[:2], draws[2:]):
            logit = slope * math.log(u / (1 - u))
            odds = least * math.exp(logit)
            larger = total - least
            height = total * math.log(total / (larger + odds)) + (least + 1 / slope) * logit - math.log(4)
            if height >= math.log(u * u * v):
                share = odds / (larger + odds)
                return share if a <= b else 1 - share
    raise AssertionError("no draw accepted")


class ParetoThompson(FiniteTwin):
    """Two parameters per row and objective."""

    def __init__(self, problem: Problem, *, resamples: int, **given: Any) -> None:
        super().__init__(problem, **given)
        self.resamples = resamples
        self.parameters: dict[int, list[list[float]]] = {}

    def learn(self, decision: Decision, reward: list[float]) -> None:
        """Add r and 1 - r."""
        pairs = self.parameters.setdefault(decision.credit, [[1.0, 1.0] for _ in reward])
        for pair, r in zip(pairs, reward, strict=True):
            cut = min(1.0, max(0.0, r))
            pair[0] += cut
            pair[1] += 1 - cut

    def sampled_front(self, cell: int, listed: list[int], number: int, sample: int) -> list[int]:
        """The front of one sample of all means."""
        vectors = []
        for arm in listed:
            pairs = self.parameters.get(cell * len(self.arms) + arm, [[1.0, 1.0]] * self.learned)
            vector = []
            for o, (a, b) in enumerate(pairs):
                first = SAMPLE_STREAM + ((sample * len(self.arms) + arm) * self.learned + o) * BLOCKS
                vector.append(beta(a, b, lambda block, first=first: self.draws(first + block)))
            vectors.append(vector)
        return self.front_of(listed, vectors)

    def pick(self, cell: int, listed: list[int], number: int) -> tuple[int, float]:
        """Uniform on the front of the first sample; its probability averaged over all."""
        fronts = [self.sampled_front(cell, listed, number, sample) for sample in range(self.resamples + 1)]
        arm, _ = self.uniform_on(fronts[0])
        return arm, sum(1 / len(front) for front in fronts if arm in front) / len(fronts)
