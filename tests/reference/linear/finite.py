"""Finitely many arms, slow and obvious: the grid, feasible arms, what is learned of a reward, and the draw."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from paretozoom import Decision, Problem
from paretozoom.feasible import encode_feasible
from paretozoom.kernels.kinds import CATEGORICAL
from tests.reference.pareto import front
from tests.reference.philox import uniforms

PLACE = 1 << 20  # the first stream of the draws of a place


class FiniteTwin:
    """A policy with finitely many arms; subclasses say how to choose among the listed ones, and learn."""

    def __init__(
        self,
        problem: Problem,
        *,
        arms: int | None = None,
        within: str = "centre",
        objective: str | None = None,
        weights: Sequence[float] | None = None,
        pareto: bool = False,
        seed: int = 0,
    ) -> None:
        self.problem, self.encoding, self.within = problem, problem.encoding, within
        self.finite = len(self.encoding.arms) > 0
        self.arms, self.half = self.grid(arms)
        names = [o.name for o in problem.objectives]
        self.weights = None if pareto else list(weights or [float(n == (objective or names[0])) for n in names])
        self.key = np.random.SeedSequence(seed).generate_state(2, np.uint64).tolist()
        self.number = 0

    def grid(self, arms: int | None) -> tuple[list[list[float]], list[float]]:
        """The arms of the problem, or the centres of equal cells; and half the widths of the cells."""
        values = self.encoding.values[self.encoding.context :].tolist()
        if self.finite:
            return self.encoding.arms.tolist(), [0.0] * len(values)
        parts = arms or math.ceil(18 ** (1 / values.count(0)))
        columns = []
        for v in values:
            whole = [float(k) for k in range(-v)] if v < 0 else [k / (v - 1) for k in range(v)]
            columns.append(whole if v else [(k + 0.5) / parts for k in range(parts)])
        return [list(arm) for arm in itertools.product(*columns)], [0.0 if v else 0.5 / parts for v in values]

    def draws(self, stream: int) -> list[float]:
        """Four uniforms of the decision that is being made."""
        return uniforms(self.key, [self.number, stream, 0, 0])

    def context_of(self, context: Any) -> list[float]:
        """The encoded context."""
        point = np.empty(self.problem.dim)
        self.problem.encode_context(context, point)
        return [float(v) for v in point[: self.encoding.context]]

    def ask(self, context: Any, feasible: Any = None) -> Decision:
        """Choose among the feasible arms, or draw anywhere if none of a grid is feasible."""
        encoded = self.context_of(context)
        listed, boxes = self.listed(feasible)
        if listed:
            arm, density, credit = self.choose(encoded, listed)
            place = list(self.arms[arm])
            for j, half in enumerate(self.half):
                if self.within == "cell" and half:
                    shift = (2.0 * self.draws(PLACE + j // 4)[j % 4] - 1.0) * half
                    place[j] = min(1.0, max(0.0, place[j] + shift))
                    density /= 2.0 * half
        else:
            place, density = self.anywhere(boxes)
            arm = self.nearest(place)
            credit = self.credit_of_anywhere(arm)
        point = np.array([*encoded, *place])
        plain = self.problem.encode_context(context, np.empty(self.problem.dim))
        played = self.problem.decode_arm(arm if self.finite else -1, point)
        self.number += 1
        return Decision(self.number - 1, plain, played, density, credit)

    def listed(self, feasible: Any) -> tuple[list[int], list[list[float]]]:
        """The numbers of the feasible arms, and the feasible boxes."""
        if feasible is None:
            return list(range(len(self.arms))), []
        rows = encode_feasible(self.problem, feasible).tolist()
        if self.finite:
            return [int(row[0]) for row in rows], []
        n = len(self.half)
        inside = [any(all(row[j] <= arm[j] <= row[n + j] for j in range(n)) for row in rows) for arm in self.arms]
        return [k for k, is_inside in enumerate(inside) if is_inside], rows

    def anywhere(self, boxes: list[list[float]]) -> tuple[list[float], float]:
        """A uniform draw from boxes, and its density."""
        n = len(self.half)
        continuous = [j for j in range(n) if self.encoding.values[self.encoding.context + j] == 0]
        sizes = [math.prod(box[n + j] - box[j] for j in continuous) for box in boxes]
        left, chosen = self.draws(0)[0] * sum(sizes), 0
        while chosen < len(boxes) - 1 and left >= sizes[chosen]:
            left -= sizes[chosen]
            chosen += 1
        box = boxes[chosen]
        place = [box[j] + (box[n + j] - box[j]) * self.draws(PLACE + j // 4)[j % 4] for j in range(n)]
        return place, 1.0 / sum(sizes)

    def nearest(self, place: list[float]) -> int:
        """The first of the arms nearest to a place."""
        kinds = self.encoding.kinds[self.encoding.context :].tolist()

        def apart(arm: list[float]) -> float:
            gaps = [a - b for a, b in zip(arm, place, strict=True)]
            return sum(float(g != 0) if k == CATEGORICAL else g * g for g, k in zip(gaps, kinds, strict=True))

        return min(range(len(self.arms)), key=lambda k: apart(self.arms[k]))

    def learned(self, reward: dict[str, float]) -> list[float]:
        """The numbers a reward is for the policy: the weighted sum, or every objective."""
        given = np.empty(len(self.problem.objectives))
        self.problem.encode_reward(reward, given)
        if self.weights is None:
            return [float(v) for v in given]
        return [sum(w * float(v) for w, v in zip(self.weights, given, strict=True) if w > 0)]

    def uniform(self, arms: Sequence[int]) -> tuple[int, float]:
        """One of some arms, and its probability."""
        return arms[math.floor(self.draws(0)[0] * len(arms))], 1.0 / len(arms)

    def on_front(self, listed: Sequence[int], indices: Sequence[Sequence[float]]) -> list[int]:
        """The listed arms whose indices no other dominates; what differs by rounding alone is equal."""
        rounded = [[v if math.isinf(v) else round(v, 10) for v in index] for index in indices]
        return [listed[k] for k in front(rounded)]

    # What a subclass provides.

    def choose(self, context: list[float], listed: list[int]) -> tuple[int, float, int]:
        """(arm, probability, credit)"""
        raise NotImplementedError

    def credit_of_anywhere(self, arm: int) -> int:
        """The credit of a draw from boxes that hold no arm of the grid."""
        return arm

    def tell(self, decision: Decision, reward: dict[str, float]) -> None:
        """Learn a reward."""
        raise NotImplementedError
