"""An experiment: a fold over its log, and nothing else."""

from __future__ import annotations

import hashlib
import logging
import sys
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, Literal, TypeGuard

import msgspec

from paretozoom.policies.base import Policy
from paretozoom.problem import Problem
from paretozoom.records import Asked, Decision, Dropped, Refused, Snapshot, Told
from paretozoom.registry import check_parameters
from paretozoom.service.experiments.epochs import Epochs
from paretozoom.service.experiments.open_decisions import OpenDecisions, digest_of
from paretozoom.service.experiments.policies import known_policies
from paretozoom.store.events import (
    Activated,
    Cancelled,
    Carried,
    ClockJudged,
    ClockJumped,
    Created,
    Decided,
    Entry,
    EpochBegan,
    Erased,
    Event,
    Expired,
    Paused,
    Removed,
    Resumed,
    Retired,
    Rewarded,
    Ticked,
    WaitChanged,
)

log = logging.getLogger("paretozoom")
Status = Literal["running", "paused", "retired"]


KEPT_AT_HAND = 10_000  # open decisions that need not be read back from the log: those used last


class NotAtHand(Exception):
    """Decisions that must be read back from the log first."""

    def __init__(self, numbers: set[int]) -> None:
        super().__init__(sorted(numbers)[:10])
        self.numbers = numbers


class Counts(msgspec.Struct):
    """How often things happened; the reward of each objective, summed and counted.

    >>> Counts().decisions
    0
    """

    decisions: int = 0
    rewards: int = 0
    expiries: int = 0
    cancellations: int = 0
    totals: dict[str, float] = {}
    told: dict[str, int] = {}


class _State(msgspec.Struct):
    """What a snapshot holds beside the policy's own."""

    seq: int
    time: float
    jumps: list[tuple[float, float]]
    created: Created
    created_at: float
    status: Status
    wait: float | None
    default: dict[str, float] | None
    counts: Counts
    epochs: list[tuple[str, int]]


def make_policy(name: str, problem: Problem, parameters: dict[str, Any], seed: int) -> Policy:
    """A policy by name, of this library or one that the operator let in; nothing that a request names is ever imported.

    >>> from paretozoom import PaperTask
    >>> make_policy("pcz", PaperTask().problem, {"horizon": 100}, 1).name
    'pcz'
    """
    similarity = parameters.get("similarity")
    if callable(similarity) or (isinstance(similarity, dict) and "function" in similarity):
        raise Refused("parameters['similarity']: a function cannot be given here; give weights, a norm or a matrix")
    if "seed" in parameters:
        raise Refused("parameters: the seed is given beside the parameters, not among them")
    members = known_policies()
    if name not in members:
        raise Refused(
            f"policy: {name!r} is not one of {sorted(members)!r}; one of your own is let in by the service's --policy"
        )
    member = members[name]
    check_parameters(member, parameters, beside=("seed",))
    try:
        return member(problem, seed=seed, **parameters)
    except Refused:
        raise
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, MemoryError) as error:
        raise Refused(f"parameters: {parameters!r} do not make a policy {name!r} ({error})") from error


