"""Directions of ParetoZoom's definition: sums of functions of the context along which rewards change most."""

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
    """Found from the rewards that are kept: axes of the space, and D, whose rows turn functions of contexts into c."""

    def __init__(self, space: Space) -> None:
        self.space, self.found = space, 0
        self.D = np.zeros((space.form_terms, len(space.simple)))
        self.z, self.r, self.arms = np.zeros((0, space.dim)), np.zeros((0, space.d)), np.zeros(0, np.int64)

    def keep(self, z: Array, arm: int, r: Array) -> None:
        """Keep a reward; if there is no room, the newer half of the others."""
        if len(self.z) == 2 * int(self.space.settings.last_smooth_fit):
            self.keep_newer_half()
        self.z, self.r, self.arms = np.vstack([self.z, z]), np.vstack([self.r, r]), np.append(self.arms, arm)

    def keep_newer_half(self) -> None:
        """Keep the newer half of what is kept."""
        first = len(self.z) - len(self.z) // 2
        self.z, self.r, self.arms = self.z[first:], self.r[first:], self.arms[first:]

    def find(self, told: int) -> None:
        """Find leading singular vectors of what functions of contexts have in common with rewards."""
        self.found, space = told, self.space
        psi = space.phi(self.z, space.simple)[:, 1:]
        means = psi.mean(axis=0)
        above, forms = psi - means, len(self.D) - 1 if space.wide else 0
        rows, whitens = self.in_common(above), above.shape[1] < space.settings.most_terms
        root = np.eye(above.shape[1])
        if whitens:
            gram = above.T @ above
            root = np.linalg.cholesky(gram + np.diag(np.diag(gram) * above.shape[1] / len(above) + 1e-300)).T
        found = np.linalg.solve(root, leading(np.linalg.solve(root.T, rows.T).T, max(space.axes, forms)).T).T
        square, length = ((found @ above.T) ** 2).sum(axis=1), (found**2).sum(axis=1)
        tells = square > 1e-20 * len(above) * length  # contexts get mean 0 and variance 1
        found *= np.sqrt(np.divide(len(above), square, out=np.zeros(len(found)), where=tells))[:, None]
        found = np.column_stack([-found @ means, found])
        space.axis = found[: space.axes]
        if forms:
            self.D = np.vstack([np.eye(len(self.D[0]))[0], found[:forms]])

    def in_common(self, above: Array) -> Array:
        """Products of functions of contexts with rewards, less what arms say alone: a row for each function of arms."""
        space, rows = self.space, []
        psi = np.equal.outer(self.arms, np.arange(len(space.arms))) if space.are_labels else None
        beside = space.phi(self.z, space.simple_of_arms) if psi is None else 1.0 * psi
        for all_r in self.r.T:
            told = ~np.isnan(all_r)
            own, r = beside[told], all_r[told]
            gram = own.T @ own
            off = r - own @ np.linalg.solve(gram + np.eye(len(gram)), own.T @ r)
            unit = np.sqrt(off @ off / max(1, len(r)) * np.maximum(np.diag(gram), 1e-300))
            rows.append(np.divide(own * off[:, None], unit, where=unit > 0, out=0 * own).T @ above[told])
        return np.vstack(rows)
