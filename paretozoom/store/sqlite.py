"""A store in one file, with a write-ahead log."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import filelock
import sqlalchemy as sa

from paretozoom.store.base import FILE, Away, Busy, Damaged, Full, Lock, Locked, ReadOnly, StoreError

PATIENCE = 3.0  # seconds to wait for another process that writes
INSERT = "INSERT INTO events (log, seq, time, number, request, salt, body, chain) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
INSERT_SNAPSHOT = "INSERT INTO snapshots (log, seq, pinned, digest, body) VALUES (?, ?, ?, ?, zeroblob(?))"
PIECE = 1 << 20  # bytes
KINDS: dict[str, type[StoreError]] = {
    "SQLITE_FULL": Full,
    "SQLITE_IOERR_WRITE": Full,
    "SQLITE_IOERR_SHMSIZE": Full,
    "SQLITE_BUSY": Busy,
    "SQLITE_READONLY": ReadOnly,
    "SQLITE_NOTADB": StoreError,
    "SQLITE_CORRUPT": Damaged,
}


class LockFile:
    """A locked file: it is free again when its process ends, however it ends."""

    def __init__(self, lock: filelock.BaseFileLock) -> None:
        self._lock = lock

    def is_held(self) -> bool:
        """Whether the right still stands."""
        return self._lock.is_locked

    def release(self) -> None:
        """Give it back."""
        self._lock.release()


class Sqlite:
    """How SQLite is reached: commits survive the end of the process, and with `fsync` also that of the machine."""

    def __init__(self, folder: Path, durability: str) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{folder}: is not a folder, and cannot be made one ({error.strerror})") from error
        address = sa.URL.create("sqlite", database=str(folder / FILE))
        self.engine = sa.create_engine(address, connect_args={"timeout": PATIENCE})
        synchronous = "FULL" if durability == "fsync" else "NORMAL"

        @sa.event.listens_for(self.engine, "connect")
        def _set_up(connection: Any, _: Any) -> None:
            connection.isolation_level = None  # transactions begin below, not when Python's driver thinks so
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {synchronous}")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA secure_delete = ON")  # what is erased does not stay in unused pages

        @sa.event.listens_for(self.engine, "begin")
        def _begin(connection: sa.Connection) -> None:
            writes = connection.get_execution_options().get("writes")
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    def insert(self, connection: sa.Connection, rows: list[tuple[Any, ...]]) -> None:
        """Add rows to the table of events, as quickly as it can."""
        connection.exec_driver_sql(INSERT, rows)

    def insert_snapshot(self, connection: sa.Connection, row: tuple[Any, ...]) -> None:
        """Add a row to the table of snapshots: piece by piece, as a statement keeps what was bound to it last."""
        *place, body = row
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        found = connection.exec_driver_sql(INSERT_SNAPSHOT, (*place, len(body)))
        try:
            with driver.blobopen("snapshots", "body", found.lastrowid) as blob:
                for begin in range(0, len(body), PIECE):
                    blob.write(body[begin : begin + PIECE])
        except sqlite3.Error as error:
            raise sa.exc.DBAPIError("blob.write", None, error) from error

    def forget(self) -> None:
        """Let nothing stay of what was erased: the write-ahead log would keep it until it is written over."""
        with self.engine.connect() as connection:
            driver = connection.connection.driver_connection
            assert isinstance(driver, sqlite3.Connection)
            connection.rollback()
            driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def lock(self, log: str) -> Lock:
        """Take the right to write to a log, or raise `Locked`."""
        path = self._folder / "locks" / f"{log}.lock"
        lock = filelock.FileLock(path, timeout=0, thread_local=False)
        try:
            path.parent.mkdir(exist_ok=True)
            lock.acquire()
        except filelock.Timeout:
            raise Locked(f"log {log!r}: another process has it open (it holds {path})") from None
        except OSError as error:
            raise Away(f"{path}: {error.strerror}") from error
        return LockFile(lock)

    def check(self, connection: sa.Connection) -> None:
        """Raise what would keep a transaction from writing: its beginning has found out."""

    def failure(self, error: sa.exc.DBAPIError) -> StoreError:
        """What went wrong, in the store's words."""
        name = getattr(error.orig, "sqlite_errorname", "")
        if "decode to UTF-8" in str(error.orig):  # bytes that became a text
            return Damaged(f"{self._folder / FILE}: {error.orig}")
        kinds = (kind for beginning, kind in KINDS.items() if name.startswith(beginning))
        return next(kinds, Away)(f"{self._folder / FILE}: {error.orig} ({name})")
