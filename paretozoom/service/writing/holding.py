"""The right to serve a store, which one service has at a time, also while there is no experiment yet."""

from __future__ import annotations

from paretozoom.store import Held, Hold, Store

RESERVED = "_service"  # held like a log, but never written to; experiments begin with a letter or a digit


class Serving:
    """The right to serve a store.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from paretozoom.store import open_store
    >>> with TemporaryDirectory() as folder:
    ...     store = open_store(Path(folder))
    ...     serving = Serving(store)
    ...     serving.take()
    ...     print(store.logs())
    ...     serving.release()
    ...     store.close()
    {}
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._hold: Hold | None = None

    def take(self) -> None:
        """Take the right, also again if it was lost with the database; raises `Held` if another service has it."""
        if self._hold is not None and self._hold.is_kept():
            return
        self.release()
        try:
            self._hold = self._store.hold(RESERVED)
        except Held as error:
            raise Held(f"another service is running on it; {error}") from error

    def release(self) -> None:
        """Give it back."""
        if self._hold is not None:
            self._hold.release()
        self._hold = None
