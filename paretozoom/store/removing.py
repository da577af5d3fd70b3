"""What is taken out of a log: bodies that are erased, entries that are thrown away, whole logs."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator
from typing import Any

import sqlalchemy as sa

from paretozoom.records import Refused
from paretozoom.store.base import Damaged
from paretozoom.store.events import Erased, from_json, to_json
from paretozoom.store.rows import Row, chain_of, digest_of, is_digest, read_row
from paretozoom.store.tables import events, logs, snapshots

AT_ONCE = 5_000
_columns = [events.c[name] for name in Row._fields]
_erase = (
    events.update()
    .where(events.c.log == sa.bindparam("of"), events.c.seq == sa.bindparam("at"))
    .values(body=sa.bindparam("tombstone"), salt=b"", request=None)
)
_chain = (
    events.update()
    .where(events.c.log == sa.bindparam("of"), events.c.seq == sa.bindparam("at"))
    .values(chain=sa.bindparam("now"))
)


def put_tombstones(connection: sa.Connection, log: int, entries: Collection[int]) -> None:
    """Replace bodies by their digests: the chain of checksums stays as it is."""
    wanted = sorted(entries)
    for k in range(0, len(wanted), AT_ONCE):
        here = events.c.log == log, events.c.seq.in_(wanted[k : k + AT_ONCE])
        changes = [
            {"of": log, "at": row.seq, "tombstone": to_json(Erased(_digest(row).hex(), row.number))}
            for row in connection.execute(sa.select(*_columns).where(*here)).all()
        ]
        if changes:
            connection.execute(_erase, changes)


def chain_anew(connection: sa.Connection, log: Any) -> None:
    """Compute all checksums again, with tombstones for entries that are missing."""
    chain, seq, time = log.root, log.pruned, 0.0
    for row in _all_rows(connection, log.id, log.pruned):
        for missing in range(seq + 1, row.seq):
            chain = _fill(connection, log.id, missing, row.time, chain)
        seq, time, chain = row.seq, row.time, chain_of(chain, row.time, _digest(row))
        if chain != row.chain:
            connection.execute(_chain, {"of": log.id, "at": seq, "now": chain})
    for missing in range(seq + 1, log.head + 1):
        chain = _fill(connection, log.id, missing, time, chain)
    connection.execute(logs.update().where(logs.c.id == log.id).values(chain=chain))


def damaged_rows(connection: sa.Connection, log: Any) -> list[int]:
    """The entries that are missing, or are not what was written."""
    found: list[int] = []
    stored = computed = bytes(log.root)
    seq = log.pruned
    for row in _all_rows(connection, log.id, log.pruned):
        found += range(seq + 1, row.seq)
        holes = row.seq > seq + 1
        digest = _digest(row)
        chains = [chain_of(before, row.time, digest) for before in (stored, computed)]
        # Behind a hole there is nothing to compare with.
        if not _is_event(row) or (row.chain not in chains and not holes):
            found.append(row.seq)
        elif row.chain != chains[0] and found[-1:] == [seq]:
            found.pop()  # nothing but the checksum of that entry was changed
        seq, stored = row.seq, _bytes(row.chain)
        computed = stored if row.chain in chains else chains[0]
    found += range(seq + 1, log.head + 1)
    return found


def cut_rows(connection: sa.Connection, log: int, after: int) -> bytes:
    """Throw away all that comes after an entry; gives the entry's checksum."""
    here = sa.select(events.c.chain).where(events.c.log == log, events.c.seq == after)
    chain = connection.execute(here).scalar()
    if chain is None:
        raise Refused(f"after: {after} is not an entry that the log has")
    connection.execute(events.delete().where(events.c.log == log, events.c.seq > after))
    connection.execute(snapshots.delete().where(snapshots.c.log == log, snapshots.c.seq > after))
    connection.execute(logs.update().where(logs.c.id == log).values(head=after, chain=chain))
    return bytes(chain)


def prune_rows(connection: sa.Connection, log: int, until: int) -> None:
    """Throw away all entries up to one, whose checksum is kept."""
    here = sa.select(events.c.chain).where(events.c.log == log, events.c.seq == until)
    chain = connection.execute(here).scalar()
    if chain is None:
        raise Refused(f"until: {until} is not an entry that the log has")
    connection.execute(events.delete().where(events.c.log == log, events.c.seq <= until))
    connection.execute(logs.update().where(logs.c.id == log).values(pruned=until, root=chain))


def delete_rows(connection: sa.Connection, log: int) -> None:
    """Throw away a whole log."""
    for table in (events, snapshots):
        connection.execute(table.delete().where(table.c.log == log))
    connection.execute(logs.delete().where(logs.c.id == log))


def _all_rows(connection: sa.Connection, log: int, after: int) -> Iterator[Any]:
    while True:
        here = events.c.log == log, events.c.seq > after
        rows = connection.execute(sa.select(*_columns).where(*here).order_by(events.c.seq).limit(AT_ONCE)).all()
        yield from rows
        if len(rows) < AT_ONCE:
            return
        after = rows[-1].seq


def _fill(connection: sa.Connection, log: int, seq: int, time: float, chain: bytes) -> bytes:
    """Put a tombstone where an entry is missing."""
    digest = secrets.token_bytes(32)
    chain = chain_of(chain, time, digest)
    row = Row(seq, time, None, None, b"", to_json(Erased(digest.hex())), chain)
    connection.execute(events.insert().values(log=log, **row._asdict()))
    return chain


def _digest(row: Any) -> bytes:
    """Of what a row says, or of what it said before it was erased."""
    try:
        event = from_json(row.body)
    except Refused:
        event = None
    if isinstance(event, Erased) and is_digest(event.digest):
        return bytes.fromhex(event.digest)
    return digest_of(_bytes(row.salt), _bytes(row.body))


def _bytes(value: Any) -> bytes:
    """What a damaged row may call a text."""
    return value.encode() if isinstance(value, str) else bytes(value)


def _is_event(row: Any) -> bool:
    try:
        read_row("", row)
    except Damaged:
        return False
    return True
