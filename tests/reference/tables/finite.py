"""What the slow twins of policies with finitely many arms share: grid, context cells, feasible arms, open decisions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from paretozoom import Decision, Problem
from paretozoom.feasible import encode_feasible
from tests.reference import philox
from tests.reference.pareto import Vector, front

PLAY_STREAM = 1 << 20


class FiniteTwin:
    """A twin says in `pick` what is played among the listed arms, and in `learn` what a reward changes."""

    def __init__(self, problem: Problem, *, seed: int, arms: int = 18, within: str = "centre", cells: int = 1) -> None:
        self.problem, self.within, self.cells = problem, within, cells
        self.key = np.random.SeedSequence(seed).generate_state(2, np.uint64).tolist()
        self.kinds = problem.encoding.values.tolist()  # 0 is real, -n has n categories, n has n integers
        self.first = problem.encoding.context
        self.finite = len(problem.encoding.arms) > 0
        self.width = 1 / arms
        columns = [self._places(v, arms) for v in self.kinds[self.first :]]
        self.arms = problem.encoding.arms.tolist() if self.finite else [list(a) for a in itertools.product(*columns)]
        self.objectives = len(problem.objectives)
        self.number = 0
        self.open: dict[int, Decision] = {}
        self.told: dict[int, dict[str, float]] = {}

    @staticmethod
    def _places(values: int, arms: int) -> list[float]:
        if values < 0:
            return [float(v) for v in range(-values)]
        return [v / (values - 1) for v in range(values)] if values else [(k + 0.5) / arms for k in range(arms)]

    # What a twin provides.

    def pick(self, cell: int, listed: list[int], number: int) -> tuple[int, float]:
        """The arm played among the listed ones, and its probability."""
        raise NotImplementedError

    def learn(self, number: int, credit: int, reward: list[float]) -> None:
        """What a whole reward changes."""
        raise NotImplementedError

    def credit(self, cell: int, arm: int, number: int) -> int:
        """What the decision credits."""
        return cell * len(self.arms) + arm

    # The verbs.

    def ask(self, context: Any, feasible: Any = None) -> Decision:
        """Decide."""
        number, point = self.number, np.zeros(self.problem.dim)
        plain = self.problem.encode_context(context, point)
        cell, rows = self.cell(point.tolist()), encode_feasible(self.problem, feasible).tolist()
        listed = self.list_arms(rows)
        if listed:
            arm, density = self.pick(cell, listed, number)
            density *= self.place(number, point, arm)
        else:
            arm, density = self.anywhere(number, point, rows)
        played = self.problem.decode_arm(arm if self.finite else -1, point)
        decision = Decision(number, plain, played, density, self.credit(cell, arm, number))
        self.open[number] = decision
        self.number += 1
        return decision

    def tell(self, decision: Decision, reward: dict[str, float]) -> None:
        """Learn, when every objective is told."""
        told = self.told.setdefault(decision.number, {})
        told.update(reward)
        if len(told) == self.objectives:
            given = np.zeros(self.objectives)
            self.problem.encode_reward(told, given)
            self.learn(decision.number, decision.credit, given.tolist())
            del self.open[decision.number], self.told[decision.number]

    def drop(self, decision: Decision) -> None:
        """Forget."""
        del self.open[decision.number]
        self.told.pop(decision.number, None)

    # Parts.

    def uniforms(self, number: int, stream: int = 0) -> list[float]:
        """Four draws."""
        return philox.uniforms(self.key, [number, stream, 0, 0])

    def uniform_on(self, members: Sequence[int], number: int) -> tuple[int, float]:
        """One of the members, all alike."""
        return members[int(self.uniforms(number)[0] * len(members))], 1 / len(members)

    def front_of(self, listed: list[int], vectors: Sequence[Vector]) -> list[int]:
        """The listed arms whose vectors no other dominates."""
        return [listed[k] for k in front(vectors)]

    def cell(self, point: list[float]) -> int:
        """The context cell, the last coordinate running fastest."""
        if self.cells == 1:
            return 0
        places = [
            (int(x), -v) if v < 0 else (min(int(x * self.cells), self.cells - 1), self.cells)
            for x, v in zip(point, self.kinds[: self.first], strict=False)
        ]
        return sum(place * math.prod(size for _, size in places[j + 1 :]) for j, (place, _) in enumerate(places))

    def list_arms(self, rows: list[list[float]]) -> list[int]:
        """The feasible arms, in order."""
        if not rows:
            return list(range(len(self.arms)))
        if self.finite:
            return [int(row[0]) for row in rows]
        half = len(rows[0]) // 2
        return [
            k
            for k, arm in enumerate(self.arms)
            if any(all(row[j] <= arm[j] <= row[half + j] for j in range(half)) for row in rows)
        ]

    def place(self, number: int, point: Any, arm: int) -> float:
        """Write the arm to the point; returns the density within its cell."""
        density = 1.0
        for j, value in enumerate(self.arms[arm]):
            point[self.first + j] = value
            if self.within == "cell" and not self.finite and self.kinds[self.first + j] == 0:
                draw = self.uniforms(number, PLAY_STREAM + j // 4)[j % 4]
                point[self.first + j] = min(1.0, max(0.0, value + (2 * draw - 1) * (0.5 * self.width)))
                density /= self.width
        return density

    def anywhere(self, number: int, point: Any, rows: list[list[float]]) -> tuple[int, float]:
        """Uniform on boxes that hold no arm; returns the nearest arm and the density."""
        half = len(rows[0]) // 2
        kinds = self.kinds[self.first :]
        sizes = [math.prod(row[half + j] - row[j] for j in range(half) if kinds[j] == 0) for row in rows]
        left, chosen = self.uniforms(number)[0] * sum(sizes), 0
        while chosen < len(rows) - 1 and left >= sizes[chosen]:
            left -= sizes[chosen]
            chosen += 1
        for j in range(half):
            low, high = rows[chosen][j], rows[chosen][half + j]
            draw = self.uniforms(number, PLAY_STREAM + j // 4)[j % 4]
            point[self.first + j] = low + (high - low) * draw
        y = point[self.first :].tolist()
        apart = [
            sum(float(a != b) if v < 0 else (a - b) ** 2 for a, b, v in zip(arm, y, kinds, strict=True))
            for arm in self.arms
        ]
        return apart.index(min(apart)), 1 / sum(sizes)
