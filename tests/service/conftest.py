"""Services for tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient

from tests.service.remote import Remote, begin, light, serving


@pytest.fixture
def lightly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Services of this test start at once."""
    light(monkeypatch)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient[Any]]:
    """A service without tokens that the tests of a file share."""
    with pytest.MonkeyPatch.context() as patch:
        light(patch)
        with serving(tmp_path_factory.mktemp("shared")) as client:
            yield client


@pytest.fixture
def experiment(client: TestClient[Any]) -> Remote:
    """A new experiment of the shared service."""
    return begin(client)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a service of this test alone keeps its data."""
    return tmp_path / "data"
