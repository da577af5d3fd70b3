"""What is read from logs in a database; sql.py writes, and sqlite.py and postgres.py have what engines do their way."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, Protocol

import sqlalchemy as sa

from paretozoom.store.base import Busy, Conflict, Damaged, Lock, Repeated, StoreError
from paretozoom.store.events import Entry
from paretozoom.store.removing import damaged_rows
from paretozoom.store.rows import Row, digest_of_snapshot, is_request, read_row, read_rows
from paretozoom.store.tables import events, logs, snapshots

AT_ONCE = 10_000  # entries read in one query
SOUGHT_AT_ONCE = 5_000  # requests or decisions in one query; SQLite takes about 32,000 values, PostgreSQL 65,000
LARGEST = (1 << 63) - 1  # what a column of numbers holds

find_log = sa.select(logs).where(logs.c.name == sa.bindparam("of"))
_name = re.compile(r"[^\0/\ud800-\udfff]{1,80}")  # what every kind of database can hold, and the name of a file

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


class Reading:
    """Reads logs and snapshots, and checks that they are what was written."""

    def __init__(self, engine: Engine) -> None:
        self._own = engine
        self._engine = engine.engine
        self._ids: dict[str, int] = {}

    def logs(self) -> dict[str, int]:
        """The name of each log, and the number of its last entry."""
        with self._reporting(), self._engine.connect() as connection:
            rows = connection.execute(sa.select(logs.c.name, logs.c.head)).all()
        return {row.name: row.head for row in sorted(rows)}

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
        begin = self._first_page(log, after, until)
        if begin is None:
            return
        (after, chain, head, end), rows = begin
        last = min(until, head)
        while after < until:
            yield from read_rows(log, rows, after, chain)
            if rows:
                after, chain = rows[-1].seq, rows[-1].chain
            if len(rows) < AT_ONCE:
                break
            rows = self._rows(log, events.c.seq.between(after + 1, until), in_order=True)
        if after < last:
            raise Damaged(f"log {log!r}: entry {after + 1} is missing", after + 1)
        if after == head and chain != end:
            raise Damaged(f"log {log!r}: entry {head} is not the last that was written", head)

    def _first_page(
        self, log: str, after: int, until: int
    ) -> tuple[tuple[int, bytes, int, bytes], Sequence[Any]] | None:
        """From where a log can be read, and the first rows; both anew if it was pruned or deleted in between."""
        while (begin := self._beginning(log, after)) is not None:
            rows = self._rows(log, events.c.seq.between(begin[0] + 1, until), in_order=True)
            if (rows and rows[0].seq == begin[0] + 1) or self._beginning(log, after) == begin:
                return begin, rows
        return None

    def _beginning(self, log: str, after: int) -> tuple[int, bytes, int, bytes] | None:
        """From where a log can be read: an entry and its checksum, and the same of the last entry; None: it ends."""
        with self._reporting(), self._engine.connect() as connection:
            found = connection.execute(find_log, {"of": log}).first() if is_name(log) else None
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

    def damage(self, log: str) -> list[int]:
        """The entries that are missing, or are not what was written."""
        with self._reporting(), self._engine.connect().execution_options(large=True) as connection:
            return damaged_rows(connection, self._log(connection, log))

    def _log(self, connection: sa.Connection, log: str) -> Any:
        found = connection.execute(find_log, {"of": log}).first() if is_name(log) else None
        if found is None:
            raise Conflict(f"log {log!r}: does not exist")
        return found

    def _id(self, connection: sa.Connection, log: str, ids: dict[str, int]) -> int | None:
        """The number of a log, from what is known for good, or known to a transaction, or the database."""
        if log not in self._ids and log not in ids:
            found = connection.execute(find_log, {"of": log}).first() if is_name(log) else None
            if found is None:
                return None
            ids[log] = found.id
        return self._ids.get(log) or ids[log]

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


def is_name(log: str) -> bool:
    """Whether a log may have this name.

    >>> is_name("prices"), is_name("a/b")
    (True, False)
    """
    return _name.fullmatch(log) is not None


def _place(entry: Entry) -> int:
    return entry.seq


def _most(until: int | None) -> int:
    return LARGEST if until is None else min(until, LARGEST)
