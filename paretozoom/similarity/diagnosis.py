"""By what factor rewards contradict a similarity: how much faster they change than Assumption 1 allows."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import numpy as np

from paretozoom.findings import Finding, look_at
from paretozoom.findings.causes import Causes
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Finite, Floats, Ints
from paretozoom.records import Refused, Round
from paretozoom.rounds import Rounds
from paretozoom.similarity import Similarity
from paretozoom.similarity.metric import checked_similarity
from paretozoom.similarity.proposal import proposed, rounded, weighted
from paretozoom.similarity.slopes import FOLDS, SIZES, Rewards, Slopes, Space, search, slopes_at

# Standard errors to either end of the interval of 90 %. 1.645 would do if folds were independent; but each is measured
# where others chose, and by 1.645 the interval missed the truth of a finite bandit in 17 of 100 runs.
LIMIT = 1.96
SHARP = 0.1  # of the factor: the error up to which fewer pairs have a say in the upper end
MOST_KEPT = 1 << 18
AT_ONCE = 8192


class Place(msgspec.Struct, frozen=True):
    """A context and an arm, in the user's units.

    >>> print(Place({"load": 0.25}, {"price": 3.0}))
    load = 0.25, price = 3
    """

    context: dict[str, Any]
    arm: Any

    def __str__(self) -> str:
        arm = self.arm if isinstance(self.arm, dict) else {"arm": self.arm}
        return ", ".join(f"{name} = {_short(value)}" for name, value in {**self.context, **arm}.items())


class Diagnosis(msgspec.Struct, frozen=True):
    """How many times as fast as a similarity allows mean rewards change, as far as the rounds can tell, and what else.

    `factor` estimates the largest |mu - mu'| / D over all context-arm pairs and objectives, from below: what changes
    within less than the cells that were compared is not seen. So `low` is what the rounds prove, at a risk of 5 %.
    `high` needs mean rewards that are smooth at the scale of the cells: further halvings of their sides may together
    make slopes no steeper than the last one did twice over. At most 1 means that Assumption 1 is kept; multiply the
    `scale` of the similarity by a larger factor to make it so. With too few rounds the factor is NaN and the interval
    from 0 to infinity. `findings` say what else stands out, and what to do; `numbers` has, for each objective, the
    numbers behind them.

    >>> print(Diagnosis(math.nan, 0.0, math.inf, None, None, 12))
    12 rounds are too few to tell how fast rewards change
    """

    factor: float
    low: float
    high: float
    objective: str | None
    places: tuple[Place, Place] | None
    rounds: int
    findings: tuple[Finding, ...] = ()
    numbers: dict[str, dict[str, Any]] = {}

    @property
    def proposal(self) -> dict[str, Any]:
        """The similarity and the noise that rewards bear out, as PCZ takes them; empty if the given one is as good.

        >>> Diagnosis(math.nan, 0.0, math.inf, None, None, 12).proposal
        {}
        """
        found = [finding for finding in self.findings if finding.code in ("steep-similarity", "flat-similarity")]
        return dict(found[0].numbers) if found else {}

    def __str__(self) -> str:
        return "\n".join([self.about_similarity, *map(str, self.findings)])

    @property
    def about_similarity(self) -> str:
        """What it says of the similarity alone, in a sentence."""
        if self.places is None:
            return f"{self.rounds:,} rounds are too few to tell how fast rewards change"
        numbers = f"{self.factor:.2f} ({self.low:.2f} to {self.high:.2f})"
        return (
            f"rewards change up to {numbers} times as fast as the similarity allows, "
            f"between {self.places[0]} and {self.places[1]} in {self.objective!r}"
        )


class Diagnoser:
    """Reads rounds as they come, like a metric, and ends in a diagnosis.

    Of more than 262,144 rounds it keeps as many, each with the same chance whatever the chunks.

    >>> from paretozoom import PaperTask, Random, simulate_in_chunks
    >>> task = PaperTask()
    >>> diagnoser = Diagnoser(task.problem, Similarity.of(task.problem))
    >>> for rounds in simulate_in_chunks(Random(task.problem), task, 20_000, seed=1):
    ...     diagnoser.update(rounds)
    >>> found = diagnoser.result()
    >>> found.low < 9.06 < found.high, found.rounds
    (True, 20000)
    """

    def __init__(self, problem: Problem, similarity: Similarity | Mapping[str, Any] | None) -> None:
        self.problem = problem
        self.similarity = checked_similarity(problem, similarity)
        self.rounds = 0
        self._point = np.empty((0, problem.dim))
        self._reward = np.empty((0, len(problem.objectives)))
        self._number = np.empty(0, np.int64)
        self._arm = np.empty(0, np.int64)
        self._rank = np.empty(0, np.uint64)

    def update(self, rounds: Rounds | Iterable[Round]) -> None:
        """Read some more rounds; chunks of columns are read fastest."""
        if isinstance(rounds, Rounds) and rounds.problem != self.problem:
            raise Refused(f"rounds: of another problem, {rounds.problem!r}, expected {self.problem!r}")
        columns = (rounds if isinstance(rounds, Rounds) else Rounds.of(self.problem, rounds)).columns
        n = len(columns.number)
        rank = scrambled(np.arange(self.rounds, self.rounds + n), 1)
        self._point = np.concatenate([self._point, columns.point])
        self._reward = np.concatenate([self._reward, columns.reward])
        self._number = np.concatenate([self._number, columns.number])
        self._arm = np.concatenate([self._arm, columns.arm])
        self._rank = np.concatenate([self._rank, rank])
        self.rounds += n
        if len(self._rank) > 2 * MOST_KEPT:
            self._keep()

    def _keep(self) -> None:
        """Of many rounds those with the lowest ranks, in the order of ranks."""
        kept = np.argsort(self._rank, kind="stable")[:MOST_KEPT]
        self._point, self._reward = self._point[kept], self._reward[kept]
        self._number, self._rank, self._arm = self._number[kept], self._rank[kept], self._arm[kept]

    def result(self) -> Diagnosis:
        """What can be said so far."""
        self._keep()
        found = self._measured(self.similarity)
        look = look_at(self.problem, self._point, self._arm, self._reward)
        about = [*self._about_similarity(found, look.causes), *look.findings]
        return msgspec.structs.replace(found, findings=tuple(about), numbers=look.numbers())

    def _about_similarity(self, found: Diagnosis, causes: list[Causes]) -> list[Finding]:
        """Whether the similarity is too steep or too flat, and which one is not."""
        if self.similarity.matrix is not None or self.similarity.function is not None or not causes:
            return []
        better = weighted(self.problem, causes, self._point)
        if better is None:
            return []
        factor = self._measured(better).factor
        if not factor > 0:
            return []
        better = dataclasses.replace(better, scale=rounded(factor))
        told = proposed(self.problem, self.similarity, better, causes, found.low, self._point)
        return [] if told is None else [told]

    def _measured(self, similarity: Similarity) -> Diagnosis:
        """What can be said of a similarity alone."""
        space = Space(similarity, self._point)
        fold = (scrambled(self._number, 2) % np.uint64(FOLDS)).astype(np.int64)
        told = self._told(space.label, fold)
        found = search(space, told) if told else []
        if not found:
            return Diagnosis(math.nan, 0.0, math.inf, None, None, self.rounds)
        return self._concluded(found, space, told)

    def _told(self, label: Ints, fold: Ints) -> list[Rewards]:
        """The rewards, those of objectives that were always told together side by side."""
        known = ~np.isnan(self._reward)
        groups: dict[bytes, list[int]] = {}
        for objective, column in enumerate(known.T):
            if column.any():
                groups.setdefault(column.tobytes(), []).append(objective)
        told = []
        for objectives in groups.values():
            rows = known[:, objectives[0]]
            reward = self._reward[rows][:, objectives]
            told.append(Rewards(np.array(objectives), self._point[rows], label[rows], fold[rows], reward))
        return told

    def _concluded(self, found: list[Slopes], space: Space, told: list[Rewards]) -> Diagnosis:
        chosen = [_choice(found, fold) for fold in range(FOLDS)]
        folds = range(FOLDS)
        slope = np.array([found[c].slope[fold, size] for fold, (c, size) in zip(folds, chosen, strict=True)])
        error = np.array([found[c].error[fold, size] for fold, (c, size) in zip(folds, chosen, strict=True)])
        factor, doubt = _together(slope, error)
        top = factor + LIMIT * doubt
        for size in range(len(SIZES)):
            fewer = [(found[c].slope[fold, size], found[c].error[fold, size]) for fold, (c, _) in enumerate(chosen)]
            steep, steep_doubt = _together(*np.array(fewer).T)
            if steep_doubt <= SHARP * factor:
                top = max(top, steep + LIMIT * steep_doubt)
        coarser = [_coarser(found[c], fold, space, told) for fold, (c, _) in enumerate(chosen)]
        gain = _gain(slope, np.array(coarser), error) if len(space.axes) else 1.0
        surest = int(np.argmin(error))
        best = found[chosen[surest][0]]
        return Diagnosis(
            max(0.0, factor),
            max(0.0, factor - LIMIT * doubt),
            max(0.0, top) * gain**2,
            self.problem.objective_names[best.objective],
            (self._place(best.ends[surest, 0]), self._place(best.ends[surest, 1])),
            self.rounds,
        )

    def _place(self, point: Floats) -> Place:
        """Of the middle of a cell; among finite arms the nearest one."""
        arms, number = self.problem.encoding.arms, -1
        if isinstance(self.problem.arm, Finite):
            number = int(np.argmin(((arms - point[self.problem.encoding.context :]) ** 2).sum(axis=1)))
        return Place(self.problem.decode_context(point), self.problem.decode_arm(number, point))


def diagnose(
    problem: Problem, similarity: Similarity | Mapping[str, Any] | None, rounds: Rounds | Iterable[Round | Rounds]
) -> Diagnosis:
    """By what factor rounds contradict a similarity, with an interval of 90 %.

    Assumption 1 wants |mu - mu'| <= D for the mean rewards, in scaled units, of any two context-arm pairs that are D
    apart. The similarity may be given by its arguments, None is the problem's own. The rounds are those of any policy:
    one after another, or in chunks of columns.

    >>> from paretozoom import Random, Tents, simulate_in_chunks
    >>> task = Tents()
    >>> found = diagnose(task.problem, None, simulate_in_chunks(Random(task.problem), task, 20_000, seed=1))
    >>> 0.8 < found.factor < 1.2, found.low < 1 < found.high
    (True, True)
    """
    diagnoser = Diagnoser(problem, similarity)
    single: list[Round] = []
    for item in [rounds] if isinstance(rounds, Rounds) else rounds:
        if isinstance(item, Rounds) or len(single) == AT_ONCE:
            diagnoser.update(single)
            single = []
        if isinstance(item, Rounds):
            diagnoser.update(item)
        else:
            single.append(item)
    diagnoser.update(single)
    return diagnoser.result()


def scrambled(numbers: Ints, salt: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Numbers mixed up beyond recognition, always in the same way: the finaliser of SplitMix64.

    >>> len(set((scrambled(np.arange(8), 1) % np.uint64(2)).tolist()))
    2
    """
    mixed = numbers.astype(np.uint64) + np.uint64(salt * 0x9E3779B97F4A7C15 & (1 << 64) - 1)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def _choice(found: list[Slopes], fold: int) -> tuple[int, int]:
    """Which slopes, and of how many pairs, the third fold chooses when `fold` is the fourth."""
    worth = np.stack([slopes.worth[fold] for slopes in found])
    which, size = np.unravel_index(int(np.argmax(worth)), worth.shape)
    return int(which), int(size)


def _together(slope: Floats, error: Floats) -> tuple[float, float]:
    """The mean of independent measurements and its standard error."""
    weight = 1.0 / error**2
    return float(slope @ weight / weight.sum()), float(weight.sum() ** -0.5)


def _coarser(slopes: Slopes, fold: int, space: Space, told: list[Rewards]) -> float:
    """The slope that the same folds find in cells of twice the sides; NaN if they find none."""
    halved = tuple(max(0, level - 1) for level in slopes.levels)
    for other in slopes_at(space, told, halved):
        if other.objective == slopes.objective:
            return float(other.slope[fold, int(np.argmax(other.worth[fold]))])
    return math.nan


def _gain(finer: Floats, coarser: Floats, error: Floats) -> float:
    """By what factor the last halving of the cells' sides made slopes steeper; infinite if that was not seen."""
    weight = np.where(np.isnan(coarser), 0.0, error**-2.0)
    before = float(np.nan_to_num(coarser) @ weight)
    return max(1.0, float(finer @ weight) / before) if before > 0 else math.inf


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"({len(value)} numbers)"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
