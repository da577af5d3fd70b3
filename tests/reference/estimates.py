"""What ParetoZoom makes of its rewards: an estimate and a doubt for every cell, kept until they are made anew.

Sums run in the order of the kernels', so that both round alike.
"""

from __future__ import annotations

import itertools
import math

from paretozoom import Problem
from paretozoom.kernels.core.kinds import CATEGORICAL, PERIODIC
from tests.reference.forget import Known
from tests.reference.levels import Block, Cell, Level, Rewards
from tests.reference.smooth import Smooth
from tests.reference.trend import LAST_FIT

OWN, BESIDE = 0.75, 0.25
OWN_NOISE = 4.0
GROWTH = 16
PRIOR_ROUGHNESS, PRIOR_FALL, PRIOR_REWARDS = 0.25, 0.25, 2.0
LEAST_ROUGHNESS = 0.01
SURE = 16.0
EARLY = 1000


def mixed(near: Known, far: Known, near_share: float, far_share: float) -> Known:
    """Estimates with estimates and doubts with doubts."""
    return near_share * near[0] + far_share * far[0], near_share * near[1] + far_share * far[1]


def due_after(told: int) -> int:
    """The number of rewards at which estimates made of so many are made anew: one in sixteen more."""
    return told + 1 + told // GROWTH


