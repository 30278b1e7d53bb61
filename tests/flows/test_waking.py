"""A backfill with a Prefect server wakes the drains; each waits for what the one before is still at."""

import datetime as dt
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from prefect.client.orchestration import SyncPrefectClient
from prefect.settings import PREFECT_API_URL, temporary_settings
from pydantic import SecretStr

from db import tables
from flows import review
from flows.draining import is_idle
from flows.installation.deployments import find_file, read_file, register
from flows.installation.pools import make_pools
from flows.waking import BACKFILL, check_drains
from models import profiles
from models.errors import Code, EnvironmentFault
from models.review import Action, Decision, PageRef
from models.stage import Stage
from tasks.register import register_roots
from tests import factories
from tests.e2e.shell import Shell
from tests.flows.backfilling import OTHER, Backfills, backfills_in
from tests.flows.prefects import prefect_server
from tests.flows.yard import Yard, saying


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Prefect server of our own without deployments, named in the settings of this process."""
    with (
        prefect_server(tmp_path_factory.mktemp("prefect")) as url,
        temporary_settings({PREFECT_API_URL: url}),
    ):
        yield url


@pytest.fixture
def again(yard: Yard, postgres: str, monkeypatch: pytest.MonkeyPatch) -> Backfills:
    """Backfills over a document that was read."""
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
    yard.ingest()
    return backfills_in(yard, postgres, monkeypatch)


@pytest.mark.slow
def test_without_deployments_the_remedy_is_told_and_nothing_is_changed(server: str, again: Backfills) -> None:
    with pytest.raises(EnvironmentFault, match=r"has no deployment split/cpu-backfill.*'pagemill up'"):
        again.run(everything=True, options=OTHER, here=False)
    assert again.yard.rows("backfill") == []


@pytest.mark.slow
def test_drains_are_asked_for_on_the_queue_behind_the_schedule_and_the_rest_is_left_to_them(
    server: str, again: Backfills
) -> None:
    with SyncPrefectClient(server) as client:
        make_pools(client, 1)
        register(client, read_file(find_file()).deployments)
        with pytest.raises(EnvironmentFault, match=r"No worker serves the pool cpu.*'pagemill up'"):
            again.run(everything=True, options=OTHER, here=False)
        assert again.yard.rows("backfill") == []
        report_worker(client, "cpu")
        with pytest.raises(EnvironmentFault, match=r"the pool gpu.*'pagemill up --gpu glm-ocr'"):
            check_drains(profiles.get("glm-ocr"), BACKFILL)
        check_drains(profiles.get("glm-ocr"), BACKFILL, reads=False)
        again.run(everything=True, options=OTHER, here=False)
        # The schedule of maintain makes runs of its own.
        runs = [run for run in client.read_flow_runs() if not run.auto_scheduled]
    assert {run.work_queue_name for run in runs} == {"backfill"}
    assert sorted((run.parameters["profile"], run.work_pool_name) for run in runs) == [("ppocr", "cpu")] * 3
    assert again.read() == []
    work = [(row.stage, row.status, row.priority) for row in again.yard.rows("claim") if row.priority]
    assert work == [("split", "ready", 10)]
    assert [row.ended_at for row in again.yard.rows("backfill")] == [None]


@pytest.mark.slow
def test_a_deployment_whose_pool_was_deleted_is_told_and_up_mends_it(server: str) -> None:
    deployments = read_file(find_file()).deployments
    with SyncPrefectClient(server) as client:
        for has_pool in (True, False, True):
            if has_pool:
                make_pools(client, 1)
                register(client, deployments)
                report_worker(client, "cpu")
                check_drains(profiles.get("ppocr"), BACKFILL)
            else:
                client.delete_work_pool("cpu")
                # As a worker does, which makes its pool where it is missing.
                make_pools(client, 1)
                report_worker(client, "cpu")
                with pytest.raises(
                    EnvironmentFault, match=r"no deployment split/cpu-backfill.*'pagemill up'"
                ):
                    check_drains(profiles.get("ppocr"), BACKFILL)


@pytest.mark.slow
def test_a_command_that_the_server_cannot_serve_says_so_in_a_line(
    server: str, again: Backfills, postgres: str
) -> None:
    shell, told = Shell(again.yard.home), {"PAGEMILL_DATABASE_URL": postgres, "PREFECT_API_URL": server}
    done = shell.run("backfill", "--all", "--go", "--profile", "glm-ocr", **told)
    assert done.returncode == 4
    assert "'pagemill up" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert again.yard.rows("backfill") == []


def report_worker(client: SyncPrefectClient, pool: str) -> None:
    """As a worker does every half minute."""
    beat = "/work_pools/{work_pool_name}/workers/heartbeat"
    client.request("POST", beat, path_params={"work_pool_name": pool}, json={"name": "w"})


@pytest.mark.slow
def test_pages_that_nobody_would_read_again_are_left_as_they_are(yard: Yard, postgres: str) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
    yard.ingest()
    settings = yard.settings.model_copy(update={"database_url": SecretStr(postgres)})
    before = yard.rows("claim")
    nobody = temporary_settings({PREFECT_API_URL: "http://127.0.0.1:1/api"})
    with nobody, pytest.raises(EnvironmentFault, match=r"No Prefect server answers") as caught:
        review.retry(settings, [PageRef(1, 1)], Decision(Action.RETRY, "me"), here=False)
    assert caught.value.code is Code.PREFECT_UNREACHABLE
    assert yard.rows("claim") == before


def test_a_drain_waits_while_somebody_is_at_work_in_the_stages_before_its_own(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
    mill, recipe_id = yard.mill(saying())
    register_roots(mill, [yard.inbox], recipe_id)
    before = [Stage.SPLIT, Stage.PREPROCESS]
    # Nobody works on it: whoever waits for that may wait for ever.
    assert is_idle(mill, [Stage.OCR], before)
    mill.claim(Stage.SPLIT, 1)
    assert not is_idle(mill, [Stage.OCR], before)
    assert is_idle(mill, [Stage.OCR], [])
    assert not is_idle(mill, [Stage.SPLIT], [])
    mill.close()
    t = tables.claim
    later = sa.update(t).values(not_before=sa.func.now() + dt.timedelta(hours=1))
    yard.database.run(lambda conn: conn.execute(later))
    assert not is_idle(mill, [Stage.SPLIT], [])
