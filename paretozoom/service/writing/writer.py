"""The one writer: requests that arrive together share a transaction, and are answered after its commit."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Generator
from contextlib import suppress
from typing import Any, TypeVar, overload

from paretozoom.service.declined import Declined
from paretozoom.service.experiments.pending import Pending
from paretozoom.service.writing.commits import Commits, Timed
from paretozoom.service.writing.lane import Lane
from paretozoom.service.writing.live import LiveExperiments
from paretozoom.service.writing.live_experiment import LiveExperiment
from paretozoom.service.writing.submission import Submission, nobody_left
from paretozoom.store import Away

log = logging.getLogger("paretozoom")
Answer = TypeVar("Answer")
SECONDS_BETWEEN_LOOKS = 0.25  # at who waits for too long


class Writer:
    """Writes to the experiments of a store: who asks for something submits a function of what is pending, and gets
    what it returns. A function that is a generator may take long: others have their turns between its steps.
    """

    def __init__(
        self, experiments: LiveExperiments, *, snapshot_every: int = 100_000, timed: Timed = lambda *_: None
    ) -> None:
        self._experiments = experiments
        self._snapshot_every = snapshot_every
        self._lanes: dict[str, Lane] = {}
        self.commits = Commits(experiments, timed)
        self._stopping = False
        self._watching: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to take what is submitted."""
        self._watching = asyncio.create_task(self._watch())

    @overload
    async def submit(
        self,
        name: str,
        act: Callable[[Pending], Generator[None, None, Answer]],
        request_ids: Collection[str] = (),
        *,
        size: int = 1,
        left: Callable[[], bool] = nobody_left,
    ) -> Answer: ...

    @overload
    async def submit(
        self,
        name: str,
        act: Callable[[Pending], Answer],
        request_ids: Collection[str] = (),
        *,
        size: int = 1,
        left: Callable[[], bool] = nobody_left,
    ) -> Answer: ...

    async def submit(
        self,
        name: str,
        act: Callable[[Pending], Any],
        request_ids: Collection[str] = (),
        *,
        size: int = 1,
        left: Callable[[], bool] = nobody_left,
    ) -> Any:
        """Do something to an experiment; returns after it is written down, or raises why it is not.

        `size` is how many decisions or rewards it is about, `left` whether its caller has left: then it is not begun.
        """
        lane = self._lane(name)
        if self._stopping:
            raise Declined(503, "the service is shutting down")
        if self._experiments.health.is_hanging():
            raise Declined(503, "the store does not answer; nothing was begun")
        most = self._experiments.limits.waiting
        if lane.queue and lane.waiting + size > most:
            raise Declined(429, f"experiment {name!r}: {lane.waiting:,} decisions and rewards wait already")
        submission = Submission(act, request_ids, size, left)
        lane.put(submission)
        return await submission.future

    async def between_groups(self, name: str, work: Callable[[LiveExperiment], Awaitable[Answer]]) -> Answer:
        """Do something to an experiment while nothing else is done to it; what it raises is raised here.

        What cannot be begun in time, as the experiment learns, is not done at all.
        """
        lane = self._lane(name)
        if self._stopping:
            raise Declined(503, "the service is shutting down")
        chore = lane.put_chore(work)
        await asyncio.wait([chore], timeout=self._experiments.limits.seconds_to_answer)
        if not chore.done() and lane.drop_chore(chore):
            raise Declined(503, f"experiment {name!r}: is busy, and it was not begun in time; nothing was done")
        answer: Answer = await chore
        return answer

    @property
    def waiting(self) -> int:
        """How many decisions and rewards wait to be begun."""
        return sum(lane.waiting for lane in self._lanes.values())

    def oldest(self, *, also_learning: bool = True) -> float:
        """For how many seconds somebody has waited by now; if wanted, beside those whose experiment learns."""
        now = asyncio.get_running_loop().time()
        lanes = [lane for lane in self._lanes.values() if also_learning or lane.live.learning is None]
        firsts = [(lane.group or lane.queue)[0] for lane in lanes if lane.group or lane.queue]
        return max((now - first.asked for first in firsts if not first.future.done()), default=0.0)

    async def stop(self) -> None:
        """Finish what was begun, and save a snapshot of every experiment that has entries beyond its last one."""
        self._stopping = True
        for lane in self._lanes.values():
            await lane.rest()
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching
        for live in self._experiments.by_name.values():
            if live.experiment is not None and live.unsaved:
                try:
                    await self._lane(live.name).save_snapshot()
                except Exception as error:  # of the store, or of the operator's own policy: the others are saved
                    log.warning("no snapshot at the end", extra={"experiment": live.name, "error": str(error)})
                    if isinstance(error, Away):
                        return  # it would be the same with each of them

    def _lane(self, name: str) -> Lane:
        live = self._experiments.get(name)
        lane = self._lanes.get(name)
        if lane is None or lane.live is not live:
            lane = self._lanes[name] = Lane(live, self._experiments, self.commits, self._snapshot_every)
        return lane

    async def _watch(self) -> None:
        """Let go who has waited for too long; see what is due, though no alarm says so: clocks may jump."""
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            self.commits.timed("loop_lag", max(0.0, loop.time() - began - SECONDS_BETWEEN_LOOKS))
            longest = loop.time() - self._experiments.limits.seconds_to_answer
            for lane in self._lanes.values():
                for submission in (*lane.group, *lane.queue):
                    if submission.asked <= longest and not submission.future.done():
                        submission.give_up()
            if not self._stopping:
                for name in list(self._experiments.by_name):
                    lane = self._lane(name)
                    if lane.is_due():
                        lane.wake()
