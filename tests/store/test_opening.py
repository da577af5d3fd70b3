"""What is not opened, and what is said then."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory

from paretozoom.records import Refused
from paretozoom.store import migrating, open_store


@pytest.mark.parametrize("where", ["folder", "postgresql://postgres@/postgres?host=/nowhere"])
@pytest.mark.parametrize("durability", ["", "Commit", "none", None, 5])
def test_a_durability_that_there_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, durability: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Refused, match=r"durability: .* is not one of \('commit', 'fsync'\)"):
        open_store(where, durability=durability)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "url",
    ["mysql://h/d", "sqlite:///x", "http://h", "POSTGRESQL://h", "postgresql+psycopg://h/d", "x://secret@h/d"],
)
def test_a_url_of_another_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Refused, match="is not a folder or a URL that begins with postgresql://") as refusal:
        open_store(url)
    assert "secret" not in str(refusal.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["postgresql://u:secret@h:port/d", "postgresql://u:secret@h:5432:1/d"])
def test_a_url_that_cannot_be_read(url: str) -> None:
    with pytest.raises(Refused, match="store: not a URL such as postgresql://") as refusal:
        open_store(url)
    error: BaseException | None = refusal.value
    while error is not None:
        assert "secret" not in str(error)
        error = error.__cause__


def test_the_newest_migration_is_the_last_that_there_is() -> None:
    assert ScriptDirectory.from_config(migrating.alembic_config()).get_heads() == [migrating.NEWEST]


@pytest.mark.parametrize("kind", [str, Path])
def test_a_folder_is_made(tmp_path: Path, kind: type) -> None:
    folder = tmp_path / "what? 100%" / "b#c"
    open_store(kind(folder)).close()
    assert (folder / "paretozoom.db").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["what? 100%"]


@pytest.mark.parametrize(
    ("module", "where", "extra"),
    [
        ("sqlalchemy", "folder", "service"),
        ("alembic", "folder", "service"),
        ("filelock", "folder", "service"),
        ("psycopg", "postgresql://h/d", "postgres"),
    ],
)
def test_what_is_not_installed_is_named(tmp_path: Path, module: str, where: str, extra: str) -> None:
    program = (
        f"import sys; sys.modules[{module!r}] = None\n"
        "from paretozoom.records import Refused\n"
        "from paretozoom.store import open_store\n"
        "try:\n"
        f"    open_store({where!r})\n"
        "except Refused as refusal:\n"
        "    print(refusal)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == f"store: {module!r} is missing; pip install 'paretozoom[{extra}]' brings it\n"
