"""What LinUCB, SupLinUCB and the kernel policies share: a model that gives every arm a mean and a width."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from paretozoom.dimensions import Floats, Ints
from paretozoom.feasible import ANY
from paretozoom.kernels import table
from paretozoom.kernels.gram import gram_floats
from paretozoom.kernels.linear import block_size
from paretozoom.kernels.pareto import mark_front
from paretozoom.policies.base import Piece
from paretozoom.policies.features import FeatureMap
from paretozoom.policies.finite import FiniteArms, Within
from paretozoom.policies.parameters import USUAL_HORIZON, checked_delta, checked_horizon, checked_positive
from paretozoom.problem import Problem
from paretozoom.records import Decision, Refused, Values

MOST_FLOATS = 20_000_000

Explore = Literal["wide", "widest"]


class Estimator(FiniteArms):
    """A policy whose memory is `kernels/estimates.py`.

    Subclasses say what multiplies the root of a variance before `confidence` does, whether arms have a model of their
    own, which joint features there are, how many stages (that stop to explore at the width `floor`, and explore the
    `widest` arm alone), and of a kernel its ridge, length and budget.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        weights: Sequence[float],
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
        horizon: int | None = None,
        arms: int | None,
        within: Within,
        seed: int,
        parameters: Mapping[str, Any],
    ) -> None:
        self.features = features
        self.confidence = checked_positive(confidence, "confidence")
        self.exploration = exploration * self.confidence
        self.stages, self.budget, self.horizon = stages, budget, horizon
        self.staged = floor > 0
        self.own = features.context_base if own else 0
        self._place = problem.dim if length else len(features.pairs)
        widths = [self.exploration, stages, floor, widest, ridge, length, budget, self.own]
        shape = [features.context_base, features.base, len(features.pairs), features.scale]
        pairs = [float(entry) for pair in features.pairs for entry in pair]
        super().__init__(
            problem,
            arms=arms,
            within=within,
            weights=weights,
            constants=[*widths, *shape, *pairs],
            seed=seed,
            parameters={**parameters, "arms": arms, "within": within, "confidence": self.confidence},
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

    def _check_credit(self, decision: Decision, ints: Ints, field: str) -> None:
        groups = self.stages + 1 if self.staged else 1
        if not 0 <= decision.credit < groups * len(self.grid.arms):
            raise Refused(f"{field}: decision {decision.number} credits {decision.credit}, which does not exist")

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
        point = np.zeros(self._dim)
        self.problem.encode_context(context, point)
        f, i = self._floats, self._ints
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
        rows = self._encode_feasible(feasible)
        means, widths = self.estimates(context)
        at = table.table(self._ints)
        arms = self._ints[at.listed : at.listed + table.list_arms(self._floats, self._ints, at, rows)].copy()
        if believed:
            arms = arms[self.plays[arms] > 0]
        vectors = means[arms] if believed else means[arms] + widths[arms, None]
        marks = np.zeros(2 * len(arms), np.int64)
        mark_front(vectors.T.ravel(), 0, self.learned, marks, 0, len(arms), len(arms))
        chosen = arms[marks[: len(arms)] == 1]
        return [self._piece(int(arm), means[arm].tolist(), float(widths[arm])) for arm in chosen]

    def _piece(self, arm: int, means: list[float], width: float) -> Piece:
        point = np.concatenate([np.zeros(self.problem.encoding.context), self.grid.arms[arm]])
        played = self.problem.decode_arm(arm if len(self.problem.encoding.arms) else -1, point)
        plays, told = int(self.plays[arm]), self.plays.any()
        numbers = list(zip(self._learned_numbers(), means, strict=True))
        return Piece(
            None,
            None,
            played,
            {name: decode(mean + width) for (name, decode, _), mean in numbers},
            {name: decode(mean) if told else None for (name, decode, _), mean in numbers},
            {name: width * span for (name, _, span), _ in numbers},
            {name: plays for (name, _, _), _ in numbers},
        )

    def _learned_numbers(self) -> list[tuple[str, Callable[[float], float], float]]:
        """(name, decoder to the user's units, span) of each number a reward is for the policy."""
        objectives = self.problem.objectives
        if self.weights:
            objectives = [o for o, weight in zip(objectives, self.weights, strict=True) if weight > 0]
        if self.weights and len(objectives) > 1:
            return [("weighted", float, 1.0)]
        return [(o.name, o.decode, o.span) for o in objectives]

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


def check_scaled(problem: Problem, name: str) -> None:
    """Refuse objectives without a scale."""
    for objective in problem.objectives:
        if objective.low is None:
            raise Refused(
                f"objectives[{objective.name!r}]: low and high are unknown, but {name} needs rewards scaled to [0, 1]"
            )


def stage_settings(horizon: int | None, explore: Explore) -> dict[str, Any]:
    """What an Estimator must know of its stages, checked.

    >>> stage_settings(100_000, "wide")["stages"]
    12
    """
    if explore not in get_args(Explore):
        raise Refused(f"explore: {explore!r} is not one of {list(get_args(Explore))!r}")
    known = checked_horizon(horizon)
    rounds = known or USUAL_HORIZON
    return {
        "horizon": known,
        "stages": math.ceil(math.log(rounds)),
        "floor": 1.0 / math.sqrt(rounds),
        "widest": explore == "widest",
    }


def log_chances(horizon: int | None, arms: int, delta: float | None) -> float:
    """log(2 T K / delta), which the widths of the policies with stages are made of; delta is 0.05 if None.

    >>> round(math.sqrt(0.5 * log_chances(None, 10, None)), 7)
    2.9584109
    """
    rounds = checked_horizon(horizon) or USUAL_HORIZON
    return math.log(2.0 * rounds * arms / (checked_delta(delta) or 0.05))
