"""A policy and its definition, told the same: they must predict and choose the same."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from paretozoom import Decision, Dropped, ParetoZoom, Problem, Told
from paretozoom.kernels.core.kinds import CATEGORICAL
from paretozoom.kernels.pareto_zoom import chooser, policy
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.policies.pareto_zoom.model import Model
from paretozoom.problem.feasible import ANY
from tests.reference.play import World, feedback


class Both:
    """The two, and what is on its way to them."""

    def __init__(
        self, problem: Problem, seed: int = 1, spread: Any = "arms", prefer: Any = None, **settings: float
    ) -> None:
        self.policy = ParetoZoom(problem, seed=seed, spread=spread, prefer=prefer, settings=settings)
        self.model = Model(problem, self.policy.settings, None if prefer is None else self.part("weight"))
        self.waiting: list[tuple[int, int, Told | Dropped]] = []
        self.tickets = 0

    def play(self, world: World, until: int, *, scrambled: bool) -> None:
        """Play until so many decisions were made; scrambled rewards come late, in parts, out of order or never."""
        while self.policy.number < until:
            decision = self.policy.ask(world.context())
            for wait, event in feedback(decision, world, scrambled):
                self.tickets += 1
                heapq.heappush(self.waiting, (decision.number + wait, self.tickets, event))
            while self.waiting and self.waiting[0][0] <= decision.number:
                self._happen(heapq.heappop(self.waiting)[2])

    def _happen(self, event: Told | Dropped) -> None:
        decision = next(decision for decision in self.policy.open if decision.number == event.number)
        if isinstance(event, Dropped):
            self.policy.drop(decision)
        else:
            self.tell(decision, event.reward)

    def tell(self, decision: Decision, reward: dict[str, float]) -> None:
        """Tell both."""
        opened, given = self.policy._open[decision.number], np.empty(len(self.policy.problem.objectives))
        self.policy.problem.encode_reward(reward, given)
        self.model.tell(opened.point.copy(), opened.credit, given)
        self.policy.tell(decision, reward)

    def part(self, name: str) -> Any:
        """A part of the policy's memory."""
        return m.memory.view(name, self.policy._floats, self.policy._ints)

    def look(self, x: Any, number: int, shown: bool, boxes: Any = ANY) -> tuple[Any, Any, Any, Any]:
        """What kernels say at a context of the candidates of a decision: means, errors, arms, numbers."""
        f, i = self.policy._floats, self.policy._ints
        point = np.zeros(self.policy.problem.dim)
        point[: len(x)] = x
        rows = policy.look(f, i, number, point, boxes, shown)
        d = len(self.policy.problem.objectives)
        means, errors = (self.part(name).ravel()[: d * rows].reshape(d, rows).copy() for name in ("mean", "error"))
        return means, errors, self.part("arm")[:rows].copy(), self.part("listed")[:rows].copy()

    def agree(self, contexts: Any) -> None:
        """At some contexts both predict the same and would play the same candidates; and know the same."""
        assert (self.policy._ints[m.TOLD], self.policy._ints[m.NEXT]) == (self.model.told, self.model.next)
        sigma = np.sqrt(np.maximum(self.model.sites.variance(), self.model.levels.sigma2))[:, None]
        np.testing.assert_allclose(self.part("share"), self.model.share, rtol=0, atol=1e-9)
        for number, x in enumerate(contexts):
            for shown in (True, False):
                means, errors, arms, numbers = self.look(x, number, shown)
                m_, e = self.model.predict(x, arms, numbers, shown)
                assert np.abs((means - m_) / sigma).max() < 1e-9
                assert np.abs((errors**2 - e**2) / np.maximum(sigma**2, e**2)).max() < 1e-9
            chooser.choose(self.policy._floats, self.policy._ints, len(arms))
            marks = self.part("front")[0, : len(arms)]
            indices = self.model.indices(x, numbers, m_, e)
            # Some are equal, as arms that were never played: what is rounded otherwise there is no difference.
            unit = 1e-10 * (sigma if len(indices) == self.model.d else self.model.weights @ sigma)
            chosen = self.model.choose(np.round(indices / unit) * unit, e)
            other = indices[:, np.flatnonzero(chosen != marks), None]
            apart = (np.abs(other - indices[:, None, :]) / np.reshape(unit, (-1, 1, 1))).min(axis=0)
            assert (np.sort(apart, axis=1)[:, 1:2] < 10).all()


def contexts_of(problem: Problem, n: int, seed: int = 0) -> Any:
    """Random contexts, encoded."""
    encoding, rng = problem.encoding, np.random.default_rng(seed)
    x = rng.random((n, encoding.context))
    for j in range(encoding.context):
        if encoding.kinds[j] == CATEGORICAL:
            x[:, j] = rng.integers(abs(int(encoding.values[j])), size=n)
    return x
