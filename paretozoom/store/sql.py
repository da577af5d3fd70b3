"""Logs and snapshots in a database, by SQLAlchemy Core; what engines do their own way is in sqlite.py, postgres.py."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress

import sqlalchemy as sa

from paretozoom.records import Refused
from paretozoom.store.base import Addition, Conflict, Lock, StoreError
from paretozoom.store.migrating import bring_to_newest
from paretozoom.store.reading import Engine, LogRow, Reading, find_log, is_name
from paretozoom.store.removing import chain_anew, cut_rows, delete_rows, prune_rows, put_tombstones
from paretozoom.store.rows import digest_of_snapshot, root_of, to_rows
from paretozoom.store.tables import logs, snapshots

KEPT_SNAPSHOTS = 2  # of a log, beside the pinned ones


_here = logs.c.name == sa.bindparam("of"), logs.c.head == sa.bindparam("at"), logs.c.chain == sa.bindparam("before")
_advance = logs.update().where(*_here).values(head=sa.bindparam("to"), chain=sa.bindparam("now"))
_some = logs.c.id == sa.select(sa.func.min(logs.c.id)).scalar_subquery()
_move = logs.update().where(_some).values(head=logs.c.head + sa.bindparam("by"))


class SqlStore(Reading):
    """A store in a database.

    >>> from pathlib import Path
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

    def __init__(self, engine: Engine, *, migrate: bool = True) -> None:
        super().__init__(engine)
        self._ends: dict[str, tuple[int, bytes]] = {}  # of logs that were written to: the last entry, its checksum
        self._locks: dict[str, Lock] = {}
        try:
            with self._reporting():
                bring_to_newest(self._engine, allowed=migrate)
        except BaseException:
            self._engine.dispose()
            raise

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
            found = connection.execute(find_log, {"of": name}).first()
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
        found = connection.execute(find_log, {"of": name}).first()
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


def _checked(log: str) -> str:
    if not is_name(log):
        raise Refused(f"log: {log!r} is not a name of 1 to 80 characters without '/'")
    return log
