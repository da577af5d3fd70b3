"""BoTorch: a Gaussian process per objective over contexts and arms, upper bounds, random Chebyshev weights."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats
from peers.adapter import Rival, Settings, arms_of, chebyshev, features_of

FIRST = 16  # rounds played at random
REFIT = 1.5  # the hyperparameters are fitted anew whenever the rounds have grown by this factor
CANDIDATES = 64
BLOCK = 128  # rows that are multiplied at a time


class BoTorchUCB(Rival):
    """`botorch.models.SingleTaskGP` with an output per objective.

    Making the model anew in every round takes most of a tenth of a second. So between two fits its kernel, noise and
    scaling are kept, and a reward adds a row to the inverse of the Cholesky factor: the same posterior, far sooner.
    """

    name = "botorch-ucb"
    package = "botorch"
    settings: ClassVar[Settings] = {
        "beta 0.5": {"beta": 0.5},
        "beta 1": {"beta": 1.0},
        "beta 2": {"beta": 2.0},
    }
    pilot: ClassVar[dict[int, int]] = {1_000: 2}
    longest = 1_000  # its cost grows with the square of the rounds, a fit with the cube
    speed = 100.0
    wants_raw = True

    def __init__(self, problem: Problem, horizon: int, seed: int, *, beta: float) -> None:
        super().__init__(problem, horizon, seed)
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(seed % 2**31)
        self.torch: Any = torch
        self.beta = beta
        self.seen: list[list[float]] = []
        self.told: list[Floats] = []
        self.next = FIRST
        self.model: Any = None

    def choose(self, context: Floats) -> int | Floats:
        """The best candidate, of the finite arms or of random places."""
        finite = len(self.problem.encoding.arms) > 0
        arms = self.arms if finite else self._random_arms()
        if self.model is None:
            k = int(self.rng.integers(len(arms)))
        else:
            ways = self._ways(np.array([self._features(context, arm) for arm in arms]))
            k = chebyshev(self._bounds(ways), self.rng)
            self.way = ways[:, :, k]
        return k if finite else arms[k]

    def learn(self, context: Floats, arm: int | Floats, reward: Floats) -> None:
        """Keep the reward; fit, or add a row."""
        self.seen.append(self._features(context, self.arms[arm] if isinstance(arm, int) else arm))
        self.told.append(reward)
        if len(self.told) >= self.next:
            self.next = int(REFIT * len(self.told))
            self._fit()
        elif self.model is not None:
            self._add()

    def _fit(self) -> None:
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP

        from peers.botorch_likelihood import MarginalLikelihood

        torch, n = self.torch, len(self.told)
        told = np.array(self.told)
        self.mean, self.spread = told.mean(axis=0), np.maximum(told.std(axis=0, ddof=1), 1e-9)
        self.model = SingleTaskGP(
            torch.tensor(np.array(self.seen)),
            torch.tensor((told - self.mean) / self.spread),
            outcome_transform=None,
        )
        fit_gpytorch_mll(MarginalLikelihood(self.model.likelihood, self.model))
        self.model.eval()
        with torch.no_grad():
            self.points = torch.zeros(self.next, len(self.seen[0]), dtype=torch.double)
            self.points[:n] = torch.tensor(np.array(self.seen))
            self.noise = self.model.likelihood.noise.reshape(-1, 1)
            self.level = self.model.mean_module.constant.reshape(-1, 1)
            self.prior = self._kernel(self.points[:1])[:, 0]  # the same everywhere
            identity = torch.eye(n, dtype=torch.double)
            inside = self._kernel(self.points[:n]) + self.noise[..., None] * identity
            factor = torch.linalg.cholesky(inside.expand(self.objectives, -1, -1))
            self.whitener = torch.zeros(self.objectives, self.next, self.next, dtype=torch.double)
            self.whitener[:, :n, :n] = torch.linalg.solve_triangular(factor, identity, upper=False)
            self.white = torch.zeros(self.objectives, self.next, dtype=torch.double)
            self.white[:, :n] = (self.whitener[:, :n, :n] @ self._targets(told)[..., None])[..., 0]
        self.rows = n

    def _add(self) -> None:
        """A row of the inverse factor, and of the targets that it whitens."""
        n = self.rows
        with self.torch.no_grad():
            corner = (self.prior + self.noise - (self.way**2).sum(dim=1, keepdim=True)).clamp_min(1e-12).sqrt()
            row = -(self.way[:, None, :] @ self.whitener[:, :n, :n])[:, 0] / corner
            self.whitener[:, n, :n], self.whitener[:, n, n] = row, 1.0 / corner[:, 0]
            target = self._targets(self.told[-1][None])[:, 0] - (self.way * self.white[:, :n]).sum(dim=1)
            self.white[:, n] = target / corner[:, 0]
            self.points[n] = self.torch.tensor(self.seen[-1])
        self.rows += 1

    def _ways(self, points: Floats) -> Any:
        """Covariances of points with all rows, whitened: (objectives, rows, points)."""
        n = self.rows
        with self.torch.no_grad():
            inside = self._kernel(self.points[:n], self.torch.tensor(points)).expand(self.objectives, -1, -1)
            ends = [0, *range(BLOCK, n, BLOCK), n]  # above its diagonal the whitener is empty
            return self.torch.cat([self.whitener[:, a:b, :b] @ inside[:, :b] for a, b in pairwise(ends)], 1)

    def _bounds(self, ways: Any) -> Floats:
        """Upper bounds of the mean rewards, in their own scale: (points, objectives)."""
        with self.torch.no_grad():
            mean = self.level + (ways * self.white[:, : self.rows, None]).sum(dim=1)
            variance = (self.prior - (ways**2).sum(dim=1)).clamp_min(0.0)
            bound = mean + self.beta * variance.sqrt()
        return np.asarray(self.mean + self.spread * bound.T.numpy())

    def _kernel(self, a: Any, b: Any = None) -> Any:
        b = a if b is None else b
        return self.model.covar_module(a, b).to_dense().reshape(-1, len(a), len(b))

    def _targets(self, told: Floats) -> Any:
        return self.torch.tensor((told - self.mean) / self.spread).T - self.level

    def _features(self, context: Floats, arm: Floats) -> list[float]:
        return [*features_of(self.problem, context)[1:], *arm.tolist()]

    def _random_arms(self) -> Floats:
        grid = arms_of(self.problem)
        values = self.problem.encoding.values[self.problem.encoding.context :]
        chosen = grid[self.rng.integers(len(grid), size=CANDIDATES)]
        return np.where(values == 0, self.rng.random(chosen.shape), chosen)
