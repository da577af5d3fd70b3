"""Slow twins of the policies over a class of rules: a history of rewards, from which all is computed anew.

Rules are lists: what each plays at every site. There is one context coordinate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from paretozoom import Decision, Problem
from tests.reference.finite import FiniteTwin

PARTS = 2**35
SITES = 200


class Lesson(NamedTuple):
    """A reward that teaches."""

    site: int
    arms: list[int]  # of every rule, in its context
    arm: int
    probability: float
    reward: list[float]


class ClassTwin(FiniteTwin):
    """What all share; `rules` is a table with `cells` parts of the one context coordinate, None for affine ones."""

    def __init__(self, problem: Problem, *, rules: Sequence[Sequence[int]] | None = None, **given: Any) -> None:
        super().__init__(problem, **given)
        self.rules = rules
        self.count = len(self.arms)
        self.size = 121 if rules is None else len(rules)
        self.sites = SITES if rules is None else self.cells
        self.lessons: list[Lesson] = []
        self.alive = [True] * self.size
        self.played = [1.0 / self.size] * self.size
        self.smoothing = 1.0 / (2 * self.count)
        self.start()

    # What a subclass provides.

    def start(self) -> None:
        """Lay out its own memory."""

    def enter(self) -> None:
        """What a decision begins."""

    def masses(self, named: list[int]) -> tuple[list[float], bool]:
        """How often each arm is played if the rules name these, and whether that teaches."""
        masses = [self.smoothing] * self.count
        for rule, arm in enumerate(named):
            masses[arm] += (1.0 - self.count * self.smoothing) * self.played[rule]
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
                named.append(min(int(place * self.count), self.count - 1))
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

    def value_sums(self) -> list[list[float]]:
        """The sum of reward / probability of every rule, for each number learned."""
        sums = [[0.0] * self.learned for _ in range(self.size)]
        for lesson in self.lessons:
            for rule in range(self.size):
                if lesson.arms[rule] == lesson.arm:
                    for o in range(self.learned):
                        sums[rule][o] += lesson.reward[o] / lesson.probability
        return sums

    def best(self) -> list[bool]:
        """Which rules in play have a value that no other one's dominates."""
        values = self.value_sums()
        return [
            self.alive[r] and not any(_dominates(v, values[r]) for v in self._living(values)) for r in range(self.size)
        ]

    def shortfalls(self) -> list[float]:
        """By how much the value of each rule, over all decisions, falls short of some other one's in every number."""
        values, t = self.value_sums(), self.number
        return [
            max(0.0, *(min(a - b for a, b in zip(other, value, strict=True)) / t for other in self._living(values)))
            for value in values
        ]

    def _living(self, values: list[list[float]]) -> list[list[float]]:
        return [value for value, alive in zip(values, self.alive, strict=True) if alive]

    # The verbs.

    def choose(self, context: list[float], listed: list[int]) -> tuple[int, float, int]:
        """An arm in proportion to its mass, uniformly if there is none."""
        self.enter()
        masses, teaches = self.masses(self.named(context[0]))
        if sum(masses[k] for k in listed) <= 0:
            masses = [1.0] * self.count
        total = sum(masses[k] for k in listed)
        left, drawn = self.draws()[0] * total, -1
        for k in listed:
            if masses[k] > 0:
                drawn = k
                if left < masses[k]:
                    break
                left -= masses[k]
        probability = masses[drawn] / total
        parts = math.floor(probability * PARTS + 0.5) if teaches else 0
        return drawn, probability, drawn * 2 * PARTS + parts

    def credit_of_anywhere(self, context: list[float], arm: int) -> int:
        """Such a draw teaches nothing."""
        self.enter()
        return arm * 2 * PARTS

    def learn(self, decision: Decision, reward: list[float]) -> None:
        """Keep the reward if it teaches."""
        arm, parts = divmod(decision.credit, 2 * PARTS)
        if parts > 0:
            (x,) = self.encoded(decision.context)
            site = min(int(x * self.sites), self.sites - 1)
            self.lessons.append(Lesson(site, self.named(x), arm, parts / PARTS, reward))


