"""Logs, events and snapshots."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "2"  # 1 was never released
down_revision = None
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the three tables."""
    engine = op.get_bind().dialect.name
    # PostgreSQL takes as long to look up the log of each new event as to write it; and the log's row was changed in the
    # same transaction.
    to_log = [sa.ForeignKey("logs.id")] if engine == "sqlite" else []
    op.create_table(
        "logs",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("name", sa.String(80), nullable=False, unique=True),
        sa.Column("head", sa.BigInteger, nullable=False),
        sa.Column("chain", sa.LargeBinary, nullable=False),
        sa.Column("pruned", sa.BigInteger, nullable=False),
        sa.Column("root", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("log", KEY, *to_log, primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True),
        sa.Column("time", sa.Double, nullable=False),
        sa.Column("number", sa.BigInteger),
        sa.Column("request", sa.String(200)),
        sa.Column("salt", sa.LargeBinary, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("chain", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    number: sa.ColumnClause[int] = sa.column("number")
    request: sa.ColumnClause[str] = sa.column("request")
    op.create_index(
        "events_by_number",
        "events",
        ["log", "number"],
        sqlite_where=number.is_not(None),
        postgresql_where=number.is_not(None),
    )
    op.create_index(
        "events_by_request",
        "events",
        ["log", "request"],
        unique=True,
        sqlite_where=request.is_not(None),
        postgresql_where=request.is_not(None),
    )
    op.create_table(
        "snapshots",
        sa.Column("log", KEY, sa.ForeignKey("logs.id"), primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True),
        sa.Column("pinned", sa.Boolean, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    if engine == "sqlite":
        # Without statistics SQLite believes that a log has a few entries, and reads all to find a decision.
        op.execute("ANALYZE")
        op.execute(
            "INSERT INTO sqlite_stat1 VALUES ('events', 'events', '1000000 1000000 1'), "
            "('events', 'events_by_number', '1000000 1000000 2'), ('events', 'events_by_request', '500000 500000 1')"
        )


def downgrade() -> None:
    """Nothing is ever thrown away."""
    raise NotImplementedError("a store is never made older")
