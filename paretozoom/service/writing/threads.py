"""The threads of a service: the loop waits for none of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from paretozoom.service.declined import Declined
from paretozoom.service.limits import Limits
from paretozoom.service.writing.health import StoreHealth
from paretozoom.store import Store

Answer = TypeVar("Answer")
READERS = 4  # threads that read the store, or encode a copy


class Threads:
    """One that writes to the store, some that read it, one that compiles; and as many as learn at the same time."""

    def __init__(self, store: Store, limits: Limits, health: StoreHealth) -> None:
        self._store = store
        self._limits = limits
        self._health = health
        self._writing = ThreadPoolExecutor(1, "paretozoom-store")
        self._reading = ThreadPoolExecutor(READERS, "paretozoom-read")
        self.compiling = ThreadPoolExecutor(1, "paretozoom-compile")
        self.learning = ThreadPoolExecutor(limits.experiments, "paretozoom-learn")  # made when needed

    def stop(self) -> None:
        """Wait for what writes, and for nothing else."""
        self._writing.shutdown()
        for some in (self._reading, self.compiling, self.learning):
            some.shutdown(wait=False, cancel_futures=True)

    async def write(self, function: Callable[..., Answer], *arguments: Any) -> Answer:
        """Call what uses the store, one call after another."""
        writes = function in (self._store.append, self._store.check)
        call = partial(self._health.call, partial(function, *arguments), writes)
        return await asyncio.get_running_loop().run_in_executor(self._writing, call)

    async def read(self, function: Callable[..., Answer], *arguments: Any) -> Answer:
        """Call what reads the store, or encodes a copy."""
        return await asyncio.get_running_loop().run_in_executor(self._reading, partial(function, *arguments))

    async def look(self, function: Callable[..., Answer], *arguments: Any) -> Answer:
        """Call what reads the store for a request, which does not wait for ever."""
        try:
            async with asyncio.timeout(self._limits.seconds_to_answer):
                return await self.read(function, *arguments)
        except TimeoutError:
            raise Declined(503, "the store did not answer in time") from None
