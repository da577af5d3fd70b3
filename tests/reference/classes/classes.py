"""Slow twins of the policies over a class of rules: a history of rewards, from which all is computed anew.

Rules are lists: what each plays at every site. Arms are finite, or on a line that is divided evenly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from paretozoom import Decision, Problem
from paretozoom.feasible import encode_feasible
from tests.reference.philox import uniforms

PARTS = 2**35
SITES = 200


class Lesson(NamedTuple):
    """A reward that teaches."""

    site: int
    arms: list[int]  # of every rule, in its context
    arm: int
    probability: float
    reward: list[float]


class ClassTwin:
    """What all share; `rules` is a table with `cells` parts of the one context coordinate, None for affine ones."""

    def __init__(
        self,
        problem: Problem,
        *,
        rules: Sequence[Sequence[int]] | None = None,
        cells: int = 1,
        arms: int = 18,
        weights: Sequence[float] = (),
        seed: int = 0,
    ) -> None:
        self.problem, self.rules, self.cells, self.weights = problem, rules, cells, weights
        self.finite = len(problem.encoding.arms) > 0
        self.arms = len(problem.encoding.arms) or arms
        self.size = 121 if rules is None else len(rules)
        self.sites = SITES if rules is None else cells
        self.key = np.random.SeedSequence(seed).generate_state(2, np.uint64).tolist()
        self.number = 0
        self.lessons: list[Lesson] = []
        self.alive = [True] * self.size
        self.played = [1.0 / self.size] * self.size
        self.smoothing = 1.0 / (2 * self.arms)
        self.start()

    # What a subclass provides.

    def start(self) -> None:
        """Lay out its own memory."""

    def enter(self) -> None:
        """What a decision begins."""

    def masses(self, named: list[int]) -> tuple[list[float], bool]:
        """How often each arm is played if the rules name these, and whether that teaches."""
        masses = [self.smoothing] * self.arms
        for rule, arm in enumerate(named):
            masses[arm] += (1.0 - self.arms * self.smoothing) * self.played[rule]
        return masses, True

    # The class.

    def named(self, x: float) -> list[int]:
        """The arm of every rule at x."""
        if self.rules is not None:
            return [rule[min(int(x * self.cells), self.cells - 1)] for rule in self.rules]
        named = []
        for a in range(11):
            for b in range(11):
                place = min(1.0, max(0.0, a / 10 - (b / 5 - 1) * x))
                named.append(min(int(place * self.arms), self.arms - 1))
        return named

    def named_at_sites(self) -> list[list[int]]:
        """The arm of every rule at every site."""
        return [self.named((site + 0.5) / self.sites) for site in range(self.sites)]

    def frequencies(self) -> list[float]:
        """How frequent each site is among the lessons."""
        if not self.lessons:
            return [1.0 / self.sites] * self.sites
        seen = [0] * self.sites
        for lesson in self.lessons:
            seen[lesson.site] += 1
        return [n / len(self.lessons) for n in seen]

    def values(self) -> list[list[float]]:
        """The sum of reward / probability of every rule, for each number learned."""
        numbers = 1 if self.weights else len(self.problem.objectives)
        sums = [[0.0] * numbers for _ in range(self.size)]
        for lesson in self.lessons:
            for rule in range(self.size):
                if lesson.arms[rule] == lesson.arm:
                    for o in range(numbers):
                        sums[rule][o] += lesson.reward[o] / lesson.probability
        return sums

    def best(self) -> list[bool]:
        """Which rules in play have a value that no other one's dominates."""
        values = self.values()
        return [
            self.alive[r] and not any(_dominates(v, values[r]) for v in self._living(values)) for r in range(self.size)
        ]

    def shortfalls(self) -> list[float]:
        """By how much the mean value of each rule falls short of some other one's in every number."""
        values, told = self.values(), max(1, len(self.lessons))
        return [
            max(0.0, *(min(a - b for a, b in zip(other, value, strict=True)) / told for other in self._living(values)))
            for value in values
        ]

    def _living(self, values: list[list[float]]) -> list[list[float]]:
        return [value for value, alive in zip(values, self.alive, strict=True) if alive]

    # The two verbs.

    def ask(self, context: Any, feasible: Any = None) -> Decision:
        """Decide for a context of one coordinate."""
        number, point = self.number, np.zeros(self.problem.dim)
        plain = self.problem.encode_context(context, point)
        self.enter()
        masses, teaches = self.masses(self.named(point[0]))
        draw = uniforms(self.key, [number, 0, 0, 0])[0]
        arm, density, parts = self._draw(masses, teaches, draw, feasible, point)
        self.number += 1
        if not self.finite and parts >= 0:
            point[1] = (arm + 0.5) / self.arms
        shown = self.problem.decode_arm(arm if self.finite else -1, point)
        return Decision(number, plain, shown, density, arm * 2 * PARTS + max(0, parts))

    def _draw(
        self, masses: list[float], teaches: bool, draw: float, feasible: Any, point: Any
    ) -> tuple[int, float, int]:
        rows = encode_feasible(self.problem, feasible)
        listed = list(range(self.arms))
        if len(rows) and self.finite:
            listed = [int(row[0]) for row in rows]
        elif len(rows):
            listed = [k for k in listed if any(low <= (k + 0.5) / self.arms <= high for low, high in rows)]
        if not listed:
            (low, high), *_ = rows
            assert len(rows) == 1
            point[1] = low + (high - low) * uniforms(self.key, [self.number, 1 << 20, 0, 0])[0]
            nearest = min(range(self.arms), key=lambda k: (abs((k + 0.5) / self.arms - point[1]), k))
            return nearest, 1.0 / (high - low), -1
        if sum(masses[k] for k in listed) <= 0:
            masses = [1.0] * self.arms
        total, left, drawn = sum(masses[k] for k in listed), draw, -1
        left *= total
        for k in listed:
            if masses[k] > 0:
                drawn = k
                if left < masses[k]:
                    break
                left -= masses[k]
        probability = masses[drawn] / total
        return drawn, probability, math.floor(probability * PARTS + 0.5) if teaches else 0

    def tell(self, decision: Decision, reward: dict[str, float]) -> None:
        """Learn a whole reward."""
        arm, parts = divmod(decision.credit, 2 * PARTS)
        if parts == 0:
            return
        point, numbers = np.zeros(self.problem.dim), np.zeros(len(self.problem.objectives))
        self.problem.encode_context(decision.context, point)
        self.problem.encode_reward(reward, numbers)
        if self.weights:
            learned = [sum(w * r for w, r in zip(self.weights, numbers.tolist(), strict=True) if w > 0)]
        else:
            learned = numbers.tolist()
        site = min(int(point[0] * self.sites), self.sites - 1)
        self.lessons.append(Lesson(site, self.named(point[0]), arm, parts / PARTS, learned))


