"""The processes of an installation: their names, commands and environments."""

import os
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from flows.installation.environment import merged, worker_variables
from models.settings import Settings

GUARD, SERVER, CPU, GPU = "postgres", "prefect", "worker-cpu", "worker-gpu"
SERVE = "serve-"
"""Before the name of a profile."""

QUEUES = {"scheduled": 1, "backfill": 10}
"""Of every pool, with their priorities; 1 is served first. Each worker has one of its own name besides."""

STOP_ORDER = (CPU, GPU, SERVE, SERVER, GUARD)
"""Those that give work first, those that keep it last; by the beginning of the name."""

CPU_RUNS = 6
"""Flow runs of one CPU worker at once. Drains wait for each other's work, which costs memory alone."""

BACKFILLS = 3
"""Of these at most so many for backfills (split, read, load): the schedule always finds a place."""


@dataclass(frozen=True, slots=True)
class Service:
    """One process: what to run, and the variables it needs besides a person's own."""

    name: str
    about: str
    command: tuple[str, ...]
    variables: Mapping[str, str]

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """All variables, a person's own included; `python` means ours, as prefect.yaml writes it."""
        ours = str(Path(sys.executable).parent)
        return merged(given, self.variables) | {"PATH": f"{ours}{os.pathsep}{given.get('PATH', os.defpath)}"}


def guard(settings: Settings) -> Service:
    """Keeps the embedded Postgres up."""
    command = (sys.executable, "-m", "flows.installation.guard")
    return Service(GUARD, "the embedded Postgres", command, _ours(settings))


def server(settings: Settings, host: str, port: int) -> Service:
    """The Prefect server."""
    command = (sys.executable, "-m", "flows.installation.server", host, str(port))
    return Service(SERVER, "the Prefect server", command, _ours(settings))


def cpu_worker(settings: Settings, api_url: str, auth: SecretStr | None) -> Service:
    """Serves the queues of the pool `cpu`, the more urgent first."""
    return _worker(settings, worker_variables(settings.root, api_url, auth), "cpu", CPU_RUNS)


def gpu_worker(settings: Settings, api_url: str, auth: SecretStr | None) -> Service:
    """Serves the pool `gpu`, one run at a time: a GPU has one reader."""
    return _worker(settings, worker_variables(settings.root, api_url, auth), "gpu", 1)


def worker_name(pool: str) -> str:
    """What this machine's worker is called on the server."""
    return f"{pool}-{socket.gethostname()}"


def model_server(settings: Settings, profile: str) -> Service:
    """The vLLM server of a profile, looked after by `pagemill serve`."""
    command = (sys.executable, "-m", "cli.main", "serve", profile)
    return Service(SERVE + profile, f"the OCR server of {profile}", command, _ours(settings))


def stop_rank(name: str) -> int:
    """Place of a process in the order of stopping."""
    return next((n for n, first in enumerate(STOP_ORDER) if name.startswith(first)), 0)


def names_in(folder: Path) -> list[str]:
    """Names of all processes that were ever started in a run folder, in the order of stopping."""
    names = [path.stem for path in folder.glob("*.lock") if path.stem != "installation"]
    return sorted(names, key=lambda name: (stop_rank(name), name))


def _worker(settings: Settings, variables: Mapping[str, str], pool: str, runs: int) -> Service:
    command = (sys.executable, "-m", "prefect", "worker", "start", "--pool", pool, "--type", "process")
    own = worker_name(pool)
    queues = [word for name in (*QUEUES, own) for word in ("--work-queue", name)]
    whole = (*command, "--name", own, *queues, "--limit", str(runs))
    about = f"a worker of the pool {pool}"
    return Service(f"worker-{pool}", about, whole, {**_ours(settings), **variables})


def _ours(settings: Settings) -> dict[str, str]:
    """Where our own things are, however the settings came to us."""
    url = {"PAGEMILL_DATABASE_URL": settings.database_url.get_secret_value()} if settings.database_url else {}
    return {"PAGEMILL_HOME": str(settings.root), **url}
