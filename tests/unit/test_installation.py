"""What an installation is made of, without any of it running."""

import os
import socket
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from flows.installation import api, database, pools, services, state
from flows.installation.environment import client_variables, merged, server_variables, worker_variables
from flows.installation.wish import Wish, check_openness
from models.errors import Code, ConfigurationError, EnvironmentFault
from models.settings import Settings, load_settings
from tasks.work.ports import check_port
from tests.permissions import as_nobody

ROOT = Path("/srv/pagemill")
API = "http://127.0.0.1:4200/api"
SECRET = SecretStr("mill:hunter2")


def settings(home: Path = ROOT, **more: Any) -> Settings:
    return load_settings(home=home, **more)


def test_a_server_writes_in_batches_keeps_leases_on_disk_and_forgets_old_runs() -> None:
    told = server_variables(ROOT, "postgresql+asyncpg:///prefect", None)
    assert told["PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE"] == "200"
    assert told["PREFECT_SERVER_SERVICES_EVENT_PERSISTER_BATCH_SIZE"] == "200"
    assert told["PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE"].endswith("filesystem")
    assert told["PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED"] == "events,flow_runs"
    assert told["PREFECT_SERVER_ANALYTICS_ENABLED"] == "false"
    assert told["PREFECT_HOME"] == "/srv/pagemill/prefect"


def test_prefect_knows_every_variable_that_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from prefect.settings import Settings as PrefectSettings

    told = server_variables(ROOT, "postgresql+asyncpg:///prefect", SECRET)
    told |= worker_variables(ROOT, API, SECRET)
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    known = PrefectSettings().to_environment_variables(exclude_unset=True)
    nested = {name for name in told if name.startswith("PREFECT_LOGGING_LOGGERS_")}
    assert {name for name in told if name.startswith("PREFECT_")} - nested <= set(known)


def test_the_password_goes_to_the_server_and_to_its_clients_where_there_is_one() -> None:
    assert server_variables(ROOT, "x", SECRET)["PREFECT_SERVER_API_AUTH_STRING"] == "mill:hunter2"
    assert client_variables(ROOT, API, SECRET)["PREFECT_API_AUTH_STRING"] == "mill:hunter2"
    assert not [name for name in server_variables(ROOT, "x", None) if "AUTH" in name]
    assert not [name for name in worker_variables(ROOT, API, None) if "AUTH" in name]


def test_what_a_person_has_set_wins_but_not_where_the_server_is() -> None:
    ours = worker_variables(ROOT, API, None)
    theirs = {"PREFECT_WORKER_QUERY_SECONDS": "60", "PREFECT_API_URL": "http://elsewhere/api", "LANG": "C"}
    told = merged(theirs, ours)
    assert told["PREFECT_WORKER_QUERY_SECONDS"] == "60"
    assert told["PREFECT_API_URL"] == API
    assert told["LANG"] == "C"


def test_a_run_is_silent_for_three_heartbeats_before_it_counts_as_crashed() -> None:
    silent = next(rule for rule in pools.automations() if rule.name == "pagemill-crash-silent-runs")
    beat = int(client_variables(ROOT, API, None)["PREFECT_FLOWS_HEARTBEAT_FREQUENCY"])
    assert silent.trigger.within.total_seconds() == 3 * beat


def test_no_rule_waits_longer_than_three_minutes_for_a_silent_run_to_count_as_crashed() -> None:
    crashing = [rule for rule in pools.automations() if rule.trigger.posture.value == "Proactive"]
    assert crashing
    for rule in crashing:
        assert rule.trigger.within.total_seconds() <= 180
        assert [action.type for action in rule.actions] == ["change-flow-run-state"]
        assert rule.trigger.expect == {"prefect.flow-run.*"}


def test_a_rule_is_the_same_in_whatever_order_it_names_events() -> None:
    rule = next(rule for rule in pools.automations() if len(rule.trigger.after) > 1)
    trigger = rule.trigger.model_copy(update={"after": {*reversed(list(rule.trigger.after))}})
    assert pools._facts(rule.model_copy(update={"trigger": trigger})) == pools._facts(rule)
    fewer = rule.trigger.model_copy(update={"after": set()})
    assert pools._facts(rule.model_copy(update={"trigger": fewer})) != pools._facts(rule)


def test_backfills_leave_room_for_the_schedule_on_a_worker() -> None:
    assert 3 <= services.BACKFILLS <= services.CPU_RUNS - 3
    assert services.QUEUES["scheduled"] < services.QUEUES["backfill"]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("postgresql://me:s%40c@db:5433/mill", "postgresql+asyncpg://me:s%40c@db:5433/prefect"),
        ("postgres://db/mill?sslmode=require", "postgresql+asyncpg://db/prefect?ssl=require"),
        (
            "postgresql+psycopg://postgres@/pagemill?host=/tmp/x&port=5432",
            "postgresql+asyncpg://postgres@/prefect?host=%2Ftmp%2Fx&port=5432",
        ),
        ("postgresql://db/mill?connect_timeout=3", "postgresql+asyncpg://db/prefect"),
    ],
)
def test_prefects_database_is_beside_ours_and_its_url_is_for_its_driver(ours: str, theirs: str) -> None:
    assert database.asyncpg_url(ours) == theirs


