"""The three tables of a store."""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData()

# SQLite numbers rows by themselves only if the key is of its own type INTEGER.
_Key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

logs = sa.Table(
    "logs",
    metadata,
    sa.Column("id", _Key, primary_key=True),
    sa.Column("name", sa.String(80), nullable=False, unique=True),
    sa.Column("head", sa.BigInteger, nullable=False),
    sa.Column("chain", sa.LargeBinary, nullable=False),  # the checksum of the last entry
    sa.Column("pruned", sa.BigInteger, nullable=False),  # the last entry that was thrown away; 0: none was
    sa.Column("root", sa.LargeBinary, nullable=False),  # its checksum
)

events = sa.Table(
    "events",
    metadata,
    sa.Column("log", _Key, sa.ForeignKey("logs.id"), primary_key=True),  # in PostgreSQL no foreign key: see migrations/
    sa.Column("seq", sa.BigInteger, primary_key=True),
    sa.Column("time", sa.Double, nullable=False),
    sa.Column("number", sa.BigInteger),
    sa.Column("request", sa.String(200)),
    sa.Column("salt", sa.LargeBinary, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Column("chain", sa.LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
sa.Index(
    "events_by_number",
    events.c.log,
    events.c.number,
    sqlite_where=events.c.number.is_not(None),
    postgresql_where=events.c.number.is_not(None),
)
sa.Index(
    "events_by_request",
    events.c.log,
    events.c.request,
    unique=True,
    sqlite_where=events.c.request.is_not(None),
    postgresql_where=events.c.request.is_not(None),
)

snapshots = sa.Table(
    "snapshots",
    metadata,
    sa.Column("log", _Key, sa.ForeignKey("logs.id"), primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True),
    sa.Column("pinned", sa.Boolean, nullable=False),
    sa.Column("digest", sa.LargeBinary, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)
