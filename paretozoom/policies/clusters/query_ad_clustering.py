"""Query-Ad-Clustering (Lu, Pal, Pal, AISTATS 2010)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from paretozoom.kernels.arms import table
from paretozoom.kernels.clusters import phase_cover
from paretozoom.kernels.clusters import query_ad_clustering as qac
from paretozoom.policies.arms.finite import Grid, Scalarised
from paretozoom.policies.fronts import Piece, described, learned_numbers, on_front
from paretozoom.policies.parameters import check_scaled, checked_positive, checked_problem, in_words, scalarisation
from paretozoom.policies.snapshots import checked_array
from paretozoom.policies.summary import Summary
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Finite, Floats, Ints, number_of
from paretozoom.records import Refused, Values

FIRST_CAPACITY = 64
LONGEST_PHASE = 40  # rows of this phase must have numbers


class QueryAdClustering(Scalarised):
    """Phases of doubled length; each forgets everything and divides contexts and arms into smaller cells.

    In phase i every context and arm dimension has ceil(2^(i / (a + b + 2))) equal cells, where a and b are the
    `context_dimension` and `arm_dimension` (None: the number of dimensions that are not categories; labels count
    nothing). In the cell of a context the arm with the largest mean + sqrt(4 i / (1 + n)) is played: the middle of a
    cell of arms, a category or a label. `confidence` multiplies the root. No horizon is needed. One `objective` is
    learned, by default the first, or a sum with `weights`; with `pareto` every one, and an arm is drawn uniformly
    from the front of the indices. If no arm of the phase is feasible, the middle of a feasible box is played, drawn by
    its size, or any of finitely many arms.

    >>> from paretozoom import Objective, Real
    >>> problem = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("r")])
    >>> policy = QueryAdClustering(problem, seed=1)
    >>> for _ in range(31):
    ...     policy.tell(policy.ask([0.3]), [0.5])
    >>> policy.facts()
    {'phase': 4, 'cells': 2, 'arms': 2}
    """

    name = "query-ad-clustering"
    kernel: ClassVar[ModuleType] = qac
    summary = Summary(
        "UCB on cells of contexts and arms, refined in phases of doubled length",
        contextual=True,
        similarity=True,
        guarantee="regret O(T^(1 - 1/(2 + a + b) + e)) for any e > 0, a and b the covering dimensions",
        reference="Lu, Pal, Pal, AISTATS 2010",
    )

    def __init__(
        self,
        problem: Problem,
        *,
        context_dimension: float | None = None,
        arm_dimension: float | None = None,
        objective: str | None = None,
        weights: Sequence[float] | None = None,
        pareto: bool = False,
        confidence: float = 1.0,
        seed: int = 0,
    ) -> None:
        check_scaled(problem, self.name, scalarisation(checked_problem(problem), objective, weights, pareto))
        self.confidence = checked_positive(confidence, "confidence")
        encoding = problem.encoding
        ordered = encoding.values >= 0
        arm_side = 0 if isinstance(problem.arm, Finite) else int(ordered[encoding.context :].sum())
        dimensions = [
            _checked_dimension(context_dimension, "context_dimension", int(ordered[: encoding.context].sum())),
            _checked_dimension(arm_dimension, "arm_dimension", arm_side),
        ]
        self.dimensions = sum(dimensions) + 2.0
        rows = _count_rows(problem, phase_cover.parts_in(LONGEST_PHASE, self.dimensions))
        if rows >= 1 << 62:
            raise Refused(
                f"problem: {in_words(rows)} cells of contexts and arms, as these have {len(ordered)} numbers that are "
                "divided; expected fewer than 2^62 cells"
            )
        super().__init__(
            problem,
            grid=Grid(encoding.arms, np.zeros(encoding.arms.shape[1])),
            objective=objective,
            weights=weights,
            pareto=pareto,
            constants=[self.confidence**2, self.dimensions],
            seed=seed,
            parameters={
                "context_dimension": context_dimension,
                "arm_dimension": arm_dimension,
                "confidence": self.confidence,
            },
        )

    def facts(self) -> dict[str, Any]:
        """The phase, and its numbers of context cells and of arms."""
        at = table.table(self._ints)
        head = self._ints[at.ints : at.ints + qac.SLOTS].tolist()
        cells = math.prod(self._ints[at.divisions : at.divisions + at.context].tolist())
        return {"phase": head[phase_cover.PHASE], "cells": cells, "arms": head[phase_cover.COVER]}

    def front(self, context: Values = (), *, believed: bool = False, feasible: Any = None) -> list[Piece]:
        """The arms that were played in this phase and whose mean no other dominates, in the cell of a context."""
        point, f, i = self._encoded(context), self._floats, self._ints
        at = table.table(i)
        arms = i[at.ints + phase_cover.COVER]
        listed, row = np.empty(arms, np.int64), table.cell_of(i, at, point) * arms
        found = phase_cover.list_cover(f, i, at, point, self._encode_feasible(feasible), listed)
        slots = {arm: qac.plays_of(i, at, row + arm) for arm in listed[:found].tolist()}
        played = [(arm, slot, plays) for arm, (slot, plays) in slots.items() if plays > 0]
        rewards = f[at.floats : at.indices].reshape(-1, self.learned)
        means = np.array([rewards[slot] / plays for _, slot, plays in played]).reshape(-1, self.learned)
        learned, pieces = learned_numbers(self.problem, self.weights), []
        for (arm, _, plays), mean, best in zip(played, means, on_front(means), strict=True):
            if best:
                shown = self.problem.decode_arm(phase_cover.write_arm(f, i, at, arm, point), point)
                about = described(learned, mean=mean, width=1 / math.sqrt(plays), count=plays)
                pieces.append(Piece(None, None, shown, *about))
        return pieces

    # Memory.

    def _sizes(self) -> tuple[int, int]:
        return FIRST_CAPACITY * self.learned, qac.SLOTS + 2 * FIRST_CAPACITY

    def _memory(self, key: Ints) -> tuple[Floats, Ints]:
        return self._begun(key, 0)

    def _begun(self, key: Ints, phase: int) -> tuple[Floats, Ints]:
        floats, ints = self._allocate(key)
        at = table.table(ints)
        ints[at.ints + phase_cover.CAPACITY] = FIRST_CAPACITY
        ints[at.ints + phase_cover.LABELS] = isinstance(self.problem.arm, Finite)
        qac.begin(floats, ints, phase)
        return floats, ints

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        at = table.table(self._ints)
        capacity = int(self._ints[at.ints + phase_cover.CAPACITY])
        slots = self._ints[at.ints + qac.SLOTS : at.ints + qac.SLOTS + 2 * capacity].reshape(2, capacity)
        told = np.flatnonzero(slots[0] >= 0)
        told = told[np.argsort(slots[0, told])]
        sums = self._floats[at.floats : at.indices].reshape(capacity, self.learned)
        return {"row": slots[0, told], "plays": slots[1, told], "sums": sums[told]}

    def _filled(self, arrays: Mapping[str, npt.NDArray[Any]], key: Ints, number: int) -> tuple[Floats, Ints]:
        given = arrays.get("row")
        n = len(given) if isinstance(given, np.ndarray) and given.ndim == 1 else 0
        row = checked_array(arrays, "row", (n,), np.int64)
        plays = checked_array(arrays, "plays", (n,), np.int64)
        sums = checked_array(arrays, "sums", (n, self.learned), np.float64)
        phase = phase_cover.phase_of(max(number - 1, 0))
        floats, ints = self._begun(key, phase)
        if n and not (row[0] >= 0 and (np.diff(row) > 0).all() and row[-1] < self._rows_in(phase)):
            raise Refused(f"snapshot: row does not name rising rows of phase {phase}")
        if (plays < 1).any() or not np.isfinite(sums).all():
            raise Refused("snapshot: plays and sums are not those of arms that were told")
        for k in range(n):
            floats, ints = qac.room(floats, ints)
            qac.restore(floats, ints, int(row[k]), int(plays[k]), sums[k])
        return floats, ints

    def _rows_in(self, phase: int) -> int:
        return _count_rows(self.problem, phase_cover.parts_in(phase, self.dimensions))

    def _begins_epoch(self, number: int) -> bool:
        return phase_cover.phase_of(number) != int(self._ints[table.table(self._ints).ints + phase_cover.PHASE])

    def _credits(self, number: int, learned: Any = None) -> range:
        return range(self._rows_in(phase_cover.phase_of(number)))


def _checked_dimension(given: Any, field: str, default: int) -> float:
    if given is None:
        return float(default)
    number = number_of(given, field)
    if number < 0:
        raise Refused(f"{field}: {given!r} is negative")
    return number


def _count_rows(problem: Problem, parts: int) -> int:
    """How many pairs of a context cell and an arm there are when dimensions have so many parts."""
    values = problem.encoding.values.tolist()
    if isinstance(problem.arm, Finite):
        values = [*values[: problem.encoding.context], -len(problem.arm.labels)]
    return math.prod(parts if v == 0 else min(v, parts) if v > 0 else -v for v in values)
