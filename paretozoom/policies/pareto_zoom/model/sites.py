"""Sites: all that was told, summed by small cells of contexts and arms."""

from __future__ import annotations

import numpy as np

from paretozoom.policies.pareto_zoom.model.space import Array


class Sites:
    """Rewards, summed by site; sites are in the order of their first rewards."""

    def __init__(self, coordinates: int, d: int) -> None:
        self.place: dict[tuple[int, ...], int] = {}
        self.digits = np.zeros((0, coordinates), np.int64)
        self.n, self.S, self.Q = (np.zeros((d, 0)) for _ in range(3))

    def add(self, digits: Array, r: Array) -> int:
        """Add a reward, NaN where nothing is told; returns its site."""
        site = self.place.setdefault(tuple(digits.tolist()), len(self.place))
        if site == len(self.digits):
            self.digits = np.vstack([self.digits, digits])
            self.n, self.S, self.Q = (np.pad(sums, ((0, 0), (0, 1))) for sums in (self.n, self.S, self.Q))
        self.n[:, site] += ~np.isnan(r)
        self.S[:, site] += np.nan_to_num(r)
        self.Q[:, site] += np.nan_to_num(r * r)
        return site

    def variance(self) -> Array:
        """The variance of all rewards."""
        n = np.maximum(1.0, self.n.sum(axis=1))
        variance = np.maximum(self.Q.sum(axis=1) / n - (self.S.sum(axis=1) / n) ** 2, 1e-300)
        return np.where(self.n.any(axis=1), variance, 1.0)

    def forget_half(self) -> None:
        """Forget the older half of sites with one reward, and half of the rewards of others."""
        single = np.flatnonzero(self.n.max(axis=0) <= 1)
        stay = np.delete(np.arange(len(self.digits)), single[: len(single) // 2])
        n = self.n[:, stay]
        left = np.ceil(n / 2)
        share = left / np.maximum(1.0, n)
        self.n, self.S, self.Q, self.digits = left, share * self.S[:, stay], share * self.Q[:, stay], self.digits[stay]
        self.place = {tuple(row): site for site, row in enumerate(self.digits.tolist())}
