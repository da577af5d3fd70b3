"""LinUCB, SupLinUCB, KernelUCB and SupKernelUCB, slow and obvious: every estimate is made anew from all rewards."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from paretozoom import Decision, Problem
from paretozoom.kernels.core.kinds import CATEGORICAL, PERIODIC
from tests.reference.finite import FiniteTwin

Vector = npt.NDArray[np.float64]
Estimate = Callable[[list[float], int], tuple[Vector, float]]  # context, arm -> means, standard deviation


class Estimating(FiniteTwin):
    """What the four share: features and kernels of a context and an arm."""

    def __init__(
        self,
        problem: Problem,
        *,
        objective: str | None = None,
        weights: Sequence[float] = (),
        pareto: bool = False,
        **settings: Any,
    ) -> None:
        names = problem.objective_names
        chosen = [] if pareto else list(weights) or [float(name == (objective or names[0])) for name in names]
        super().__init__(problem, weights=chosen, **settings)
        self.encoding = problem.encoding

    def on_front(self, listed: Sequence[int], indices: Sequence[Sequence[float]]) -> tuple[int, float]:
        """One of the listed arms whose indices no other dominates; what differs by rounding alone is equal."""
        return self.uniform_on(self.front_of(listed, [[round(v, 10) for v in index] for index in indices]))

    def entries(self, point: list[float]) -> list[list[float]]:
        """Each coordinate as the features call it."""
        blocks = []
        for v, kind, values in zip(point, self.encoding.kinds, self.encoding.values, strict=False):
            if kind == CATEGORICAL:
                count = -int(values) if values < 0 else len(self.arms)
                blocks.append([float(k == v) for k in range(count)])
            elif kind == PERIODIC:
                blocks.append([math.cos(2 * math.pi * v), math.sin(2 * math.pi * v)])
            else:
                blocks.append([v])
        return blocks

    def own(self, context: list[float]) -> Vector:
        """(1, context)"""
        return np.array([1.0, *itertools.chain(*self.entries(context))])

    def joint(self, context: list[float], arm: int, features: str = "quadratic") -> Vector:
        """Entries and products of two, divided by the root of the number of groups of norm 1."""
        blocks = self.entries([*context, *self.arms[arm]])
        groups = [[1.0], *blocks]
        for a, b in itertools.combinations(range(len(blocks)), 2):
            if features == "quadratic" or (features == "products" and a < len(context) <= b):
                groups.append([u * v for u in blocks[a] for v in blocks[b]])
        if features == "quadratic":
            for block, kind in zip(blocks, self.encoding.kinds, strict=True):
                if kind != CATEGORICAL:
                    groups.append([block[0] * v for v in block])
        return np.array(list(itertools.chain(*groups))) / math.sqrt(len(groups))

    def squared_distance(self, one: list[float], other: list[float]) -> float:
        """Chords on circles of length 1, 1 for different categories, differences else."""
        total = 0.0
        for a, b, kind in zip(one, other, self.encoding.kinds, strict=True):
            if kind == CATEGORICAL:
                total += float(a != b)
            elif kind == PERIODIC:
                angle = 2 * math.pi * (a - b)
                total += ((math.cos(angle) - 1) ** 2 + math.sin(angle) ** 2) / (2 * math.pi) ** 2
            else:
                total += (a - b) ** 2
        return total

    def by_index(self, context: list[float], listed: list[int], width: float, estimate: Estimate) -> tuple[int, float]:
        """The arm of the highest index, or one on the front of the indices."""
        indices = []
        for arm in listed:
            means, deviation = estimate(context, arm)
            indices.append([float(m) + width * deviation for m in means])
        return self.on_front(listed, indices)

    def by_stages(
        self,
        context: list[float],
        listed: list[int],
        width: float,
        horizon: int,
        widest: bool,
        estimates: Callable[[int], Estimate],
    ) -> tuple[int, float, int]:
        """(arm, probability, stage or 0), as the paper on SupLinUCB has it."""
        left, s = listed, 1
        while True:
            model = estimates(s - 1)
            estimated = {arm: model(context, arm) for arm in left}
            w = {arm: width * deviation for arm, (_, deviation) in estimated.items()}
            ucb = {arm: means + w[arm] for arm, (means, _) in estimated.items()}
            if all(v <= 1 / math.sqrt(horizon) for v in w.values()):
                return *self.on_front(left, [ucb[arm].tolist() for arm in left]), 0
            if all(v <= 2**-s for v in w.values()):
                left = [a for a in left if not any((ucb[b] - 2 ** (1 - s) > ucb[a]).all() for b in left)]
                s += 1
                continue
            least = max(w.values()) * (1 - 1e-9) if widest else 2**-s
            return *self.uniform_on([arm for arm in left if w[arm] > least]), s


class LinUCB(Estimating):
    """Word for word: A_a, b_a, B_a, A0, b0 and their updates in the paper's order."""

    def __init__(self, problem: Problem, *, model: str = "disjoint", alpha: float = 1.0, **settings: Any) -> None:
        super().__init__(problem, **settings)
        self.model, self.alpha = model, alpha
        context = self.context_like()
        d, k = len(self.own(context)), len(self.joint(context, 0))
        d, k = (0 if model == "shared" else d), (0 if model == "disjoint" else k)
        self.a0, self.b0 = np.eye(k), np.zeros((k, self.learned))
        self.a = [np.eye(d) for _ in self.arms]
        self.b = [np.zeros((d, self.learned)) for _ in self.arms]
        self.cross = [np.zeros((d, k)) for _ in self.arms]

    def context_like(self) -> list[float]:
        return [0.0] * self.encoding.context

    def features(self, context: list[float], arm: int) -> tuple[Vector, Vector]:
        """x and z"""
        x = np.zeros(0) if self.model == "shared" else self.own(context)
        return x, np.zeros(0) if self.model == "disjoint" else self.joint(context, arm)

    def estimate(self, context: list[float], arm: int) -> tuple[Vector, float]:
        x, z = self.features(context, arm)
        inverse, inverse0, cross = np.linalg.inv(self.a[arm]), np.linalg.inv(self.a0), self.cross[arm]
        beta = inverse0 @ self.b0
        theta = inverse @ (self.b[arm] - cross @ beta)
        s = z @ inverse0 @ z - 2 * z @ inverse0 @ cross.T @ inverse @ x + x @ inverse @ x
        s += x @ inverse @ cross @ inverse0 @ cross.T @ inverse @ x
        return z @ beta + x @ theta, math.sqrt(s)

    def choose(self, context: list[float], listed: list[int]) -> tuple[int, float, int]:
        arm, probability = self.by_index(context, listed, self.alpha, self.estimate)
        return arm, probability, arm

    def learn(self, decision: Decision, reward: list[float]) -> None:
        arm, r = decision.credit, np.array(reward)
        x, z = self.features(self.encoded(decision.context), arm)
        explained = self.cross[arm].T @ np.linalg.inv(self.a[arm])
        self.a0 = self.a0 + explained @ self.cross[arm]
        self.b0 = self.b0 + explained @ self.b[arm]
        self.a[arm] = self.a[arm] + np.outer(x, x)
        self.cross[arm] = self.cross[arm] + np.outer(x, z)
        self.b[arm] = self.b[arm] + np.outer(x, r)
        explained = self.cross[arm].T @ np.linalg.inv(self.a[arm])
        self.a0 = self.a0 + np.outer(z, z) - explained @ self.cross[arm]
        self.b0 = self.b0 + np.outer(z, r) - explained @ self.b[arm]


