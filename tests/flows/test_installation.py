"""One machine from nothing to a running installation: the real server, worker and Postgres."""

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from uuid import UUID

import httpx
import psutil
import pytest
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import DeploymentFilter, DeploymentFilterId
from prefect.client.schemas.objects import FlowRun

from db import embedded, postmaster
from flows.installation import deployments, pools, services
from flows.waking import BACKFILL, drains_of
from models import profiles
from models.errors import Code, ConfigurationError, EnvironmentFault
from models.settings import Settings
from tests import factories
from tests.flows.installed import AUTH, Installation, installation

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def mill() -> Iterator[Installation]:
    """One for all tests of this module: to bring it up takes half a minute of CPU."""
    with installation() as made:
        yield made


def wait_for(truth: Callable[[], object], seconds: float = 300.0) -> None:
    until = time.monotonic() + seconds
    while not truth():
        assert time.monotonic() < until
        time.sleep(0.5)


def postgres_pid(settings: Settings) -> int:
    server = postmaster.find_server(settings.root.resolve() / "postgres")
    assert server is not None
    pid: int = server.pid
    return pid


def test_everything_runs_and_the_server_is_the_homes(mill: Installation) -> None:
    assert set(mill.pids()) == {"postgres", "prefect", "worker-cpu"}
    with mill.client() as client:
        assert client.read_workers_for_work_pool("cpu")[0].status == "ONLINE"


def test_the_screen_asks_the_server_that_it_came_from_on_whatever_port(mill: Installation) -> None:
    told = httpx.get(f"http://127.0.0.1:{mill.port}/ui-settings", timeout=120).json()
    assert told["api_url"] == "/api"


def test_prefect_has_a_database_of_its_own_beside_ours(mill: Installation) -> None:
    tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
    ours = {name for (name,) in mill.ask_postgres("pagemill", tables)}
    theirs = {name for (name,) in mill.ask_postgres("prefect", tables)}
    assert "flow_run" in theirs - ours
    assert "page" in ours - theirs
    assert not list(mill.shell.home.rglob("*.db"))


def test_the_password_is_asked_for(mill: Installation) -> None:
    with pytest.raises(EnvironmentFault) as caught:
        mill.up(auth="mill:wrong")
    assert caught.value.code is Code.PREFECT_REFUSED
    assert set(mill.pids()) == {"postgres", "prefect", "worker-cpu"}


def test_pools_have_an_urgent_queue_and_one_that_leaves_room(mill: Installation) -> None:
    with mill.client() as client:
        for pool in pools.POOLS:
            assert client.read_work_pool(pool).type == "process"
            queues = client.request(
                "POST", "/work_pools/{work_pool_name}/queues/filter", path_params={"work_pool_name": pool}
            ).json()
            facts = {one["name"]: (one["priority"], one["concurrency_limit"]) for one in queues}
            assert facts["scheduled"] == (1, None)
            assert facts["backfill"] == (10, services.BACKFILLS if pool == "cpu" else None)
            assert (services.worker_name(pool) in facts) == (pool == "cpu")


def test_all_deployments_of_the_file_are_registered_with_forms_that_explain(mill: Installation) -> None:
    with mill.client() as client:
        for wanted in deployments.read_file(deployments.find_file()).deployments:
            found = client.read_deployment_by_name(wanted.full_name)
            assert found.entrypoint == wanted.entrypoint
            assert found.pull_steps == []
            assert found.work_queue_name == wanted.work_pool.work_queue_name
            assert found.parameter_openapi_schema is not None
            fields = found.parameter_openapi_schema["properties"].values()
            assert all(field["description"] for field in fields)


def test_rules_for_silent_runs_are_on_the_server(mill: Installation) -> None:
    with mill.client() as client:
        for rule in pools.automations():
            (found,) = client.read_automations_by_name(rule.name)
            assert found.enabled
            assert pools._facts(found) == pools._facts(rule)


def test_a_document_dropped_into_the_folder_is_searchable(mill: Installation) -> None:
    factories.write(mill.inbox / "a.pdf", factories.pdf("Words about gooseberries"))
    # Older than a file that somebody may still be writing.
    os.utime(mill.inbox / "a.pdf", (time.time() - 60, time.time() - 60))
    wait_for(lambda: "a.pdf" in mill.shell.run("search", "gooseberries").stdout)