class Experiment:
    """The state of an experiment after some entries of its log.

    Of open decisions it has the columns, and the latest whole. What else is needed is brought back from the log.

    >>> from paretozoom import PaperTask
    >>> begin = Entry(1, 0.0, Created(PaperTask().problem, "random", {}, 7, 1, by="loopback"))
    >>> experiment = Experiment("prices", begin)
    >>> decision = experiment.policy.propose([0.5])
    >>> experiment.fold(Entry(2, 1.0, Decided(decision)))
    >>> experiment.fold(Entry(3, 2.0, Rewarded(0, {"first": 1.0})))
    >>> experiment.counts.rewards, experiment.reward_of(0), experiment.seq
    (1, {'first': 1.0}, 3)
    """

    def __init__(self, name: str, first: Entry) -> None:
        if not isinstance(first.event, Created):
            raise Refused(f"log {name!r}: begins with {first.event!r}, expected the creation of an experiment")
        self.name = name
        self.created = first.event
        self.created_at = first.time
        self.problem = first.event.problem
        self.policy = make_policy(first.event.policy, first.event.problem, first.event.parameters, first.event.seed)
        if first.event.version != self.policy.version:
            raise Refused(
                f"experiment {name!r}: is of version {first.event.version} of {self.policy.name}, this is version "
                f"{self.policy.version}, which would learn something else from its log"
            )
        self.seq, self.time = first.seq, first.time
        self.jumps: list[tuple[float, float]] = []  # of the clock, on which nobody has said yet whether they count
        self.status: Status = "running"
        self.wait, self.default = first.event.wait, first.event.default
        self.open_decisions = OpenDecisions()
        self._at_hand: dict[int, dict[str, float]] = {}  # of open decisions that the policy has: what was told
        self.lost: set[int] = set()  # of which the log no longer says what was decided; not a part of the state
        self.positions: list[float | None] = []  # of recent decisions on their fronts; not a part of the state
        self.counts = Counts()
        self.epochs = Epochs()
        if first.event.epoch is not None:
            self.epochs.begin(first.event.epoch, 0)
        self._objectives = len(self.problem.objectives)

    def fold(self, entry: Entry, *, finish: bool = True) -> None:
        """Take in the next entry of the log; without `finish`, that is to be called before anything else."""
        if entry.seq != self.seq + 1:
            raise Refused(f"log {self.name!r}: entry {entry.seq} comes after {self.seq}")
        event = entry.event
        if isinstance(event, Decided):
            self.policy.replay(Asked(event.decision))
            self.open_decisions.add(event.decision, entry.time, event.deferred)
            self._at_hand[event.decision.number] = {}
            self.counts.decisions += 1
        elif isinstance(event, Rewarded):
            self._reward(event.number, event.reward)
            self.counts.rewards += 1
        elif isinstance(event, Expired):
            if event.reward:
                self._reward(event.number, event.reward)
            self._close(event.number)
            self.counts.expiries += 1
        elif isinstance(event, Cancelled):
            self._close(event.number)
            self.counts.cancellations += 1
        elif isinstance(event, Activated):
            self.open_decisions.activate(event.number, entry.time)
        elif isinstance(event, Carried):
            told = self._bits(event.reward)
            self.open_decisions.add(event.decision, event.made, event.deferred, shown=event.shown, told=told)
        elif isinstance(event, ClockJumped):
            self.jumps.append((event.before, entry.time))
        elif isinstance(event, ClockJudged):
            for before, after in [] if event.counts else self.jumps:
                self.open_decisions.forgive(before, after - before)
            self.jumps = []
        elif isinstance(event, WaitChanged):
            self.wait, self.default = event.wait, event.default
        elif isinstance(event, EpochBegan):
            self.epochs.begin(event.epoch, self.policy.number)
        elif isinstance(event, Paused):
            self.status = "paused"
        elif isinstance(event, Resumed):
            self.status = "running"
        elif isinstance(event, Retired):
            self.status = "retired"
            self.put_away(0)
            self.open_decisions.clear()
        elif isinstance(event, Erased):
            raise Refused(
                f"log {self.name!r}: entry {entry.seq} was erased, so the log is folded from a later snapshot"
            )
        elif not isinstance(event, (Removed, Ticked)):
            raise Refused(f"log {self.name!r}: entry {entry.seq} is {event!r}, which no experiment has")
        self.seq, self.time = entry.seq, max(self.time, entry.time)
        if finish and self.policy.unfinished:
            self.finish()

    def finish(self) -> None:
        """Learn what folding an entry has left, as it may take long."""
        self._let_learn(self.policy.finish)

    def _let_learn(self, learn: Callable[[], None]) -> None:
        try:
            learn()
        except Refused:
            raise
        except Exception:  # of the operator's own policy, to which the reward counts as told
            log.exception("a policy failed to learn", extra={"experiment": self.name, "entry": self.seq})

    def _bits(self, reward: Iterable[str]) -> int:
        return sum(1 << self.problem.objective_names.index(name) for name in reward)

    def _reward(self, number: int, reward: dict[str, float]) -> None:
        told = self.reward_of(number)
        self._let_learn(lambda: self.policy.replay(Told(number, reward), finish=False))
        self._at_hand[number] = {**told, **reward}
        for name, value in reward.items():
            self.counts.totals[name] = self.counts.totals.get(name, 0.0) + value
            self.counts.told[name] = self.counts.told.get(name, 0) + 1
        if self.open_decisions.tell(number, self._bits(reward)) == (1 << self._objectives) - 1:
            self.open_decisions.close(number)
            del self._at_hand[number]

    def _close(self, number: int) -> None:
        if number in self.open_decisions:
            self.open_decisions.close(number)
            if self._at_hand.pop(number, None) is not None:
                self.policy.replay(Dropped(number))

    def number_of(self, public: str) -> int:
        """The number of a decision by its public id, if the log gave it."""
        return self.epochs.number_of(public, until=self.policy.number)

    # Decisions at hand, and those that are only in the log.

    def reward_of(self, number: int) -> dict[str, float]:
        """What an open decision was told so far; raises `NotAtHand` if that must be brought back first."""
        if number not in self._at_hand:
            raise NotAtHand({number})
        return self._at_hand[number]

    def not_at_hand(self, numbers: Iterable[int]) -> set[int]:
        """Which of some decisions are open and must be brought back before they are told."""
        return {number for number in numbers if number not in self._at_hand and number in self.open_decisions}

    def bring_back(self, numbers: Iterable[int], entries: Iterable[Entry]) -> set[int]:
        """Have some open decisions at hand, from all that the log says of them; gives those of which it says else."""
        lost = set()
        decisions: dict[int, Decision] = {}
        rewards: dict[int, dict[str, float]] = {}
        for entry in entries:
            event = entry.event
            if isinstance(event, (Decided, Carried)):
                decisions[event.decision.number] = event.decision
            if isinstance(event, (Rewarded, Carried)) and entry.seq <= self.seq:
                number = event.number if isinstance(event, Rewarded) else event.decision.number
                rewards.setdefault(number, {}).update(event.reward)
        for number in numbers:
            found = self.open_decisions.get(number)
            if found is None or number in self._at_hand:
                continue
            told, decision = rewards.get(number, {}), decisions.get(number)
            if decision is None or digest_of(decision) != found.digest or self._bits(told) != found.told:
                lost.add(number)
                continue
            self.policy.reopen(decision, told or None)
            self._at_hand[number] = told
        return lost

    def put_away(self, most: int | None = None, at_once: int = sys.maxsize) -> bool:
        """Keep no more decisions at hand than some, `KEPT_AT_HAND` unless it is said; whether others must still go."""
        surplus = len(self._at_hand) - (KEPT_AT_HAND if most is None else most)
        for number in list(islice(self._at_hand, max(0, min(surplus, at_once)))):
            del self._at_hand[number]
            self.policy.replay(Dropped(number))
        return surplus > at_once

    def late(self, now: float, most: int | None = None) -> list[int]:
        """Open decisions whose time is over."""
        return [] if self.wait is None or self.jumps else self.open_decisions.late(now, self.wait, most)

    def next_deadline(self) -> float | None:
        """When the first open decision expires."""
        earliest = None if self.wait is None or self.jumps else self.open_decisions.earliest()
        return None if earliest is None or self.wait is None else earliest + self.wait

    # State as data.

    def dump(self) -> Snapshot:
        """The whole state: the policy's snapshot, and what the experiment knows beside it."""
        snapshot = self.policy.dump(with_open=False)
        arrays = {**snapshot.arrays, **self.open_decisions.columns()}
        return Snapshot({**snapshot.header, "experiment": self._beside()}, arrays)

    def _beside(self) -> Any:
        """What the experiment knows beside its policy, JSON-ready."""
        state = _State(
            self.seq,
            self.time,
            self.jumps,
            self.created,
            self.created_at,
            self.status,
            self.wait,
            self.default,
            self.counts,
            self.epochs.dump(),
        )
        return msgspec.to_builtins(state, str_keys=True)

    def digest(self) -> str:
        """A hash of the whole state; without what was learned, if the policy cannot be saved."""
        if self.policy.can_dump:
            return hashlib.sha256(self.dump().to_bytes()).hexdigest()
        found = hashlib.sha256(msgspec.json.encode([self._beside(), self.policy.number]))
        for column in self.open_decisions.columns().values():
            found.update(column.tobytes())
        return found.hexdigest()

    @classmethod
    def load(cls, name: str, data: bytes) -> Experiment:
        """The experiment that `dump` gave, from its bytes."""
        return cls.of(name, Snapshot.from_bytes(data))

    @classmethod
    def of(cls, name: str, snapshot: Snapshot) -> Experiment:
        """The experiment that `dump` gave."""
        try:
            state = msgspec.convert(snapshot.header.get("experiment"), _State, strict=False)
        except (msgspec.ValidationError, Refused) as error:
            raise Refused(f"snapshot: experiment: {error}") from error
        experiment = cls(name, Entry(state.seq, state.created_at, state.created))
        experiment.policy.load(snapshot)
        if experiment.policy.open:
            raise Refused("snapshot: its policy has open decisions, which an experiment keeps itself")
        experiment.status, experiment.counts = state.status, state.counts
        experiment.wait, experiment.default = state.wait, state.default
        experiment.time, experiment.jumps = state.time, state.jumps
        experiment.epochs = Epochs.load(state.epochs, experiment.policy.number)
        objectives = len(experiment.problem.objectives)
        experiment.open_decisions = OpenDecisions.of(snapshot.arrays, experiment.policy.number, objectives)
        return experiment


