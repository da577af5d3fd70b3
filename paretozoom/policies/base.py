"""What every policy shares: the border, the open decisions, snapshots and replay.

A policy is a subclass that names its kernel module and fills two arrays; `ask` and `tell` here do the
checking and counting, the kernel does the mathematics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar

import msgspec
import numpy as np
import numpy.typing as npt

from paretozoom.kernels.core.looping import verbs_of
from paretozoom.kernels.loops import batches
from paretozoom.policies.batches import DecisionColumns, Decisions, encode_contexts, encode_rewards
from paretozoom.policies.opened import OpenDecision, dump_opened, load_opened, point_of
from paretozoom.policies.parameters import checked_problem, differing, plain
from paretozoom.policies.summary import Summary
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.problem.feasible import ANY, encode_feasible
from paretozoom.records import Asked, Decision, Dropped, Event, Refused, Snapshot, Told, Values, checked_seed

FORMAT = 1
MOST_DECISIONS = 1 << 60


class Piece(msgspec.Struct, frozen=True):
    """A part of the arm space that a policy holds for Pareto optimal: an interval, a box, or one finite arm.

    Of a box low and high are arms, its corners.
    Index, mean, uncertainty and count are by objective, the first three in the user's units. None stands for what a
    policy does not keep, or has not seen yet:

    - zooming policies: the ball's optimistic index, the mean of its rewards, how unsure that is, and their number;
    - trees of arms: the same of a cell of arms (index U);
    - linear and kernel policies, CLUB and COFIBA: mean plus width, the estimate at the context, the width, and how
      often the arm was told (of CLUB and COFIBA: the user's cluster);
    - policies with a table of means: no index; the arm's mean in the context cell, 1 / sqrt(count), and its number;
    - policies over rules: nothing but how many rewards were learned from in all.

    >>> Piece(low=0.2, high=0.4, arm=None, index={"r": 1.2}, mean={"r": 0.5}, uncertainty={"r": 0.1},
    ...       count={"r": 40}).high
    0.4
    """

    low: float | dict[str, Any] | None
    high: float | dict[str, Any] | None
    arm: Any
    index: dict[str, float | None]
    mean: dict[str, float | None]
    uncertainty: dict[str, float | None]
    count: dict[str, int]


class Policy:
    """The two verbs, for any policy; see CONTRIBUTING for how to add one.

    >>> from paretozoom.policies.arms.random import Random
    >>> from paretozoom.problem.dimensions import Finite, Objective
    >>> policy = Random(Problem(context=[], arm=Finite(["a", "b"]), objectives=[Objective("r")]), seed=1)
    >>> decision = policy.ask([])
    >>> policy.tell(decision, [1.0])
    >>> policy.number, policy.open
    (1, [])
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1  # of the algorithm: another one for whatever changes what a log adds up to
    kernel: ClassVar[ModuleType]
    summary: ClassVar[Summary] = Summary("")
    in_parts: ClassVar[bool] = True  # may learn from one objective before another is told
    takes_late: ClassVar[bool] = True  # may learn from rewards that come late and out of order
    assumed_horizon: ClassVar[int | None] = None  # of a policy that needs one, if none is given

    def __init__(self, problem: Problem, *, seed: int, parameters: Mapping[str, Any]) -> None:
        self.problem = checked_problem(problem)
        self.parameters: dict[str, Any] = plain(parameters)
        self.number = 0
        self._open: dict[int, OpenDecision] = {}
        self._proposed: dict[int, tuple[Decision, Floats]] = {}  # so that these need not be encoded again
        self._objectives = len(problem.objectives)
        self._dim = problem.dim
        self._complete = (1 << self._objectives) - 1
        self._needs = self._complete
        self._given = np.empty(self._objectives)
        self._seed = checked_seed(seed)
        self._floats, self._ints = self._memory(_key_of(self._seed))

    # What a subclass provides.

    def _memory(self, key: Ints) -> tuple[Floats, Ints]:
        """The two arrays of a fresh policy whose draws are keyed by `key` (2,)."""
        raise NotImplementedError

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What was learned, without spare capacity."""
        return {}

    def _check_credit(self, decision: Decision, ints: Ints, field: str) -> None:
        """Refuse a decision that credits what does not exist."""

    def _filled(self, arrays: Mapping[str, npt.NDArray[Any]], key: Ints, number: int) -> tuple[Floats, Ints]:
        """The two arrays that hold what `_arrays` gave."""
        return self._memory(key)

    def _begin(self, decision: Decision) -> None:
        """What asking changes in the learned arrays apart from the draw; called when a decision is replayed."""

    def _check_feasible(self, rows: Floats) -> None:
        """Refuse an encoded feasible set that the policy cannot handle."""

    def front(self, context: Values = (), *, believed: bool = False, feasible: Any = None) -> list[Piece]:
        """The arms held for Pareto optimal at a context, sorted by arm; nothing for a policy that learns nothing."""
        self._encode_feasible(feasible)
        self.problem.encode_context(context, np.empty(self._dim))
        return []

    @property
    def notes(self) -> list[str]:
        """What a reader of any output must know: settings and states that the guarantee does not cover."""
        confidence = self.parameters.get("confidence", 1.0)
        horizon = self.parameters.get("horizon") or self.assumed_horizon
        notes = [] if confidence == 1 else [f"confidence={confidence:g}"]
        if self._needs != self._complete:
            learned = [repr(n) for o, n in enumerate(self.problem.objective_names) if self._needs >> o & 1]
            notes.insert(0, f"learns {', '.join(learned)} only")
        return [*notes, "beyond horizon"] if horizon is not None and self.number > horizon else notes

    @property
    def density_kind(self) -> str:
        """What `Decision.density` is: "density", "probability" of single arms, or "estimate"."""
        return "probability" if len(self.problem.encoding.arms) else "density"

    def facts(self) -> dict[str, Any]:
        """Numbers about what was learned that a study should report."""
        return {}

    def delta_of_bounds(self, rounds: int, noise_scale: float) -> float | None:
        """The probability with which bounds of `paretozoom.theory` may fail; None if they are not about this policy."""
        return None

    # The two verbs.

    def ask(self, context: Values = (), *, feasible: Any = None) -> Decision:
        """Decide for a context, among the feasible arms if some are named.

        Of finite arms name the labels; otherwise give a box, or a list of boxes: what each dimension may be, as
        ``{"price": (2, 5), "codec": ["x264", "av1"]}``; dimensions left out may be anything.
        """
        decision, point = self._draw(context, feasible, self.number)
        self._remember(decision, point)
        return decision

    def propose(self, context: Values = (), *, feasible: Any = None, ahead: int = 0) -> Decision:
        """The decision that `ask` would make after `ahead` others, if nothing is told meanwhile; it is not made.

        ``replay(Asked(decision))`` makes it: for whoever must write a decision down first.

        >>> from paretozoom import PaperTask, Random
        >>> policy = Random(PaperTask().problem, seed=1)
        >>> later = policy.propose([0.5], ahead=1)
        >>> policy.ask([0.5]).number, policy.ask([0.5]) == later
        (0, True)
        """
        decision, point = self._draw(context, feasible, self.number + ahead)
        self._proposed[decision.number] = decision, point
        return decision

    def _draw(self, context: Values, feasible: Any, number: int) -> tuple[Decision, Floats]:
        allowed = self._encode_feasible(feasible)
        point = np.empty(self._dim)
        plain = self.problem.encode_context(context, point)
        arm, density, credit = self.kernel.ask(self._floats, self._ints, number, point, allowed)
        return Decision(number, plain, self.problem.decode_arm(arm, point), density, credit), point

    def _encode_feasible(self, feasible: Any) -> Floats:
        if feasible is None:
            return ANY
        rows = encode_feasible(self.problem, feasible)
        self._check_feasible(rows)
        return rows

    def tell(self, decision: Decision, reward: Values) -> None:
        """Learn the reward of an open decision, whole or in parts, now or late."""
        entry = self._find(decision)
        self._tell(entry, reward)

    def ask_many(self, contexts: Sequence[Values] | npt.NDArray[Any], *, feasible: Any = None) -> Decisions:
        """Decide for many contexts: the decisions that `ask` would make one after another, in one compiled loop.

        A feasible set is the same for all of them.
        """
        allowed = self._encode_feasible(feasible)
        n, number = len(contexts), self.number
        point = np.empty((n, self._dim))
        plain = encode_contexts(self.problem, contexts, point)
        numbers = np.arange(number, number + n)
        columns = DecisionColumns(numbers, point, np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64))
        batches.ask_many(verbs_of(self.kernel), self._floats, self._ints, number, allowed, *columns[1:])
        arms = None
        if not self.problem.exact:
            arms = [self.problem.decode_arm(arm, at) for arm, at in zip(columns.arm.tolist(), point, strict=True)]
            for arm, at in zip(arms, point, strict=True):
                self.problem.encode_arm(arm, at)
        decisions = Decisions(self.problem, plain, columns, arms)
        rows = zip(numbers.tolist(), columns.credit.tolist(), point, strict=True)
        self._open.update((m, OpenDecision(decisions, k, m, credit, at)) for k, (m, credit, at) in enumerate(rows))
        self.number = number + n
        return decisions

    def tell_many(self, decisions: Sequence[Decision], rewards: Sequence[Values] | npt.NDArray[Any]) -> None:
        """Learn many rewards, as `tell` would one after another; if one is refused, none is learned."""
        if len(decisions) != len(rewards):
            raise Refused(f"rewards: {len(rewards)} given for {len(decisions)} decisions")
        given = np.empty((len(rewards), self._objectives))
        told = encode_rewards(self.problem, rewards, given)
        if isinstance(decisions, Decisions) and self._is_untold(decisions) and (told == self._complete).all():
            columns = decisions.columns
            self._floats, self._ints = batches.tell_many(
                verbs_of(self.kernel), self._floats, self._ints, columns.number, columns.point, columns.credit, given
            )
            for number in columns.number.tolist():
                del self._open[number]
            return
        entries = [self._find(decision) for decision in decisions]
        seen: dict[int, int] = {}
        for entry, mask in zip(entries, told.tolist(), strict=True):
            before = seen.get(entry.number, entry.told)
            self._check_untold(entry.number, mask, before)
            seen[entry.number] = before | mask
        for entry, mask, row in zip(entries, told.tolist(), given, strict=True):
            self._learn(entry, mask, row)

    def _is_untold(self, decisions: Decisions) -> bool:
        """Whether a batch is as it was asked here, every row open and untold: then no record need be made of any."""
        entries = map(self._open.get, decisions.columns.number.tolist())
        return all(
            entry is not None and entry.source is decisions and entry.row == row and entry.told == 0
            for row, entry in enumerate(entries)
        )

    def drop(self, decision: Decision) -> None:
        """Close an open decision without learning from it."""
        del self._open[self._find(decision).number]

    @property
    def open(self) -> list[Decision]:
        """The decisions that are not yet told in every objective, in order."""
        return [entry.record() for entry in self._open.values()]

    def replay(self, event: Event) -> None:
        """Fold one event of a log, without drawing: the state gets the bytes it had when the event happened."""
        if isinstance(event, Asked):
            decision = event.decision
            point = self._point_proposed(decision)
            if point is None:
                point = point_of(self.problem, decision, "event")
            if decision.number != self.number:
                raise Refused(f"event: decision {decision.number} asked, but the next number is {self.number}")
            self._begin(decision)
            self._remember(decision, point)
        elif isinstance(event, Told):
            self._tell(self._find_number(event.number), event.reward)
        elif isinstance(event, Dropped):
            del self._open[self._find_number(event.number).number]
        else:
            raise Refused(f"event: {event!r} is not Asked, Told or Dropped")

    def _point_proposed(self, decision: Decision) -> Floats | None:
        """The encoded point of a decision that was proposed here, and not made since."""
        known = isinstance(decision, Decision) and type(decision.number) is int
        proposed = self._proposed.pop(decision.number, None) if known else None
        return proposed[1] if proposed is not None and proposed[0] is decision else None

    def _remember(self, decision: Decision, point: Floats) -> None:
        if not self.problem.exact:
            # What is learned from is the arm as the user reads it, so that a replayed log gives the same bits.
            self.problem.encode_arm(decision.arm, point)
        self._open[decision.number] = OpenDecision.of(decision, point)
        self.number = decision.number + 1

    def _find(self, decision: Decision) -> OpenDecision:
        if not isinstance(decision, Decision):
            raise Refused(f"decision: {decision!r} is not a Decision")
        entry = self._find_number(decision.number)
        if entry.source is decision:
            return entry
        try:
            same = bool(entry.decision == decision)
        except ValueError:  # an array somewhere in it
            same = False
        if not same:
            raise Refused(f"decision {decision.number}: already told, dropped, or not of this policy")
        return entry

    def _find_number(self, number: int) -> OpenDecision:
        entry = self._open.get(number) if isinstance(number, int) else None
        if entry is None:
            raise Refused(f"decision {number}: already told, dropped, or not of this policy")
        return entry

    def _tell(self, entry: OpenDecision, reward: Values) -> None:
        told = self.problem.encode_reward(reward, self._given)
        self._check_untold(entry.number, told, entry.told)
        self._learn(entry, told, self._given)

    def _check_untold(self, number: int, told: int, before: int) -> None:
        if told & before:
            again = [n for i, n in enumerate(self.problem.objective_names) if (told & before) >> i & 1]
            raise Refused(f"reward[{again[0]!r}]: decision {number} was already told this objective")

    def _learn(self, entry: OpenDecision, told: int, given: Floats) -> None:
        before = entry.told
        if not self.in_parts and told != self._complete:
            given = entry.gather(given)
        ready = self._needs & ~(before | told) == 0 and self._needs & ~before != 0
        if self.in_parts or ready:
            self._floats, self._ints = self.kernel.room(self._floats, self._ints)
            self.kernel.tell(self._floats, self._ints, entry.number, entry.point, entry.credit, given, before)
        entry.told = before | told
        if entry.told == self._complete:
            del self._open[entry.number]

    # State as data.

    @property
    def seed(self) -> int:
        """The seed: every draw is a function of it and the decision's number."""
        return self._seed

    def reseed(self, seed: int) -> None:
        """Take another seed for the draws to come; a policy that was never asked starts afresh with it."""
        seed = checked_seed(seed)
        if self.number == 0:
            self._floats, self._ints = self._memory(_key_of(seed))
        else:
            self._floats, self._ints = self._filled(self._arrays(), _key_of(seed), self.number)
        self._seed = seed

    @property
    def nbytes(self) -> int:
        """Bytes held for what was learned."""
        return self._floats.nbytes + self._ints.nbytes

    def dump(self) -> Snapshot:
        """The whole state: what was learned, the seed, the next number and the open decisions."""
        records, arrays = dump_opened(self._open, self._objectives)
        header = {
            **self._identity(),
            "seed": str(self._seed),  # may exceed what JSON readers take for a number
            "number": self.number,
            "open": records,
        }
        return Snapshot(header, {**self._arrays(), **arrays})

    def load(self, snapshot: Snapshot) -> None:
        """Take over a state that a policy of the same problem and parameters dumped; continues bit for bit."""
        if not (isinstance(snapshot, Snapshot) and isinstance(snapshot.header, dict)):
            raise Refused(
                f"snapshot: a {type(snapshot).__name__} is not a Snapshot; of bytes, Snapshot.from_bytes makes one"
            )
        for field, mine in self._identity().items():
            theirs = snapshot.header.get(field)
            if theirs != mine:
                raise Refused(f"snapshot: {differing(field, theirs, mine)}")
        digits, number = snapshot.header.get("seed"), snapshot.header.get("number")
        if not isinstance(digits, str) or not digits.isdecimal():
            raise Refused(f"snapshot: seed is {digits!r}, expected the digits of a non-negative integer")
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < MOST_DECISIONS:
            raise Refused(f"snapshot: number is {number!r}, expected an integer from 0 to below {MOST_DECISIONS}")
        floats, ints = self._filled(snapshot.arrays, _key_of(int(digits)), number)
        records = snapshot.header.get("open")
        opened = load_opened(self.problem, records, snapshot.arrays, number)
        for entry in opened.values():
            self._check_credit(entry.decision, ints, "snapshot: open")
        self._seed, self.number, self._open = int(digits), number, opened
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


def _key_of(seed: int) -> Ints:
    return np.random.SeedSequence(seed).generate_state(2, np.uint64).view(np.int64)
