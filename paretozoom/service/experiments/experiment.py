"""An experiment: a fold over its log, and nothing else."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from paretozoom.policies.base import Policy
from paretozoom.problem import Problem
from paretozoom.records import Asked, Dropped, Refused, Snapshot, Told
from paretozoom.registry import check_parameters
from paretozoom.service.experiments.epochs import Epochs
from paretozoom.service.experiments.policies import known_policies
from paretozoom.store.events import (
    Activated,
    Cancelled,
    Created,
    Decided,
    Entry,
    EpochBegan,
    Erased,
    Expired,
    Paused,
    Removed,
    Resumed,
    Retired,
    Rewarded,
)

log = logging.getLogger("paretozoom")
Status = Literal["running", "paused", "retired"]


class OpenDecision(msgspec.Struct):
    """What the service knows of a decision that waits for rewards, beside what its policy keeps of it.

    >>> OpenDecision(deadline=10.0, deferred=False).is_late(now=9.0)
    False
    """

    deadline: float | None
    deferred: bool
    reward: dict[str, float] = {}

    def is_late(self, now: float) -> bool:
        """Whether its deadline has come."""
        return self.deadline is not None and self.deadline <= now


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
    created: Created
    created_at: float
    status: Status
    open_decisions: dict[int, OpenDecision] = msgspec.field(name="opened")
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

    >>> from paretozoom import PaperTask
    >>> begin = Entry(1, 0.0, Created(PaperTask().problem, "random", {}, 7, 1, by="loopback"))
    >>> experiment = Experiment("prices", begin)
    >>> decision = experiment.policy.propose([0.5])
    >>> experiment.fold(Entry(2, 1.0, Decided(decision)))
    >>> experiment.fold(Entry(3, 2.0, Rewarded(0, {"first": 1.0})))
    >>> experiment.counts.rewards, experiment.open_decisions[0].reward, experiment.seq
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
        self.seq = first.seq
        self.status: Status = "running"
        self.open_decisions: dict[int, OpenDecision] = {}
        self.counts = Counts()
        self.epochs = Epochs()
        if first.event.epoch is not None:
            self.epochs.begin(first.event.epoch, 0)
        self._objectives = len(self.problem.objectives)

    def fold(self, entry: Entry) -> None:
        """Take in the next entry of the log."""
        if entry.seq != self.seq + 1:
            raise Refused(f"log {self.name!r}: entry {entry.seq} comes after {self.seq}")
        event = entry.event
        if isinstance(event, Decided):
            self.policy.replay(Asked(event.decision))
            self.open_decisions[event.decision.number] = OpenDecision(self.deadline_from(entry.time), event.deferred)
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
            shown = self.open_decisions[event.number]
            shown.deferred, shown.deadline = False, self.deadline_from(entry.time)
        elif isinstance(event, EpochBegan):
            self.epochs.begin(event.epoch, self.policy.number)
        elif isinstance(event, Paused):
            self.status = "paused"
        elif isinstance(event, Resumed):
            self.status = "running"
        elif isinstance(event, Retired):
            self.status = "retired"
            for number in list(self.open_decisions):
                self._close(number)
        elif isinstance(event, Erased):
            raise Refused(
                f"log {self.name!r}: entry {entry.seq} was erased, so the log is folded from a later snapshot"
            )
        elif not isinstance(event, Removed):
            raise Refused(f"log {self.name!r}: entry {entry.seq} is {event!r}, which no experiment has")
        self.seq = entry.seq

    def deadline_from(self, time: float) -> float | None:
        """When a decision that was shown at some time expires."""
        return None if self.created.wait is None else time + self.created.wait

    def _reward(self, number: int, reward: dict[str, float]) -> None:
        try:
            self.policy.replay(Told(number, reward))
        except Refused:
            raise
        except Exception:  # of the operator's own policy, to which the reward counts as told
            log.exception("a policy failed to learn", extra={"experiment": self.name, "decision": number})
        told = self.open_decisions[number]
        told.reward = {**told.reward, **reward}
        told.deferred = False
        for name, value in reward.items():
            self.counts.totals[name] = self.counts.totals.get(name, 0.0) + value
            self.counts.told[name] = self.counts.told.get(name, 0) + 1
        if len(told.reward) == self._objectives:
            del self.open_decisions[number]

    def _close(self, number: int) -> None:
        if self.open_decisions.pop(number, None) is not None:
            self.policy.replay(Dropped(number))

    def number_of(self, public: str) -> int:
        """The number of a decision by its public id, if the log gave it."""
        return self.epochs.number_of(public, until=self.policy.number)

    # State as data.

    def dump(self) -> Snapshot:
        """The whole state: the policy's snapshot, and what the experiment knows beside it."""
        snapshot = self.policy.dump()
        return Snapshot({**snapshot.header, "experiment": self._beside()}, snapshot.arrays)

    def _beside(self) -> Any:
        """What the experiment knows beside its policy, JSON-ready."""
        state = _State(
            self.seq,
            self.created,
            self.created_at,
            self.status,
            self.open_decisions,
            self.counts,
            self.epochs.dump(),
        )
        return msgspec.to_builtins(state, str_keys=True)

    def digest(self) -> str:
        """A hash of the whole state; without what was learned, if the policy cannot be saved."""
        if self.policy.can_dump:
            return hashlib.sha256(self.dump().to_bytes()).hexdigest()
        return hashlib.sha256(msgspec.json.encode([self._beside(), self.policy.number, self.policy.open])).hexdigest()

    @classmethod
    def load(cls, name: str, data: bytes) -> Experiment:
        """The experiment that `dump` gave, from its bytes."""
        snapshot = Snapshot.from_bytes(data)
        try:
            state = msgspec.convert(snapshot.header.get("experiment"), _State, strict=False)
        except (msgspec.ValidationError, Refused) as error:
            raise Refused(f"snapshot: experiment: {error}") from error
        experiment = cls(name, Entry(state.seq, state.created_at, state.created))
        experiment.policy.load(snapshot)
        experiment.status, experiment.open_decisions = state.status, state.open_decisions
        experiment.counts = state.counts
        experiment.epochs = Epochs.load(state.epochs, experiment.policy.number)
        if [decision.number for decision in experiment.policy.open] != sorted(state.open_decisions):
            raise Refused("snapshot: the experiment's open decisions are not those of its policy")
        names = experiment.problem.objective_names
        for decision, bits in zip(experiment.policy.open, snapshot.arrays["open_told"].tolist(), strict=True):
            told = {name for o, name in enumerate(names) if bits >> o & 1}
            if state.open_decisions[decision.number].reward.keys() != told:
                raise Refused(f"snapshot: decision {decision.number}: was told {sorted(told)!r}, says its policy")
        return experiment


def fold_all(experiment: Experiment, entries: Iterable[Entry]) -> Experiment:
    """The experiment after more entries.

    >>> from paretozoom import PaperTask
    >>> begin = Entry(1, 0.0, Created(PaperTask().problem, "random", {}, 7, 1, by="loopback"))
    >>> fold_all(Experiment("prices", begin), [Entry(2, 1.0, Paused("ops"))]).status
    'paused'
    """
    for entry in entries:
        experiment.fold(entry)
    return experiment
