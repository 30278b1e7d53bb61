"""A yard for each test; one Prefect server for all tests that need a real one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from db.engine import Database
from tests.flows.prefects import prefect_server
from tests.flows.yard import Yard


@pytest.fixture
def yard(database: Database, tmp_path: Path) -> Yard:
    """An empty inbox, an empty database."""
    return Yard(database, tmp_path / "home", tmp_path / "inbox")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The API of a real Prefect server."""
    with prefect_server(tmp_path_factory.mktemp("prefect")) as url:
        yield url
