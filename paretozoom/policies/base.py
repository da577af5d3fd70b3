"""What every policy shares, however it chooses: the verbs, the open decisions, one lock, snapshots and replay.

How an arm is chosen and a reward is learned is said by `compiled.py` (kernels on two arrays) or by `plain.py`
(ordinary Python).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import RLock
from typing import Any, ClassVar, Self

import msgspec
import numpy as np
import numpy.typing as npt

from paretozoom.policies.batches import of_row
from paretozoom.policies.fronts import Piece
from paretozoom.policies.locking import lock_public
from paretozoom.policies.open_decisions import OpenDecision, OpenDecisions, load_open, point_of, told_again
from paretozoom.policies.parameters import checked_problem, plain
from paretozoom.policies.snapshots import FORMAT, seed_and_number
from paretozoom.policies.summary import Summary
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats
from paretozoom.problem.feasible import ANY, encode_feasible
from paretozoom.records import Asked, Decision, Dropped, Event, Refused, Snapshot, Told, Values, checked_seed


class Policy:
    """The two verbs, for any policy; see CONTRIBUTING for how to add one.

    Threads may share a policy: its public methods and properties, also those that subclasses add, hold one lock.

    >>> from paretozoom import Finite, Objective, Problem, Random
    >>> policy = Random(Problem(context=[], arm=Finite(["a", "b"]), objectives=[Objective("r")]), seed=1)
    >>> decision = policy.ask([])
    >>> policy.tell(decision, [1.0])
    >>> policy.number, policy.open
    (1, [])
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1  # of the algorithm: another one for whatever changes what a log adds up to
    summary: ClassVar[Summary] = Summary("")
    in_parts: ClassVar[bool] = True  # may learn from one objective before another is told
    assumed_horizon: ClassVar[int | None] = None  # of a policy that needs one, if none is given
    _lock: RLock

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """A policy with its lock: so it is there before any `__init__`, and after unpickling."""
        policy = super().__new__(cls)
        policy._lock = RLock()
        return policy

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        lock_public(cls)

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __init__(self, problem: Problem, *, seed: int, parameters: Mapping[str, Any]) -> None:
        self.problem = checked_problem(problem)
        self.parameters: dict[str, Any] = plain(parameters)
        self.number = 0
        self._open = OpenDecisions()
        self._proposed: dict[int, tuple[Decision, Floats]] = {}  # so that these need not be encoded again
        self._objectives = len(problem.objectives)
        self._dim = problem.dim
        self._holds_lists = problem.holds_lists
        self._complete = (1 << self._objectives) - 1
        self._needs = self._complete
        self._given = np.empty(self._objectives)
        self._seed = checked_seed(seed)
        self._rest: Callable[[], None] | None = None  # of learning: what `finish` does

    # What a subclass provides.

    def _draw(self, context: Values, feasible: Any, number: int) -> tuple[Decision, Floats]:
        """The decision of this number, which is not made yet, and its encoded point; changes nothing."""
        raise NotImplementedError

    def _draw_ahead(self, context: Values, feasible: Any, number: int) -> tuple[Decision, Floats]:
        """As `_draw`, of a decision that may never be made."""
        return self._draw(context, feasible, number)

    def _encode_reward(self, reward: Values, out: Floats) -> int:
        """Write the numbers to learn of a reward to `out`, NaN where it is silent; returns a bit for each objective."""
        return self.problem.encode_reward(reward, out)

    def _make_room(self) -> None:
        """Prepare for one more reward; the last chance to raise."""

    def _update(self, entry: OpenDecision, given: Floats, before: int) -> None:
        """Learn what `_encode_reward` wrote, for a decision of which the objectives `before` were told earlier.

        What may take long is put in `_rest`.
        """
        raise NotImplementedError

    def _begin(self, decision: Decision) -> None:
        """What asking changes in what was learned apart from the draw; called when a decision is replayed."""

    def _credits(self, number: int, learned: Any = None) -> range:
        """The credits that a decision of this number can have, given what `_read` gave, or what is learned now."""
        return range(1)

    def _check_credit(self, decision: Decision, point: Floats, field: str, learned: Any = None) -> None:
        """Refuse a decision from outside that credits what does not exist."""
        known = self._credits(decision.number, learned)
        if decision.credit not in known:
            raise Refused(
                f"{field}: decision {decision.number} credits {decision.credit}, expected "
                + (f"{known[0]} to {known[-1]}" if len(known) > 1 else f"{known[0]}")
            )

    def _check_feasible(self, rows: Floats) -> None:
        """Refuse an encoded feasible set that the policy cannot handle."""

    def _rekey(self, seed: int) -> None:
        """Let another seed decide the draws to come."""

    def _saved(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """What was learned, as entries of a snapshot's header and as arrays."""
        raise NotImplementedError

    def _read(self, snapshot: Snapshot, seed: int, number: int) -> Any:
        """What a snapshot of this policy says was learned, checked and ready for `_take`; changes nothing."""
        raise NotImplementedError

    def _take(self, learned: Any) -> None:
        """Take over what `_read` gave."""
        raise NotImplementedError

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

    @property
    def nbytes(self) -> int:
        """Bytes held for what was learned, as far as they can be counted."""
        return 0

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
        self._lock.acquire()  # half the time of a with statement, which here is a tenth of the call
        try:
            decision, point = self._draw(context, feasible, self.number)
            self._remember(decision, point)
            return decision
        finally:
            self._lock.release()

    def propose(self, context: Values = (), *, feasible: Any = None, ahead: int = 0) -> Decision:
        """The decision that `ask` would make after `ahead` others, if nothing is told meanwhile; it is not made.

        ``replay(Asked(decision))`` makes it: for whoever must write a decision down first.

        >>> from paretozoom import PaperTask, Random
        >>> policy = Random(PaperTask().problem, seed=1)
        >>> later = policy.propose([0.5], ahead=1)
        >>> policy.ask([0.5]).number, policy.ask([0.5]) == later
        (0, True)
        """
        with self._lock:
            decision, point = self._draw_ahead(context, feasible, self.number + ahead)
            self._proposed[decision.number] = decision, point
            return decision

    def _encode_feasible(self, feasible: Any) -> Floats:
        if feasible is None:
            return ANY
        rows = encode_feasible(self.problem, feasible)
        self._check_feasible(rows)
        return rows

    def tell(self, decision: Decision, reward: Values) -> None:
        """Learn the reward of an open decision, whole or in parts, now or late."""
        self._lock.acquire()  # as in ask
        try:
            self._tell(self._open.find(decision), reward)
        finally:
            self._lock.release()

    def ask_many(self, contexts: Sequence[Values] | npt.NDArray[Any], *, feasible: Any = None) -> Sequence[Decision]:
        """Decide for many contexts: the decisions that `ask` would make one after another; all are made, or none.

        A feasible set is the same for all of them.
        """
        with self._lock:
            drawn = [
                of_row("contexts", k, lambda one, number: self._draw(one, feasible, number), context, self.number + k)
                for k, context in enumerate(contexts)
            ]
            for decision, point in drawn:
                self._remember(decision, point)
            return [decision for decision, _ in drawn]

    def tell_many(self, decisions: Sequence[Decision], rewards: Sequence[Values] | npt.NDArray[Any]) -> None:
        """Learn many rewards, as `tell` would one after another; if one is refused, none is learned."""
        with self._lock:
            given = np.empty((len(rewards), self._objectives))
            told = [of_row("rewards", k, self._encode_reward, reward, given[k]) for k, reward in enumerate(rewards)]
            self._tell_rows(decisions, told, given)

    def _tell_rows(self, decisions: Sequence[Decision], told: Sequence[int], given: Floats) -> None:
        """Learn encoded rewards, a row for each decision."""
        if len(decisions) != len(given):
            raise Refused(f"rewards: {len(given)} given for {len(decisions)} decisions")
        entries = [self._open.find(decision) for decision in decisions]
        seen: dict[int, int] = {}
        for entry, mask in zip(entries, told, strict=True):
            before = seen.get(entry.number, entry.told)
            if mask & before:
                raise told_again(self.problem, entry.number, mask & before)
            seen[entry.number] = before | mask
        for entry, mask, row in zip(entries, told, given, strict=True):
            self._learn(entry, mask, row)

    def drop(self, decision: Decision) -> None:
        """Close an open decision without learning from it."""
        with self._lock:
            del self._open[self._open.find(decision).number]

    def reopen(self, decision: Decision, reward: Values | None = None) -> None:
        """Take back an open decision that was dropped for the memory it took, and what it had been told.

        The state is as if it had stayed: for whoever keeps many open decisions elsewhere.

        >>> from paretozoom import PaperTask, Random
        >>> policy = Random(PaperTask().problem, seed=1)
        >>> decision = policy.ask([0.5])
        >>> policy.tell(decision, {"first": 0.5})
        >>> policy.drop(decision)
        >>> policy.reopen(decision, {"first": 0.5})
        >>> policy.tell(decision, {"second": 1.0})
        >>> policy.open
        []
        """
        with self._lock:
            point = point_of(self.problem, decision, "decision")
            if not 0 <= decision.number < self.number or decision.number in self._open:
                raise Refused(f"decision {decision.number}: is open, or was never made")
            self._check_credit(decision, point, "decision")
            entry = OpenDecision.of(decision, point)
            if reward is not None:
                entry.told = self._encode_reward(reward, self._given)
                if entry.told == self._complete:
                    raise Refused(f"reward: {reward!r} leaves nothing open of decision {decision.number}")
                if not self.in_parts:
                    entry.gather(self._given)
            self._open[decision.number] = entry

    @property
    def open(self) -> list[Decision]:
        """The decisions that are not yet told in every objective, in order."""
        with self._lock:
            return [entry.record() for entry in self._open.in_order()]

    def open_decision(self, number: int) -> Decision:
        """A decision that is not yet told in every objective, by its number."""
        with self._lock:
            return self._open.find_number(number).record()

    def replay(self, event: Event, *, finish: bool = True) -> None:
        """Fold one event of a log, without drawing: the state gets the bytes it had when the event happened.

        Without `finish`, what may take long of learning is left: whoever folds calls `finish` before anything else,
        perhaps in another thread.
        """
        with self._lock:
            if isinstance(event, Asked):
                self._replay_asked(event.decision)
            elif isinstance(event, Told):
                self._tell(self._open.find_number(event.number), event.reward, finish)
            elif isinstance(event, Dropped):
                del self._open[self._open.find_number(event.number).number]
            else:
                raise Refused(f"event: {event!r} is not Asked, Told or Dropped")

    @property
    def unfinished(self) -> bool:
        """Whether `replay` has left something; this alone waits for no lock."""
        return self._rest is not None

    def finish(self) -> None:
        """Learn what `replay` has left.

        >>> from paretozoom import PaperTask, Random
        >>> policy = Random(PaperTask().problem, seed=1)
        >>> decision = policy.ask([0.5])
        >>> policy.replay(Told(decision.number, {"first": 0.5}), finish=False)
        >>> policy.unfinished  # of this policy nothing takes long
        False
        >>> policy.finish()
        """
        with self._lock:
            if self._rest is not None:
                try:
                    self._rest()
                finally:
                    self._rest = None

    def _replay_asked(self, decision: Decision) -> None:
        known = isinstance(decision, Decision) and type(decision.number) is int
        proposed = self._proposed.pop(decision.number, None) if known else None
        if proposed is not None and proposed[0] is decision:
            point = proposed[1]
        else:
            point = point_of(self.problem, decision, "event")
        if decision.number != self.number:
            raise Refused(f"event: decision {decision.number} asked, but the next number is {self.number}")
        self._check_credit(decision, point, "event")
        self._begin(decision)
        self._remember(decision, point)

    def _remember(self, decision: Decision, point: Floats) -> None:
        if not self.problem.exact:
            # What is learned from is the arm as the user reads it, so that a replayed log gives the same bits.
            self.problem.encode_arm(decision.arm, point)
        self._open[decision.number] = OpenDecision.of(decision, point, self._holds_lists)
        self.number = decision.number + 1

    def _tell(self, entry: OpenDecision, reward: Values, finish: bool = True) -> None:
        told = self._encode_reward(reward, self._given)
        if told & entry.told:
            raise told_again(self.problem, entry.number, told & entry.told)
        self._learn(entry, told, self._given, finish)

    def _learn(self, entry: OpenDecision, told: int, given: Floats, finish: bool = True) -> None:
        if self._rest is not None:
            self.finish()
        before = entry.told
        if not self.in_parts and told != self._complete:
            given = entry.gather(given)
        due = self.in_parts or (self._needs & ~(before | told) == 0 and self._needs & ~before != 0)
        if due:
            self._make_room()
        entry.told = before | told
        if entry.told == self._complete:
            del self._open[entry.number]
        if due:  # last: whatever it raises, no reward is learned twice
            self._update(entry, given, before)
            if finish and self._rest is not None:
                self.finish()

    # State as data.

    @property
    def seed(self) -> int:
        """The seed: every draw is a function of it and the decision's number."""
        return self._seed

    def reseed(self, seed: int) -> None:
        """Take another seed for the draws to come; a policy that was never asked starts afresh with it."""
        seed = checked_seed(seed)
        with self._lock:
            self._rekey(seed)
            self._seed = seed

    @property
    def can_dump(self) -> bool:
        """Whether `dump` gives a snapshot; a policy that cannot be saved lives on by folding its log."""
        return True

    def dump(self, *, with_open: bool = True) -> Snapshot:
        """The whole state: what was learned, the seed, the next number and, if wanted, the open decisions."""
        with self._lock:
            self.finish()
            more, learned = self._saved()
            records, arrays = (self._open if with_open else OpenDecisions()).dump(self._objectives)
            header = {
                **self._identity(),
                "seed": str(self._seed),  # may exceed what JSON readers take for a number
                "number": self.number,
                "open": records,
                **more,
            }
            return Snapshot(header, {**learned, **arrays})

    def load(self, snapshot: Snapshot) -> None:
        """Take over a state that a policy of the same problem and parameters dumped; continues bit for bit."""
        seed, number = seed_and_number(snapshot, self._identity())
        opened = load_open(self.problem, snapshot.header.get("open"), snapshot.arrays, number)
        with self._lock:
            learned = self._read(snapshot, seed, number)
            for entry in opened.values():
                self._check_credit(entry.decision, entry.point, "snapshot: open", learned)
            self._take(learned)
            self._rest = None
            self._seed, self.number, self._open = seed, number, opened

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
