"""Levels: means of ever smaller cells, each a correction of the level before."""

from __future__ import annotations

import numpy as np

from paretozoom.kernels.pareto_zoom.settings import Settings
from paretozoom.policies.pareto_zoom.memory import most_cells_of
from paretozoom.policies.pareto_zoom.model.sites import Sites
from paretozoom.policies.pareto_zoom.model.space import Array, Level, Space
from paretozoom.policies.pareto_zoom.model.splits import choose_splits
from paretozoom.problem import Problem


class Block:
    """The cells of arms above one cell of contexts: which cell each of its sites is in, and estimates of all cells."""

    def __init__(self) -> None:
        self.cell_of: dict[int, int] = {}
        self.told, self.due = 0, 0
        self.m: Array = None  # (objectives, cells)
        self.e: Array = None


class Levels:
    """All levels, their blocks by the places of these, the noise and the roughness of levels."""

    def __init__(self, problem: Problem, space: Space, settings: Settings) -> None:
        self.space, self.settings, self.most_cells = space, settings, most_cells_of(problem, settings)
        self.levels: list[tuple[Level, dict[tuple[int, ...], Block]]] = []
        self.sigma2, self.tau = np.ones(len(problem.objectives)), [np.zeros(len(problem.objectives))]
        self.due = 0

    def predict(self, x: Array, arms: Array, numbers: Array) -> tuple[Array, Array]:
        """m and e of rows of arms, at the finest level that knows enough of the cells around a context."""
        for level, blocks in reversed(self.levels):
            around = [(blocks[place], weight) for place, weight in level.contexts_around(x) if place in blocks]
            known = sum(weight for _, weight in around)
            if known >= self.settings.least_weight:
                break
        m = sum(weight / known * block.m for block, weight in around)
        e = sum(weight / known * block.e for block, weight in around)
        cells, weights = level.arms_around(arms, numbers)
        return (weights * m[:, cells]).sum(axis=1), (weights * e[:, cells]).sum(axis=1)

    def learn(self, sites: Sites, digits: Array, site: int) -> None:
        """Correct the blocks of a site whose rewards have grown by a share, and all finer ones."""
        stale = False
        for k, (level, blocks) in enumerate(self.levels):
            block = blocks.setdefault(level.context_place(digits), Block())
            block.cell_of[site] = level.cell(digits)
            block.told += 1
            stale = stale or block.told >= block.due
            if stale:
                self.correct(k, block, sites)

    def correct_all(self, sites: Sites, told: int) -> None:
        """Correct all blocks."""
        for k, (_, blocks) in enumerate(self.levels):
            for block in blocks.values():
                self.correct(k, block, sites)
        self.due = self.due_after(told)

    def due_after(self, told: int) -> int:
        """When estimates of so many rewards are corrected."""
        return told + 1 + int(told * self.settings.refresh_growth)

    def expected(self, k: int, block: Block, sites: Sites) -> tuple[Array, Array]:
        """What the level before says of a block's cells, at their middles."""
        (before, known), (level, _) = self.levels[k - 1 : k + 1]
        digits, j = sites.digits[next(iter(block.cell_of))], level.outer
        above = before.context_place(digits)
        m, e = known[above].m, known[above].e
        if j >= 0:
            low, high, share = level.beside(j, level.context_place(digits)[j], before)
            two = [known.get((*above[:j], int(end), *above[j + 1 :])) for end in (low, high)]
            if two[0] and two[1]:
                m = (1 - share) * two[0].m + share * two[1].m
                e = (1 - share) * two[0].e + share * two[1].e
        low, high, share = level.low, level.high, level.share
        return (1 - share) * m[:, low] + share * m[:, high], (1 - share) * e[:, low] + share * e[:, high]

    def correct(self, k: int, block: Block, sites: Sites) -> None:
        """What was expected of a block's cells, and a share of what their own rewards have above that."""
        (n, S, Q), sigma2, a = self.sums(k, block, sites), self.sigma2[:, None], self.settings.prior_rewards
        is_told, n = n > 0, np.maximum(n, 1)
        error2 = (np.maximum(Q - S * S / n, 0) + a * sigma2) / ((n + a) * n)
        block.due = self.due_after(block.told)
        if k == 0:
            block.m, block.e = S / n, np.sqrt(np.where(is_told, error2, sigma2))
            return
        m, e = self.expected(k, block, sites)
        tau = self.tau[k][:, None]
        bold = self.settings.boldness * tau
        share = np.where(is_told, bold / (bold + error2), 0)
        both = np.minimum(error2, e * e)  # what was expected is of the same rewards: their covariance at most
        block.m = m + share * (S / n - m)
        block.e = np.sqrt((1 - share) ** 2 * (e * e + tau) + share**2 * error2 + 2 * share * (1 - share) * both)

    def sums(self, k: int, block: Block, sites: Sites) -> Array:
        """n, S and Q of a block's cells: (objectives, cells) each."""
        own, cells, size = list(block.cell_of), list(block.cell_of.values()), self.levels[k][0].cells
        return np.array([[np.bincount(cells, row[own], size) for row in sums] for sums in (sites.n, sites.S, sites.Q)])

    def refit(self, sites: Sites, told: int, forgets: bool) -> None:
        """Choose levels, and estimate noise, roughness and all cells."""
        s, old, is_same, spread = self.settings, self.levels, not forgets, sites.variance()
        before: Level | None = None
        self.levels = []
        for k, split in enumerate(choose_splits(self.space, sites, self.sigma2, told, self.most_cells, s)):
            before = Level(self.space, *split, before)
            blocks: dict[tuple[int, ...], Block] = {}
            self.levels.append((before, blocks))
            for site, digits in enumerate(sites.digits):
                block = blocks.setdefault(before.context_place(digits), Block())
                block.cell_of[site] = before.cell(digits)
                block.told += int(sites.n[:, site].max())
            is_same = is_same and k < len(old) and before.is_like(old[k][0])
            for place, block in blocks.items() if is_same else ():
                block.told = old[k][1][place].told
        self.sigma2, self.tau = self.noise(sites, spread), [spread]
        for k, (_, blocks) in enumerate(self.levels):
            if k > 0:
                prior = s.prior_roughness * spread if k == 1 else s.prior_fall * self.tau[k - 1]
                self.tau.append(self.roughness(k, sites, prior))
            for block in blocks.values():
                self.correct(k, block, sites)
        self.due = self.due_after(told)

    def noise(self, sites: Sites, spread: Array) -> Array:
        """The variance of rewards within the cells of the last level."""
        inside, free = self.settings.prior_rewards * spread, self.settings.prior_rewards
        for block in self.levels[-1][1].values():
            n, S, Q = self.sums(len(self.levels) - 1, block, sites)
            within = Q - S * S / np.maximum(n, 1)
            inside = inside + np.where(n > 1, np.maximum(within, 0), 0).sum(axis=1)
            free = free + np.maximum(n - 1, 0).sum(axis=1)
        return np.maximum(inside / free, 1e-300)

    def roughness(self, k: int, sites: Sites, prior: Array) -> Array:
        """Products of what two rewards of a cell have above what was expected, averaged over pairs."""
        s = self.settings
        products, weights = s.prior_rewards * prior, s.prior_rewards
        for block in self.levels[k][1].values():
            (n, S, Q), (m, _) = self.sums(k, block, sites), self.expected(k, block, sites)
            above, squares, pairs = S - n * m, Q - 2 * m * S + n * m * m, np.maximum(n * (n - 1), 1)
            weight = np.where(n > 1, n * np.minimum(1, (n - 1) / s.sure_pairs), 0)
            products = products + (weight * (above**2 - squares) / pairs).sum(axis=1)
            weights = weights + weight.sum(axis=1)
        return np.maximum(products / weights, s.least_roughness * prior)
