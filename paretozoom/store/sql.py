"""Logs and snapshots in a database, by SQLAlchemy Core; what engines do their own way is in sqlite.py, postgres.py."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import sqlalchemy as sa

from paretozoom.records import Refused
from paretozoom.store.base import Addition, Away, Conflict, Lock, Repeated, StoreError
from paretozoom.store.events import Decided, Entry, Event, from_json, number_of_decision, to_json
from paretozoom.store.tables import events, logs, snapshots

AT_ONCE = 10_000  # entries read in one query
SOUGHT_AT_ONCE = 5_000  # requests in one query; SQLite takes about 32,000 values, PostgreSQL 65,000
KEPT_SNAPSHOTS = 2  # of a log, beside the pinned ones
LARGEST = (1 << 63) - 1  # what a column of numbers holds

# What every kind of database can hold; the name of a log is also the name of a file.
_name = re.compile(r"[^\0/\ud800-\udfff]{1,80}")
_request = re.compile(r"[^\0\ud800-\udfff]{0,200}")

_here = logs.c.name == sa.bindparam("of"), logs.c.head == sa.bindparam("at")
_advance = logs.update().where(*_here).values(head=sa.bindparam("to"))
_start = logs.insert().values(name=sa.bindparam("of"), head=sa.bindparam("to"))
_find = sa.select(logs.c.id, logs.c.head).where(logs.c.name == sa.bindparam("of"))


Row = tuple[int | None, int, float, int | None, str | None, bytes]  # log, seq, time, number, request, body
SnapshotRow = tuple[int | None, int, bool, bytes]  # log, seq, pinned, body


class Engine(Protocol):
    """What a kind of database does in its own way."""

    engine: sa.Engine

    def insert(self, connection: sa.Connection, rows: list[Row]) -> None:
        """Add rows to the table of events, as quickly as it can."""
        ...

    def insert_snapshot(self, connection: sa.Connection, row: SnapshotRow) -> None:
        """Add a row to the table of snapshots, with no copy of it left behind in memory."""
        ...

    def lock(self, log: str) -> Lock:
        """Take the right to write to a log, or raise `Locked`."""
        ...

    def failure(self, error: sa.exc.DBAPIError) -> StoreError:
        """What went wrong, in the store's words."""
        ...


