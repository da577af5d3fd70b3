"""Directions of ParetoZoom's definition: sums of many functions of the context along which rewards change most."""

from __future__ import annotations

import numpy as np

from paretozoom.kernels.pareto_zoom.directions import ROUNDS
from paretozoom.policies.pareto_zoom.space import Array, Space


def leading(rows: Array, q: int) -> Array:
    """The first q right singular vectors of some rows, by the power method; 0 where there are no more."""
    products = np.cos(np.multiply.outer(np.arange(1, q + 1), np.arange(1, len(rows) + 1)))  # begins anywhere
    for _ in range(ROUNDS):
        vectors = orthonormal(products @ rows)
        products = vectors @ rows.T
    return vectors


def orthonormal(vectors: Array) -> Array:
    """Vectors made orthonormal, one after the other; 0 what those before span."""
    done = np.zeros((0, vectors.shape[1]))
    for vector in vectors:
        left = vector - done.T @ (done @ vector)
        left -= done.T @ (done @ left)
        square = left @ left
        done = np.vstack([done, left / np.sqrt(square) if square > 1e-20 * (vector @ vector) else 0 * left])
    return done


class Directions:
    """D, whose rows turn all functions of the context into c; and the rewards it is found from."""

    def __init__(self, space: Space) -> None:
        self.space, self.D = space, np.zeros((space.form_terms, len(space.linear)))
        self.raw, self.r, self.arms = np.zeros((0, len(space.linear))), np.zeros((0, space.d)), np.zeros(0, np.int64)

    def keep(self, raw: Array, arm: int, r: Array) -> None:
        """Keep a reward; if there is no room, the newer half of the others."""
        if len(self.raw) == int(self.space.settings.last_smooth_fit):
            self.keep_newer_half()
        self.raw, self.r = np.vstack([self.raw, raw]), np.vstack([self.r, r])
        self.arms = np.append(self.arms, arm)

    def keep_newer_half(self) -> None:
        """Keep the newer half of what is kept."""
        first = len(self.raw) - len(self.raw) // 2
        self.raw, self.r, self.arms = self.raw[first:], self.r[first:], self.arms[first:]

    def find(self) -> None:
        """Find D: leading singular vectors of what functions and rewards of each arm have in common."""
        common = np.zeros((self.space.d, len(self.space.arms), len(self.space.linear)))
        for o, r in enumerate(self.r.T):
            told, above = ~np.isnan(r), np.zeros(len(r))
            for arm in np.unique(self.arms[told]):
                own = told & (self.arms == arm)
                above[own] = r[own] - r[own].mean()
            sigma = np.sqrt((above**2).sum() / max(1, told.sum()))
            for arm in np.unique(self.arms[told]) if sigma > 0 else []:
                own = told & (self.arms == arm)
                common[o, arm] = above[own] @ self.raw[own] / (sigma * np.sqrt(own.sum()))
        common[..., 0] = 0  # the constant is in c anyway
        self.D[1:] = leading(common.reshape(-1, common.shape[-1]), len(self.D) - 1)
        self.D[0] = np.eye(len(self.D[0]))[0]
        along = self.raw @ self.D[1:].T  # where contexts get mean 0 and variance 1
        self.D[1:, 0] = -along.mean(axis=0)
        tells = along.var(axis=0) > 1e-20 * (along**2).mean(axis=0)
        self.D[1:] *= np.divide(1, along.std(axis=0), out=np.zeros(len(tells)), where=tells)[:, None]