def test_a_page_that_a_person_wants_read_again_is_read_by_the_worker(mill: Installation) -> None:
    server = {"PREFECT_API_URL": f"http://127.0.0.1:{mill.port}/api", "PREFECT_API_AUTH_STRING": AUTH}
    told = "SELECT count(*), count(prefect_run_id) FROM stage_run WHERE stage = 'ocr' AND outcome = 'ok'"
    ((before, _),) = mill.ask_postgres("pagemill", told)
    command = ("review", "retry", "1:1", "--recipe", "text_layer=ignore", "--json")
    done = mill.shell.run(*command, **server)
    assert done.returncode == 0, done.stderr
    (page,) = json.loads(done.stdout)
    assert (page["page"], page["verdict"], page["is_shown"]) == ("1:1", "good", True)
    assert mill.ask_postgres("pagemill", told) == [(before + 1, before + 1)]
    assert "a.pdf" in mill.shell.run("search", "gooseberries").stdout


def test_up_again_changes_nothing_and_keeps_what_is_watched(mill: Installation) -> None:
    before = mill.pids()
    assert all("already" in line for line in mill.up())
    assert mill.pids() == before
    with mill.client() as client:
        watching = client.read_deployment_by_name(deployments.WATCHING)
        assert watching.parameters["paths"] == [str(mill.inbox)]
        assert [(one.active, one.schedule.cron) for one in watching.schedules] == [(True, "* * * * *")]


def test_up_twice_at_once_starts_nothing_twice(mill: Installation) -> None:
    before = mill.pids()
    other = mill.begin_up()
    mill.up()
    assert (other.communicate()[0] != "", other.returncode) == (True, 0)
    assert mill.pids() == before


def test_the_server_cannot_be_moved_while_it_runs(mill: Installation) -> None:
    with pytest.raises(ConfigurationError, match="pagemill down"):
        mill.up(port=mill.port + 1)


def test_up_works_as_well_where_its_own_server_is_named_for_prefects_commands(mill: Installation) -> None:
    told = mill.up(theirs=f"http://127.0.0.1:{mill.port}/api")
    assert "The Prefect server runs already." in told


def test_a_killed_postgres_and_a_killed_server_come_back_by_themselves(mill: Installation) -> None:
    pid = postgres_pid(mill.settings)
    server = mill.running("prefect")
    assert server is not None
    os.kill(pid, signal.SIGKILL)
    os.kill(server.child, signal.SIGKILL)
    wait_for(lambda: embedded.running(mill.settings.root) and postgres_pid(mill.settings) != pid)
    mill.up()
    with mill.client() as client:
        assert client.read_deployment_by_name("ingest/adhoc").entrypoint == "flows.ingest.ingest"


def test_killed_runs_are_shown_as_crashed_and_started_again_as_they_were_asked_for(
    mill: Installation,
) -> None:
    asked = {"paths": [str(mill.inbox)], "options": ["pixels='&<>"], "jobs": 1}
    split, *_ = drains_of(profiles.get("ppocr"), BACKFILL)
    with mill.client() as client:
        adhoc = client.read_deployment_by_name("ingest/adhoc")
        drain = client.read_deployment_by_name(split)
        runs = [
            client.create_flow_run_from_deployment(adhoc.id, parameters=asked),
            client.create_flow_run_from_deployment(drain.id, parameters={"linger_s": 120.0}),
        ]
        for run in runs:
            wait_for(partial(kill_run, run.id), 300)
        for run in runs:
            wait_for(partial(again, client, run), 300)
            (other,) = again(client, run)
            assert client.read_flow_run(run.id).state_name == "Crashed"
            assert other.parameters == run.parameters
            assert other.deployment_id == run.deployment_id
            assert other.work_queue_name == run.work_queue_name
        assert [run.work_queue_name for run in runs] == ["scheduled", "backfill"]


def again(client: SyncPrefectClient, run: FlowRun) -> list[FlowRun]:
    """Runs of the same deployment that the server's own rule asked for."""
    wanted = DeploymentFilter(id=DeploymentFilterId(any_=[run.deployment_id]))
    found = client.read_flow_runs(deployment_filter=wanted)
    return [one for one in found if one.created_by and one.created_by.type == "AUTOMATION"]


def kill_run(run_id: UUID) -> bool:
    """Kill the process of a flow run, as soon as there is one."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("PREFECT__FLOW_RUN_ID") == str(run_id):
                process.kill()
                return True
    return False


def test_watching_ends_when_it_is_told_to(mill: Installation) -> None:
    mill.up(unwatch=True)
    with mill.client() as client:
        watching = client.read_deployment_by_name(deployments.WATCHING)
    assert [one.active for one in watching.schedules] == [False]


def test_down_ends_everything_that_up_started(mill: Installation) -> None:
    done = mill.shell.run("down", PAGEMILL_PREFECT_AUTH=AUTH)
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        "worker-cpu",
        "prefect",
        "Postgres",
    ]
    assert mill.pids() == {}
    assert not embedded.running(mill.settings.root)
    assert "No embedded Postgres" in mill.shell.run("down").stdout
