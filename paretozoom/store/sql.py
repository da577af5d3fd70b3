"""Logs and snapshots in a database, by SQLAlchemy Core; what engines do their own way is in sqlite.py, postgres.py."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import sqlalchemy as sa

from paretozoom.records import Refused
from paretozoom.store.base import Addition, Busy, Conflict, Damaged, Lock, Repeated, StoreError
from paretozoom.store.events import Entry
from paretozoom.store.removing import chain_anew, cut_rows, damaged_rows, delete_rows, prune_rows, put_tombstones
from paretozoom.store.rows import Row, digest_of_snapshot, is_request, read_row, read_rows, root_of, to_rows
from paretozoom.store.tables import events, logs, snapshots

AT_ONCE = 10_000  # entries read in one query
SOUGHT_AT_ONCE = 5_000  # requests in one query; SQLite takes about 32,000 values, PostgreSQL 65,000
KEPT_SNAPSHOTS = 2  # of a log, beside the pinned ones
LARGEST = (1 << 63) - 1  # what a column of numbers holds

# What every kind of database can hold; the name of a log is also the name of a file.
_name = re.compile(r"[^\0/\ud800-\udfff]{1,80}")

_here = logs.c.name == sa.bindparam("of"), logs.c.head == sa.bindparam("at"), logs.c.chain == sa.bindparam("before")
_advance = logs.update().where(*_here).values(head=sa.bindparam("to"), chain=sa.bindparam("now"))
_some = logs.c.id == sa.select(sa.func.min(logs.c.id)).scalar_subquery()
_move = logs.update().where(_some).values(head=logs.c.head + sa.bindparam("by"))
_find = sa.select(logs).where(logs.c.name == sa.bindparam("of"))


LogRow = tuple[Any, ...]  # the log's number, and what is in a `Row`
SnapshotRow = tuple[int | None, int, bool, bytes, bytes]  # log, seq, pinned, digest, body


class Engine(Protocol):
    """What a kind of database does in its own way."""

    engine: sa.Engine

    def insert(self, connection: sa.Connection, rows: list[LogRow]) -> None:
        """Add rows to the table of events, as quickly as it can."""
        ...

    def insert_snapshot(self, connection: sa.Connection, row: SnapshotRow) -> None:
        """Add a row to the table of snapshots, with no copy of it left behind in memory."""
        ...

    def forget(self) -> None:
        """Let nothing stay of what was erased, as far as it can be done at once."""
        ...

    def lock(self, log: str) -> Lock:
        """Take the right to write to a log, or raise `Locked`."""
        ...

    def check(self, connection: sa.Connection) -> None:
        """Raise what would keep a transaction from writing."""
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
        self._ends: dict[str, tuple[int, bytes]] = {}  # of logs that were written to: the last entry, its checksum
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
        ends: dict[str, tuple[int, bytes]] = {}
        large = any(addition.snapshot is not None for addition in additions)
        try:
            with self._writing(large=large) as connection:
                rows = [row for addition in additions for row in self._advanced(connection, addition, ids, ends)]
                if rows:
                    self._own.insert(connection, rows)
                for addition in additions:
                    if addition.snapshot is not None:
                        log = self._id(connection, addition.log, ids)
                        self._keep_snapshot(connection, addition, addition.snapshot, log)
        except BaseException:
            for addition in additions:
                self._ends.pop(addition.log, None)
            raise
        self._ids.update(ids)  # not before: a log that was not begun after all leaves its id to another
        self._ends.update(ends)

    def _advanced(
        self, connection: sa.Connection, addition: Addition, ids: dict[str, int], ends: dict[str, tuple[int, bytes]]
    ) -> list[LogRow]:
        """Move the head of a log, and give the rows that come before it."""
        name, after = _checked(addition.log), addition.after
        end, before = ends.get(name) or self._ends.get(name) or (-1, b"")
        if addition.root is not None:
            before = addition.root
        elif after == 0:
            before = root_of(name)
        elif end != after:
            found = connection.execute(_find, {"of": name}).first()
            before = b"" if found is None else found.chain
        rows = to_rows(addition.events, after, addition.time, before)
        to, now = (rows[-1].seq, rows[-1].chain) if rows else (after, before)
        if after == 0 or addition.root is not None:
            self._begin(connection, addition, to, now)
        else:
            self._advance(connection, name, (after, before), (to, now))
        ends[name] = to, now
        log = self._id(connection, name, ids)
        return [(log, *row) for row in rows]

    def _advance(self, connection: sa.Connection, name: str, before: tuple[int, bytes], now: tuple[int, bytes]) -> None:
        """Move the end of a log, if it still is where its writer believes: what another wrote has other checksums."""
        where = {"of": name, "at": before[0], "before": before[1], "to": now[0], "now": now[1]}
        if connection.execute(_advance, where).rowcount == 1:
            return
        found = connection.execute(_find, {"of": name}).first()
        if found is not None and found.head == before[0]:
            raise Conflict(f"log {name!r}: entry {found.head} is not what its writer believed")
        head = "does not exist" if found is None else f"ends at {found.head}"
        raise Conflict(f"log {name!r}: {head}, but its writer believed {before[0]}")

    def _begin(self, connection: sa.Connection, addition: Addition, to: int, now: bytes) -> None:
        name, root = addition.log, addition.root
        if not addition.events:
            raise Refused(f"log {name!r}: begins with nothing, expected an event")
        root = root_of(name) if root is None else root
        values = {"name": name, "head": to, "chain": now, "pruned": addition.after, "root": root}
        try:
            connection.execute(logs.insert().values(values))
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
        digest = digest_of_snapshot(seq, addition.pinned, body)
        self._own.insert_snapshot(connection, (log, seq, addition.pinned, digest, body))
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
        until = _most(until)
        sought = numbers if number is None else (number,)
        if sought is not None or requests is not None:
            found = self._about(log, sought or ()) if requests is None else self._made_for(log, requests)
            yield from sorted((entry for entry in found if after < entry.seq <= until), key=_place)
            return
        begin = self._beginning(log, after)
        if begin is None:
            return
        after, chain, head, end = begin
        last = min(until, head)
        while after < until:
            rows = self._rows(log, events.c.seq.between(after + 1, until), in_order=True)
            yield from read_rows(log, rows, after, chain)
            if rows:
                after, chain = rows[-1].seq, rows[-1].chain
            if len(rows) < AT_ONCE:
                break
        if after < last:
            raise Damaged(f"log {log!r}: entry {after + 1} is missing", after + 1)
        if after == head and chain != end:
            raise Damaged(f"log {log!r}: entry {head} is not the last that was written", head)

    def _beginning(self, log: str, after: int) -> tuple[int, bytes, int, bytes] | None:
        """From where a log can be read: an entry and its checksum, and the same of the last entry; None: it ends."""
        with self._reporting(), self._engine.connect() as connection:
            found = connection.execute(_find, {"of": log}).first() if _name.fullmatch(log) else None
            if found is None or after >= found.head:
                return None
            if after <= found.pruned:
                return found.pruned, found.root, found.head, found.chain
            here = sa.select(events.c.chain).where(events.c.log == found.id, events.c.seq == after)
            chain = connection.execute(here).scalar()
        if chain is None:
            raise Damaged(f"log {log!r}: entry {after} is missing", after)
        return after, bytes(chain), found.head, found.chain

    def _about(self, log: str, numbers: Collection[int]) -> list[Entry]:
        possible = (number for number in set(numbers) if abs(number) <= LARGEST)
        found = []
        while some := list(islice(possible, SOUGHT_AT_ONCE)):
            found += [read_row(log, row) for row in self._rows(log, events.c.number.in_(some), in_order=False)]
        return found

    def _made_for(self, log: str, requests: Collection[str]) -> list[Entry]:
        possible = (request for request in set(requests) if is_request(request))
        found = []
        while some := list(islice(possible, SOUGHT_AT_ONCE)):
            found += [read_row(log, row) for row in self._rows(log, events.c.request.in_(some), in_order=False)]
        return found

    def _rows(self, log: str, which: sa.ColumnElement[bool], in_order: bool) -> Sequence[Any]:
        wanted = sa.select(*(events.c[name] for name in Row._fields))
        if in_order:  # asked for it elsewhere, SQLite would read the whole log in order
            wanted = wanted.order_by(events.c.seq).limit(AT_ONCE)
        with self._reporting(), self._engine.connect() as connection:
            return connection.execute(wanted.where(events.c.log == self._id(connection, log, self._ids), which)).all()

    def beginning(self, log: str) -> tuple[int, bytes]:
        """The last entry that was thrown away (0: none was), and its checksum."""
        with self._reporting(), self._engine.connect() as connection:
            found = self._log(connection, log)
        return found.pruned, bytes(found.root)

    def snapshots(self, log: str, until: int | None = None) -> list[tuple[int, bool]]:
        """The last entry of each snapshot (at most until an entry), and whether it is pinned; the newest first."""
        with self._reporting(), self._engine.connect() as connection:
            here = snapshots.c.log == self._id(connection, log, self._ids)
            wanted = sa.select(snapshots.c.seq, snapshots.c.pinned).where(here, snapshots.c.seq <= _most(until))
            return [(row.seq, row.pinned) for row in connection.execute(wanted.order_by(snapshots.c.seq.desc()))]

    def snapshot(self, log: str, until: int | None = None) -> tuple[int, bytes] | None:
        """The newest snapshot (at most until an entry): the number of its last entry, and its bytes."""
        with self._reporting(), self._engine.connect().execution_options(large=True) as connection:
            here = snapshots.c.log == self._id(connection, log, self._ids)
            wanted = sa.select(snapshots).where(here, snapshots.c.seq <= _most(until))
            found = connection.execute(wanted.order_by(snapshots.c.seq.desc()).limit(1)).first()
        if found is None:
            return None
        body = bytes(found.body)
        if digest_of_snapshot(found.seq, found.pinned, body) != found.digest:
            raise Damaged(
                f"log {log!r}: the snapshot of entry {found.seq} is damaged: its checksum is another", found.seq
            )
        return found.seq, body

    # What is taken out.

    def erase(self, addition: Addition, entries: Collection[int], *, mend: bool = False) -> None:
        """Put tombstones in place of some entries, and add to their log, in one transaction.

        The addition's snapshot is the only one that stays. With `mend` the entries are damaged: the checksums are
        computed again from what is there.
        """
        self._ends.pop(addition.log, None)
        with self._writing(large=True) as connection:
            log = self._log(connection, addition.log)
            put_tombstones(connection, log.id, entries)
            if mend:
                chain_anew(connection, log)
            self._add_with_only_snapshot(connection, log.id, addition)
        self._forget()

    def damage(self, log: str) -> list[int]:
        """The entries that are missing, or are not what was written."""
        with self._reporting(), self._engine.connect().execution_options(large=True) as connection:
            return damaged_rows(connection, self._log(connection, log))

    def cut(self, log: str, after: int) -> None:
        """Throw away all that comes after an entry."""
        self._ends.pop(log, None)
        with self._writing(large=True) as connection:
            cut_rows(connection, self._log(connection, log).id, after)

    def prune(self, addition: Addition, until: int) -> None:
        """Throw away all entries up to one, and add to the log; the addition's snapshot is the only one that stays."""
        self._ends.pop(addition.log, None)
        with self._writing(large=True) as connection:
            log = self._log(connection, addition.log)
            prune_rows(connection, log.id, until)
            self._add_with_only_snapshot(connection, log.id, addition)
        self._forget()

    def delete(self, log: str) -> None:
        """Throw away a log with all its snapshots; its name is free again."""
        self._ends.pop(log, None)
        with self._writing(large=True) as connection:
            delete_rows(connection, self._log(connection, log).id)
        self._ids.pop(log, None)
        self._forget()

    def _forget(self) -> None:
        with suppress(StoreError), self._reporting():  # it is committed already
            self._own.forget()

    def _add_with_only_snapshot(self, connection: sa.Connection, log: int, addition: Addition) -> None:
        if addition.snapshot is None:
            raise Refused(f"log {addition.log!r}: a snapshot is needed, from which it goes on")
        self._own.insert(connection, self._advanced(connection, addition, {}, {}))
        connection.execute(snapshots.delete().where(snapshots.c.log == log))
        self._keep_snapshot(connection, addition, addition.snapshot, log)

    def _log(self, connection: sa.Connection, log: str) -> Any:
        found = connection.execute(_find, {"of": log}).first() if _name.fullmatch(log) else None
        if found is None:
            raise Conflict(f"log {log!r}: does not exist")
        return found

    def lock(self, log: str) -> Lock:
        """Take the right to write to a log, or raise `Locked`."""
        with self._reporting():
            lock = self._own.lock(_checked(log))
        self._locks[log] = lock
        return lock

    def check(self, by_writing: bool = False) -> None:
        """Raise what would keep an append from being written; a full disk is seen by writing only."""
        with self._writing() as connection:
            self._own.check(connection)
            if by_writing:
                for there_and_back in (1, -1):  # SQLite would not write what does not change
                    connection.execute(_move, {"by": there_and_back})

    def close(self) -> None:
        """Let go of everything."""
        for lock in self._locks.values():
            lock.release()
        self._engine.dispose()

    @contextmanager
    def _writing(self, large: bool = False) -> Iterator[sa.Connection]:
        """A transaction that writes; with much to write it may take long."""
        options = {"writes": True, "large": large}
        with self._reporting(), self._engine.connect().execution_options(**options) as connection, connection.begin():
            yield connection

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
            raise Busy(str(error)) from error


def _place(entry: Entry) -> int:
    return entry.seq


def _checked(log: str) -> str:
    if not _name.fullmatch(log):
        raise Refused(f"log: {log!r} is not a name of 1 to 80 characters without '/'")
    return log


def _most(until: int | None) -> int:
    return LARGEST if until is None else min(until, LARGEST)


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
