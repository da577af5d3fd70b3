"""The verbs of a slow twin: a subclass decides and learns on encoded numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from paretozoom import Decision, Problem
from paretozoom.problem.feasible import encode_feasible
from tests.reference import philox

PLAY_STREAM = 1 << 20  # the first stream of the draws of a place

Answer = tuple[int, list[float], float, int]  # finite arm or -1, the arm's coordinates, density, credit
Boxes = list[list[float]]  # feasible arms: a number each, or lows and then highs


class Twin:
    """Open decisions, rewards in parts, draws; `weights` sum the objectives to one number, without them each counts."""

    def __init__(self, problem: Problem, *, weights: Sequence[float] = (), seed: int = 0) -> None:
        self.problem, self.weights = problem, list(weights)
        self.first = problem.encoding.context
        self.values = problem.encoding.values.tolist()  # 0 is real, -n has n categories, n has n integers
        self.finite = len(problem.encoding.arms) > 0
        self.learned = 1 if self.weights else len(problem.objectives)
        self.key = np.random.SeedSequence(seed).generate_state(2, np.uint64).tolist()
        self.number = 0
        self.open: dict[int, tuple[Decision, dict[str, float]]] = {}

    # What a twin provides.

    def answer(self, context: list[float], allowed: Boxes) -> Answer:
        """Decide; no row in `allowed` if every arm is feasible."""
        raise NotImplementedError

    def learn(self, decision: Decision, reward: list[float]) -> None:
        """Take the learned numbers of a reward, oriented and scaled."""
        raise NotImplementedError

    # The verbs.

    def ask(self, context: Any = (), feasible: Any = None) -> Decision:
        """Decide."""
        point = np.zeros(self.problem.dim)
        plain = self.problem.encode_context(context, point)
        allowed = encode_feasible(self.problem, feasible).tolist()
        arm, place, density, credit = self.answer(point[: self.first].tolist(), allowed)
        point[self.first :] = place
        decision = Decision(self.number, plain, self.problem.decode_arm(arm, point), density, credit)
        self.open[self.number] = decision, {}
        self.number += 1
        return decision

    def tell(self, decision: Decision, reward: dict[str, float]) -> None:
        """Learn, once every objective that counts was told."""
        kept, told = self.open[decision.number]
        assert kept == decision
        names = self.problem.objective_names
        needed = {n for n, w in zip(names, self.weights, strict=True) if w > 0} if self.weights else set(names)
        waits = not needed <= set(told)
        told.update(reward)
        if waits and needed <= set(told):
            given = np.zeros(len(names))
            self.problem.encode_reward(told, given)
            numbers = given.tolist()
            if self.weights:
                numbers = [sum(w * r for w, r in zip(self.weights, numbers, strict=True) if w > 0)]
            self.learn(decision, numbers)
        if len(told) == len(names):
            del self.open[decision.number]

    def drop(self, decision: Decision) -> None:
        """Forget an open decision."""
        del self.open[decision.number]

    # Parts.

    def draws(self, stream: int = 0, counter: int | None = None) -> list[float]:
        """Four uniforms, of the decision that is being made unless a counter is given."""
        return philox.uniforms(self.key, [self.number if counter is None else counter, stream, 0, 0])

    def encoded(self, context: Any) -> list[float]:
        """The numbers of a context."""
        point = np.zeros(self.problem.dim)
        self.problem.encode_context(context, point)
        return [float(v) for v in point[: self.first]]

    def divide(self, cells: int) -> None:
        """Divide every context coordinate into cells; categories stay whole, unless there is one cell in all."""
        values = self.values[: self.first]
        self.divisions = [1 if cells == 1 else -v if v < 0 else cells for v in values]

    def cell(self, context: Sequence[float]) -> int:
        """The number of the context cell, the last coordinate running fastest."""
        number = 0
        for x, values, parts in zip(context, self.values, self.divisions, strict=False):
            place = 0 if parts == 1 else int(x) if values < 0 else min(int(x * parts), parts - 1)
            number = number * parts + place
        return number

    def anywhere(self, boxes: Boxes, middles: bool) -> tuple[list[float], float]:
        """A uniform place in boxes, and its density; or the middle of one, drawn by its size, and its probability."""
        values = self.values[self.first :]
        n = len(values)
        sizes = [math.prod(box[n + j] - box[j] for j in range(n) if values[j] == 0) for box in boxes]
        chosen = self.pick_part(sizes, self.draws()[0])
        box = boxes[chosen]
        if middles:
            return [(box[j] + box[n + j]) / 2 for j in range(n)], sizes[chosen] / sum(sizes)
        place = [box[j] + (box[n + j] - box[j]) * self.draws(PLAY_STREAM + j // 4)[j % 4] for j in range(n)]
        return place, 1.0 / sum(sizes)

    @staticmethod
    def pick_part(sizes: Sequence[float], u: float) -> int:
        """The number of a part, drawn by the sizes of all."""
        left, chosen = u * sum(sizes), 0
        while chosen < len(sizes) - 1 and left >= sizes[chosen]:
            left -= sizes[chosen]
            chosen += 1
        return chosen
