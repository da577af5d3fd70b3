"""A PostgreSQL server for the tests of the store."""

from __future__ import annotations

from tests.postgres import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]
