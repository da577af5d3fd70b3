"""The advisory locks of a store in PostgreSQL: all on one connection, however many logs there are."""

from __future__ import annotations

import hashlib
import threading

import sqlalchemy as sa

from paretozoom.store.base import Locked


class AdvisoryLock:
    """One of them; it lasts as long as their connection."""

    def __init__(self, locks: AdvisoryLocks, key: int) -> None:
        self._locks = locks
        self._key = key

    def is_held(self) -> bool:
        """Whether the right still stands."""
        return self._locks.holds(self._key, self)

    def release(self) -> None:
        """Give it back."""
        self._locks.give_back(self._key, self)


class AdvisoryLocks:
    """Takes them, and knows which still stand: when the connection broke, none does."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._one_at_a_time = threading.RLock()
        self._connection: sa.Connection | None = None
        self._schema = ""
        self._held: dict[int, AdvisoryLock] = {}

    def take(self, log: str) -> AdvisoryLock:
        """Take the right to write to a log, or raise `Locked`."""
        with self._one_at_a_time:
            connection = self._connected()
            key = key_of(f"{self._schema} {log}")
            # The server gives a lock to the same connection twice.
            if key in self._held or not self._execute(connection, sa.func.pg_try_advisory_lock(key)):
                self._rest()
                raise Locked(f"log {log!r}: another process has it open (it holds advisory lock {key})")
            lock = self._held[key] = AdvisoryLock(self, key)
            return lock

    def holds(self, key: int, lock: AdvisoryLock) -> bool:
        """Whether a lock was neither given back nor lost."""
        with self._one_at_a_time:
            if self._held.get(key) is not lock or self._connection is None:
                return False
            try:
                return self._execute(self._connection, sa.literal(1)) == 1
            except sa.exc.SQLAlchemyError:
                return False

    def give_back(self, key: int, lock: AdvisoryLock) -> None:
        """Give a lock back, if it still stands."""
        with self._one_at_a_time:
            if self._held.get(key) is not lock or self._connection is None:
                return
            try:
                self._execute(self._connection, sa.func.pg_advisory_unlock(key))
            except sa.exc.SQLAlchemyError:
                return  # it went with the connection
            del self._held[key]
            self._rest()

    def _rest(self) -> None:
        """Give the connection back if there is no lock on it."""
        if not self._held and self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connected(self) -> sa.Connection:
        if self._connection is None:
            self._connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            self._schema = str(self._execute(self._connection, sa.func.current_schema()))
        return self._connection

    def _execute(self, connection: sa.Connection, what: sa.ColumnElement[object]) -> object:
        """The value of an expression; whatever goes wrong, the connection is given up and all locks with it."""
        try:
            return connection.execute(sa.select(what)).scalar()
        except BaseException:
            self._held.clear()
            self._connection = None
            connection.invalidate()
            connection.close()
            raise


def key_of(place: str) -> int:
    """The number of the advisory lock of a schema and a log: 64 bits, so that no two ever share one."""
    return int.from_bytes(hashlib.blake2b(f"paretozoom {place}".encode(), digest_size=8).digest(), signed=True)
