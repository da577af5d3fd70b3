"""The kernels of experiments, compiled once for all experiments of a kind."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from paretozoom.service.experiments.compiling import compile_policy, kind_of
from paretozoom.service.writing.live_experiment import LiveExperiment
from paretozoom.store.events import Created


class Compilations:
    """What is compiled, or was."""

    def __init__(self, thread: ThreadPoolExecutor) -> None:
        self._thread = thread
        self._by_kind: dict[tuple[object, ...], asyncio.Future[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def is_busy(self) -> bool:
        """Whether kernels are being compiled at the moment."""
        return any(not compilation.done() for compilation in self._by_kind.values())

    def begin(self, live: LiveExperiment) -> None:
        """Compile the kernels of an experiment, which can decide from then on."""
        task = asyncio.create_task(self.finish(live))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self, live: LiveExperiment) -> None:
        """As `begin`; returns when it is done."""
        if live.experiment is None:
            return
        await self.compile(live.experiment.created)
        live.compiled = True

    async def compile(self, created: Created) -> None:
        """Compile the kernels of a policy, once for all of its kind."""
        kind = kind_of(created)
        if kind not in self._by_kind:
            loop = asyncio.get_running_loop()
            self._by_kind[kind] = loop.run_in_executor(self._thread, compile_policy, created)
        await asyncio.shield(self._by_kind[kind])
