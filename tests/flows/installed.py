"""A whole installation on this machine, as `pagemill up` makes it."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
from prefect.client.orchestration import SyncPrefectClient
from pydantic import SecretStr

from bench.served import free_port
from db import embedded
from flows.installation import raising
from flows.installation.api import open_client
from flows.installation.wish import Wish
from models.settings import Settings, load_settings
from tasks.work import processes
from tasks.work.processes import Running
from tests.e2e.shell import PAGEMILL, Shell

AUTH = "mill:hunter2"


@dataclass(frozen=True)
class Installation:
    """One home with everything on it up, and a folder that it watches."""

    shell: Shell
    inbox: Path
    port: int

    @property
    def settings(self) -> Settings:
        return load_settings(home=self.shell.home, prefect_auth=AUTH)

    def up(self, auth: str = AUTH, **wish: Any) -> list[str]:
        """Up once more, in this process, which has imported all of it; what it told."""
        told: list[str] = []
        settings = load_settings(home=self.shell.home, prefect_auth=auth)
        raising.up(settings, Wish(**wish), self.shell.environment(), told.append)
        return told

    def begin_up(self) -> "subprocess.Popen[str]":
        """The same, not waited for."""
        environment = self.shell.environment(PAGEMILL_PREFECT_AUTH=AUTH)
        return subprocess.Popen([*PAGEMILL, "up"], env=environment, stdout=subprocess.PIPE, text=True)

    def client(self) -> SyncPrefectClient:
        """Of its server; to be closed."""
        return open_client(f"http://127.0.0.1:{self.port}/api", SecretStr(AUTH))

    def running(self, name: str) -> Running | None:
        return processes.running(name, self.shell.home / "run")

    def pids(self) -> dict[str, int]:
        """Of the keepers that run."""
        found = {name: self.running(name) for name in ("postgres", "prefect", "worker-cpu")}
        return {name: one.pid for name, one in found.items() if one}

    def ask_postgres(self, database: str, query: str) -> list[tuple[Any, ...]]:
        """Rows of a query to a database of the embedded server."""
        url = embedded.start(self.shell.home).replace("+psycopg", "").replace("/pagemill?", f"/{database}?")
        with psycopg.connect(url) as connection:
            return connection.execute(query).fetchall()


@contextmanager
def installation() -> Iterator[Installation]:
    """A new one, watching an empty folder; its path is short, as a socket's must be."""
    with TemporaryDirectory(prefix="pm-") as folder:
        made = Installation(Shell(Path(folder) / "home"), Path(folder) / "inbox", free_port())
        made.inbox.mkdir()
        try:
            options = ("--port", made.port, "--watch", made.inbox, "--cron", "* * * * *")
            done = made.shell.run("up", *options, PAGEMILL_PREFECT_AUTH=AUTH)
            assert done.returncode == 0, done.stdout + done.stderr
            yield made
        finally:
            raising.down(made.settings, lambda _: None)
