"""What a linear fit may say of contexts and arms: functions of single coordinates, and products of two of them.

A *column* is one function of one *place*: a dimension of the context, a dimension of the arm, or a finite arm as a
whole. Numbers have cosines of their rank among the others, periods their waves, categories a mark for each.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from paretozoom.kernels.core.kinds import CATEGORICAL, PERIODIC
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Finite, Floats, Ints

ORDERS = 5  # functions of a number, at most
MOST_COLUMNS = 200  # of all numbers of a context together, before each has but one
MOST_MARKS = 60  # of categories: those of the commonest
MOST_PRODUCTS = 1500  # among which the best are sought
MOST_CROSSED = 40  # columns of contexts whose products with each other are looked at
RANKS = 64  # by which numbers are ranked


class Basis(NamedTuple):
    """The columns of some points; the first is the constant."""

    value: Floats  # (n, columns)
    place: Ints  # (columns,) -1 of the constant
    order: Ints  # (columns,) how fast it changes: 1 is slowest
    names: list[str]  # of the places
    contexts: int  # the first so many places are the context's

    def pairs(self) -> tuple[Ints, Ints]:
        """Which two columns make a term: (of arms alone, of contexts and of both), each (terms, 2)."""
        arms = np.flatnonzero(self.place >= self.contexts)
        own = np.flatnonzero((self.place >= 0) & (self.place < self.contexts))
        alone = [(0, column) for column in arms.tolist()]
        alone += self._products(arms, arms, 2)
        both = [(0, column) for column in own.tolist()]
        both += self._products(own, arms, ORDERS)
        if (self.order[own] == 1).sum() <= MOST_CROSSED:
            both += self._products(own, own, 1)
        return np.array(alone, np.int64).reshape(-1, 2), np.array(both, np.int64).reshape(-1, 2)

    def _products(self, one: Ints, other: Ints, most: int) -> list[tuple[int, int]]:
        """Pairs of different places up to the highest order of which there are not too many."""
        for order in range(most, 0, -1):
            a, b = (columns[self.order[columns] <= order] for columns in (one, other))
            first, second = (grid.ravel() for grid in np.meshgrid(a, b, indexing="ij"))
            differ = self.place[first] < self.place[second]
            if differ.sum() <= MOST_PRODUCTS or order == 1:
                return list(zip(first[differ].tolist(), second[differ].tolist(), strict=True))
        return []


def basis_of(problem: Problem, point: Floats, arm: Ints) -> Basis:
    """The columns of points, and of the numbers of finite arms.

    >>> from paretozoom.problem.dimensions import Categorical, Objective, Real
    >>> task = Problem([Real("x"), Categorical("c", ["p", "q"])], [Real("y")], [Objective("r")])
    >>> basis = basis_of(task, np.random.default_rng(1).random((9, 3)).round(), np.full(9, -1))
    >>> basis.names, basis.contexts, sorted(set(basis.place.tolist()))
    (['x', 'c', 'y'], 2, [-1, 0, 1, 2])
    """
    encoding, finite = problem.encoding, isinstance(problem.arm, Finite)
    names = [name for name, _ in problem.places_of_all]
    dimension = {j: k for k, (_, place) in enumerate(problem.places_of_all) for j in range(problem.dim)[place]}
    most = max(1, min(ORDERS, MOST_COLUMNS // max(1, encoding.context)))
    columns: list[tuple[Floats, int, int]] = [(np.ones(len(point)), -1, 0)]
    for j, kind in enumerate(encoding.kinds.tolist()):
        place = dimension[j]
        told = _told(kind, point[:, j], most)
        if finite and len(encoding.arms) and j == encoding.context and kind != CATEGORICAL:
            columns += [(marks, place, 1) for marks in _marks(arm.astype(float))]
        columns += [(values, place, order) for values, order in told]
    return Basis(
        np.stack([values for values, _, _ in columns], axis=1),
        np.array([place for _, place, _ in columns]),
        np.array([order for _, _, order in columns]),
        names,
        len(problem.context),
    )


def _told(kind: int, coordinate: Floats, most: int) -> list[tuple[Floats, int]]:
    """The functions of one coordinate, and their orders; none if it never changes."""
    if coordinate.min() == coordinate.max():
        return []
    if kind == CATEGORICAL:
        return [(marks, 1) for marks in _marks(coordinate)]
    if kind == PERIODIC:
        waves = [(np.cos, 1), (np.sin, 1), (np.cos, 2), (np.sin, 2)]
        return [(wave(2 * math.pi * order * coordinate), order) for wave, order in waves]
    edges = np.unique(np.quantile(coordinate, np.linspace(0, 1, RANKS)))
    rank = np.interp(coordinate, edges, np.linspace(0, 1, len(edges)))
    orders = range(1, min(most, len(edges) - 1) + 1)
    return [(math.sqrt(2) * np.cos(math.pi * order * rank), order) for order in orders]


def _marks(category: Floats) -> list[Floats]:
    """A column for each of the commonest categories, 1 where it is."""
    values, count = np.unique(category, return_counts=True)
    commonest = values[np.argsort(-count, kind="stable")][:MOST_MARKS]
    return [(category == value).astype(float) for value in commonest]
