"""What Prefect's processes are told by their environment: server, workers, and clients of the server."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

_QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
}

_SERVER = {
    # The screen asks the server that it came from; by default it asks port 4200 of the reader's own machine.
    "PREFECT_SERVER_UI_API_URL": "/api",
    # At most twenty connections; the embedded Postgres has a hundred for all.
    "PREFECT_SERVER_DATABASE_SQLALCHEMY_POOL_SIZE": "5",
    "PREFECT_SERVER_DATABASE_SQLALCHEMY_MAX_OVERFLOW": "15",
    # By default events and task runs are written one by one, and the screen falls minutes behind.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_READ_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_TRIGGERS_READ_BATCH_SIZE": "200",
    # In memory, by default: a restart of the server would then crash every run that holds a slot.
    "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": "prefect.server.concurrency.lease_storage.filesystem",
    # Runs are kept for 30 days, events for 3; by default runs are never deleted.
    "PREFECT_SERVER_EVENTS_RETENTION_PERIOD": "P3D",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_RETENTION_PERIOD": "2592000",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_BATCH_SIZE": "1000",
    # Housekeeping that asks the database every 5 seconds, for what nobody here is in such a hurry about.
    "PREFECT_SERVER_SERVICES_LATE_RUNS_LOOP_SECONDS": "15",
    "PREFECT_SERVER_SERVICES_PAUSE_EXPIRATIONS_LOOP_SECONDS": "60",
    "PREFECT_SERVER_SERVICES_CLEANUP_RECONCILER_LOOP_SECONDS": "30",
}

_CLIENT = {
    # A run without a heartbeat for 90 seconds is a crashed one: see automations.yaml.
    "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
    "PREFECT_RESULTS_DEFAULT_SERIALIZER": "json",
    "PREFECT_LOGGING_EXTRA_LOGGERS": "flows,tasks,db",
    # One line of the log a task run, "Finished in state", is a row of 600 bytes each.
    "PREFECT_LOGGING_LOGGERS_PREFECT_TASK_RUNS_LEVEL": "WARNING",
}

_WORKER = {
    "PREFECT_WORKER_QUERY_SECONDS": "5",
    # How soon a scheduled run is fetched before its time: its process then starts on time.
    "PREFECT_WORKER_PREFETCH_SECONDS": "10",
}


def server_variables(root: Path, database_url: str, auth: SecretStr | None) -> dict[str, str]:
    """Variables of the Prefect server, besides those that are there. `database_url`: postgresql+asyncpg."""
    secret = {"PREFECT_SERVER_API_AUTH_STRING": auth.get_secret_value()} if auth else {}
    return {
        **_QUIET,
        **_SERVER,
        "PREFECT_HOME": str(root / "prefect"),
        "PREFECT_SERVER_DATABASE_CONNECTION_URL": database_url,
        **secret,
    }


def client_variables(root: Path, api_url: str, auth: SecretStr | None) -> dict[str, str]:
    """Variables of whoever talks to the server at `api_url`, flow runs included."""
    secret = {"PREFECT_API_AUTH_STRING": auth.get_secret_value()} if auth else {}
    return {**_QUIET, **_CLIENT, "PREFECT_HOME": str(root / "prefect"), "PREFECT_API_URL": api_url, **secret}


def worker_variables(root: Path, api_url: str, auth: SecretStr | None) -> dict[str, str]:
    """Variables of a worker; its flow runs inherit them."""
    return {**client_variables(root, api_url, auth), **_WORKER}


def merged(given: Mapping[str, str], ours: Mapping[str, str]) -> dict[str, str]:
    """The environment `given` to us with `ours` in it; what a person has set for Prefect wins.

    Except for where the server and its files are: those the installation decides, or its parts would not
    meet.
    """
    decided = {name: ours[name] for name in _DECIDED if name in ours}
    return {**ours, **given, **decided}


_DECIDED = (
    "PREFECT_HOME",
    "PREFECT_API_URL",
    "PREFECT_API_AUTH_STRING",
    "PREFECT_SERVER_API_AUTH_STRING",
    "PREFECT_SERVER_DATABASE_CONNECTION_URL",
)
