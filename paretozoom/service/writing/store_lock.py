"""The lock of a whole store, which one service has at a time, also while there is no experiment yet."""

from __future__ import annotations

import logging
import time

from paretozoom.store import Away, Lock, Locked, Store

RESERVED = "_service"  # locked like a log, but never written to; experiments begin with a letter or a digit


log = logging.getLogger("paretozoom")
SECONDS_BETWEEN_TRIES = 0.5


def wait_for_store(store: Store) -> None:
    """Until no other service runs on a store."""
    lock, said = StoreLock(store), False
    while True:
        try:
            lock.acquire()
        except (Locked, Away) as error:
            if not said:
                log.warning("standing by", extra={"why": str(error)})
            said = True
            time.sleep(SECONDS_BETWEEN_TRIES)
        else:
            return lock.release()


class StoreLock:
    """The right to serve a store.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from paretozoom.store import open_store
    >>> with TemporaryDirectory() as folder:
    ...     store = open_store(Path(folder))
    ...     lock = StoreLock(store)
    ...     lock.acquire()
    ...     print(store.logs())
    ...     lock.release()
    ...     store.close()
    {}
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock: Lock | None = None

    def acquire(self) -> None:
        """Take the lock, also again if it was lost with the database; raises `Locked` if another service has it."""
        if self._lock is not None and self._lock.is_held():
            return
        self.release()
        try:
            self._lock = self._store.lock(RESERVED)
        except Locked as error:
            raise Locked(f"another service is running on it; {error}") from error

    def release(self) -> None:
        """Give it back."""
        if self._lock is not None:
            self._lock.release()
        self._lock = None