def _dominates(a: list[float], b: list[float]) -> bool:
    return all(x >= y for x, y in zip(a, b, strict=True)) and a != b


def spread(twin: ClassTwin, weights: list[float], mu: float, frequencies: list[float], power: int = 1) -> list[float]:
    """The mean over the sites of (1 / Q(a | x))^power, a the arm of each rule."""
    named = twin.named_at_sites()
    out = [0.0] * twin.size
    for site, share in enumerate(frequencies):
        if share == 0:
            continue
        masses = [mu] * twin.arms
        for rule, weight in enumerate(weights):
            if weight > 0:
                masses[named[site][rule]] += (1 - twin.arms * mu) * weight
        for rule in range(twin.size):
            out[rule] += share * (1.0 / masses[named[site][rule]]) ** power
    return out


def coordinate_descent(
    twin: ClassTwin, weights: list[float], lenience: list[float], mu: float, frequencies: list[float]
) -> list[float]:
    """The coordinate descent of section 9.4, at the rule in play that misses its constraint by most."""
    k = twin.arms
    while True:
        total = sum(q * (2 * k + b) for q, b in zip(weights, lenience, strict=True))
        if total > 2 * k:
            weights = [q * (2 * k / total) for q in weights]
        v = spread(twin, weights, mu, frequencies)
        missed = [v[r] - (2 * k + lenience[r]) if twin.alive[r] else -1.0 for r in range(twin.size)]
        worst = max(range(twin.size), key=missed.__getitem__)
        if missed[worst] <= 1e-9:
            return weights
        s = spread(twin, weights, mu, frequencies, 2)[worst]
        weights[worst] += (v[worst] + missed[worst]) / (2 * (1 - k * mu) * s)