class SqlStore:
    """A store in a database.

    >>> from tempfile import TemporaryDirectory
    >>> from paretozoom.store import open_store
    >>> from paretozoom.store.events import Paused
    >>> with TemporaryDirectory() as folder:
    ...     store = open_store(Path(folder))
    ...     store.append([Addition("prices", 0, [Paused("ops")], time=1.5)])
    ...     print(store.logs(), *store.read("prices"))
    ...     store.close()
    {'prices': 1} Entry(seq=1, time=1.5, event=Paused(by='ops'))
    """

    def __init__(self, engine: Engine) -> None:
        self._own = engine
        self._engine = engine.engine
        self._ids: dict[str, int] = {}
        self._locks: dict[str, Lock] = {}
        try:
            with self._reporting():
                _migrate(self._engine)
        except BaseException:
            self._engine.dispose()
            raise

    def logs(self) -> dict[str, int]:
        """The name of each log, and the number of its last entry."""
        with self._reporting(), self._engine.connect() as connection:
            rows = connection.execute(sa.select(logs.c.name, logs.c.head)).all()
        return {row.name: row.head for row in sorted(rows)}

    def append(self, additions: Sequence[Addition]) -> None:
        """Add to some logs in one transaction; all or nothing."""
        ids: dict[str, int] = {}
        with self._reporting(), self._engine.connect().execution_options(writes=True) as connection, connection.begin():
            rows = [row for addition in additions for row in self._advanced(connection, addition, ids)]
            if rows:
                self._own.insert(connection, rows)
            for addition in additions:
                if addition.snapshot is not None:
                    log = self._id(connection, addition.log, ids)
                    self._keep_snapshot(connection, addition, addition.snapshot, log)
        self._ids.update(ids)  # not before: a log that was not begun after all leaves its id to another

    def _advanced(self, connection: sa.Connection, addition: Addition, ids: dict[str, int]) -> list[Row]:
        """Move the head of a log, and give the rows that come before it."""
        name, after, to = _checked(addition.log), addition.after, addition.after + len(addition.events)
        if after == 0:
            self._begin(connection, name, to)
        elif connection.execute(_advance, {"of": name, "at": after, "to": to}).rowcount != 1:
            found = connection.execute(_find, {"of": name}).first()
            head = "does not exist" if found is None else f"ends at {found.head}"
            raise Conflict(f"log {name!r}: {head}, but its writer believed {after}")
        log = self._id(connection, name, ids)
        return [
            (log, after + k, addition.time, number_of_decision(event), _request_of(event), to_json(event))
            for k, event in enumerate(addition.events, 1)
        ]

    def _begin(self, connection: sa.Connection, name: str, to: int) -> None:
        if to == 0:
            raise Refused(f"log {name!r}: begins with nothing, expected an event")
        try:
            connection.execute(_start, {"of": name, "to": to})
        except sa.exc.IntegrityError as error:
            raise Conflict(f"log {name!r}: exists already") from error

    def _id(self, connection: sa.Connection, log: str, ids: dict[str, int]) -> int | None:
        """The number of a log, from what is known for good, or known to a transaction, or the database."""
        if log not in self._ids and log not in ids:
            found = connection.execute(_find, {"of": log}).first() if _name.fullmatch(log) else None
            if found is None:
                return None
            ids[log] = found.id
        return self._ids.get(log) or ids[log]

    def _keep_snapshot(self, connection: sa.Connection, addition: Addition, body: bytes, log: int | None) -> None:
        seq = addition.after + len(addition.events)
        here = snapshots.c.log == log, snapshots.c.seq == seq
        pinned = connection.execute(sa.select(snapshots.c.pinned).where(*here)).scalar()
        if pinned and not addition.pinned:
            return  # it is of the same entry
        connection.execute(snapshots.delete().where(*here))
        passing = (snapshots.c.log == log) & sa.not_(snapshots.c.pinned)
        self._own.insert_snapshot(connection, (log, seq, addition.pinned, body))
        newest = sa.select(snapshots.c.seq).where(passing).order_by(snapshots.c.seq.desc()).offset(KEPT_SNAPSHOTS)
        old = connection.execute(newest).scalars().all()
        if old:
            connection.execute(snapshots.delete().where(passing, snapshots.c.seq.in_(old)))

    def read(
        self,
        log: str,
        after: int = 0,
        until: int | None = None,
        *,
        number: int | None = None,
        numbers: Collection[int] | None = None,
        requests: Collection[str] | None = None,
    ) -> Iterator[Entry]:
        """Entries in order; only those about some decisions, or that made decisions for some requests, if given."""
        until = LARGEST if until is None else min(until, LARGEST)
        sought = numbers if number is None else (number,)
        if sought is not None or requests is not None:
            found = self._about(log, sought or ()) if requests is None else self._made_for(log, requests)
            yield from sorted((entry for entry in found if after < entry.seq <= until), key=_place)
            return
        while after < until:
            entries = self._rows(log, events.c.seq.between(after + 1, until), in_order=True)
            yield from entries
            if len(entries) < AT_ONCE:
                return
            after = entries[-1].seq

    def _about(self, log: str, numbers: Collection[int]) -> list[Entry]:
        possible = (number for number in set(numbers) if abs(number) <= LARGEST)
        found = []
        while some := list(islice(possible, SOUGHT_AT_ONCE)):
            found += self._rows(log, events.c.number.in_(some), in_order=False)
        return found

    def _made_for(self, log: str, requests: Collection[str]) -> list[Entry]:
        possible = (request for request in set(requests) if _request.fullmatch(request))
        found = []
        while some := list(islice(possible, SOUGHT_AT_ONCE)):
            found += self._rows(log, events.c.request.in_(some), in_order=False)
        return found

    def _rows(self, log: str, which: sa.ColumnElement[bool], in_order: bool) -> list[Entry]:
        wanted = sa.select(events.c.seq, events.c.time, events.c.body)
        if in_order:  # asked for it elsewhere, SQLite would read the whole log in order
            wanted = wanted.order_by(events.c.seq).limit(AT_ONCE)
        with self._reporting(), self._engine.connect() as connection:
            rows = connection.execute(wanted.where(events.c.log == self._id(connection, log, self._ids), which)).all()
        return [Entry(seq, time, _read_back(log, seq, body)) for seq, time, body in rows]

    def snapshot(self, log: str, until: int | None = None) -> tuple[int, bytes] | None:
        """The newest snapshot (at most until an entry): the number of its last entry, and its bytes."""
        with self._reporting(), self._engine.connect() as connection:
            here = snapshots.c.log == self._id(connection, log, self._ids)
            wanted = sa.select(snapshots.c.seq, snapshots.c.body).where(here)
            if until is not None:
                wanted = wanted.where(snapshots.c.seq <= min(until, LARGEST))
            found = connection.execute(wanted.order_by(snapshots.c.seq.desc()).limit(1)).first()
        return None if found is None else (found.seq, bytes(found.body))

    def lock(self, log: str) -> Lock:
        """Take the right to write to a log, or raise `Locked`."""
        with self._reporting():
            lock = self._own.lock(_checked(log))
        self._locks[log] = lock
        return lock

    def close(self) -> None:
        """Let go of everything."""
        for lock in self._locks.values():
            lock.release()
        self._engine.dispose()

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Say what went wrong in the store's words."""
        try:
            yield
        except sa.exc.IntegrityError as error:
            text = str(error.orig).strip()
            raise (Repeated if "request" in text.partition("DETAIL")[0] else Conflict)(text) from error
        except sa.exc.DBAPIError as error:
            raise self._own.failure(error) from error
        except sa.exc.TimeoutError as error:
            raise Away(str(error)) from error


