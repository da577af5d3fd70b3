"""What slow twins of policies with finitely many arms share: context cells, feasible arms, the draw, the verbs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from paretozoom import Decision, Problem
from paretozoom.feasible import encode_feasible
from paretozoom.kernels.kinds import CATEGORICAL
from paretozoom.policies.finite import Grid
from tests.reference.pareto import front
from tests.reference.philox import uniforms

PLACE_STREAM = 1 << 20


class FiniteTwin:
    """Slow and obvious; subclasses give `indices(cell, number, arms)` and `learn(number, cell, arm, reward)`.

    `weights` sum the objectives to one number; without them each objective is learned.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        cells: int = 1,
        arms: int | None = None,
        within: str = "centre",
        weights: Sequence[float] = (),
        seed: int = 0,
    ) -> None:
        self.problem, self.within, self.weights = problem, within, list(weights)
        grid = Grid.of(problem, arms)
        self.arms, self.half = grid.arms.tolist(), grid.half.tolist()
        self.key = np.random.SeedSequence(seed).generate_state(2, np.uint64).tolist()
        values = problem.encoding.values[: problem.encoding.context].tolist()
        self.divisions = [1 if cells == 1 else -v if v < 0 else cells for v in values]
        self.cells = math.prod(self.divisions)
        self.learned = 1 if self.weights else len(problem.objectives)
        self.number = 0
        self.opened: dict[int, tuple[Decision, dict[str, float]]] = {}

    def indices(self, cell: int, number: int, arms: list[int]) -> list[list[float]]:
        """The index vectors of some arms."""
        raise NotImplementedError

    def learn(self, number: int, cell: int, arm: int, reward: list[float]) -> None:
        """Take a reward, as the learned numbers."""
        raise NotImplementedError

    def draw(self, stream: int, counter: int | None = None) -> list[float]:
        """The four uniforms of a stream."""
        return uniforms(self.key, [self.number if counter is None else counter, stream, 0, 0])

    def cell(self, point: list[float]) -> int:
        """The context cell of a point."""
        cell = 0
        for value, kind, parts in zip(point, self.problem.encoding.kinds.tolist(), self.divisions, strict=False):
            place = int(value) if kind == CATEGORICAL else int(value * parts)
            cell = cell * parts + min(place, parts - 1)
        return cell

    def ask(self, context: Any = (), feasible: Any = None) -> Decision:
        """Decide."""
        encoding, point = self.problem.encoding, np.zeros(self.problem.dim)
        plain = self.problem.encode_context(context, point)
        cell = self.cell(point.tolist())
        boxes = None if feasible is None else encode_feasible(self.problem, feasible).tolist()
        arms = self.listed(boxes)
        if arms:
            vectors = self.indices(cell, self.number, arms)
            best = front(vectors)
            arm, density = arms[best[int(self.draw(0)[0] * len(best))]], 1.0 / len(best)
            place = list(self.arms[arm])
            for j, half in enumerate(self.half):
                if self.within == "cell" and half > 0:
                    u = self.draw(PLACE_STREAM + j // 4)[j % 4]
                    place[j] = min(1.0, max(0.0, place[j] + (2.0 * u - 1.0) * half))
                    density /= 2.0 * half
        else:
            assert boxes is not None
            place, density = self.anywhere(boxes)
            arm = self.nearest(place)
        point[encoding.context :] = place
        played = self.problem.decode_arm(arm if len(encoding.arms) else -1, point)
        decision = Decision(self.number, plain, played, density, cell * len(self.arms) + arm)
        self.opened[self.number] = decision, {}
        self.number += 1
        return decision

    def listed(self, boxes: list[list[float]] | None) -> list[int]:
        """The feasible arms."""
        if boxes is None:
            return list(range(len(self.arms)))
        if len(self.problem.encoding.arms):
            return [int(row[0]) for row in boxes]
        m = len(self.half)
        return [
            k
            for k, arm in enumerate(self.arms)
            if any(all(box[j] <= arm[j] <= box[m + j] for j in range(m)) for box in boxes)
        ]

    def anywhere(self, boxes: list[list[float]]) -> tuple[list[float], float]:
        """A uniform place in feasible boxes that hold no arm of the grid."""
        m, values = len(self.half), self.problem.encoding.values[self.problem.encoding.context :].tolist()
        sizes = [math.prod(box[m + j] - box[j] for j in range(m) if values[j] == 0) for box in boxes]
        left, chosen = self.draw(0)[0] * sum(sizes), 0
        while chosen < len(boxes) - 1 and left >= sizes[chosen]:
            left -= sizes[chosen]
            chosen += 1
        box = boxes[chosen]
        place = [box[j] + (box[m + j] - box[j]) * self.draw(PLACE_STREAM + j // 4)[j % 4] for j in range(m)]
        return place, 1.0 / sum(sizes)

    def nearest(self, place: list[float]) -> int:
        """The arm nearest to a place."""
        kinds = self.problem.encoding.kinds[self.problem.encoding.context :].tolist()

        def apart(arm: list[float]) -> float:
            gaps = [a - b for a, b in zip(arm, place, strict=True)]
            return sum(float(g != 0) if k == CATEGORICAL else g * g for g, k in zip(gaps, kinds, strict=True))

        return min(range(len(self.arms)), key=lambda k: apart(self.arms[k]))

    def tell(self, decision: Decision, reward: dict[str, float]) -> None:
        """Learn, once every objective that counts was told."""
        kept, told = self.opened[decision.number]
        assert kept == decision
        names = self.problem.objective_names
        needed = {n for n, w in zip(names, self.weights, strict=True) if w > 0} if self.weights else set(names)
        waits = not needed <= set(told)
        told.update(reward)
        if waits and needed <= set(told):
            given = np.empty(len(names))
            self.problem.encode_reward(told, given)
            learned = given.tolist()
            if self.weights:
                learned = [sum(w * r for w, r in zip(self.weights, learned, strict=True) if w > 0)]
            self.learn(decision.number, *divmod(decision.credit, len(self.arms)), learned)
        if len(told) == len(names):
            del self.opened[decision.number]

    def drop(self, decision: Decision) -> None:
        """Forget an open decision."""
        del self.opened[decision.number]