class Estimates(Smooth):
    """Levels whose cells have estimates, made anew along a path, everywhere, or with the levels."""

    def __init__(self, problem: Problem, *, seed: int = 0) -> None:
        super().__init__(problem, seed=seed)
        self.roughness: list[list[float]] = []  # by level but the first, and objective
        self.due = 0
        self.kept_levels: list[tuple[int, int]] = []  # of each rebuild: levels that stayed as they were, and all
        self.path_refreshes = self.whole_refreshes = 0

    # What is learned of one reward.

    def learn_of(self, digits: Cell, reward: list[float]) -> None:
        """Add what was told of a place (not NaN) to its base and to a cell on every level."""
        told = [(o, value) for o, value in enumerate(reward) if not math.isnan(value)]
        base = self.bases.setdefault(digits, self._nothing())
        for o, value in told:
            base.add(o, 1, value, value * value)
        told = [(o, value - self.trend_of(digits, o) if self.uses_trend else value) for o, value in told]
        stale = False
        for k, level in enumerate(self.levels):
            block, cell = self._place(level, digits)
            if k > 0 and level is self.levels[-1]:
                known = block.known.get(self._cell(level, digits)[1])
                self.watch(digits, known, cell.count, self.roughness[-1], told)
            for o, value in told:
                cell.add(o, 1, value, value * value)
            block.told += 1
            stale = stale or block.told >= block.due
            if stale:
                self.refresh_path(k, self._cell(level, digits)[0])
        self.parts += len(told)
        self.told, self.parts = self.told + self.parts // self.learned, self.parts % self.learned
        if self.told >= self.due:
            self.conclude()
            self.refresh_all()

    def refresh_path(self, k: int, context: Cell) -> None:
        """Make a block anew that has grown enough, or one of whose ancestors had."""
        self.path_refreshes += 1
        self.refresh(k, context)

    def refresh_all(self) -> None:
        """Make all blocks anew."""
        self.whole_refreshes += 1
        for k, level in enumerate(self.levels):
            for context in level.blocks:
                self.refresh(k, context)
        self.due = due_after(self.told)

    # Estimates.

    def refresh(self, k: int, context: Cell) -> None:
        """Make the estimates of a block anew, by those of the level before as they are."""
        block = self.levels[k].blocks[context]
        block.due = due_after(block.told)
        expected = self.expected(k, context)
        for cell in self.levels[k].arm_cells:
            rewards = block.rewards.get(cell)
            block.known[cell] = [
                self._corrected(k, rewards, o, expected[cell][o]) if expected else self._first(rewards, o)
                for o in range(self.learned)
            ]

    def _first(self, rewards: Rewards | None, o: int) -> Known:
        """The mean of all rewards."""
        if rewards is None or rewards.count[o] == 0:
            return 0.0, math.sqrt(self.noise[o])
        mean, error = self._mean(rewards, o)
        return mean, math.sqrt(error)

    def _corrected(self, k: int, rewards: Rewards | None, o: int, expected: Known) -> Known:
        """What was expected of a cell, corrected by its own rewards."""
        estimate, rough, variance = expected[0], self.roughness[k][o], expected[1] * expected[1]
        if rewards is None or rewards.count[o] == 0:
            return estimate, math.sqrt(variance + rough)
        own, error = self._mean(rewards, o)
        share = rough / (rough + error)
        rest, both = 1.0 - share, min(error, variance)
        variance = rest * rest * (variance + rough) + share * share * error + 2.0 * share * rest * both
        return estimate + share * (own - estimate), math.sqrt(variance)

    def _mean(self, rewards: Rewards, o: int) -> Known:
        """The mean, and its variance if four rewards of usual noise are added to the cell's own."""
        count, total = rewards.count[o], rewards.total[o]
        mean = total / count
        spread = max(0.0, rewards.square[o] - mean * total)
        return mean, (spread + OWN_NOISE * self.noise[o]) / ((count + OWN_NOISE) * count)

    def expected(self, k: int, context: Cell) -> dict[Cell, list[Known]]:
        """What the level before says of each cell of a block; nothing of the whole space.

        Three quarters of what it says of the cell of arms that one is in, the rest of the one next to that.
        """
        if k == 0:
            return {}
        said, level = self._said_before(k, context), self.levels[k]
        if level.inner < 0:
            return said
        return {
            cell: [mixed(near, far, OWN, BESIDE) for near, far in zip(said[parent], said[beside], strict=True)]
            for cell, (parent, beside) in self.parents(k).items()
        }

    def _said_before(self, k: int, context: Cell) -> dict[Cell, list[Known]]:
        """What the level before says of its own cells of arms at the middle of a cell of contexts."""
        blocks = self.levels[k - 1].blocks
        parent, beside, share = self.contexts_before(k, context)
        here = blocks[parent].known
        if beside == parent or beside not in blocks:
            return here
        there = blocks[beside].known
        return {
            cell: [mixed(near, far, 1.0 - share, share) for near, far in zip(here[cell], there[cell], strict=True)]
            for cell in here
        }

    def contexts_before(self, k: int, context: Cell) -> tuple[Cell, Cell, float]:
        """The cell of contexts that one is in at the level before, the one next to that, and its share."""
        level, before, j = self.levels[k], self.levels[k - 1], self.levels[k].outer
        parent = tuple(g >> (now - was) for g, now, was in zip(context, level.depth, before.depth, strict=False))
        if j < 0 or self.kinds[j] == CATEGORICAL:
            return parent, parent, 0.0
        middle = (context[j] + 0.5) / 2 ** (level.depth[j] - before.depth[j])  # in cells of the level before
        off = middle - (parent[j] + 0.5)
        beside = self._neighbour(j, parent[j], 2 ** before.depth[j], 1 if off > 0 else -1)
        return parent, (*parent[:j], beside, *parent[j + 1 :]), abs(off)

    def _neighbour(self, j: int, digit: int, cells: int, step: int) -> int:
        """The cell on one side of a cell, in a coordinate of so many; itself where there is none."""
        if self.kinds[j] == PERIODIC:
            return (digit + step) % cells
        return digit + step if self.kinds[j] != CATEGORICAL and 0 <= digit + step < cells else digit

    def parents(self, k: int) -> dict[Cell, tuple[Cell, Cell]]:
        """For each cell of arms the one that it is in at the level before, and the one next to that on its side."""
        level = self.levels[k]
        if not level.parents:
            level.parents.update({cell: self._parents(k, cell) for cell in level.arm_cells})
        return level.parents

    def _parents(self, k: int, cell: Cell) -> tuple[Cell, Cell]:
        level, before, j = self.levels[k], self.levels[k - 1], self.levels[k].inner - self.first
        depths = zip(cell, level.depth[self.first :], before.depth[self.first :], strict=True)
        parent = tuple(digit >> (now - was) for digit, now, was in depths)
        if self.arms or level.inner < 0:
            return parent, parent
        beside = self._neighbour(level.inner, parent[j], 2 ** before.depth[level.inner], 1 if cell[j] % 2 else -1)
        return parent, (*parent[:j], beside, *parent[j + 1 :])

    # The levels, made anew.

    def rebuild(self) -> None:
        """Choose splits, sum the bases in the cells of new levels, estimate noise, roughness and rewards."""
        forgot = self.forgets
        if self.forgets:
            self.forget_half()
        self.following = self.told + max(4, self.told // (5 if self.told < EARLY else 2))
        used = self.uses_trend
        if forgot or self.told <= LAST_FIT:
            self.fit()
        self.fit_smooth(forgot)
        rest_changes = forgot or (self.told <= LAST_FIT and (used or self.uses_trend))
        self.rest = {digits: self._rest(digits, base) for digits, base in self.bases.items()}
        old, self.levels = self.levels, self.choose_splits()
        same = [not rest_changes and new.halves_like(was) for new, was in zip(self.levels, old, strict=False)]
        kept = len(list(itertools.takewhile(bool, same)))
        self.kept_levels.append((kept, len(self.levels)))
        self.levels[:kept] = old[:kept]
        for level in self.levels[kept:]:
            self._fill(level)
        self.noise = [self._measure_noise(o) for o in range(self.learned)]
        self.roughness = []
        for k, level in enumerate(self.levels):
            self.roughness.append(self._measure_roughness(k))
            for context in level.blocks:
                self.refresh(k, context)
        self.due = due_after(self.told)

    def _fill(self, level: Level) -> None:
        """Sum the bases; rewards that came in parts are as many as the objective that was told most."""
        for digits, base in self.rest.items():
            block, cell = self._place(level, digits)
            block.told += max(base.count)
            for o in range(self.learned):
                cell.add(o, base.count[o], base.total[o], base.square[o])

    def _measure_noise(self, o: int) -> float:
        """The variance of rewards within the cells of the last level, and of two rewards overall."""
        squares, free, last = 2.0 * self.spread(o), 2.0, self.levels[-1]
        for block in last.blocks.values():
            for _, here in self._pairs(last, block, o):
                count, total = here.count[o], here.total[o]
                squares += max(0.0, here.square[o] - total * total / count)
                free += count - 1.0
        return max(squares / free, 1e-300)

    def _measure_roughness(self, k: int) -> list[float]:
        """The mean product of what two rewards of a cell have above what was expected of it, over all pairs."""
        level = self.levels[k]
        expected = {context: self.expected(k, context) for context in level.blocks}
        rough = []
        for o in range(self.learned if k > 0 else 0):
            fall = PRIOR_FALL / self.boldness()
            prior = PRIOR_ROUGHNESS * self.spread(o) if k == 1 else fall * self.roughness[k - 1][o]
            products, weights = PRIOR_REWARDS * prior, PRIOR_REWARDS
            for context, block in level.blocks.items():
                for cell, here in self._pairs(level, block, o):
                    count, total, before = here.count[o], here.total[o], expected[context][cell][o][0]
                    above = total - count * before
                    squares = here.square[o] - before * (2.0 * total - count * before)
                    weight = count * min(1.0, (count - 1.0) / SURE)
                    weights += weight
                    products += weight * (above * above - squares) / (count * (count - 1.0))
            rough.append(self.boldness() * max(products / weights, LEAST_ROUGHNESS * prior))
        return rough

    @staticmethod
    def _pairs(level: Level, block: Block, o: int) -> list[tuple[Cell, Rewards]]:
        """The cells of arms with at least two rewards, in order."""
        cells = [(cell, block.rewards[cell]) for cell in level.arm_cells if cell in block.rewards]
        return [(cell, rewards) for cell, rewards in cells if rewards.count[o] > 1]
