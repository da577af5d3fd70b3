"""What policies over a finite class of rules share: the class itself, what was learned about it, its parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from paretozoom.kernels.arms import table
from paretozoom.kernels.core.kinds import CATEGORICAL
from paretozoom.kernels.rules import classes
from paretozoom.policies.arms.finite import Grid, Scalarised, Within
from paretozoom.policies.fronts import Piece
from paretozoom.policies.parameters import (
    check_scaled,
    checked_count,
    checked_delta,
    checked_positive,
    checked_problem,
    scalarisation,
)
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.records import Decision, Refused, Values

AFFINE_RULES = classes.STEPS**2
SITES = 200  # parts of the range of x, for the solvers
MOST_RULES = 1024  # of a class that is made up here
MOST_COMBINATIONS = 10  # of categories: two arms for each make 1024 rules
ROUNDING = 1e-6  # by which weights may sum to something else than 1
DELTA = 0.05  # probability that the bounds may fail with
MOST_ENTRIES = 1_000_000  # of a table that is given

Rules = Sequence[Sequence[int]]
Along = Literal["first", "mean"]


class RuleClass(NamedTuple):
    """A finite class of rules, each of which names an arm for every context."""

    table: Ints | None  # (rules, context cells) of arm numbers; None for the affine rules
    along: list[float]  # how much of each context coordinate the x of affine rules takes
    cells: int  # into how many each context coordinate is divided

    @classmethod
    def of(cls, problem: Problem, arms: int, rules: Any = None, cells: int = 1, along: Along = "first") -> RuleClass:
        """The given rules, or those that suit the contexts.

        Contexts with a coordinate that is ordered get 11 x 11 affine rules: the arm at clip(a - b x, 0, 1). Where all
        coordinates are categories, or there is none, rules name an arm for each combination, in all possible ways;
        if these are more than 1024, among as many arms, spaced evenly, as are possible; of more than ten combinations,
        the same arm for all.

        >>> from paretozoom import Finite, Objective
        >>> RuleClass.of(Problem(context=[], arm=Finite(["a", "b"]), objectives=[Objective("r")]), 2).table.tolist()
        [[0], [1]]
        """
        if along not in ("first", "mean"):
            raise Refused(f"along: {along!r} is not 'first' or 'mean'")
        encoding = problem.encoding
        ordered = [j for j in range(encoding.context) if encoding.kinds[j] != CATEGORICAL]
        taken = ordered[:1] if along == "first" else ordered
        shares = [1.0 / len(taken) if j in taken else 0.0 for j in range(encoding.context)]
        if rules is not None:
            return cls(_checked_rules(rules, arms), shares, checked_count(cells, "cells"))
        if cells != 1:
            raise Refused(f"cells: {cells!r} given without rules, which name an arm for each cell")
        if ordered:
            return cls(None, shares, 1)
        combinations = math.prod(abs(v) for v in encoding.values[: encoding.context].tolist())
        if combinations > MOST_COMBINATIONS:
            return cls(_spaced(arms, min(arms, MOST_RULES))[:, None], shares, 1)
        return cls(_all_rules(arms, combinations), shares, 2)  # from 2 on, each category is a cell


def _checked_rules(rules: Any, arms: int) -> Ints:
    try:
        rows = [list(row) for row in rules] if isinstance(rules, (list, tuple, np.ndarray)) else []
    except TypeError:  # a rule that is no list
        rows = []
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise Refused(f"rules: {rules!r} is not a list of rules, each a list with an arm for each context cell")
    if len(rows) * len(rows[0]) > MOST_ENTRIES:
        raise Refused(f"rules: {len(rows) * len(rows[0])} entries, expected at most {MOST_ENTRIES}")
    for k, row in enumerate(rows):
        for arm in row:
            if isinstance(arm, bool) or not isinstance(arm, (int, np.integer)) or not 0 <= arm < arms:
                raise Refused(f"rules[{k}]: {arm!r} is not the number of an arm, 0 to {arms - 1}")
    return np.array(rows, np.int64)


def _all_rules(arms: int, combinations: int) -> Ints:
    """(rules, combinations) Every way to name an arm for each combination of categories, if need be of fewer arms."""
    places = arms
    while places**combinations > MOST_RULES:
        places -= 1
    ways = np.indices((places,) * combinations).reshape(combinations, -1).T
    return np.asarray(_spaced(arms, places)[ways])


def _spaced(arms: int, places: int) -> Ints:
    return np.asarray(((np.arange(places) + 0.5) * arms / places).astype(np.int64))


class PolicyClass(Scalarised):
    """A policy that competes with the best of finitely many rules; see `kernels/rules/classes.py` for its memory.

    `rules` is the class: a list of rules, each a list with the number of an arm for every context cell, where `cells`
    says into how many parts each context coordinate is divided (categories stay whole). None stands for 121 affine
    rules: the arm at clip(a - b x, 0, 1), a = 0, .1, ..., 1 and b = -1, -.8, ..., 1, where x is the first coordinate
    that is no category, or with `along="mean"` the mean of all these; contexts of categories alone, or none, get rules
    that name an arm for each combination.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        rules: Rules | None,
        cells: int,
        along: Along,
        arms: int | None,
        within: Within,
        objective: str | None,
        weights: Sequence[float] | None,
        pareto: bool,
        own: Mapping[str, float],
        seed: int,
    ) -> None:
        check_scaled(problem, self.name, scalarisation(checked_problem(problem), objective, weights, pareto))
        grid = Grid.of(problem, arms)
        self.rules = RuleClass.of(problem, len(grid.arms), rules, cells, along)
        named = self.rules.table
        size = [AFFINE_RULES, SITES, 1] if named is None else [*named.shape, 0]
        listed: list[int] = [] if named is None else named.ravel().tolist()
        parameters: dict[str, Any] = {
            "rules": None if rules is None or named is None else named.tolist(),
            "cells": cells,
            "along": along,
            **own,
        }
        self._rules, self._places = size[0], size[1]
        super().__init__(
            problem,
            objective=objective,
            weights=weights,
            pareto=pareto,
            arms=arms,
            within=within,
            cells=self.rules.cells,
            constants=[*size, *self.rules.along, *listed, *own.values()],
            seed=seed,
            parameters=parameters,
        )
        if named is not None and named.shape[1] != self.copies:
            raise Refused(
                f"rules[0]: {named.shape[1]} arms named, expected one for each of {self.copies} context cells"
            )

    def _sizes(self) -> tuple[int, int]:
        return (self.learned + 2) * self._rules + 1, 3 + self._places + self._rules

    def _first(self, floats: Floats, ints: Ints) -> None:
        weights = self.learned * self._rules
        floats[weights : weights + self._rules] = 1.0 / self._rules
        floats[-1] = 0.5 / len(self.grid.arms)
        ints[-self._rules :] = 1

    def _filled(self, arrays: Mapping[str, npt.NDArray[Any]], key: Ints, number: int) -> tuple[Floats, Ints]:
        floats, ints = super()._filled(arrays, key, number)
        cl = classes.class_of(floats, table.table(ints))
        told, seen, alive = int(ints[cl.told]), ints[cl.seen : cl.alive], ints[cl.alive : cl.alive + cl.rules]
        weights, solved = floats[cl.weights : cl.solved], floats[cl.solved : cl.smoothing]
        for name, kept in (
            ("rewards of sites", 0 <= told <= number and (seen >= 0).all() and seen.sum() == told),
            ("rules in play", np.isin(alive, (0, 1)).all() and alive.any()),
            ("weights", (weights >= 0).all() and (solved >= 0).all() and abs(weights.sum() - 1.0) < ROUNDING),
            ("smoothing", 0 <= floats[cl.smoothing] <= 1.0 / len(self.grid.arms)),
            ("epoch", self._is_epoch(int(ints[cl.entered]), int(ints[cl.began]), number)),
        ):
            if not kept:
                raise Refused(f"snapshot: floats and ints hold {name} that cannot be after {number} decisions")
        return floats, ints

    def _is_epoch(self, entered: int, began: int, number: int) -> bool:
        """Whether a policy that is asked for decision `number` next can be in an epoch which began at a decision."""
        return (entered, began) == (classes.epoch_start(max(number - 1, 0)), 0)

    def _credits(self, number: int, learned: Any = None) -> range:
        return range(len(self.grid.arms) << classes.SHIFT)

    def _check_credit(self, decision: Decision, point: Floats, field: str, learned: Any = None) -> None:
        super()._check_credit(decision, point, field, learned)
        parts = decision.credit & ((1 << classes.SHIFT) - 1)
        drawn = max(1, int(decision.density * classes.PARTS + 0.5))
        if parts > classes.PARTS or (parts and self.density_kind == "probability" and parts != drawn):
            raise Refused(
                f"{field}: decision {decision.number} credits {decision.credit}, which no arm of its density has"
            )

    @property
    def values(self) -> Floats:
        """(rules, learned) The mean reward of every rule by inverse propensity, scaled; 0 where nothing was told."""
        at = table.table(self._ints)
        cl = classes.class_of(self._floats, at)
        sums = self._floats[cl.values : cl.weights].reshape(at.learned, cl.rules).T
        return np.asarray(sums / max(1, self._ints[cl.told]))

    @property
    def played(self) -> Floats:
        """(rules,) The probability of each rule, before smoothing, in the decisions of this epoch."""
        cl = classes.class_of(self._floats, table.table(self._ints))
        return self._floats[cl.weights : cl.weights + cl.rules].copy()

    def arms_of(self, context: Values = ()) -> Ints:
        """(rules,) The number of the arm that each rule names in a context."""
        point, arms = self._encoded(context), np.empty(self._rules, np.int64)
        at = table.table(self._ints)
        cl = classes.class_of(self._floats, at)
        site = classes.site_of(self._floats, self._ints, at, cl, point)
        classes.arms_at(self._floats, at, cl, site, classes.place_of(self._floats, at, cl, point), arms)
        return arms

    def front(self, context: Values = (), *, believed: bool = False, feasible: Any = None) -> list[Piece]:
        """The arms that the rules of best value name in a context; their own means are not learned."""
        at = table.table(self._ints)
        cl = classes.class_of(self._floats, at)
        best = classes.mark_best(self._floats, self._ints, at, cl) == 1
        named, told = set(self.arms_of(context)[best].tolist()), int(self._ints[cl.told])
        arms = sorted(named & set(self._feasible_arms(feasible).tolist()))
        return [self._piece(arm, count=told) for arm in arms] if told else []

    def facts(self) -> dict[str, Any]:
        """How many rules there are, and how many of them are in play."""
        cl = classes.class_of(self._floats, table.table(self._ints))
        return {"rules": cl.rules, "rules_in_play": int(self._ints[cl.alive : cl.alive + cl.rules].sum())}


class UnsureClass(PolicyClass):
    """A policy over rules that takes a probability `delta` (None for .05) and a `confidence`, and no more."""

    def __init__(
        self,
        problem: Problem,
        *,
        rules: Rules | None = None,
        cells: int = 1,
        along: Along = "first",
        delta: float | None = None,
        confidence: float = 1.0,
        objective: str | None = None,
        weights: Sequence[float] | None = None,
        pareto: bool = False,
        arms: int | None = None,
        within: Within = "centre",
        seed: int = 0,
    ) -> None:
        super().__init__(
            problem,
            rules=rules,
            cells=cells,
            along=along,
            arms=arms,
            within=within,
            objective=objective,
            weights=weights,
            pareto=pareto,
            own={
                "delta": checked_delta(delta) or DELTA,
                "confidence": checked_positive(confidence, "confidence"),
            },
            seed=seed,
        )
