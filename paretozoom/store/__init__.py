"""Where experiments live: append-only logs and snapshots, in a file or in PostgreSQL (extra "service")."""

from __future__ import annotations

from pathlib import Path

from paretozoom.records import Refused
from paretozoom.store.base import (
    FILE,
    Addition,
    Away,
    Busy,
    Conflict,
    Damaged,
    Full,
    Lock,
    Locked,
    ReadOnly,
    Repeated,
    Store,
    StoreError,
)
from paretozoom.store.events import Entry, Event

__all__ = [
    "FILE",
    "Addition",
    "Away",
    "Busy",
    "Conflict",
    "Damaged",
    "Entry",
    "Event",
    "Full",
    "Lock",
    "Locked",
    "ReadOnly",
    "Repeated",
    "Store",
    "StoreError",
    "open_store",
]

DURABILITIES = ("commit", "fsync")


def open_store(where: Path | str, *, durability: str = "commit", migrate: bool = True) -> Store:
    """The store in a folder (SQLite), or at a URL that begins with postgresql://; made if there is none.

    Tables of an older form are brought to the newest; without `migrate` they are refused instead.

    >>> open_store("mysql://host/base")
    Traceback (most recent call last):
    paretozoom.records.Refused: store: 'mysql://...' is not a folder or a URL that begins with postgresql://
    """
    if durability not in DURABILITIES:
        raise Refused(f"durability: {durability!r} is not one of {DURABILITIES!r}")
    kind = str(where).partition("://")[0] if isinstance(where, str) and "://" in where else ""
    if kind not in ("", "postgresql", "postgres"):
        raise Refused(f"store: '{kind}://...' is not a folder or a URL that begins with postgresql://")
    try:
        from paretozoom.store.sql import SqlStore

        if kind:
            from paretozoom.store.postgres import Postgres

            return SqlStore(Postgres(str(where), durability), migrate=migrate)
        from paretozoom.store.sqlite import Sqlite

        return SqlStore(Sqlite(Path(where), durability), migrate=migrate)
    except ModuleNotFoundError as error:
        name = str(error.name).partition(".")[0]
        extra = "postgres" if name == "psycopg" else "service"
        raise Refused(f"store: {name!r} is missing; pip install 'paretozoom[{extra}]' brings it") from error
