"""The space of contexts and arms of ParetoZoom's definition in NumPy: digits, terms, and the cells of levels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paretozoom.kernels.core.kinds import CATEGORICAL, PERIODIC
from paretozoom.kernels.pareto_zoom.functions import turn_of
from paretozoom.kernels.pareto_zoom.settings import Settings
from paretozoom.policies.pareto_zoom.memory import bits_of
from paretozoom.policies.pareto_zoom.terms import terms_of
from paretozoom.problem import Problem

Array = Any  # of numbers


class Space:
    """Coordinates of contexts and arms; the last one of finite arms is their number."""

    def __init__(self, problem: Problem, settings: Settings) -> None:
        encoding = problem.encoding
        self.context, self.dim, self.arms = encoding.context, len(encoding.kinds), encoding.arms
        self.kinds, self.values = np.append(encoding.kinds, CATEGORICAL), np.append(encoding.values, 0)
        self.bits = np.array(bits_of(problem, settings))
        self.functions, self.settings = terms_of(problem, settings).functions, settings
        features = [self.digit(self.context + k, feature) for k, feature in enumerate(self.arms.T)]
        self.digits_of_arms = np.column_stack(
            [*np.zeros((self.context, len(self.arms)), np.int64), *features, np.arange(len(self.arms))]
        )

    def digits(self, z: Array, arm: int = -1) -> Array:
        """A point, coordinate by coordinate, as whole numbers of some bits."""
        digits = [self.digit(j, z[j]) for j in range(self.dim)]
        return np.array([*digits, arm] if len(self.arms) else digits, np.int64)

    def digit(self, j: int, z: Array) -> Array:
        """Coordinate j of points."""
        size = 1 << int(self.bits[j])
        return np.int64(z) % size if self.kinds[j] == CATEGORICAL else np.minimum(np.int64(z * size), size - 1)

    def middles(self, digits: Array) -> Array:
        """The points in the middle of sites."""
        z = (digits[:, : self.dim] + 0.5) / 2.0 ** self.bits[: self.dim]
        labels = self.kinds[: self.dim] == CATEGORICAL
        z[:, labels] = digits[:, : self.dim][:, labels]
        if len(self.arms):
            z[:, self.context :] = self.arms[digits[:, -1]]
        return z

    def halves(self, digits: Array, j: int, depth: int) -> Array:
        """In which half of its cell each row of digits lies, at some depth of a coordinate."""
        return (digits[:, j] >> (self.bits[j] - depth - 1)) & 1

    def between(self, j: int, cells: int, z: Array) -> tuple[Array, Array, Array]:
        """The two cells between whose middles z lies, and the share of the second."""
        below = np.floor(z * cells - 0.5).astype(np.int64)
        pair = [below, below + 1]
        low, high = [end % cells if self.kinds[j] == PERIODIC else np.clip(end, 0, cells - 1) for end in pair]
        return low, high, z * cells - 0.5 - below

    def phi(self, z: Array, factors: Array) -> Array:
        """Terms (columns) at points (rows)."""
        value, margin = np.ones((len(z), len(self.functions))), self.settings.margin
        for k, (j, which) in enumerate(self.functions[1:], 1):
            if self.kinds[j] == CATEGORICAL:
                value[:, k] = math.sqrt(abs(self.values[j]) or len(self.arms)) * (np.int64(z[:, j]) == which)
            elif self.kinds[j] == PERIODIC:
                wave = np.sin if which % 2 else np.cos
                value[:, k] = math.sqrt(2) * wave(2 * math.pi * (which // 2 + 1) * z[:, j])
            elif which == 0:
                value[:, k] = math.sqrt(3) * (2 * z[:, j] - 1)
            elif which == 1:
                value[:, k] = math.sqrt(5) / 2 * (3 * (2 * z[:, j] - 1) ** 2 - 1)
            else:
                value[:, k] = math.sqrt(2) * np.cos((which - 1) * turn_of(margin) * (z[:, j] + margin))
        return value[:, factors].prod(axis=2)


class Level:
    """How a level divides space: how many bits of each coordinate, and what was halved of arms and contexts, or -1."""

    def __init__(self, space: Space, inner: int, outer: int, depth: Array, before: Level | None) -> None:
        self.space, self.inner, self.outer, self.depth = space, inner, outer, depth
        self.shape = tuple((1 << depth[space.context :]).tolist())
        if len(space.arms):  # cells without an arm are left out
            places = self._arm_places(space.digits_of_arms)
            _, first, self.cell_of_arm = np.unique(places, axis=0, return_index=True, return_inverse=True)
            self.cells = len(first)
            self.low = self.high = before.cell_of_arm[first] if before else np.zeros(1, np.int64)
            self.share = np.zeros(self.cells)
            return
        self.cells = math.prod(self.shape)
        self.low = self.high = np.arange(self.cells)
        self.share = np.zeros(self.cells)
        if before and inner >= 0:
            place, j = np.indices(self.shape).reshape(len(self.shape), -1), inner - space.context
            low, high, self.share = self.beside(inner, place[j], before)
            ends = ([*place[:j], end, *place[j + 1 :]] for end in (low, high))
            self.low, self.high = (np.ravel_multi_index(tuple(end), before.shape) for end in ends)

    def is_like(self, other: Level) -> bool:
        """Whether both divide space in the same way."""
        same = (self.inner, self.outer) == (other.inner, other.outer)
        return same and np.array_equal(self.depth, other.depth)

    def beside(self, j: int, place: Array, before: Level) -> tuple[Array, Array, Array]:
        """The places at the level before between which the middle of a place lies, and the share of the second."""
        if self.space.kinds[j] == CATEGORICAL:
            own = place >> (self.depth[j] - before.depth[j])
            return own, own, 0.0 * own
        return self.space.between(j, 1 << before.depth[j], (place + 0.5) / (1 << self.depth[j]))

    def context_place(self, digits: Array) -> tuple[int, ...]:
        """The cell of contexts that digits lie in."""
        own = slice(0, self.space.context)
        return tuple((digits[own] >> (self.space.bits[own] - self.depth[own])).tolist())

    def _arm_places(self, digits: Array) -> Array:
        own = slice(self.space.context, None)
        return digits[..., own] >> (self.space.bits[own] - self.depth[own])

    def cell(self, digits: Array) -> int:
        """The cell of arms that digits lie in."""
        if len(self.space.arms):
            return int(self.cell_of_arm[digits[-1]])
        return int(np.ravel_multi_index(tuple(self._arm_places(digits)), self.shape))

    def contexts_around(self, x: Array) -> list[tuple[tuple[int, ...], float]]:
        """The cells of contexts between whose middles a context lies, with weights."""
        places, weights = self._corners(0, x[None])
        return list(zip(map(tuple, places[:, 0].tolist()), weights[:, 0].tolist(), strict=True))

    def arms_around(self, arms: Array, numbers: Array) -> tuple[Array, Array]:
        """The cells of arms around rows of arms, with weights: (corners, rows) each."""
        if len(self.space.arms):
            return self.cell_of_arm[numbers][None], np.ones((1, len(numbers)))
        places, weights = self._corners(self.space.context, arms)
        return np.ravel_multi_index(tuple(np.moveaxis(places, -1, 0)), self.shape), weights

    def _corners(self, first: int, z: Array) -> tuple[Array, Array]:
        """Places around rows of some coordinates, of which the first is given; only a few are interpolated."""
        places, weights, mixed = np.zeros((1, *z.shape), np.int64), np.ones((1, len(z))), 0
        for k in range(z.shape[1]):
            j, own = first + k, self.depth[first + k]
            if own > 0 and (self.space.kinds[j] == CATEGORICAL or mixed == int(self.space.settings.most_mixed)):
                places[..., k] = self.space.digit(j, z[:, k]) >> (self.space.bits[j] - own)
            elif own > 0:
                mixed += 1
                low, high, share = self.space.between(j, 1 << own, z[:, k])
                corners, places = len(places), np.concatenate([places, places])
                places[:corners, :, k], places[corners:, :, k] = low, high
                weights = np.concatenate([(1 - share) * weights, share * weights])
        return places, weights