def _dominates(a: list[float], b: list[float]) -> bool:
    return all(x >= y for x, y in zip(a, b, strict=True)) and a != b


def spread(twin: ClassTwin, weights: list[float], mu: float, frequencies: list[float], power: int = 1) -> list[float]:
    """The mean over the sites of (1 / Q(a | x))^power, a the arm of each rule."""
    named = twin.named_at_sites()
    out = [0.0] * twin.size
    for site, share in enumerate(frequencies):
        if share == 0:
            continue
        masses = [mu] * twin.count
        for rule, weight in enumerate(weights):
            if weight > 0:
                masses[named[site][rule]] += (1 - twin.count * mu) * weight
        for rule in range(twin.size):
            out[rule] += share * (1.0 / masses[named[site][rule]]) ** power
    return out


def coordinate_descent(
    twin: ClassTwin, weights: list[float], lenience: list[float], mu: float, frequencies: list[float]
) -> list[float]:
    """Agarwal et al. (2014), at the rule in play that misses its constraint by most."""
    k = twin.count
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
    """A round of exploration, then so many of exploitation."""

    factor = 1.0

    def masses(self, named: list[int]) -> tuple[list[float], bool]:
        """Nothing in a round of exploration, else how many of the best rules name each arm."""
        epoch, first = 1, 0
        while first < self.number:
            first += 1 + math.floor(self.factor * math.sqrt(epoch / (self.count * math.log(self.size))))
            epoch += 1
        if first == self.number:
            return [0.0] * self.count, True
        best = self.best()
        return [float(sum(b for b, arm in zip(best, named, strict=True) if arm == k)) for k in range(self.count)], False


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
    """Weights from coordinate descent, warm."""

    def start(self) -> None:
        """No weights before the first epoch."""
        self.solved = [0.0] * self.size

    def solve(self, t: int) -> None:
        """From the weights before."""
        k = self.count
        mu = min(1 / (2 * k), self.confidence * math.sqrt(math.log(16 * t**2 * self.size / self.delta) / (k * t)))
        lenience = [short / (self.psi * mu) for short in self.shortfalls()]
        self.solved = coordinate_descent(self, list(self.solved), lenience, mu, self.frequencies())
        self.played, self.smoothing = completed(self.solved, self.best()), mu


class PolicyEliminationTwin(SolvedTwin):
    """Coordinate descent without lenience finds the distribution."""

    def enter(self) -> None:
        """Eliminate, then solve if there was something to eliminate, or the number is a power of two."""
        before, t = self.alive, self.number
        if t > 0:
            width = self.confidence * 2 * math.sqrt(2 * self.count * self.doubt(t) / t)
            self.alive = [a and s <= 2 * width for a, s in zip(before, self.shortfalls(), strict=True)]
        if self.alive != before:
            self.solve(t)
        else:
            super().enter()

    def doubt(self, t: int) -> float:
        """The logarithm of 1 / delta_t."""
        return math.log(4 * self.size * t**2 / self.delta)

    def solve(self, t: int) -> None:
        """Spread out."""
        mu = min(1 / (2 * self.count), self.confidence * math.sqrt(self.doubt(t) / (2 * self.count * t)))
        found = coordinate_descent(self, [0.0] * self.size, [0.0] * self.size, mu, [1 / self.sites] * self.sites)
        self.played, self.smoothing = completed(found, self.best()), mu


class RandomizedUCBTwin(SolvedTwin):
    """Takes over the weights that the policy found, once they keep every constraint."""

    policy: Any

    def solve(self, t: int) -> None:
        """Check the weights of the policy, which was asked before."""
        k, c = self.count, 2 * math.log(self.size * t / self.delta)
        mu = min(1 / (2 * k), self.confidence * math.sqrt(c / (2 * k * t)))
        self.played, self.smoothing = self.policy.played.tolist(), mu
        assert min(self.played) >= 0
        assert math.isclose(sum(self.played), 1, rel_tol=1e-9)
        caps = [max(4 * k, t * s**2 / (180 * c)) for s in self.shortfalls()]
        v = spread(self, self.played, mu, self.frequencies())
        assert all(a <= cap + 1e-9 for a, cap in zip(v, caps, strict=True))