class SupLinUCB(Estimating):
    """The sets Psi of the stages, and a regression on each."""

    def __init__(
        self, problem: Problem, *, horizon: int, explore: str = "widest", confidence: float = 1.0, **settings: Any
    ) -> None:
        super().__init__(problem, **settings)
        self.horizon, self.widest = horizon, explore == "widest"
        self.width = confidence * math.sqrt(0.5 * math.log(2 * horizon * len(self.arms) / 0.05))
        self.psi: list[list[tuple[Vector, list[float]]]] = [[] for _ in range(math.ceil(math.log(horizon)))]

    def regression(self, psi: list[tuple[Vector, list[float]]], size: int) -> Estimate:
        a, b = np.eye(size), np.zeros((size, self.learned))
        for x, r in psi:
            a += np.outer(x, x)
            b += np.outer(x, r)
        inverse = np.linalg.inv(a)

        def estimate(context: list[float], arm: int) -> tuple[Vector, float]:
            x = self.joint(context, arm)
            return x @ inverse @ b, math.sqrt(x @ inverse @ x)

        return estimate

    def choose(self, context: list[float], listed: list[int]) -> tuple[int, float, int]:
        size = len(self.joint(context, 0))
        arm, p, stage = self.by_stages(
            context, listed, self.width, self.horizon, self.widest, lambda s: self.regression(self.psi[s], size)
        )
        return arm, p, stage * len(self.arms) + arm

    def credit_of_anywhere(self, context: list[float], arm: int) -> int:
        return len(self.arms) + arm

    def learn(self, decision: Decision, reward: list[float]) -> None:
        stage, arm = divmod(decision.credit, len(self.arms))
        if stage:
            x = self.joint(self.encoded(decision.context), arm)
            self.psi[stage - 1].append((x, reward))


