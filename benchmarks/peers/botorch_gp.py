"""BoTorch: a Gaussian process per objective over contexts and arms, upper bounds, random Chebyshev weights."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from paretozoom.dimensions import Floats
from paretozoom.problem import Problem
from peers.adapter import Rival, Settings, arms_of, chebyshev, features_of

FIRST = 16  # rounds played at random
REFIT = 1.5  # the hyperparameters are fitted anew whenever the rounds have grown by this factor
CANDIDATES = 64


class BoTorchUCB(Rival):
    """`botorch.models.SingleTaskGP` with an output per objective.

    Making the model anew in every round takes most of a tenth of a second. So between two fits its kernel, noise and
    scaling are kept, and a reward adds a row to the Cholesky factor: the same posterior in a tenth of the time.
    """

    name = "botorch-ucb"
    package = "botorch"
    settings: ClassVar[Settings] = {
        "beta 0.5": {"beta": 0.5},
        "beta 1": {"beta": 1.0},
        "beta 2": {"beta": 2.0},
    }
    runs: ClassVar[dict[int, int]] = {1_000: 16}
    pilot: ClassVar[dict[int, int]] = {1_000: 2}
    speed = 50.0
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
            k = chebyshev(self._bounds(np.array([self._features(context, arm) for arm in arms])), self.rng)
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
        from gpytorch.mlls import ExactMarginalLogLikelihood

        told = np.array(self.told)
        self.mean, self.spread = told.mean(axis=0), np.maximum(told.std(axis=0, ddof=1), 1e-9)
        self.points = self.torch.tensor(np.array(self.seen))
        self.model = SingleTaskGP(
            self.points, self.torch.tensor((told - self.mean) / self.spread), outcome_transform=None
        )
        fit_gpytorch_mll(ExactMarginalLogLikelihood(self.model.likelihood, self.model))
        self.model.eval()
        with self.torch.no_grad():
            self.noise = self.model.likelihood.noise.reshape(-1, 1, 1)
            self.level = self.model.mean_module.constant.reshape(-1, 1, 1)
            identity = self.torch.eye(len(told), dtype=self.points.dtype)
            inside = self._kernel(self.points, self.points) + self.noise * identity
            self.factor = self.torch.linalg.cholesky(inside.expand(self.objectives, -1, -1))
            self.white = self._solve(self._targets(told))

    def _add(self) -> None:
        """A row of the factor, and of the targets that it whitens."""
        torch = self.torch
        with torch.no_grad():
            new = torch.tensor(np.array(self.seen[-1:]))
            row = self._solve(self._kernel(self.points, new))
            corner = self._kernel(new, new) + self.noise - (row**2).sum(dim=1, keepdim=True)
            corner = corner.clamp_min(1e-12).sqrt()
            column = torch.zeros_like(row)
            self.factor = torch.cat([torch.cat([self.factor, column], 2), torch.cat([row.mT, corner], 2)], 1)
            target = self._targets(self.told[-1][None])
            self.white = torch.cat([self.white, (target - (row * self.white).sum(dim=1, keepdim=True)) / corner], 1)
            self.points = torch.cat([self.points, new])

    def _bounds(self, points: Floats) -> Floats:
        """Upper bounds of the mean rewards, in their own scale: (points, objectives)."""
        with self.torch.no_grad():
            new = self.torch.tensor(points)
            ways = self._solve(self._kernel(self.points, new))
            mean = self.level + (ways * self.white).sum(dim=1, keepdim=True)
            prior = self.model.covar_module(new).diagonal(dim1=-2, dim2=-1).reshape(-1, 1, len(points))
            variance = (prior - (ways**2).sum(dim=1, keepdim=True)).clamp_min(0.0)
            bound = mean + self.beta * variance.sqrt()
        return np.asarray(self.mean + self.spread * bound[:, 0, :].T.numpy())

    def _kernel(self, a: Any, b: Any) -> Any:
        return self.model.covar_module(a, b).to_dense().reshape(-1, len(a), len(b))

    def _solve(self, right: Any) -> Any:
        return self.torch.linalg.solve_triangular(self.factor, right.expand(self.objectives, -1, -1), upper=False)

    def _targets(self, told: Floats) -> Any:
        return self.torch.tensor((told - self.mean) / self.spread).T[:, :, None] - self.level

    def _features(self, context: Floats, arm: Floats) -> list[float]:
        return [*features_of(self.problem, context)[1:], *arm.tolist()]

    def _random_arms(self) -> Floats:
        grid = arms_of(self.problem)
        values = self.problem.encoding.values[self.problem.encoding.context :]
        chosen = grid[self.rng.integers(len(grid), size=CANDIDATES)]
        return np.where(values == 0, self.rng.random(chosen.shape), chosen)
