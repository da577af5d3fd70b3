"""A store in PostgreSQL."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import Any

import sqlalchemy as sa

from paretozoom.records import Refused
from paretozoom.store.advisory import AdvisoryLocks, key_of
from paretozoom.store.base import Away, Busy, Damaged, Full, Lock, ReadOnly, StoreError
from paretozoom.store.waiting import PatientConnection

# Seconds. The server ends a statement by itself, and is given up when it does not even do that.
PATIENCE_TO_CONNECT = 3
PATIENCE_FOR_LOCKS = 2
PATIENCE_FOR_STATEMENTS = 4
PATIENCE_FOR_LARGE_ONES = 60
PATIENCE_WITH_SILENCE = 1  # beyond that of the statement

CONNECTIONS = 8  # one has all locks, one writes, the others read
KINDS: dict[str, type[StoreError]] = {  # by SQLSTATE
    "53100": Full,  # of the disk
    "53200": Full,  # of memory
    "25006": ReadOnly,
    "55P03": Busy,  # a lock was not to be had
    "57014": Busy,  # a statement took too long
    "XX001": Damaged,  # a table
    "XX002": Damaged,  # an index
}
INSERT = """INSERT INTO events (log, seq, time, number, request, salt, body, chain)
SELECT %b::bigint, %b::bigint + place - 1, %b::double precision, number, request, salt, body, chain
FROM unnest(%b::bigint[], %b::text[], %b::bytea[], %b::bytea[], %b::bytea[])
WITH ORDINALITY AS entries (number, request, salt, body, chain, place)"""
INSERT_SNAPSHOT = "INSERT INTO snapshots (log, seq, pinned, digest, body) VALUES (%s, %s, %s, %b, %b)"
PASSING = (sa.exc.OperationalError, sa.exc.InterfaceError, sa.exc.InternalError)


class Postgres:
    """How PostgreSQL is reached; with `fsync` a commit waits for the disk whatever the server's own setting is."""

    def __init__(self, url: str, durability: str) -> None:
        try:
            address = sa.make_url(url).set(drivername="postgresql+psycopg")
        except (sa.exc.ArgumentError, ValueError):
            # Without the address, which may hold a password.
            raise Refused("store: not a URL such as postgresql://user:password@host:5432/database") from None
        options = [
            f"-c lock_timeout={PATIENCE_FOR_LOCKS}s",
            f"-c statement_timeout={PATIENCE_FOR_STATEMENTS}s",
            str(address.query.get("options", "")),  # whoever asks for other times gets them
            "-c synchronous_commit=on" if durability == "fsync" else "",
        ]
        silence = PATIENCE_FOR_STATEMENTS + PATIENCE_WITH_SILENCE
        usual = {
            "connect_timeout": str(PATIENCE_TO_CONNECT),
            "application_name": "paretozoom",
            "tcp_user_timeout": str(silence * 1000),
            "keepalives_idle": str(silence),
            "keepalives_interval": "1",
            "keepalives_count": "3",
        }
        address = address.set(query={**usual, **address.query, "options": " ".join(filter(None, options))})
        self.engine = sa.create_engine(
            address, pool_size=CONNECTIONS, max_overflow=0, pool_timeout=silence, pool_use_lifo=True
        )
        self._locks = AdvisoryLocks(self.engine)

        @sa.event.listens_for(self.engine, "do_connect")
        def _connect(_dialect: Any, _record: Any, arguments: Any, named: Any) -> PatientConnection:
            return PatientConnection.connect(*arguments, **named)

        @sa.event.listens_for(self.engine, "checkout")
        def _be_patient(connection: Any, _record: Any, _proxy: Any) -> None:
            connection.patience = silence

        @sa.event.listens_for(self.engine, "begin")
        def _begin(connection: sa.Connection) -> None:
            given = connection.get_execution_options()
            if given.get("large"):
                _allow(connection, PATIENCE_FOR_LARGE_ONES)
            if given.get("migrates"):  # one at a time
                _allow(connection, None)
                connection.execute(sa.func.pg_advisory_xact_lock(key_of("")).select())

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
        return self._locks.take(log)

    def check(self, connection: sa.Connection) -> None:
        """Raise what would keep a transaction from writing."""
        if connection.execute(sa.text("SHOW transaction_read_only")).scalar() == "on":
            raise ReadOnly("the database takes no writes (transaction_read_only is on)")
        connection.execute(sa.text("LOCK TABLE logs, events, snapshots IN ROW EXCLUSIVE MODE"))

    def failure(self, error: sa.exc.DBAPIError) -> StoreError:
        """What went wrong, in the store's words."""
        state = getattr(error.orig, "sqlstate", None) or ""
        kind = KINDS.get(state, Away if isinstance(error, PASSING) else StoreError)
        return kind(str(error.orig).strip())


def _allow(connection: sa.Connection, seconds: int | None) -> None:
    """Let the statements of a transaction take longer, or as long as they take."""
    connection.exec_driver_sql(f"SET LOCAL statement_timeout = '{seconds or 0}s'")
    if seconds is None:
        connection.exec_driver_sql("SET LOCAL lock_timeout = 0")
    driver = connection.connection.driver_connection
    assert isinstance(driver, PatientConnection)
    driver.patience = None if seconds is None else seconds + PATIENCE_WITH_SILENCE
