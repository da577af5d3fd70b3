"""An experiment as a service has it: its lock, its state as far as that is known, and what it may do next."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from paretozoom.records import Decision, Snapshot
from paretozoom.service.declined import Declined
from paretozoom.service.experiments.epochs import new_epoch
from paretozoom.service.experiments.experiment import Experiment
from paretozoom.service.experiments.fairness import RecentFairness, with_positions
from paretozoom.service.experiments.folding import teaches
from paretozoom.service.experiments.pending import Pending
from paretozoom.service.experiments.recent import RecentRounds
from paretozoom.store import Entry, Lock
from paretozoom.store.events import Decided

SECONDS_BETWEEN_TICKS = 6 * 3_600.0
AT_ONCE = 20  # decisions that are closed or put away in one step
LATE_AT_ONCE = 1_000  # decisions that expire in one transaction
QUICK = 0.001  # seconds that learning may take on the loop


class AboutPolicy(NamedTuple):
    """What a policy says of itself."""

    seed: int
    notes: list[str]
    nbytes: int


class LiveExperiment:
    """An experiment whose log is locked, and its state as far as it is known."""

    def __init__(self, name: str, lock: Lock) -> None:
        self.name = name
        self.lock = lock
        self.epoch = new_epoch()  # of decisions that are made from now on
        self.experiment: Experiment | None = None  # None: must be read from the log before it is used
        self.fairness: RecentFairness | None = None
        self.recent: RecentRounds | None = None
        self._latest: tuple[Decision, float] | None = None  # decision, and when it was made
        self.snapshot_seq = 0  # the entry of the newest snapshot
        self.damage: str | None = None  # why it cannot be read: it is not tried again
        self.read_at = 0.0  # when it was last read from the log
        self.compiled = False
        self.looked_at_clock = False  # in this run
        self.learning: asyncio.Future[None] | None = None  # in another thread, which holds the policy
        self._learns_quickly: bool | None = None  # as far as is known
        self._about: AboutPolicy | None = None
        self._rests_until = 0.0  # nothing is done unasked before

    def resume(self, experiment: Experiment, snapshot_seq: int) -> None:
        """Go on from a state that was read from the log."""
        self.experiment, self.snapshot_seq = experiment, snapshot_seq
        self._about = None
        self.fairness = self.fairness or RecentFairness(experiment.problem, experiment.positions)
        self.recent = self.recent or RecentRounds(experiment.problem)

    def commit(self, pending: Pending) -> Iterator[None]:
        """Take in events that were written down, step by step; after each, its experiment may have to `finish`."""
        experiment = pending.experiment
        for event in pending.events:
            if self.recent is not None and teaches(event) and event.reward:
                self.recent.tell(experiment.policy.open_decision(event.number), event.reward)
            experiment.fold(Entry(experiment.seq + 1, pending.now, event), finish=False)
            if isinstance(event, Decided):
                self._latest = event.decision, pending.now
            yield
        while experiment.at_hand.put_away(at_once=AT_ONCE):
            yield
        self.looked_at_clock = True

    async def finish(self, experiment: Experiment, threads: ThreadPoolExecutor) -> None:
        """Learn what an event has left; in a thread, unless that never took long.

        Where it is done changes nothing of what is learned, as nothing else is done to the experiment meanwhile.
        """
        began = time.perf_counter()
        if self._learns_quickly:
            experiment.finish()
        else:
            self.about_policy()
            self.learning = asyncio.get_running_loop().run_in_executor(threads, experiment.finish)
            try:
                await self.learning
            finally:
                self.learning = None
        quick = time.perf_counter() - began < QUICK
        self._learns_quickly = quick and self._learns_quickly is not False

    def about_policy(self) -> AboutPolicy:
        """What the policy says of itself; while it learns in another thread, what it said before."""
        policy = self.state().policy
        if self._about is None or self.learning is None:
            self._about = AboutPolicy(policy.seed, policy.notes, policy.nbytes)
        return self._about

    def sample_fairness(self) -> None:
        """Look where the latest decision fell; called when everybody has an answer."""
        if self._latest is not None and self.experiment is not None and self.fairness is not None:
            self.fairness.sample(self._latest[0], self.experiment.policy, self._latest[1])
        self._latest = None

    @property
    def unsaved(self) -> int:
        """How many entries are not in a snapshot; none where there can be no snapshot."""
        if self.experiment is None or not self.experiment.policy.can_dump:
            return 0
        return self.experiment.seq - self.snapshot_seq

    def positions(self) -> list[float | None]:
        """Where recent decisions fell on their fronts."""
        return [] if self.fairness is None else self.fairness.positions

    def to_be_saved(self) -> Snapshot:
        """A snapshot as it is stored, of the state as it is now; to encode it takes long."""
        return with_positions(self.state().dump(), self.positions())

    def late(self, now: float) -> list[int]:
        """Decisions whose time is over, not more than one group should close."""
        if self.experiment is None or not self.compiled or now < self._rests_until:
            return []
        return self.experiment.late(now, LATE_AT_ONCE)

    def next_deadline(self) -> float | None:
        """When a decision expires next."""
        return None if self.experiment is None or not self.compiled else self.experiment.next_deadline()

    def next_tick(self) -> float | None:
        """When it should say that it is still there, unless something happens before."""
        idle = self.experiment is None or not self.compiled or not len(self.experiment.open_decisions)
        return None if idle or self.experiment is None else self.experiment.time + SECONDS_BETWEEN_TICKS

    def next_moment(self) -> float | None:
        """When there is something to do next though nobody asks: at once, before it has looked at the clock."""
        moments = [moment for moment in (self.next_deadline(), self.next_tick()) if moment is not None]
        if not moments:
            return None
        return max(min(moments) if self.looked_at_clock else 0.0, self._rests_until)

    def rest(self, until: float) -> None:
        """Do nothing unasked for a while, as it cannot be written down."""
        self._rests_until = until

    def state(self) -> Experiment:
        """The experiment, if it is known how far it is."""
        if self.damage is not None:
            raise Declined(503, f"experiment {self.name!r}: cannot be served, and others go on: {self.damage}")
        if self.experiment is None:
            raise Declined(503, f"experiment {self.name!r}: the store cannot be reached")
        return self.experiment

    def ready(self) -> Experiment:
        """The experiment, if it can decide now."""
        experiment = self.state()
        if not self.compiled:
            raise Declined(503, f"experiment {self.name!r}: kernels are being compiled; try again in a minute")
        return experiment