def _place(entry: Entry) -> int:
    return entry.seq


def _checked(log: str) -> str:
    if not _name.fullmatch(log):
        raise Refused(f"log: {log!r} is not a name of 1 to 80 characters without '/'")
    return log


def _request_of(event: Event) -> str | None:
    if not isinstance(event, Decided) or event.request is None:
        return None
    if not _request.fullmatch(event.request):
        raise Refused(f"request: {event.request!r} is not a text of at most 200 characters without the character 0")
    return event.request


def _read_back(log: str, seq: int, body: bytes) -> Event:
    try:
        return from_json(body)
    except Refused as error:
        raise Refused(f"log {log!r}: entry {seq} is damaged; {error}") from error


def _migrate(engine: sa.Engine) -> None:
    """Bring the tables to the newest form."""
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    config = _alembic()
    scripts = ScriptDirectory.from_config(config)
    known = [script.revision for script in scripts.walk_revisions()]
    with engine.connect() as connection:
        now = MigrationContext.configure(connection).get_current_heads()
    for revision in now:
        if revision not in known:
            raise StoreError(
                f"the tables have the form {revision!r}, and this version of paretozoom knows only {known!r}: "
                "a newer one has opened the store"
            )
    if now == tuple(scripts.get_heads()):
        return
    from alembic import command

    with engine.connect() as connection, connection.execution_options(writes=True, migrates=True).begin():
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    engine.dispose()  # connections learn the statistics of a table when they are made


def _alembic() -> Any:
    from alembic.config import Config

    config = Config()
    folder = str(Path(__file__).parent / "migrations")
    config.set_main_option("script_location", folder.replace("%", "%%"))  # it would interpolate
    return config
