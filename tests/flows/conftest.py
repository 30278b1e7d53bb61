"""A yard for each test."""

from pathlib import Path

import pytest

from db.engine import Database
from tests.flows.yard import Yard


@pytest.fixture
def yard(database: Database, tmp_path: Path) -> Yard:
    """An empty inbox, an empty database."""
    return Yard(database, tmp_path / "home", tmp_path / "inbox")