class Kernels(Estimating):
    """Kernel regressions on lists of (place, rewards); with a full budget, the place is the nearest held one."""

    def __init__(
        self, problem: Problem, *, length: float = 0.2, gamma: float = 1.0, budget: int = 300, **settings: Any
    ) -> None:
        super().__init__(problem, **settings)
        self.length, self.gamma, self.budget = length, gamma, budget

    def likeness(self, one: list[float], other: list[float]) -> float:
        return math.exp(-self.squared_distance(one, other) / (2 * self.length**2))

    def regression(self, seen: list[tuple[list[float], list[float]]]) -> Estimate:
        places = [place for place, _ in seen]
        gram = np.array([[self.likeness(p, q) for q in places] for p in places]).reshape(len(seen), len(seen))
        inverse = np.linalg.inv(gram + self.gamma * np.eye(len(seen)))
        y = np.array([rewards for _, rewards in seen]).reshape(len(seen), self.learned)

        def estimate(context: list[float], arm: int) -> tuple[Vector, float]:
            place = [*context, *self.arms[arm]]
            k = np.array([self.likeness(place, p) for p in places])
            return k @ inverse @ y, math.sqrt((1.0 - k @ inverse @ k) / self.gamma)

        return estimate

    def add(self, seen: list[tuple[list[float], list[float]]], decision: Decision, reward: list[float]) -> None:
        place = [*self.encoded(decision.context), *self.arms[decision.credit % len(self.arms)]]
        held = [p for k, (p, _) in enumerate(seen) if p not in [q for q, _ in seen[:k]]]
        if place not in held and len(held) == self.budget:
            place = min(held, key=lambda p: self.squared_distance(place, p))
        seen.append((place, reward))


class KernelUCB(Kernels):
    """All rewards in one regression."""

    def __init__(self, problem: Problem, *, eta: float = 1.0, **settings: Any) -> None:
        super().__init__(problem, **settings)
        self.eta = eta
        self.seen: list[tuple[list[float], list[float]]] = []

    def choose(self, context: list[float], listed: list[int]) -> tuple[int, float, int]:
        arm, probability = self.by_index(context, listed, self.eta, self.regression(self.seen))
        return arm, probability, arm

    def learn(self, decision: Decision, reward: list[float]) -> None:
        self.add(self.seen, decision, reward)


class SupKernelUCB(Kernels):
    """A regression for each stage."""

    def __init__(
        self, problem: Problem, *, horizon: int, explore: str = "widest", confidence: float = 1.0, **settings: Any
    ) -> None:
        super().__init__(problem, **settings)
        self.horizon, self.widest = horizon, explore == "widest"
        self.width = confidence * math.sqrt(2 * math.log(2 * horizon * len(self.arms) / 0.05))
        self.seen: list[list[tuple[list[float], list[float]]]] = [[] for _ in range(math.ceil(math.log(horizon)))]

    def choose(self, context: list[float], listed: list[int]) -> tuple[int, float, int]:
        arm, p, stage = self.by_stages(
            context, listed, self.width, self.horizon, self.widest, lambda s: self.regression(self.seen[s])
        )
        return arm, p, stage * len(self.arms) + arm

    def credit_of_anywhere(self, context: list[float], arm: int) -> int:
        return len(self.arms) + arm

    def learn(self, decision: Decision, reward: list[float]) -> None:
        stage = decision.credit // len(self.arms)
        if stage:
            self.add(self.seen[stage - 1], decision, reward)
