"""Open decisions: what a policy remembers of them, and how they are checked when they come from outside."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from paretozoom.policies.snapshots import checked_array
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, number_of
from paretozoom.records import Decision, Refused


class OpenDecision:
    """A decision that is not yet told in every objective; a row of many makes its record when it is read."""

    __slots__ = ("arm", "context", "credit", "number", "parts", "point", "row", "source", "told")

    def __init__(
        self,
        source: Decision | Sequence[Decision],
        row: int,
        number: int,
        credit: int,
        point: Floats,
        context: dict[str, Any] | None = None,
        arm: Any = None,
    ) -> None:
        self.source = source
        self.row = row
        self.number = number
        self.credit = credit
        self.point = point
        self.told = 0  # bit o: objective o was told
        self.parts: Floats | None = None  # rewards told so far, if the policy must wait for the others
        self.context = context  # of a decision that was asked alone, and its arm: what was handed out may be changed
        self.arm = arm

    @classmethod
    def of(cls, decision: Decision, point: Floats, holds_lists: bool = True) -> OpenDecision:
        """A decision that was asked alone; its context may hold lists."""
        context = _copied(decision.context) if holds_lists else decision.context.copy()
        arm = decision.arm.copy() if type(decision.arm) is dict else decision.arm
        return cls(decision, 0, decision.number, decision.credit, point, context, arm)

    @property
    def decision(self) -> Decision:
        """The record."""
        return self.source if isinstance(self.source, Decision) else self.source[self.row]

    def record(self) -> Decision:
        """The record as it was made, whatever became of the one that was handed out."""
        decision = self.decision
        if self.context is None:
            return decision
        arm = self.arm.copy() if type(self.arm) is dict else self.arm
        return Decision(self.number, _copied(self.context), arm, decision.density, self.credit)

    def gather(self, given: Floats) -> Floats:
        """Add some rewards to those told so far; gives them all, NaN where none was told."""
        if self.parts is None:
            self.parts = given.copy()
        else:
            self.parts = np.where(np.isnan(given), self.parts, given)
        return self.parts


def _copied(context: dict[str, Any]) -> dict[str, Any]:
    """A context that no change of the other reaches."""
    own = context.copy()
    for name, value in context.items():
        if type(value) is list:
            own[name] = value.copy()
    return own


class OpenDecisions(dict[int, OpenDecision]):
    """The open decisions of a policy, by their numbers."""

    def in_order(self) -> list[OpenDecision]:
        """All of them, by number: those that were taken back stand behind later ones."""
        return [self[number] for number in sorted(self)]

    def find(self, decision: Decision) -> OpenDecision:
        """The entry of a decision, if it is open and as it was handed out."""
        if not isinstance(decision, Decision):
            raise Refused(f"decision: {decision!r} is not a Decision")
        entry = self.find_number(decision.number)
        if entry.source is decision:
            return entry
        try:
            same = bool(entry.decision == decision)
        except ValueError:  # an array somewhere in it
            same = False
        if not same:
            raise _not_open(decision.number)
        return entry

    def find_number(self, number: int) -> OpenDecision:
        """The entry of an open decision."""
        entry = self.get(number) if isinstance(number, int) else None
        if entry is None:
            raise _not_open(number)
        return entry

    def dump(self, objectives: int) -> tuple[list[Any], dict[str, npt.NDArray[Any]]]:
        """All of them as JSON-ready records and arrays."""
        entries = self.in_order()
        nothing = np.full(objectives, math.nan)
        parts = [nothing if entry.parts is None else entry.parts for entry in entries]
        return [msgspec.to_builtins(entry.record()) for entry in entries], {
            "open_reward": np.array(parts).reshape(len(entries), objectives),
            "open_told": np.array([entry.told for entry in entries], np.int64),
        }


def _not_open(number: Any) -> Refused:
    return Refused(f"decision {number}: already told, dropped, or not of this policy")


def told_again(problem: Problem, number: int, again: int) -> Refused:
    """Why objectives of a decision (a bit each) cannot be told: they were before."""
    name = next(name for o, name in enumerate(problem.objective_names) if again >> o & 1)
    return Refused(f"reward[{name!r}]: decision {number} was already told this objective")


def point_of(problem: Problem, decision: Any, field: str) -> Floats:
    """The encoded point of a decision that came from outside, or a refusal that names the field."""
    if not isinstance(decision, Decision):
        raise Refused(f"{field}: {decision!r} is not a Decision")
    for name, value in (("number", decision.number), ("credit", decision.credit)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise Refused(f"{field}: {name} {value!r} of a decision is not an integer")
    if number_of(decision.density, f"{field}: density of decision {decision.number}") <= 0:
        raise Refused(f"{field}: density {decision.density!r} of decision {decision.number} is not positive")
    point = np.empty(problem.dim)
    try:
        problem.encode_context(decision.context, point)
        problem.encode_arm(decision.arm, point)
    except Refused as refusal:
        raise Refused(f"{field}: decision {decision.number}: {refusal}") from refusal
    return point


def load_open(problem: Problem, records: Any, arrays: Mapping[str, npt.NDArray[Any]], number: int) -> OpenDecisions:
    """Open decisions from what `OpenDecisions.dump` gave; `number` is the policy's next."""
    try:
        decisions = msgspec.convert(records, list[Decision])
    except msgspec.ValidationError as error:
        raise Refused(f"snapshot: open decisions: {error}") from error
    n, objectives = len(decisions), len(problem.objectives)
    complete = (1 << objectives) - 1
    rewards = checked_array(arrays, "open_reward", (n, objectives), np.float64)
    told = checked_array(arrays, "open_told", (n,), np.int64)
    opened = OpenDecisions()
    last = -1
    for k, decision in enumerate(decisions):
        entry = OpenDecision.of(decision, point_of(problem, decision, "snapshot: open"))
        if not last < decision.number < number:
            raise Refused(f"snapshot: open decision {decision.number} after {last}, but the next number is {number}")
        if np.isinf(rewards[k]).any():
            raise Refused(f"snapshot: open_reward {rewards[k]!r} is not finite")
        entry.told = int(told[k])
        if not 0 <= entry.told < complete:
            raise Refused(f"snapshot: open_told {entry.told} of decision {decision.number} is impossible")
        if not np.isnan(rewards[k]).all():
            entry.parts = rewards[k].copy()
        opened[decision.number] = entry
        last = decision.number
    return opened
