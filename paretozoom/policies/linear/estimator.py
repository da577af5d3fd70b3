"""What LinUCB, SupLinUCB and the kernel policies share: a model that gives every arm a mean and a width."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from paretozoom.kernels.arms import table
from paretozoom.kernels.linear.gram import gram_floats
from paretozoom.kernels.linear.linear import block_size
from paretozoom.policies.arms.finite import Scalarised, Within
from paretozoom.policies.fronts import Piece, on_front
from paretozoom.policies.linear.features import FeatureMap
from paretozoom.policies.parameters import checked_positive
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.problem.feasible import ANY
from paretozoom.records import Refused, Values

MOST_FLOATS = 20_000_000


class Estimator(Scalarised):
    """A policy whose memory is `kernels/linear/estimates.py`.

    Subclasses say what multiplies the root of a variance before `confidence` does, whether arms have a model of their
    own, which joint features there are, how many stages (that stop to explore at the width `floor`, and explore the
    `widest` arm alone), and of a kernel its ridge, length and budget.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        objective: str | None,
        weights: Sequence[float] | None,
        pareto: bool,
        features: FeatureMap,
        exploration: float,
        confidence: float,
        own: bool = False,
        stages: int = 1,
        floor: float = 0.0,
        widest: bool = False,
        ridge: float = 1.0,
        length: float = 0.0,
        budget: int = 0,
        arms: int | None,
        within: Within,
        seed: int,
        parameters: Mapping[str, Any],
    ) -> None:
        self.features = features
        self.confidence = checked_positive(confidence, "confidence")
        self.exploration = exploration * self.confidence
        self.stages, self.budget = stages, budget
        self.staged = floor > 0
        self.own = features.context_base if own else 0
        self._place = problem.dim if length else len(features.pairs)
        widths = [self.exploration, stages, floor, widest, ridge, length, budget, self.own]
        shape = [features.context_base, features.base, len(features.pairs), features.scale]
        pairs = [float(entry) for pair in features.pairs for entry in pair]
        super().__init__(
            problem,
            objective=objective,
            weights=weights,
            pareto=pareto,
            arms=arms,
            within=within,
            constants=[*widths, *shape, *pairs],
            seed=seed,
            parameters={**parameters, "confidence": self.confidence},
        )

    # Memory.

    def _sizes(self) -> tuple[int, int]:
        arms, joint, own = len(self.grid.arms), len(self.features.pairs), self.own
        if self.budget:
            floats = self.stages * gram_floats(self.budget, self.learned, self._place)
            ints = arms + self.stages * (self.budget + 1)
        else:
            floats = self.stages * block_size(joint, self.learned)
            floats, ints = floats + arms * (block_size(own, self.learned) + own * joint), arms
        if floats > MOST_FLOATS:
            raise Refused(f"{self.name}: its memory would be {floats} numbers, expected at most {MOST_FLOATS}")
        return floats, ints

    def _first(self, floats: Floats, ints: Ints) -> None:
        """Every inverse is that of the identity."""
        if self.budget:
            return
        joint, own = len(self.features.pairs), self.own
        start = 0
        for _ in range(self.stages):
            floats[start : start + joint * joint : joint + 1] = 1.0
            start += block_size(joint, self.learned)
        for _ in range(len(self.grid.arms) if own else 0):
            floats[start : start + own * own : own + 1] = 1.0
            start += block_size(own, self.learned) + own * joint

    def _filled(self, arrays: Mapping[str, npt.NDArray[Any]], key: Ints, number: int) -> tuple[Floats, Ints]:
        floats, ints = super()._filled(arrays, key, number)
        at = table.table(ints)
        arms = len(self.grid.arms)
        learned = ints[at.ints : at.listed]
        sane = bool((learned >= 0).all())
        if self.budget and sane:
            blocks = learned[arms:].reshape(self.stages, self.budget + 1)
            held = np.arange(self.budget) < blocks[:, :1]
            sane = bool((blocks[:, 0] <= self.budget).all() and ((blocks[:, 1:] > 0) == held).all())
            rows = floats[at.floats : at.indices].reshape(self.stages, -1)
            diagonal = rows[:, np.cumsum(np.arange(1, self.budget + 1)) - 1]
            sane = sane and bool(((diagonal > 0) == held).all())
        if not sane:
            raise Refused("snapshot: floats and ints hold counts and matrices that cannot be")
        return floats, ints

    def _credits(self, number: int, learned: Any = None) -> range:
        groups = self.stages + 1 if self.staged else 1
        return range(groups * len(self.grid.arms))

    # What it believes.

    @property
    def plays(self) -> Ints:
        """(arms,) How often each arm was told."""
        at = table.table(self._ints)
        return self._ints[at.ints : at.ints + at.arms].copy()

    def estimates(self, context: Values = ()) -> tuple[Floats, Floats]:
        """Means (arms, learned), oriented and scaled, and widths (arms,) at a context; index = mean + width.

        Of several stages, the one of the smallest width speaks for an arm.
        """
        point, f, i = self._encoded(context), self._floats, self._ints
        at = table.table(i)
        table.list_arms(f, i, at, ANY)
        means, widths = np.zeros((at.arms, at.learned)), np.full(at.arms, math.inf)
        for stage in range(self.stages):
            mean, width = np.empty_like(means), np.empty_like(widths)
            self.kernel.estimate_arms(f, i, at, stage, point, at.arms, mean, width)
            better = width < widths
            means[better], widths[better] = mean[better], width[better]
        return means, widths

    def front(self, context: Values = (), *, believed: bool = False, feasible: Any = None) -> list[Piece]:
        """The arms whose indices no other arm's dominate at a context, or with `believed` whose means, once told."""
        means, widths = self.estimates(context)
        arms, plays = self._feasible_arms(feasible), self.plays
        if believed:
            arms = arms[plays[arms] > 0]
        indices = means + widths[:, None]
        return [
            self._piece(
                arm,
                index=indices[arm],
                mean=means[arm] if plays.any() else None,
                width=float(widths[arm]),
                count=int(plays[arm]),
            )
            for arm in arms[on_front((means if believed else indices)[arms])].tolist()
        ]

    @property
    def notes(self) -> list[str]:
        notes = super().notes
        if self.budget and (self.held == self.budget).any():
            notes.append("budget full, rewards join the nearest place")
        return notes

    @property
    def held(self) -> Ints:
        """(stages,) Of a kernel policy: how many places each stage holds."""
        at = table.table(self._ints)
        return self._ints[at.ints + at.arms : at.listed : self.budget + 1].copy()
