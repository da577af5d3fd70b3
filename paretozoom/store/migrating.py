"""The form of a store's tables, and how it becomes the newest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sqlalchemy as sa

from paretozoom.store.base import StoreError

NEWEST = "2"  # the newest migration
_form = sa.select(sa.column("version_num", sa.String)).select_from(sa.table("alembic_version"))


def bring_to_newest(engine: sa.Engine, *, allowed: bool = True) -> None:
    """Bring the tables to the newest form; where that is not allowed, raise if they have another."""
    if _form_of(engine) == [NEWEST]:
        return  # to import alembic takes half as long as everything else at the start of a service
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    config = alembic_config()
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
    if not allowed:
        raise StoreError(
            f"the tables have the form {now[0] if now else None!r}, this version of paretozoom needs "
            f"{scripts.get_current_head()!r}: paretozoom upgrade brings them to it; make a backup first"
        )
    from alembic import command

    with engine.connect() as connection, connection.execution_options(writes=True, migrates=True).begin():
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    engine.dispose()  # connections learn the statistics of a table when they are made


def _form_of(engine: sa.Engine) -> list[str]:
    """The migrations that the tables have seen, as alembic has noted them."""
    with engine.connect() as connection:
        if not sa.inspect(connection).has_table("alembic_version"):
            return []
        return list(connection.execute(_form).scalars())


def alembic_config() -> Any:
    """Where the migrations are."""
    from alembic.config import Config

    config = Config()
    folder = str(Path(__file__).parent / "migrations")
    config.set_main_option("script_location", folder.replace("%", "%%"))  # it would interpolate
    return config
