"""The lane of one experiment: what is asked of it, one group after another, in turns with the other experiments."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from paretozoom.service.declined import Declined
from paretozoom.service.writing.commits import Commits
from paretozoom.service.writing.groups import Groups
from paretozoom.service.writing.live import LiveExperiments
from paretozoom.service.writing.live_experiment import LiveExperiment
from paretozoom.service.writing.submission import Submission
from paretozoom.service.writing.turns import Turn
from paretozoom.store import Addition, Full, StoreError

log = logging.getLogger("paretozoom")
SECONDS_BETWEEN_TRIES = 1.0  # to reach a store that is away

Chore = tuple[Callable[[LiveExperiment], Awaitable[Any]], "asyncio.Future[Any]"]


class Lane:
    """Takes submissions to an experiment, and expires its decisions."""

    def __init__(self, live: LiveExperiment, experiments: LiveExperiments, commits: Commits, every: int) -> None:
        self.live = live
        self.queue: deque[Submission] = deque()
        self.waiting = 0  # decisions and rewards in the queue
        self.group: list[Submission] = []  # what is being done
        self.chores: deque[Chore] = deque()
        self._experiments = experiments
        self._commits = commits
        self._snapshot_every = every
        self._task: asyncio.Task[None] | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._turn = Turn()
        self._groups = Groups(live, experiments, commits, self._turn)

    def put(self, submission: Submission) -> None:
        """Let something wait until it is its turn."""
        self.queue.append(submission)
        self.waiting += submission.size
        self.wake()

    def put_chore(self, work: Callable[[LiveExperiment], Awaitable[Any]]) -> asyncio.Future[Any]:
        """Let something be done while no group is."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.chores.append((work, future))
        self.wake()
        return future

    def drop_chore(self, future: asyncio.Future[Any]) -> bool:
        """Let something not be done; whether it was not begun."""
        before = len(self.chores)
        self.chores = deque(chore for chore in self.chores if chore[1] is not future)
        return len(self.chores) < before

    def wake(self) -> None:
        """Begin to work, if there may be something to do."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def rest(self) -> None:
        """Wait until all is done."""
        while self._task is not None and not self._task.done():
            await self._task
        if self._alarm is not None:
            self._alarm.cancel()

    def is_due(self) -> bool:
        """Whether there is something to do though nobody asks: by the clock, or as the log must be read again."""
        if self.chores:
            return True
        now = self._experiments.now()
        if self.live.damage is not None or self._experiments.by_name.get(self.live.name) is not self.live:
            return False
        if self.live.experiment is None:
            return now >= self.live.read_at + SECONDS_BETWEEN_TRIES
        moment = self.live.next_moment()
        return moment is not None and moment <= now

    async def _run(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        self._turn.begin()
        while self.queue or self.is_due():
            self.group = self._take()
            try:
                await self._groups.serve(self.group)
            except Exception as error:
                log.exception("a group of requests failed", extra={"experiment": self.live.name})
                for submission in self.group:
                    submission.error = submission.error or error
                self.live.experiment = None  # nobody knows what was done: the log does
            for submission in self.group:
                submission.settle()
            self.group = []
            await asyncio.sleep(0)  # answers are sent first
            self.live.sample_fairness()
            await self._save_snapshot()
            while self.chores:
                await self._do(*self.chores.popleft())
        moment = self.live.next_moment()
        if moment is not None:
            later = max(0.001, moment - self._experiments.now())
            self._alarm = asyncio.get_running_loop().call_later(later, self.wake)

    async def _do(self, work: Callable[[LiveExperiment], Awaitable[Any]], future: asyncio.Future[Any]) -> None:
        """What must not happen while a group is written."""
        try:
            if self._experiments.get(self.live.name) is not self.live:
                raise Declined(404, f"experiment {self.live.name!r}: was deleted")
            answer = await work(self.live)
        except Exception as error:
            if isinstance(error, StoreError) and not isinstance(error, Full):
                self.live.experiment = None  # it may be written or not: the log says
            if not future.done():
                future.set_exception(error)
        else:
            if not future.done():
                future.set_result(answer)

    def _take(self) -> list[Submission]:
        """The next group: bounded by requests and by decisions, but whoever comes first may bring many."""
        limits = self._experiments.limits
        group: list[Submission] = []
        size = 0
        while self.queue and len(group) < limits.group and (not group or size + self.queue[0].size <= limits.batch):
            submission = self.queue.popleft()
            self.waiting -= submission.size
            size += submission.size
            group.append(submission)
        return group

    async def _save_snapshot(self) -> None:
        """Save a snapshot after enough entries."""
        if self.live.unsaved < self._snapshot_every:
            return
        try:
            await self.save_snapshot()
        except Exception as error:  # of the store, or of the operator's own policy: the next time will do
            log.warning("no snapshot", extra={"experiment": self.live.name, "error": str(error)})

    async def save_snapshot(self) -> None:
        """Save the state as it is now, if it is known."""
        experiment = self.live.experiment
        if experiment is None:
            return
        self.live.snapshot_seq = experiment.seq
        data = await self._experiments.threads.read(self.live.to_be_saved().to_bytes)
        await self._commits.write(Addition(self.live.name, experiment.seq, (), self._experiments.now(), snapshot=data))
