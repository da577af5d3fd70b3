"""How alembic reaches the store: by the connection it is handed."""

from __future__ import annotations

from alembic import context

from paretozoom.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
