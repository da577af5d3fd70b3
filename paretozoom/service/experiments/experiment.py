"""An experiment: a fold over its log, and nothing else."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable
from typing import Any

import msgspec

from paretozoom.records import Asked, Dropped, Refused, Snapshot, Told
from paretozoom.service.experiments.at_hand import AtHand
from paretozoom.service.experiments.epochs import Epochs
from paretozoom.service.experiments.open_decisions import OpenDecisions, bits_of
from paretozoom.service.experiments.policies import make_policy
from paretozoom.service.experiments.state import FIELD, Counts, State, Status, state_in
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


class Experiment:
    """The state of an experiment after some entries of its log.

    Of open decisions it has the columns, and the latest whole. What else is needed is brought back from the log.

    >>> from paretozoom import PaperTask
    >>> begin = Entry(1, 0.0, Created(PaperTask().problem, "random", {}, 7, 1, by="loopback"))
    >>> experiment = Experiment("prices", begin)
    >>> decision = experiment.policy.propose([0.5])
    >>> experiment.fold(Entry(2, 1.0, Decided(decision)))
    >>> experiment.fold(Entry(3, 2.0, Rewarded(0, {"first": 1.0})))
    >>> experiment.counts.rewards, experiment.at_hand.reward_of(0), experiment.seq
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
        self.at_hand = AtHand(self.policy, self.open_decisions)
        self.positions: list[float | None] = []  # of recent decisions on their fronts; not a part of the state
        self.counts = Counts()
        self.epochs = Epochs()
        if first.event.epoch is not None:
            self.epochs.begin(first.event.epoch, 0)

    def fold(self, entry: Entry, *, finish: bool = True) -> None:
        """Take in the next entry of the log; without `finish`, that is to be called before anything else."""
        if entry.seq != self.seq + 1:
            raise Refused(f"log {self.name!r}: entry {entry.seq} comes after {self.seq}")
        event = entry.event
        if isinstance(event, Decided):
            self.policy.replay(Asked(event.decision))
            self.open_decisions.add(event.decision, entry.time, event.deferred)
            self.at_hand.add(event.decision.number)
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
            told = bits_of(event.reward, self.problem.objective_names)
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
            self.at_hand.put_away(0)
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
        try:
            self.policy.finish()
        except (Exception, SystemExit):  # of the operator's own policy, to which the reward counts as told
            self._say_that_it_failed()

    def _say_that_it_failed(self) -> None:
        log.exception("a policy failed to learn", extra={"experiment": self.name, "entry": self.seq})

    def _reward(self, number: int, reward: dict[str, float]) -> None:
        self.at_hand.reward_of(number)  # or it must be brought back
        try:
            self.policy.replay(Told(number, reward), finish=False)
        except Refused:
            raise
        except Exception:
            self._say_that_it_failed()
        self.at_hand.tell(number, reward)
        for name, value in reward.items():
            self.counts.totals[name] = self.counts.totals.get(name, 0.0) + value
            self.counts.told[name] = self.counts.told.get(name, 0) + 1
        told = self.open_decisions.tell(number, bits_of(reward, self.problem.objective_names))
        if told == (1 << len(self.problem.objectives)) - 1:
            self.open_decisions.close(number)
            self.at_hand.close(number)

    def _close(self, number: int) -> None:
        if number in self.open_decisions:
            self.open_decisions.close(number)
            if self.at_hand.close(number):
                self.policy.replay(Dropped(number))

    def number_of(self, public: str) -> int:
        """The number of a decision by its public id, if the log gave it."""
        return self.epochs.number_of(public, until=self.policy.number)

    def bring_back(self, numbers: Iterable[int], entries: Iterable[Entry]) -> set[int]:
        """Have some open decisions at hand, from all that the log says of them; gives those of which it says else."""
        return self.at_hand.bring_back(numbers, entries, self.seq)

    # Time.

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
        return Snapshot({**snapshot.header, FIELD: self._beside()}, arrays)

    def _beside(self) -> Any:
        """What the experiment knows beside its policy, JSON-ready."""
        state = State(
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
        state = state_in(snapshot)
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
        experiment.at_hand.waiting = experiment.open_decisions
        return experiment
