"""Cells of a context space with several coordinates: k-means, fixed for a task."""

from __future__ import annotations

import numpy as np

from paretozoom.kernels.core.kinds import CATEGORICAL, PERIODIC
from paretozoom.problem.dimensions import Floats, Ints

STEPS = 30


class ContextCells:
    """Cells around the means of a sample of contexts, by Lloyd's algorithm from evenly spaced starts.

    >>> sample = np.random.default_rng(0).random((200, 2))
    >>> cells = ContextCells(sample, np.array([0, 0]), np.array([0, 0]), 4)
    >>> sorted(set(cells.find(sample).tolist()))
    [0, 1, 2, 3]
    """

    def __init__(self, contexts: Floats, kinds: Ints, values: Ints, cells: int) -> None:
        self.kinds, self.values = kinds, values
        spread = self._spread(contexts)
        unique = np.unique(spread, axis=0)
        self.centres = unique[np.linspace(0, len(unique) - 1, min(cells, len(unique))).astype(int)]
        for _ in range(STEPS):
            nearest = self._nearest(spread)
            for cell in range(len(self.centres)):
                if (nearest == cell).any():
                    self.centres[cell] = spread[nearest == cell].mean(axis=0)

    def find(self, contexts: Floats) -> Ints:
        """The cell of each context."""
        return self._nearest(self._spread(contexts))

    def _nearest(self, spread: Floats) -> Ints:
        # |a - b|^2 without the part of a alone, which all cells share
        closeness = (self.centres**2).sum(axis=1) - 2.0 * spread @ self.centres.T
        return np.asarray(closeness.argmin(axis=1), np.int64)

    def _spread(self, contexts: Floats) -> Floats:
        """Contexts in a Euclidean space: circles for periodic coordinates, one axis for each category."""
        columns: list[Floats] = []
        for j, kind in enumerate(self.kinds):
            column = contexts[:, j]
            if kind == PERIODIC:
                columns += [np.cos(2 * np.pi * column) / 2, np.sin(2 * np.pi * column) / 2]
            elif kind == CATEGORICAL:
                columns += [(column == choice) / np.sqrt(2.0) for choice in range(-self.values[j])]
            else:
                columns.append(column)
        return np.column_stack(columns)
