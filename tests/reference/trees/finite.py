"""Finitely many arms, slowly: the grid, the cells of contexts, the feasible arms, the place that is played."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from paretozoom import Finite, Problem
from tests.reference.trees.lockstep import Answer, Draws

PLAY_STREAM = 1 << 20


class FiniteTwin:
    """What the twins of policies with finitely many arms share; a subclass says how an arm is chosen."""

    def __init__(self, problem: Problem, *, arms: int = 18, within: str = "centre", cells: int = 1, seed: int) -> None:
        self.problem, self.within, self.draws = problem, within, Draws(seed)
        values = problem.encoding.values.tolist()
        self.context_values, arm_values = values[: len(problem.context)], values[len(problem.context) :]
        self.cells = cells
        self.arm_values = [1] * len(arm_values) if isinstance(problem.arm, Finite) else arm_values
        self.finite = len(problem.encoding.arms) > 0
        self.half = 0.5 / arms
        if self.finite:
            self.arms = [list(row) for row in problem.encoding.arms.tolist()]
        else:
            columns = [places(v) if v else [(k + 0.5) / arms for k in range(arms)] for v in arm_values]
            self.arms = [list(row) for row in itertools.product(*columns)]

    def choose(self, number: int, cell: int, listed: list[int]) -> tuple[int, float]:
        """The arm to be played of those listed, and its probability."""
        raise NotImplementedError

    def cell(self, context: Sequence[float]) -> int:
        """The number of the cell of a context."""
        number = 0
        for x, values in zip(context, self.context_values, strict=True):
            if values < 0:
                number = number * (-values) + int(x) if self.cells > 1 else number
            else:
                number = number * self.cells + min(int(x * self.cells), self.cells - 1)
        return number

    def ask(self, number: int, context: Sequence[float], allowed: Sequence[Sequence[float]]) -> Answer:
        """Choose among the feasible arms, or draw anywhere in feasible boxes without one."""
        cell = self.cell(context)
        listed = self.listed(allowed)
        if not listed:
            place, density = anywhere(self.draws, number, self.arm_values, allowed)
            nearest = min(range(len(self.arms)), key=lambda k: self.apart(self.arms[k], place))
            return -1, place, density, cell * len(self.arms) + nearest
        arm, density = self.choose(number, cell, listed)
        place = list(self.arms[arm])
        if self.within == "cell" and not self.finite:
            for j, values in enumerate(self.arm_values):
                if values == 0:
                    draw = self.draws(number, PLAY_STREAM + j // 4)[j % 4]
                    place[j] = min(1.0, max(0.0, place[j] + (2.0 * draw - 1.0) * self.half))
                    density /= 2 * self.half
        return (arm if self.finite else -1), place, density, cell * len(self.arms) + arm

    def listed(self, allowed: Sequence[Sequence[float]]) -> list[int]:
        """The feasible arms."""
        if not allowed:
            return list(range(len(self.arms)))
        if self.finite:
            return [int(row[0]) for row in allowed]
        return [k for k, arm in enumerate(self.arms) if any(inside(arm, box) for box in allowed)]

    def apart(self, one: Sequence[float], other: Sequence[float]) -> float:
        """How far two arms are apart, squared; two categories are 1 apart."""
        gaps = [a - b for a, b in zip(one, other, strict=True)]
        return sum(float(g != 0) if v < 0 else g * g for g, v in zip(gaps, self.arm_values, strict=True))


def places(values: int) -> list[float]:
    """The encoded values of a discrete coordinate."""
    return [float(k) for k in range(-values)] if values < 0 else [k / (values - 1) for k in range(values)]


def inside(arm: Sequence[float], box: Sequence[float]) -> bool:
    """Whether an arm lies in a box: lows, then highs."""
    return all(low <= y <= high for y, low, high in zip(arm, box, box[len(arm) :], strict=False))


def size(box: Sequence[float], values: Sequence[int]) -> float:
    """The product of a box's continuous sides."""
    product = 1.0
    for j, v in enumerate(values):
        if v == 0:
            product *= box[len(values) + j] - box[j]
    return product


def anywhere(
    draws: Draws, number: int, values: Sequence[int], boxes: Sequence[Sequence[float]]
) -> tuple[list[float], float]:
    """A uniform draw from boxes and its density."""
    sizes = [size(box, values) for box in boxes]
    total = 0.0
    for part in sizes:
        total += part
    left, chosen = draws(number)[0] * total, 0
    while chosen < len(boxes) - 1 and left >= sizes[chosen]:
        left -= sizes[chosen]
        chosen += 1
    box, place = boxes[chosen], []
    for j in range(len(values)):
        low, high = box[j], box[len(values) + j]
        place.append(low + (high - low) * draws(number, PLAY_STREAM + j // 4)[j % 4])
    return place, 1.0 / total
