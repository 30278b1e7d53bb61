"""A real installation of its own to break things in: `pagemill up`, and a scripted server that reads."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pymupdf
from prefect.client.orchestration import SyncPrefectClient

from bench.double import profile_file
from bench.served import free_port
from db import postmaster
from flows.installation import deployments, raising, services, state
from flows.installation.api import open_client
from models.settings import Settings, load_settings
from tasks.work import processes
from tasks.work.doubles.vllm_server import Asked, Model, Said, ScriptedVllm
from tasks.work.processes.background import MARK

PROFILE = "recovery"
SLOTS = 4
_TEXT = "Words on paper that stand on every page of this document, in just this order."
_CRON = "*/5 * * * *"


@dataclass
class Site:
    """One home with everything on it up, watching an inbox; its pages are read by `server`."""

    home: Path
    inbox: Path
    port: int
    server: ScriptedVllm
    answer_s: float = 1.0
    """Seconds of its server for a page."""

    @property
    def settings(self) -> Settings:
        """As its processes have them."""
        return load_settings(home=self.home)

    @property
    def run_folder(self) -> Path:
        """Logs and records of its processes."""
        return state.run_folder(self.settings)

    def environment(self) -> dict[str, str]:
        """Ours without what would lead elsewhere, with what it is told."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PAGEMILL_", "PREFECT_"))}
        return kept | {
            "PAGEMILL_HOME": str(self.home),
            "PAGEMILL_OCR_URL": self.server.url,
            # It says what it was told to, not what stands on a page.
            "PAGEMILL_OCR_GOLDEN": "false",
            "PAGEMILL_OCR_IN_FLIGHT": str(SLOTS),
            "PAGEMILL_VECTORS": "false",
        }

    def up(self) -> None:
        """Raises CalledProcessError with what it printed."""
        command = [sys.executable, "-m", "cli.main", "up", "--port", str(self.port)]
        command += ["--watch", str(self.inbox), "--cron", _CRON, "--profile", PROFILE]
        done = subprocess.run(command, env=self.environment(), capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)

    def down(self) -> None:
        """End all of it."""
        raising.down(self.settings, lambda _: None)

    def put(self, name: str, pages: int, *, endless: bool = False) -> Path:
        """A document of so many pages into the inbox, older than the settling time.

        No page is like another. `endless`: one more page, which takes minutes to render.
        """
        path = self.inbox / f"{name}.pdf"
        write_pdf(path, name, pages, endless=endless)
        before = time.time() - 60
        os.utime(path, (before, before))
        return path

    def client(self) -> SyncPrefectClient:
        """Of its Prefect server; to be closed."""
        return open_client(f"http://127.0.0.1:{self.port}/api", None)

    def begin(self, deployment: str = deployments.WATCHING) -> Any:
        """Ask for a run of a deployment now; its id."""
        with self.client() as client:
            found = client.read_deployment_by_name(deployment)
            return client.create_flow_run_from_deployment(found.id).id

    def child(self, name: str) -> int:
        """Process of a kept command: the one that works, not its keeper."""
        found = processes.running(name, self.run_folder)
        assert found is not None, f"{name} does not run"
        return found.child

    def postgres(self) -> psutil.Process:
        """The embedded server."""
        found = postmaster.find_server(self.home.resolve() / "postgres")
        assert found is not None, "Postgres does not run"
        return found

    def flow_processes(self) -> list[psutil.Process]:
        """Of the flow runs under way."""
        return [one for one in self.family(services.CPU) if "prefect.engine" in cmdline(one)]

    def render_children(self) -> list[psutil.Process]:
        """Children that open and render documents: those of a run's fork server."""
        found = [one for run in self.flow_processes() for one in run.children()]
        servers = [one for one in found if "forkserver" in " ".join(cmdline(one))]
        return [child for server in servers for child in server.children()]

    def family(self, name: str) -> list[psutil.Process]:
        """Whatever runs because a kept command was started."""
        mark = str(self.run_folder.resolve() / name)
        return [one for one in psutil.process_iter() if _mark(one) == mark]

    def connect(self, database: str = "pagemill") -> "psycopg.Connection[Any]":
        """A connection of ours; raises OperationalError while no server answers."""
        return psycopg.connect(
            host=str(self.home.resolve() / "postgres"),
            port=postmaster.PORT,
            user="postgres",
            dbname=database,
            connect_timeout=5,
            autocommit=True,
            application_name="recovery-bench",
        )


@contextmanager
def site(folder: Path) -> Iterator[Site]:
    """A new installation below `folder`, whose path is short; ended afterwards."""
    home, inbox = folder / "home", folder / "inbox"
    inbox.mkdir(parents=True)
    (home / "profiles").mkdir(parents=True, exist_ok=True)
    (home / "profiles" / f"{PROFILE}.toml").write_text(profile_file(PROFILE))

    def say(_: Asked) -> Said:
        return Said(_TEXT, seconds=made.answer_s)

    with ScriptedVllm(say, model=Model(name=PROFILE), slots=SLOTS) as server:
        made = Site(home, inbox, free_port(), server)
        try:
            made.up()
            yield made
        finally:
            made.down()


def write_pdf(path: Path, name: str, pages: int, *, endless: bool) -> None:
    """Pages with the same words and a number; the last may be one path of random segments, stroked once."""
    with pymupdf.open() as document:
        for number in range(1, pages + 1):
            page = document.new_page()
            page.insert_text((72, 96), _TEXT, fontsize=11)
            page.insert_text((72, 760), f"{name} {number}", fontsize=11)
        if endless:
            rng, page = random.Random(1), document.new_page()
            points = " ".join(f"{rng.random() * 590:.2f} {rng.random() * 840:.2f} l" for _ in range(30_000))
            page.insert_text((72, 96), "x")
            document.update_stream(page.get_contents()[0], f"0 0 m {points} S".encode())
        document.save(path)


def wait_until(truth: Callable[[], object], seconds: float, about: str) -> float:
    """Seconds until it is so. Raises TimeoutError after `seconds`."""
    began = time.monotonic()
    while not truth():
        if time.monotonic() - began > seconds:
            raise TimeoutError(f"not within {seconds:.0f} s: {about}")
        time.sleep(0.2)
    return time.monotonic() - began


def cmdline(process: psutil.Process) -> list[str]:
    """Its command; nothing for one that has ended."""
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def _mark(process: psutil.Process) -> str | None:
    try:
        return str(process.environ().get(MARK))
    except psutil.Error:
        return None
