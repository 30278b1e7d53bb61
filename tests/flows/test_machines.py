"""Two machines of one name: neither frees what the other holds, and the second is not let in."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import VariableCreate, VariableUpdate

from db import claims
from db.engine import Database
from flows.installation import sharing
from flows.installation.machines import check_name, variable_of
from flows.installation.pools import make_pools
from flows.installation.services import worker_name
from models.errors import EnvironmentFault
from models.stage import Stage
from tasks.maintain import free_leases
from tasks.mill import owner_name
from tasks.work.machine import machine
from tests.db.steps import intake, lease, register

CLONE = f"{socket.gethostname()}+00000000"
NAME = variable_of(socket.gethostname())


@pytest.fixture
def client(server: str) -> Iterator[SyncPrefectClient]:
    """Of a server with pools at which nobody has our name."""
    with SyncPrefectClient(server) as made:
        make_pools(made, 3)
        yield made
        if made.read_variable_by_name(NAME):
            made.delete_variable_by_name(NAME)


def beat(client: SyncPrefectClient) -> None:
    """A worker of our name says that it lives."""
    body = {"name": worker_name("cpu"), "heartbeat_interval_seconds": 30}
    client.request("POST", "/work_pools/{n}/workers/heartbeat", path_params={"n": "cpu"}, json=body)


def join(client: SyncPrefectClient) -> None:
    check_name(client, lambda _: None, is_at_work=False, beats_s=0)


def holder(client: SyncPrefectClient) -> object:
    known = client.read_variable_by_name(NAME)
    return known and known.value


def test_what_a_machine_of_the_same_name_holds_is_not_freed(database: Database) -> None:
    _, pid, _, suffix = owner_name().rsplit(":", 3)
    for number, owner in enumerate((f"{CLONE}:{pid}:1:{suffix}", f"{machine()}:{pid}:1:{suffix}")):
        register(database, intake(f"/{number}.pdf", str(number)))
        lease(database, Stage.SPLIT, owner=owner)
    assert free_leases(database, 3) == 1
    left = database.run(lambda conn: claims.outstanding(conn, [Stage.SPLIT]))
    assert (left.leased, left.ready) == (1, 1)


@pytest.mark.slow
def test_whoever_comes_first_has_the_name_and_keeps_it(client: SyncPrefectClient) -> None:
    join(client)
    assert holder(client) == machine()
    beat(client)
    check_name(client, pytest.fail, is_at_work=False)
    assert holder(client) == machine()


@pytest.mark.slow
@pytest.mark.parametrize("is_known", [True, False])
def test_a_machine_is_refused_while_another_works_under_its_name(
    client: SyncPrefectClient, is_known: bool
) -> None:
    if is_known:
        client.create_variable(VariableCreate(name=NAME, value=CLONE))
    beat(client)
    told = f"Another machine that is called {socket.gethostname()}.*another name"
    with pytest.raises(EnvironmentFault, match=told):
        check_name(client, lambda _: beat(client), is_at_work=False, beats_s=60)
    assert holder(client) == (CLONE if is_known else None)


@pytest.mark.slow
def test_a_name_whose_machine_is_silent_is_free(client: SyncPrefectClient) -> None:
    client.create_variable(VariableCreate(name=NAME, value=CLONE))
    beat(client)
    join(client)
    assert holder(client) == machine()


@pytest.mark.slow
def test_a_machine_whose_workers_run_has_the_name_already(client: SyncPrefectClient) -> None:
    beat(client)
    check_name(client, pytest.fail, is_at_work=True)
    assert holder(client) == machine()


@pytest.mark.slow
def test_of_two_that_come_at_the_same_moment_one_is_refused(client: SyncPrefectClient) -> None:
    beat(client)

    def other_is_quicker(_: str) -> None:
        client.create_variable(VariableCreate(name=NAME, value=CLONE))

    with pytest.raises(EnvironmentFault, match="Another machine"):
        check_name(client, other_is_quicker, is_at_work=False, beats_s=0)
    client.update_variable(VariableUpdate(name=NAME, value=CLONE))


def test_a_store_has_one_mark_whoever_writes_at_the_same_moment(tmp_path: Path) -> None:
    path = tmp_path / "id"
    sharing._mark(path)
    first = path.read_text()
    sharing._mark(path)
    assert (path.read_text(), len(first)) == (first, 32)
    assert [one.name for one in tmp_path.iterdir()] == ["id"]
