"""What PCZ and Contextual Zooming share, slowly: balls, domains, indices, the doubling trick, late rewards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretozoom import Decision, Problem
from paretozoom.problem.feasible import encode_feasible
from tests.reference import philox
from tests.reference.lattice import Intervals, Points, lattice_of
from tests.reference.space import Ball, Space

ROOT_STREAM = 1 << 32
Menu = Intervals | Points


@dataclass
class Open:
    """A decision that waits for rewards."""

    decision: Decision
    point: list[float]
    told: dict[int, float] = field(default_factory=dict)  # by objective
    split: bool = False  # has made a child


class Zooming:
    """Algorithm 1 but for the choice of arm and ball; the verbs are those of the package's policies."""

    learned: int

    def __init__(self, problem: Problem, *, horizon: int | None, similarity: Any, centre: Any, seed: int) -> None:
        self.problem = problem
        self.space = Space.of(problem, **(similarity or {}))
        self.horizon = horizon
        self.centre = centre
        self.key = [int(word) for word in np.random.SeedSequence(seed).generate_state(2, np.uint64)]
        self.number = 0
        self.open: dict[int, Open] = {}
        self.restart(0)

    # What a subclass says.

    def uncertainty(self, count: int) -> float:
        """How unsure a ball is of a mean over `count` rewards."""
        raise NotImplementedError

    def choose(self, context: list[float], menu: Menu, u1: float, u2: float) -> tuple[Any, float, int]:
        """(arm, as the menu has it; density; ball)."""
        raise NotImplementedError

    def learn(self, entry: Open, told: dict[int, float]) -> None:
        """Learn from the newly told objectives of a decision of the running epoch."""
        raise NotImplementedError

    # The verbs.

    def ask(self, context: Any, feasible: Any = None) -> Decision:
        """Decide for a context."""
        epoch = self.epoch_of(self.number)
        if epoch > self.epoch:
            self.restart(epoch)
        encoded = np.zeros(len(self.space.kinds))
        plain = self.problem.encode_context(context, encoded)
        point = encoded.tolist()
        u1, u2, *_ = philox.uniforms(self.key, [self.number, 0, 0, 0])
        menu = self.menu(feasible, self.number)
        arm, density, credit = self.choose(point[: self.space.context], menu, u1, u2)
        point[self.space.context :] = menu.coordinates(arm)
        number = arm if self.space.arms else -1
        decision = Decision(self.number, plain, self.problem.decode_arm(number, np.array(point)), density, credit)
        # The user plays the arm in the user's units; that is the arm to learn from.
        self.problem.encode_arm(decision.arm, encoded)
        self.open[self.number] = Open(decision, encoded.tolist())
        self.number += 1
        return decision

    def menu(self, feasible: Any = None, number: int | None = None) -> Menu:
        """What can be chosen; a lattice is moved at random for the decision of a number, or else it is centred."""
        space = self.space
        rows = encode_feasible(self.problem, feasible).tolist() if feasible is not None else []
        if space.kind == "slices":
            return Intervals([(low, high) for low, high in rows] or [(0.0, 1.0)])
        if space.kind == "finite":
            numbers = [int(number) for (number,) in rows] or range(len(space.arms))
            return Points({number: space.arms[number] for number in numbers})
        shifts = None
        if number is not None:
            real = space.values[space.context :].count(0)
            shifts = [philox.uniforms(self.key, [number, 1 + j // 4, 0, 0])[j % 4] for j in range(real)]
        return lattice_of(space, rows, shifts)

    def tell(self, decision: Decision, reward: Any) -> None:
        """Learn a reward, whole or in part."""
        entry = self.open[decision.number]
        given = np.zeros(len(self.problem.objectives))
        self.problem.encode_reward(reward, given)
        told = {i: value for i, value in enumerate(given.tolist()) if not math.isnan(value)}
        if self.epoch_of(decision.number) == self.epoch:
            self.learn(entry, told)
        entry.told.update(told)
        if len(entry.told) == len(self.problem.objectives):
            del self.open[decision.number]

    def drop(self, decision: Decision) -> None:
        """Close a decision."""
        del self.open[decision.number]

    # Balls.

    def epoch_of(self, number: int) -> int:
        """The epoch of a decision under the doubling trick: epochs last 2, 4, 8, ... decisions."""
        if self.horizon is not None:
            return 0
        epoch, end = 0, 2
        while number >= end:
            epoch += 1
            end += 2 << epoch
        return epoch

    def epoch_horizon(self) -> int:
        """The horizon of the running epoch."""
        return self.horizon if self.horizon is not None else 2 << self.epoch

    def restart(self, epoch: int) -> None:
        """Forget everything and begin an epoch with a root ball."""
        self.epoch = epoch
        self.balls: list[Ball] = []
        self.apart: list[list[float]] = []  # D between any two centres
        self.add(self.root_centre(), 1.0, -1)

    def root_centre(self) -> list[float]:
        """Where the root lies: as given, or drawn uniformly from a stream of its own."""
        space = self.space
        point = np.zeros(len(space.kinds))
        if self.centre is not None:
            self.problem.encode_context(self.centre[0], point)
            self.problem.encode_arm(self.centre[1], point)
            return point.tolist()
        centre = []
        for j in range(len(space.kinds)):
            u = philox.uniforms(self.key, [self.epoch, ROOT_STREAM + j // 4, 0, 0])[j % 4]
            values = space.values[j]
            if values:
                u = float(math.floor(u * values))
                u = u if space.kinds[j] == "categorical" else u / (values - 1)
            centre.append(u)
        if space.arms:
            u = philox.uniforms(self.key, [self.epoch, ROOT_STREAM - 1, 0, 0])[0]
            centre[space.context :] = space.arms[math.floor(u * len(space.arms))]
        return centre

    def add(self, centre: list[float], radius: float, parent: int) -> None:
        """Create a ball."""
        self.append(Ball(list(centre), radius, parent, [0] * self.learned, [0.0] * self.learned))

    def append(self, ball: Ball) -> None:
        """Take a ball as it is."""
        self.balls.append(ball)
        distances = [self.space.distance(ball.centre, other.centre) for other in self.balls]
        for row, distance in zip(self.apart, distances, strict=False):
            row.append(distance)
        self.apart.append(distances)

    def split_if_full(self, entry: Open, own: Sequence[int]) -> None:
        """Lines 11-15 of Algorithm 1; `own[i]` of the ball's count of objective i is this decision's own reward.

        A late reward finds other balls than its decision did: a child is made only where the ball's domain is now.
        """
        number = entry.decision.credit
        ball = self.balls[number]
        if entry.split or not all(
            self.uncertainty(n - mine) <= ball.radius for n, mine in zip(ball.count, own, strict=True)
        ):
            return
        covered = any(b.radius < ball.radius and self.space.contains(b, entry.point) for b in self.balls)
        if self.space.contains(ball, entry.point) and not covered:
            entry.split = True
            self.add(entry.point, ball.radius / 2.0, number)

    # Domains and indices at a context.

    def domains_at(self, context: Sequence[float], menu: Menu | None = None) -> dict[int, Any]:
        """The domain of every relevant ball: numbers of arms or candidates, or intervals."""
        return (menu or self.menu()).domains(self.space, self.balls, context)

    finite_domains = domains_at

    def pre_index(self, k: int, i: int) -> float:
        """mean + u + r, infinite for a ball that has seen nothing of an objective whose u is infinite."""
        ball = self.balls[k]
        mean = ball.total[i] / ball.count[i] if ball.count[i] else 0.0
        return (mean + self.uncertainty(ball.count[i])) + ball.radius

    def indices(self, chosen: Sequence[int]) -> list[list[float]]:
        """The index vector of each of some balls."""
        everyone = range(len(self.balls))
        pre = [[self.pre_index(k, i) for k in everyone] for i in range(self.learned)]
        return [
            [
                self.balls[b].radius + min(p + d for p, d in zip(pre[i], self.apart[b], strict=True))
                for i in range(self.learned)
            ]
            for b in chosen
        ]
