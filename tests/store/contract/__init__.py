"""What every store does, whatever it is kept in: one file for each subject."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from paretozoom.store import Store, open_store
from tests.store.contract.appending import Appending
from tests.store.contract.model import LikeAModel
from tests.store.contract.opening import Holding, Opening
from tests.store.contract.reading import Reading
from tests.store.contract.removing import Removing
from tests.store.contract.snapshots import Snapshots


class StoreContract(Appending, Reading, Snapshots, Holding, Opening, LikeAModel, Removing):
    """Tests that a subclass runs on its kind of store: `where` opens an empty one, `database` reaches its tables."""

    @pytest.fixture
    def where(self) -> str:
        raise NotImplementedError

    @pytest.fixture
    def database(self) -> sa.Engine:
        raise NotImplementedError

    @pytest.fixture
    def store(self, where: str) -> Iterator[Store]:
        opened = open_store(where)
        yield opened
        opened.close()

    @pytest.fixture
    def other(self, store: Store, where: str) -> Iterator[Store]:
        """A second store on the same database."""
        opened = open_store(where)
        yield opened
        opened.close()
