"""The geometry of ParetoZoom's definition: how contexts and arms are read, functions of them, the cells of levels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paretozoom.kernels.core.kinds import CATEGORICAL, LINEAR, PERIODIC
from paretozoom.kernels.pareto_zoom.settings import Settings
from paretozoom.policies.pareto_zoom.memory import bits_of, most_cells_of, smooth_room_of
from paretozoom.policies.pareto_zoom.terms import form_terms_of, simple_of, terms_of
from paretozoom.problem import Problem

Array = Any  # of numbers


def divide(group: Array, half: Array) -> Array:
    """Groups, numbered, divided by halves."""
    return np.unique(2 * group + half, return_inverse=True)[1]


class Space:
    """Coordinates of contexts and arms; the last one of finite arms is their number."""

    def __init__(self, problem: Problem, settings: Settings) -> None:
        encoding, terms = problem.encoding, terms_of(problem, settings)
        self.settings, self.d = settings, len(problem.objectives)
        self.context, self.dim, self.arms = encoding.context, len(encoding.kinds), encoding.arms
        self.kinds, self.values = np.append(encoding.kinds, CATEGORICAL), np.append(encoding.values, 0)
        self.bits = np.array(bits_of(problem, settings))
        telling = [max(1, (values - 1).bit_length()) if values > 0 else 60 for values in self.values.tolist()]
        self.telling = np.minimum(self.bits, telling[: len(self.bits)])  # the bits that tell values apart
        self.most_cells = most_cells_of(problem, settings)
        self.functions, self.quadratic = terms.functions, np.array(terms.factors)
        self.simple, self.simple_of_arms = (np.array([(0, 0, k) for k in some]) for some in simple_of(problem, terms))
        self.form_terms = form_terms_of(len(self.arms), len(self.simple), settings)
        self.wide = 1 < self.form_terms < len(self.simple)  # forms have directions
        self.axes = len({j for j, _ in terms.functions if j >= self.dim})
        self.axis = np.zeros((self.axes, len(self.simple)))  # how much of each simple function is in it
        self.coordinate = np.array([-1, *(j for j, _ in terms.functions[1:])])  # of each function; none of the constant
        of_axes = np.append(encoding.kinds, [LINEAR] * self.axes)
        kinds, which = np.where(self.coordinate < 0, -1, of_axes[self.coordinate]), np.transpose(terms.functions)[1]
        turns = np.where(which > 1, which - 1, math.inf) * (math.pi / (1 + 2 * settings.margin))  # none of polynomials
        turns = np.where(kinds == PERIODIC, 2 * math.pi * (which // 2 + 1), turns)
        self.turns = np.where(kinds < 0, 0, turns)  # of a function's angle along its coordinate
        self.is_label = kinds == CATEGORICAL
        self.smooth_room = smooth_room_of(self.dim, len(terms.functions) > terms.of_contexts, settings)
        self.are_labels = len(self.arms) > 0 and encoding.kinds[self.context :].tolist() == [CATEGORICAL]
        features = [self.digit(self.context + k, feature) for k, feature in enumerate(self.arms.T)]
        nothing = np.zeros((self.context, len(self.arms)), np.int64)
        self.digits_of_arms = np.column_stack([*nothing, *features, np.arange(len(self.arms))])

    def digit(self, j: int, z: Array) -> Array:
        """Coordinate j of points as a whole number of some bits."""
        size = 1 << int(self.bits[j])
        return np.int64(z) % size if self.kinds[j] == CATEGORICAL else np.minimum(np.int64(z * size), size - 1)

    def digits(self, z: Array, arm: int = -1) -> Array:
        """All coordinates of a point so, and the number of a finite arm."""
        digits = [self.digit(j, z[j]) for j in range(self.dim)]
        return np.array([*digits, arm] if len(self.arms) else digits, np.int64)

    def middles(self, digits: Array) -> Array:
        """The points in the middle of sites."""
        read = digits[:, : self.dim]
        z = np.where(self.kinds[: self.dim] == CATEGORICAL, read, (read + 0.5) / 2.0 ** self.bits[: self.dim])
        if len(self.arms):
            z[:, self.context :] = self.arms[digits[:, -1]]
        return z

    def halves(self, digits: Array, j: int, depth: int) -> Array:
        """In which half of its cell each row of digits lies, at some depth of coordinate j."""
        return (digits[:, j] >> (self.bits[j] - depth - 1)) & 1

    def pass_over(self, depth: Array, group: Array, digits: Array) -> Array:
        """Depths further on by bits that part no group of digits; not of arms on a continuum."""
        passed = depth.copy()
        for j in range(len(depth) if len(self.arms) else self.context):
            while (
                passed[j] < self.telling[j]
                and not (divide(group, self.halves(digits, j, passed[j])) > group.max()).any()
            ):
                passed[j] += 1
        return passed

    def cells_of_arms(self, depth: Array) -> tuple[int, Array, Array]:
        """How many cells of arms there are at some depths; an arm in each, and the cell of each, if they are finite."""
        if not len(self.arms):
            return 1 << int(depth[self.context :].sum()), None, None
        places = (self.digits_of_arms >> (self.bits - depth))[:, self.context :]
        _, first, cell_of_arm = np.unique(places, axis=0, return_index=True, return_inverse=True)
        return len(first), first, cell_of_arm

    def between(self, j: int, cells: int, z: Array) -> tuple[Array, Array, Array]:
        """The two cells of a coordinate between whose middles z lies, and the share of the second."""
        below = np.floor(z * cells - 0.5).astype(np.int64)
        pair = [below, below + 1]
        low, high = [end % cells if self.kinds[j] == PERIODIC else np.clip(end, 0, cells - 1) for end in pair]
        return low, high, z * cells - 0.5 - below

    def place(self, digits: Array) -> int:
        """A rather large cell that digits lie in, of some bits of all coordinates together."""
        place, most = 0, int(self.settings.most_bits)
        depth = np.minimum(self.bits, max(1, most // len(digits)))
        for digit, bits in zip((digits >> (self.bits - depth)).tolist(), depth.tolist(), strict=True):
            place = (place << bits | digit) % 2**most
        return place

    def phi(self, z: Array, factors: Array) -> Array:
        """Terms (columns) at points (rows): products of the functions that factors (rows) name."""
        value, needed = np.ones((len(z), len(self.functions))), set(factors.ravel().tolist()) - {0}
        if any(self.coordinate[k] >= self.dim for k in needed):
            needed |= set(self.simple[1:, 2].tolist())
        for k in sorted(needed):
            (j, which), turn = self.functions[k], self.turns[k]
            if j < self.dim:
                u, kind = z[:, j], self.kinds[j]
            else:  # along an axis, three standard deviations fill a unit on both sides
                along = value[:, self.simple[:, 2]] @ self.axis[j - self.dim]
                u, kind = np.clip(0.5 + along / 6, 0, 1), LINEAR
            if kind == CATEGORICAL:
                value[:, k] = math.sqrt(abs(self.values[j]) or len(self.arms)) * (np.int64(u) == which)
            elif kind == PERIODIC:
                value[:, k] = math.sqrt(2) * (np.sin(turn * u) if which % 2 else np.cos(turn * u))
            elif which == 0:
                value[:, k] = math.sqrt(3) * (2 * u - 1)
            elif which == 1:
                value[:, k] = math.sqrt(5) / 2 * (3 * (2 * u - 1) ** 2 - 1)
            else:
                value[:, k] = math.sqrt(2) * np.cos(turn * (u + self.settings.margin))
        return value[:, factors].prod(axis=2)


class Sites:
    """What is known: n, S and Q of each site, a point as digits; in the order of first rewards."""

    def __init__(self, space: Space) -> None:
        self.digits, self.sums = np.zeros((0, len(space.bits)), np.int64), np.zeros((3, space.d, 0))

    def add(self, digits: Array, r: Array) -> int:
        """Add a reward; returns its site."""
        if not (self.digits == digits).all(axis=1).any():
            self.digits, self.sums = np.vstack([self.digits, digits]), np.pad(self.sums, ((0, 0), (0, 0), (0, 1)))
        site = int((self.digits == digits).all(axis=1).argmax())
        self.sums[:, :, site] += np.nan_to_num([~np.isnan(r), r, r * r])
        return site

    def variance(self) -> Array:
        """The variance of all rewards of each objective; 1 if there are none."""
        n, S, Q = self.sums.sum(axis=2) / np.maximum(1, self.sums[0].sum(axis=1))[:, None].T
        return np.where(n > 0, np.maximum(Q - S * S, 1e-300), 1)

    def forget_half(self) -> None:
        """Forget the older half of sites with one reward, and half of the rewards of others."""
        single = np.flatnonzero(self.sums[0].max(axis=0) <= 1)
        older = single[: len(single) // 2]
        self.digits, self.sums = np.delete(self.digits, older, axis=0), np.delete(self.sums, older, axis=2)
        self.sums = self.sums * np.ceil(self.sums[0] / 2) / np.maximum(1, self.sums[0])


class Level:
    """A level: the bits of each coordinate; which one was halved of arms (inner) and of contexts (outer), or -1.

    Its blocks (rows) are the cells of arms above each cell of contexts that was visited.
    """

    def __init__(self, space: Space, inner: int, outer: int, depth: Array, before: Level | None = None) -> None:
        self.space, self.depth, self.outer, self.before = space, depth, outer, before or self
        self.splits: tuple[Any, ...] = (
            *(before.splits if before else ()),
            (inner, outer, *depth),
        )  # of this level and all before
        self.shape = (1 << depth[space.context :]).tolist()
        self.cells, first, self.cell_of_arm = space.cells_of_arms(depth)
        # The cells of arms of the level before between whose middles those of this level lie; share of the second.
        if len(space.arms):
            self.low, self.share = self.before.cell_of_arm[first], np.zeros(self.cells)
            self.high = self.low
        else:
            places = np.indices(self.shape).reshape(len(self.shape), -1).T
            low, high, self.share = self._ends(places, space.context, inner)
            self.low, self.high = self.before._numbers(low), self.before._numbers(high)
        self.row: dict[tuple[int, ...], int] = {}  # of each cell of contexts that was visited
        self.at = np.zeros((2, 0), np.int64)  # row and cell of each site
        self.told, self.due = np.zeros((2, 0), np.int64)  # rewards of a block; how many when estimates are corrected
        self.me = np.zeros((2, space.d, 0, self.cells))  # estimates and standard errors

    def _numbers(self, places: Array) -> Array:
        return np.ravel_multi_index(tuple(np.moveaxis(places, -1, 0)), self.shape)

    def add(self, digits: Array) -> None:
        """Add new sites."""
        read = digits >> (self.space.bits - self.depth)
        places, arms = read[:, : self.space.context], read[:, self.space.context :]
        cells = self.cell_of_arm[digits[:, -1]] if len(self.space.arms) else self._numbers(arms)
        rows = [self.row.setdefault(tuple(place), len(self.row)) for place in places.tolist()]
        self.at = np.column_stack([self.at, [rows, cells]])
        if new := len(self.row) - len(self.told):
            self.told, self.due = np.pad(self.told, (0, new)), np.pad(self.due, (0, new))
            self.me = np.pad(self.me, ((0, 0), (0, 0), (0, new), (0, 0)))

    def sums(self, sums: Array) -> Array:
        """Sums of sites, by cells: (3, d, rows, cells)."""
        (row, cell), shape = self.at, (len(self.row), self.cells)
        sums = [[np.bincount(row * self.cells + cell, of, math.prod(shape)) for of in some] for some in sums]
        return np.reshape(sums, (3, -1, *shape))

    def _rows(self, places: Array) -> Array:
        return np.array([self.row.get(tuple(place), -1) for place in places.tolist()])

    def expected(self, rows: Array) -> Array:
        """What the level before says at the middles of the cells of some blocks: (2, d, rows, cells)."""
        places = list(self.row)
        *ends, share = self._ends(np.array([places[row] for row in rows], np.int64), 0, self.outer)
        low, high = (self.before._rows(end) for end in ends)
        low, high = np.where(low < 0, high, low), np.where(high < 0, low, high)  # what was not visited says nothing
        me = (1 - share[:, None]) * self.before.me[:, :, low] + share[:, None] * self.before.me[:, :, high]
        return (1 - self.share) * me[..., self.low] + self.share * me[..., self.high]

    def _ends(self, places: Array, first: int, j: int) -> tuple[Array, Array, Array]:
        """Between which places of the level before the middles of some lie, if coordinate j was halved."""
        low = places >> (self.depth - self.before.depth)[first : first + places.shape[1]]
        high, share = low.copy(), np.zeros(len(places))
        if j >= 0 and self.space.kinds[j] != CATEGORICAL:
            middle = (places[:, j - first] + 0.5) / (1 << self.depth[j])
            low[:, j - first], high[:, j - first], share = self.space.between(j, 1 << self.before.depth[j], middle)
        return low, high, share

    def around(self, x: Array) -> tuple[Array, Array]:
        """The blocks between whose middles a context lies, with weights: less than 1 where some were not visited."""
        places, weights = self._corners(0, x[None])
        rows = self._rows(places[:, 0])
        return rows[rows >= 0], weights[rows >= 0, 0]

    def predict(self, x: Array, arms: Array, numbers: Array) -> Array:
        """Estimates and standard errors at a context and rows of arms: (2, d, rows)."""
        rows, weights = self.around(x)
        me = (self.me[:, :, rows] * (weights / weights.sum())[:, None]).sum(axis=2)
        if len(self.space.arms):
            return me[:, :, self.cell_of_arm[numbers]]
        places, weights = self._corners(self.space.context, arms)
        return (weights * me[:, :, self._numbers(places)]).sum(axis=2)

    def _corners(self, first: int, z: Array) -> tuple[Array, Array]:
        """Places around rows of some coordinates, of which the first is given; only a few are interpolated."""
        places, weights, mixed = np.zeros((1, *z.shape), np.int64), np.ones((1, len(z))), 0
        for k in range(z.shape[1]):
            j, own = first + k, self.depth[first + k]
            if self.space.kinds[j] == CATEGORICAL or mixed == int(self.space.settings.most_mixed):
                places[..., k] = self.space.digit(j, z[:, k]) >> (self.space.bits[j] - own)
            elif own > 0:
                mixed += 1
                low, high, share = self.space.between(j, 1 << own, z[:, k])
                places, corners = np.concatenate([places, places]), len(places)
                places[:corners, :, k], places[corners:, :, k] = low, high
                weights = np.concatenate([(1 - share) * weights, share * weights])
        return places, weights