def completed(weights: list[float], best: list[bool]) -> list[float]:
    """The weights with what is missing to 1 on the best rules."""
    missing = max(0.0, 1 - sum(weights))
    return [q + missing * b / sum(best) for q, b in zip(weights, best, strict=True)]


class EpochGreedyTwin(ClassTwin):
    """Section 9.1."""

    factor = 1.0

    def masses(self, named: list[int]) -> tuple[list[float], bool]:
        """Nothing in a round of exploration, else how many of the best rules name each arm."""
        epoch, first = 1, 0
        while first < self.number:
            first += 1 + math.floor(self.factor * math.sqrt(epoch / (self.arms * math.log(self.size))))
            epoch += 1
        if first == self.number:
            return [0.0] * self.arms, True
        best = self.best()
        return [float(sum(b for b, arm in zip(best, named, strict=True) if arm == k)) for k in range(self.arms)], False


class SolvedTwin(ClassTwin):
    """Solves at the decisions 1, 2, 4, ..."""

    delta, psi, confidence = 0.05, 100.0, 1.0

    def enter(self) -> None:
        """Solve if the number is a power of two."""
        if self.number > 0 and self.number & (self.number - 1) == 0:
            self.solve(self.number)

    def solve(self, t: int) -> None:
        """Set the weights that are played and the smoothing."""
        raise NotImplementedError


class ILoveToConBanditsTwin(SolvedTwin):
    """Section 9.4."""

    def start(self) -> None:
        """No weights before the first epoch."""
        self.solved = [0.0] * self.size

    def solve(self, t: int) -> None:
        """Coordinate descent, warm."""
        k = self.arms
        mu = min(1 / (2 * k), self.confidence * math.sqrt(math.log(16 * t**2 * self.size / self.delta) / (k * t)))
        lenience = [short / (self.psi * mu) for short in self.shortfalls()]
        self.solved = coordinate_descent(self, list(self.solved), lenience, mu, self.frequencies())
        self.played, self.smoothing = completed(self.solved, self.best()), mu


class PolicyEliminationTwin(SolvedTwin):
    """Section 9.2; coordinate descent without lenience finds the distribution."""

    def solve(self, t: int) -> None:
        """Eliminate, then spread out."""
        k, doubt = self.arms, math.log(4 * self.size * t**2 / self.delta)
        best, short = self.best(), self.shortfalls()
        width = self.confidence * 2 * math.sqrt(2 * k * doubt / t)
        self.alive = [a and s <= 2 * width for a, s in zip(self.alive, short, strict=True)]
        mu = min(1 / (2 * k), self.confidence * math.sqrt(doubt / (2 * k * t)))
        found = coordinate_descent(self, [0.0] * self.size, [0.0] * self.size, mu, [1 / self.sites] * self.sites)
        self.played, self.smoothing = completed(found, best), mu


class RandomizedUCBTwin(SolvedTwin):
    """Section 9.3; takes over the weights that the policy found, once they keep every constraint."""

    policy: Any

    def solve(self, t: int) -> None:
        """Check the weights of the policy, which was asked before."""
        k, c = self.arms, 2 * math.log(self.size * t / self.delta)
        mu = min(1 / (2 * k), self.confidence * math.sqrt(c / (2 * k * t)))
        self.played, self.smoothing = self.policy.played.tolist(), mu
        assert min(self.played) >= 0
        assert math.isclose(sum(self.played), 1, rel_tol=1e-9)
        caps = [max(4 * k, t * s**2 / (180 * c)) for s in self.shortfalls()]
        v = spread(self, self.played, mu, self.frequencies())
        assert all(a <= cap + 1e-9 for a, cap in zip(v, caps, strict=True))
