"""Work is shared between machines: whose workers a run asks for help, for what, and how often."""

import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from prefect.client.orchestration import SyncPrefectClient
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows import helping, ingesting
from flows.helping import ask_others, helped, is_read_elsewhere
from flows.ingesting import work_off
from flows.installation.deployments import find_file, read_file, register
from flows.installation.pools import make_pools, make_queue
from flows.installation.services import worker_name
from flows.lines import ocr_lines
from flows.waking import BACKFILL, wake
from models import profiles
from models.document import DocumentStatus
from models.profile import Profile
from tasks.drain import drain
from tasks.mill import Mill
from tasks.register import register_roots
from tests import factories
from tests.flows.yard import Yard, saying

SERVED = profiles.get("glm-ocr")


@pytest.fixture
def client(server: str) -> Iterator[SyncPrefectClient]:
    """Of a server that knows a worker of each pool on this machine, and on another."""
    with SyncPrefectClient(server) as made, temporary_settings({PREFECT_API_URL: server}):
        for run in made.read_flow_runs():
            made.delete_flow_run(run.id)
        make_pools(made, 1)
        register(made, read_file(find_file()).deployments)
        for pool in ("cpu", "gpu"):
            for name in (worker_name(pool), f"{pool}-elsewhere"):
                make_queue(made, pool, name)
                made.send_worker_heartbeat(pool, name, 60.0)
        yield made


def mill_of(yard: Yard, profile: Profile) -> Mill:
    yard.profile = profile
    return yard.mill(saying())[0]


def asked(client: SyncPrefectClient) -> set[tuple[str, str, str]]:
    """Pool, queue and profile of each run that was asked for; no two are alike."""
    runs = [run for run in client.read_flow_runs() if not run.auto_scheduled]
    found = [(str(run.work_pool_name), str(run.work_queue_name), run.parameters["profile"]) for run in runs]
    names = {client.read_deployment(run.deployment_id).entrypoint for run in runs if run.deployment_id}
    assert len(names) == len(runs)
    return set(found)


@pytest.mark.slow
def test_another_machine_is_asked_on_its_own_queues_for_one_drain_of_each_stage(
    yard: Yard, client: SyncPrefectClient
) -> None:
    mill = mill_of(yard, SERVED)
    assert ask_others(client, mill) == 3
    cpu, gpu = ("cpu", "cpu-elsewhere", "glm-ocr"), ("gpu", "gpu-elsewhere", "glm-ocr")
    assert asked(client) == {cpu, gpu}
    assert ask_others(client, mill) == 0


@pytest.mark.slow
def test_who_has_been_asked_for_one_profile_is_asked_for_another(
    yard: Yard, client: SyncPrefectClient
) -> None:
    assert ask_others(client, mill_of(yard, SERVED)) == 3
    assert ask_others(client, mill_of(yard, profiles.get("chandra-2"))) == 3
    assert ask_others(client, mill_of(yard, profiles.get("ppocr"))) == 3


@pytest.mark.slow
def test_reading_of_a_backfill_is_asked_for_once_a_machine_with_gpus(client: SyncPrefectClient) -> None:
    wake(SERVED, BACKFILL)
    runs = [run for run in client.read_flow_runs() if not run.auto_scheduled]
    assert {run.work_queue_name for run in runs} == {"backfill"}
    assert sorted(str(run.work_pool_name) for run in runs) == ["cpu", "cpu", "gpu", "gpu"]


@pytest.mark.slow
def test_a_machine_without_a_server_leaves_reading_to_those_that_have_one(
    yard: Yard, client: SyncPrefectClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_of_a_worker(monkeypatch)
    yard.profile = SERVED
    mill = Mill(settings=yard.settings, database=yard.database, profile=SERVED, run_id=1)
    assert is_read_elsewhere(mill)
    mill.settings = yard.settings.model_copy(update={"ocr_url": "http://127.0.0.1:1"})
    assert not is_read_elsewhere(mill)
    on_cpu = Mill(settings=yard.settings, database=yard.database, profile=profiles.get("ppocr"), run_id=1)
    assert not is_read_elsewhere(on_cpu)


@pytest.mark.slow
def test_help_is_asked_for_when_much_waits(
    yard: Yard, client: SyncPrefectClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_of_a_worker(monkeypatch)
    yard.profile = SERVED
    mill, recipe_id = yard.mill(saying())
    with helped(mill, worth=1, every_s=0.1):
        time.sleep(0.5)
        assert asked(client) == set()
        factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
        register_roots(mill, [yard.inbox], recipe_id)
        until = time.monotonic() + 60
        while len(asked(client)) < 2:
            assert time.monotonic() < until
            time.sleep(0.1)


def test_a_run_that_no_worker_started_asks_nobody(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helping, "_call", lambda *_: pytest.fail("asked"))
    mill = mill_of(yard, SERVED)
    before = threading.active_count()
    with helped(mill, worth=0, every_s=0.01):
        assert threading.active_count() == before
    assert not is_read_elsewhere(mill)


@pytest.mark.slow
def test_a_run_that_leaves_reading_to_others_ends_when_they_have_read(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if in a flow run: outside of one nobody else is asked for.
    monkeypatch.setattr(ingesting, "flow_run_context", object)
    monkeypatch.setattr(helping, "is_read_elsewhere", lambda _: True)
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))
    reader, recipe_id = yard.mill(saying())
    mill = Mill(settings=yard.settings, database=yard.database, profile=yard.profile, run_id=reader.run_id)
    ended = threading.Event()
    lanes = ocr_lines(reader.profile)
    other = threading.Thread(target=drain, args=(reader, lanes, ended.is_set), daemon=True)
    other.start()
    assert work_off(mill, [yard.inbox], recipe_id)
    ended.set()
    other.join()
    mill.close()
    reader.close()
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE
    assert not mill.reads


def run_of_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this be one, as far as it says what it is."""
    context: Any = SimpleNamespace(flow_run=SimpleNamespace(deployment_id="some"))
    monkeypatch.setattr(helping, "FlowRunContext", SimpleNamespace(get=lambda: context))
