"""What every policy shares: the border, the open decisions, snapshots and replay.

A policy is a subclass that names its kernel module and fills two arrays; `ask` and `tell` here do the
checking and counting, the kernel does the mathematics.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import ModuleType
from typing import Any, ClassVar

import msgspec
import numpy as np
import numpy.typing as npt

from paretozoom.dimensions import Floats, Ints
from paretozoom.problem import Problem
from paretozoom.records import Asked, Decision, Dropped, Event, Refused, Snapshot, Told, Values

FORMAT = 1


class OpenDecision:
    """A decision that is not yet told in every objective."""

    __slots__ = ("decision", "point", "reward", "status")

    def __init__(self, decision: Decision, point: Floats, objectives: int) -> None:
        self.decision = decision
        self.point = point
        self.reward = np.full(objectives, math.nan)
        self.status = 0  # bit i: objective i was told; higher bits are the kernel's


class Piece(msgspec.Struct, frozen=True):
    """A part of the arm space that a policy holds for Pareto optimal: an interval, or one finite arm.

    Index, mean and uncertainty are in the user's units, by objective; mean is None where nothing was seen.

    >>> Piece(low=0.2, high=0.4, arm=None, index={"r": 1.2}, mean={"r": 0.5}, uncertainty={"r": 0.1},
    ...       count={"r": 40}).high
    0.4
    """

    low: float | None
    high: float | None
    arm: Any
    index: dict[str, float | None]
    mean: dict[str, float | None]
    uncertainty: dict[str, float | None]
    count: dict[str, int]


class Policy:
    """The two verbs, for any policy; see CONTRIBUTING for how to add one.

    >>> from paretozoom.policies.random import Random
    >>> from paretozoom.dimensions import Finite, Objective
    >>> policy = Random(Problem(context=[], arm=Finite(["a", "b"]), objectives=[Objective("r")]), seed=1)
    >>> decision = policy.ask([])
    >>> policy.tell(decision, [1.0])
    >>> policy.number, policy.open
    (1, [])
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    kernel: ClassVar[ModuleType]
    in_parts: ClassVar[bool] = True  # may learn from one objective before another is told

    def __init__(self, problem: Problem, *, seed: int, parameters: Mapping[str, Any]) -> None:
        if not isinstance(problem, Problem):
            raise Refused(f"problem: {problem!r} is not a Problem")
        self.problem = problem
        self.parameters = dict(parameters)
        self.number = 0
        self._open: dict[int, OpenDecision] = {}
        self._objectives = len(problem.objectives)
        self._dim = problem.dim
        self._complete = (1 << self._objectives) - 1
        self._needs = self._complete
        self._given = np.empty(self._objectives)
        self._seed = _checked_seed(seed)
        self._floats, self._ints = self._memory(self._key())

    # What a subclass provides.

    def _memory(self, key: Ints) -> tuple[Floats, Ints]:
        """The two arrays of a fresh policy whose draws are keyed by `key` (2,)."""
        raise NotImplementedError

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What was learned, without spare capacity."""
        return {}

    def _filled(self, arrays: Mapping[str, npt.NDArray[Any]], key: Ints) -> tuple[Floats, Ints]:
        """The two arrays that hold what `_arrays` gave."""
        return self._memory(key)

    def _begin(self, decision: Decision) -> None:
        """What asking changes in the learned arrays apart from the draw; called when a decision is replayed."""

    def front(self, context: Values = (), *, believed: bool = False) -> list[Piece]:
        """The arms held for Pareto optimal at a context, sorted by arm; nothing for a policy that learns nothing."""
        self.problem.encode_context(context, np.empty(self._dim))
        return []

    @property
    def notes(self) -> list[str]:
        """What a reader of any output must know: settings and states that the guarantee does not cover."""
        return []

    def facts(self) -> dict[str, Any]:
        """Numbers about what was learned that a study should report."""
        return {}

    # The two verbs.

    def ask(self, context: Values = ()) -> Decision:
        """Decide for a context."""
        point = np.empty(self._dim)
        plain = self.problem.encode_context(context, point)
        number = self.number
        arm, density, credit = self.kernel.ask(self._floats, self._ints, number, point)
        decision = Decision(number, plain, self.problem.decode_arm(arm, point), density, credit)
        self._remember(decision, point)
        return decision

    def tell(self, decision: Decision, reward: Values) -> None:
        """Learn the reward of an open decision, whole or in parts, now or late."""
        entry = self._find(decision)
        self._tell(entry, reward)

    def drop(self, decision: Decision) -> None:
        """Close an open decision without learning from it."""
        del self._open[self._find(decision).decision.number]

    @property
    def open(self) -> list[Decision]:
        """The decisions that are not yet told in every objective, in order."""
        return [entry.decision for entry in self._open.values()]

    def replay(self, event: Event) -> None:
        """Fold one event of a log, without drawing: the state gets the bytes it had when the event happened."""
        if isinstance(event, Asked):
            decision = event.decision
            if decision.number != self.number:
                raise Refused(f"event: decision {decision.number} asked, but the next number is {self.number}")
            point = np.empty(self._dim)
            self.problem.encode_context(decision.context, point)
            self.problem.encode_arm(decision.arm, point)
            self._begin(decision)
            self._remember(decision, point)
        elif isinstance(event, Told):
            self._tell(self._find_number(event.number), event.reward)
        elif isinstance(event, Dropped):
            del self._open[self._find_number(event.number).decision.number]
        else:
            raise Refused(f"event: {event!r} is not Asked, Told or Dropped")

    def _remember(self, decision: Decision, point: Floats) -> None:
        if not self.problem.exact:
            # What is learned from is the arm as the user reads it, so that a replayed log gives the same bits.
            self.problem.encode_arm(decision.arm, point)
        self._open[decision.number] = OpenDecision(decision, point, self._objectives)
        self.number = decision.number + 1

    def _find(self, decision: Decision) -> OpenDecision:
        if not isinstance(decision, Decision):
            raise Refused(f"decision: {decision!r} is not a Decision")
        entry = self._open.get(decision.number)
        if entry is None or not (entry.decision is decision or entry.decision == decision):
            raise Refused(f"decision {decision.number}: already told, dropped, or not of this policy")
        return entry

    def _find_number(self, number: int) -> OpenDecision:
        entry = self._open.get(number)
        if entry is None:
            raise Refused(f"decision {number}: already told, dropped, or not of this policy")
        return entry

    def _tell(self, entry: OpenDecision, reward: Values) -> None:
        given = self._given
        self.problem.encode_reward(reward, given)
        told = 0
        for i in range(self._objectives):
            if given[i] == given[i]:
                told |= 1 << i
        if told & entry.status:
            again = [n for i, n in enumerate(self.problem.objective_names) if (told & entry.status) >> i & 1]
            raise Refused(f"reward[{again[0]!r}]: decision {entry.decision.number} was already told this objective")
        number, credit = entry.decision.number, entry.decision.credit
        before = entry.status & self._complete
        if not self.in_parts and told != self._complete:
            entry.reward[:] = np.where(np.isnan(given), entry.reward, given)
            given = entry.reward
        ready = self._needs & ~(before | told) == 0 and self._needs & ~before != 0
        if self.in_parts or ready:
            self._floats, self._ints = self.kernel.room(self._floats, self._ints)
            entry.status = self.kernel.tell(self._floats, self._ints, number, entry.point, credit, given, entry.status)
        entry.status |= told
        if entry.status & self._complete == self._complete:
            del self._open[number]

    # State as data.

    @property
    def seed(self) -> int:
        """The seed: every draw is a function of it and the decision's number."""
        return self._seed

    def reseed(self, seed: int) -> None:
        """Take another seed for the draws to come; a policy that was never asked starts afresh with it."""
        self._seed = _checked_seed(seed)
        if self.number == 0:
            self._floats, self._ints = self._memory(self._key())
        else:
            self._floats, self._ints = self._filled(self._arrays(), self._key())

    def _key(self) -> Ints:
        return np.random.SeedSequence(self._seed).generate_state(2, np.uint64).view(np.int64)

    @property
    def nbytes(self) -> int:
        """Bytes held for what was learned."""
        return self._floats.nbytes + self._ints.nbytes

    def dump(self) -> Snapshot:
        """The whole state: what was learned, the seed, the next number and the open decisions."""
        entries = list(self._open.values())
        n = len(entries)
        arrays = dict(self._arrays())
        arrays["open_point"] = np.array([e.point for e in entries]).reshape(n, self._dim)
        arrays["open_reward"] = np.array([e.reward for e in entries]).reshape(n, self._objectives)
        arrays["open_status"] = np.array([e.status for e in entries], np.int64)
        header = {
            **self._identity(),
            "seed": str(self._seed),  # may exceed what JSON readers take for a number
            "number": self.number,
            "open": [msgspec.to_builtins(e.decision) for e in entries],
        }
        return Snapshot(header, arrays)

    def load(self, snapshot: Snapshot) -> None:
        """Take over a state that a policy of the same problem and parameters dumped; continues bit for bit."""
        for field, mine in self._identity().items():
            theirs = snapshot.header.get(field)
            if theirs != mine:
                raise Refused(f"snapshot: {field} is {theirs!r}, expected {mine!r}")
        try:
            seed = _checked_seed(int(snapshot.header["seed"]))
            number = int(snapshot.header["number"])
            decisions = msgspec.convert(snapshot.header["open"], list[Decision])
            key = np.random.SeedSequence(seed).generate_state(2, np.uint64).view(np.int64)
            floats, ints = self._filled(snapshot.arrays, key)
            opened: dict[int, OpenDecision] = {}
            for k, decision in enumerate(decisions):
                entry = OpenDecision(decision, np.empty(self._dim), self._objectives)
                entry.point[:] = snapshot.arrays["open_point"][k]
                entry.reward[:] = snapshot.arrays["open_reward"][k]
                entry.status = int(snapshot.arrays["open_status"][k])
                opened[decision.number] = entry
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise Refused(f"snapshot: damaged ({type(error).__name__}: {error})") from error
        self._seed, self.number, self._open = seed, number, opened
        self._floats, self._ints = floats, ints

    def _identity(self) -> dict[str, Any]:
        """What a snapshot and the policy that loads it must agree on, as JSON gives it back."""
        identity = {
            "format": FORMAT,
            "policy": self.name,
            "version": self.version,
            "parameters": self.parameters,
            "problem": self.problem,
        }
        plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(identity))
        return plain

    def __repr__(self) -> str:
        given = ", ".join(f"{k}={v!r}" for k, v in self.parameters.items())
        notes = "".join(f", {note}" for note in self.notes)
        return f"<{self.name}({given}) after {self.number} decisions{notes}>"


def _checked_seed(seed: int) -> int:
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise Refused(f"seed: {seed!r} is not a non-negative integer")
    return int(seed)
