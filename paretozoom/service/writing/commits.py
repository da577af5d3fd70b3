"""What is written down: additions of several experiments that are ready at the same time share a transaction."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from paretozoom.service.writing.live import LiveExperiments
from paretozoom.store import Addition, Away, Full, ReadOnly

Timed = Callable[[str, float], None]  # told what took how many seconds
Waiting = tuple[Addition, "asyncio.Future[None]"]


class Commits:
    """Writes one transaction after another."""

    def __init__(self, experiments: LiveExperiments, timed: Timed) -> None:
        self._experiments = experiments
        self.timed = timed
        self._waiting: list[Waiting] = []
        self._task: asyncio.Task[None] | None = None

    async def write(self, addition: Addition) -> None:
        """Add to a log; returns after the commit, or raises why there was none."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((addition, written))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        await written

    async def _run(self) -> None:
        while self._waiting:
            together, self._waiting = self._waiting, []
            error = await self._append(together)
            if error is None or len(together) == 1 or isinstance(error, (Away, Full, ReadOnly)):
                _settle(together, error)
                continue
            for one in together:  # it may be the fault of one of them
                _settle([one], await self._append([one]))

    async def _append(self, together: list[Waiting]) -> Exception | None:
        began = time.perf_counter()
        additions = [addition for addition, _ in together]
        try:
            await self._experiments.threads.write(self._experiments.store.append, additions)
        except Exception as error:
            return error
        self.timed("commit", time.perf_counter() - began)
        return None


def _settle(together: list[Waiting], error: Exception | None) -> None:
    for _, written in together:
        if written.done():
            continue
        if error is None:
            written.set_result(None)
        else:
            written.set_exception(error)