Lookup = Callable[[set[int]], Iterable[Entry]]  # all that a log says of some decisions
TOGETHER = 2_000  # entries that are folded at once


def fold_all(experiment: Experiment, entries: Iterable[Entry], look_up: Lookup | None = None) -> Experiment:
    """The experiment after more entries; decisions from before them are looked up.

    >>> from paretozoom import PaperTask
    >>> begin = Entry(1, 0.0, Created(PaperTask().problem, "random", {}, 7, 1, by="loopback"))
    >>> fold_all(Experiment("prices", begin), [Entry(2, 1.0, Paused("ops"))]).status
    'paused'
    """
    waiting = iter(entries)
    while some := list(islice(waiting, TOGETHER)):
        if look_up is not None:
            needed = {entry.event.number for entry in some if teaches(entry.event)}
            needed = experiment.not_at_hand(needed)
            lost = experiment.bring_back(needed, look_up(needed)) if needed else set()
            if lost:
                raise Refused(f"log {experiment.name!r}: what it says of decision {min(lost)} is not what was decided")
        for entry in some:
            experiment.fold(entry)
        experiment.put_away()
    return experiment


def teaches(event: Event) -> TypeGuard[Rewarded | Expired]:
    """Whether an event brings a reward to a decision.

    >>> teaches(Expired(3, None)), teaches(Expired(3, {"speed": 0.0}))
    (False, True)
    """
    return isinstance(event, (Rewarded, Expired)) and bool(event.reward)
