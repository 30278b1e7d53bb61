"""A machine that joins others has their store and their database, or is told what to do."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from prefect.client.orchestration import SyncPrefectClient

from flows.installation import sharing
from flows.installation.sharing import VARIABLE, check_shared
from models.errors import Code, EnvironmentFault
from models.settings import Settings, load_settings

pytestmark = pytest.mark.slow


@pytest.fixture
def client(server: str) -> Iterator[SyncPrefectClient]:
    """Of a server at which nobody was before."""
    with SyncPrefectClient(server) as made:
        yield made
        if made.read_variable_by_name(VARIABLE):
            made.delete_variable_by_name(VARIABLE)


@pytest.fixture
def first(postgres: str, tmp_path: Path) -> Settings:
    """Of the machine that was there first."""
    return load_settings(home=tmp_path / "first", database_url=postgres)


def other(first: Settings, home: Path, *, shares: bool) -> Settings:
    """Of a machine that joins it, with a store that leads to the first's or not."""
    home.mkdir()
    if shares:
        (home / "store").symlink_to(first.store)
    return first.model_copy(update={"home": home})


def test_a_machine_that_shares_store_and_database_joins(
    client: SyncPrefectClient, first: Settings, tmp_path: Path
) -> None:
    check_shared(client, first, is_joining=False)
    check_shared(client, other(first, tmp_path / "other", shares=True), is_joining=True)


def test_a_machine_with_a_store_of_its_own_is_refused(
    client: SyncPrefectClient, first: Settings, tmp_path: Path
) -> None:
    check_shared(client, first, is_joining=False)
    stranger = other(first, tmp_path / "other", shares=False)
    with pytest.raises(EnvironmentFault, match=rf"another store than {stranger.store}.* link"):
        check_shared(client, stranger, is_joining=True)


def test_a_machine_with_a_database_of_its_own_is_refused(
    client: SyncPrefectClient, first: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_shared(client, first, is_joining=False)
    monkeypatch.setattr(sharing, "_database_mark", lambda _: "another")
    with pytest.raises(EnvironmentFault, match=r"another database.*PAGEMILL_DATABASE_URL"):
        check_shared(client, other(first, tmp_path / "other", shares=True), is_joining=True)


def test_the_machine_of_the_server_may_begin_anew(
    client: SyncPrefectClient, first: Settings, tmp_path: Path
) -> None:
    check_shared(client, first, is_joining=False)
    anew = other(first, tmp_path / "anew", shares=False)
    check_shared(client, anew, is_joining=False)
    with pytest.raises(EnvironmentFault):
        check_shared(client, first, is_joining=True)


def test_whoever_comes_first_to_a_server_of_nobodys_decides(
    client: SyncPrefectClient, first: Settings, tmp_path: Path
) -> None:
    check_shared(client, first, is_joining=True)
    check_shared(client, other(first, tmp_path / "other", shares=True), is_joining=True)


def test_a_link_that_leads_nowhere_is_told(
    client: SyncPrefectClient, first: Settings, tmp_path: Path
) -> None:
    with pytest.raises(EnvironmentFault, match=r"cannot be written.*folder that it leads to") as caught:
        check_shared(client, other(first, tmp_path / "other", shares=True), is_joining=True)
    assert caught.value.code is Code.HOME_UNWRITABLE