def test_a_database_chosen_for_prefect_is_used_as_it_is_unless_it_is_sqlite() -> None:
    chosen = "postgresql+asyncpg://me@db/elsewhere"
    assert database.prefect_database(settings(), chosen) == chosen
    with pytest.raises(ConfigurationError, match="SQLite"):
        database.prefect_database(settings(), "sqlite+aiosqlite:///prefect.db")


def test_processes_stop_those_that_give_work_first() -> None:
    names = ["postgres", "prefect", "serve-glm_ocr", "worker-cpu", "worker-gpu"]
    assert sorted(names, key=services.stop_rank) == [
        "worker-cpu",
        "worker-gpu",
        "serve-glm_ocr",
        "prefect",
        "postgres",
    ]


def test_a_service_runs_with_our_python_our_home_and_a_persons_own_variables() -> None:
    told = services.cpu_worker(settings(), API, None).environment({"PATH": "/bin", "LANG": "C"})
    assert told["PATH"].endswith(f"{os.pathsep}/bin")
    assert (Path(told["PATH"].split(os.pathsep)[0]) / "python").exists()
    assert told["PAGEMILL_HOME"] == "/srv/pagemill"
    assert told["LANG"] == "C"


def test_a_worker_serves_both_queues_of_its_pool_and_the_one_of_its_machine() -> None:
    words = services.gpu_worker(settings(), API, None).command
    queues = [queue for word, queue in pairwise(words) if word == "--work-queue"]
    assert queues == ["scheduled", "backfill", f"gpu-{socket.gethostname()}"]
    assert words[-2:] == ("--limit", "1")


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        (Wish(profile="nope"), "nope"),
        (Wish(gpu="ppocr"), "needs no GPU"),
        (Wish(watch=(Path("/no/such/folder"),)), "/no/such/folder"),
        (Wish(cron="every day"), "no schedule"),
        (Wish(timezone="Mars/Olympus"), "time zone"),
        (Wish(watch=(Path("/tmp"),), unwatch=True), "contradict"),
    ],
)
def test_a_wish_that_cannot_be_is_told_in_a_sentence(wish: Wish, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        wish.check(settings())
    assert said in caught.value.message
    assert "\n" not in caught.value.message


def test_a_port_in_use_is_told_with_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(EnvironmentFault, match=f"Port {port} .*--port") as caught:
            check_port("127.0.0.1", port)
    assert caught.value.code is Code.PORT_IN_USE
    check_port("127.0.0.1", port)


def test_a_server_that_others_can_reach_needs_a_password() -> None:
    with pytest.raises(ConfigurationError, match="PAGEMILL_PREFECT_AUTH"):
        check_openness("0.0.0.0", None)
    check_openness("0.0.0.0", SECRET)
    check_openness("127.0.0.1", None)


def test_a_host_that_does_not_exist_is_told() -> None:
    with pytest.raises(ConfigurationError, match="--host"):
        check_port("no.such.host.invalid", 4200)


@pytest.mark.parametrize("url", ["", "localhost:4200", "ftp://host/api", "http://"])
def test_what_is_no_address_of_a_server_is_told(url: str) -> None:
    with pytest.raises(ConfigurationError, match="PREFECT_API_URL"):
        api.check_url(url)


def test_a_secret_in_an_address_is_not_shown() -> None:
    assert api.shown("http://me:hunter2@host:4200/api") == "http://host:4200/api"


def test_the_password_may_come_from_our_variable_or_from_prefects() -> None:
    prefects = {"PREFECT_API_AUTH_STRING": "a:b"}
    assert api.auth_of(settings(), {}) is None
    assert api.auth_of(settings(), prefects) == SecretStr("a:b")
    assert api.auth_of(settings(prefect_auth="c:d"), prefects) == SecretStr("c:d")
    with pytest.raises(ConfigurationError, match="PAGEMILL_PREFECT_AUTH") as caught:
        api.auth_of(settings(prefect_auth="hunter2"), {})
    assert "hunter2" not in caught.value.message


def test_a_home_remembers_where_its_server_was_and_says_so_only_while_it_runs(tmp_path: Path) -> None:
    with state.changing(settings(tmp_path)) as folder:
        state.remember_api_url(folder, API)
    assert state.last_api_url(folder) == API
    assert state.api_url(settings(tmp_path)) is None


def test_a_home_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with as_nobody(tmp_path), pytest.raises(EnvironmentFault) as caught, state.changing(settings(tmp_path)):
        pass
    assert caught.value.code is Code.HOME_UNWRITABLE
