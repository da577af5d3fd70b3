"""A store in PostgreSQL."""

from __future__ import annotations

import hashlib
from itertools import groupby
from operator import itemgetter
from typing import Any

import sqlalchemy as sa

from paretozoom.records import Refused
from paretozoom.store.base import Away, Damaged, Full, Lock, Locked, StoreError

PATIENCE = 5  # seconds to wait for a connection
KINDS: dict[str, type[StoreError]] = {  # by SQLSTATE
    "53100": Full,  # the disk
    "53200": Full,  # the memory
    "XX001": Damaged,  # a table
    "XX002": Damaged,  # an index
}
INSERT = """INSERT INTO events (log, seq, time, number, request, salt, body, chain)
SELECT %b::bigint, %b::bigint + place - 1, %b::double precision, number, request, salt, body, chain
FROM unnest(%b::bigint[], %b::text[], %b::bytea[], %b::bytea[], %b::bytea[])
WITH ORDINALITY AS entries (number, request, salt, body, chain, place)"""
INSERT_SNAPSHOT = "INSERT INTO snapshots (log, seq, pinned, digest, body) VALUES (%s, %s, %s, %b, %b)"
PASSING = (sa.exc.OperationalError, sa.exc.InterfaceError, sa.exc.InternalError)


class AdvisoryLock:
    """An advisory lock, which lasts as long as its connection."""

    def __init__(self, connection: sa.Connection, key: int) -> None:
        self._connection = connection
        self._key = key

    def is_held(self) -> bool:
        """Whether the right still stands."""
        if self._connection.closed or self._connection.invalidated:
            return False
        try:
            return self._connection.execute(sa.text("SELECT 1")).scalar() == 1
        except sa.exc.SQLAlchemyError:
            return False

    def release(self) -> None:
        """Give it back."""
        try:
            if not self._connection.closed and not self._connection.invalidated:
                self._connection.execute(sa.func.pg_advisory_unlock(self._key).select())
        except sa.exc.SQLAlchemyError:
            self._connection.invalidate()  # the lock goes with the connection
        self._connection.close()


class Postgres:
    """How PostgreSQL is reached; with `fsync` a commit waits for the disk whatever the server's own setting is."""

    def __init__(self, url: str, durability: str) -> None:
        try:
            address = sa.make_url(url).set(drivername="postgresql+psycopg")
        except (sa.exc.ArgumentError, ValueError):
            # Without the address, which may hold a password.
            raise Refused("store: not a URL such as postgresql://user:password@host:5432/database") from None
        options = [str(address.query.get("options", "")), "-c synchronous_commit=on" if durability == "fsync" else ""]
        usual = {"connect_timeout": str(PATIENCE), "application_name": "paretozoom"}
        address = address.set(query={**usual, **address.query, "options": " ".join(options).strip()})
        self.engine = sa.create_engine(
            address,
            pool_size=5,
            max_overflow=100,  # a connection for each log that is locked
        )

        @sa.event.listens_for(self.engine, "begin")
        def _begin(connection: sa.Connection) -> None:
            if connection.get_execution_options().get("migrates"):  # one at a time
                connection.execute(sa.func.pg_advisory_xact_lock(_key("")).select())

    def insert(self, connection: sa.Connection, rows: list[tuple[Any, ...]]) -> None:
        """Add rows to the table of events, as quickly as it can: those of a log and a time by columns, in one go."""
        for _, some in groupby(rows, key=itemgetter(0, 2)):
            (log, *_), (first, *_), (time, *_), *columns = zip(*some, strict=True)
            connection.exec_driver_sql(INSERT, (log, first, time, *map(list, columns)))

    def insert_snapshot(self, connection: sa.Connection, row: tuple[Any, ...]) -> None:
        """Add a row to the table of snapshots."""
        connection.exec_driver_sql(INSERT_SNAPSHOT, row)

    def forget(self) -> None:
        """Let nothing stay of what was erased: PostgreSQL does it when it vacuums."""

    def lock(self, log: str) -> Lock:
        """Take the right to write to a log, or raise `Locked`."""
        connection = self.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        try:
            key = _key(f"{connection.execute(sa.func.current_schema().select()).scalar()} {log}")
            taken = connection.execute(sa.func.pg_try_advisory_lock(key).select()).scalar()
        except BaseException:
            connection.invalidate()
            raise
        if not taken:
            connection.close()
            raise Locked(f"log {log!r}: another process has it open (it holds advisory lock {key})")
        return AdvisoryLock(connection, key)

    def failure(self, error: sa.exc.DBAPIError) -> StoreError:
        """What went wrong, in the store's words."""
        state = getattr(error.orig, "sqlstate", None) or ""
        kind = KINDS.get(state) or (Away if isinstance(error, PASSING) else StoreError)
        return kind(str(error.orig).strip())


def _key(place: str) -> int:
    """The number of the advisory lock of a schema and a log: 64 bits, so that no two ever share one."""
    return int.from_bytes(hashlib.blake2b(f"paretozoom {place}".encode(), digest_size=8).digest(), signed=True)
