"""Bring an installation up, and down again. Whatever fails on the way up leaves nothing half-started."""

import contextlib
import logging
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psutil
from prefect.client.orchestration import SyncPrefectClient
from pydantic import SecretStr

from db import embedded, postmaster
from db.engine import open_database
from flows.installation import api, database, deployments, pools, services, state
from flows.installation.machines import check_name
from flows.installation.services import Service
from flows.installation.sharing import check_shared
from flows.installation.wish import Wish, check_openness
from models.errors import ConfigurationError, EnvironmentFault
from models.settings import Settings
from tasks.work import processes
from tasks.work.ports import check_port
from tasks.work.processes.background import log_end

log = logging.getLogger(__name__)

_PORT = 4200
_SERVER_S = 180.0
_WORKER_S = 120.0
_GRACE_S = 15.0
_RUNS_S = 30.0
_LOOK_S = 0.3


@dataclass
class Raising:
    """One `up` under way: what it has started so far, to be ended if it fails."""

    settings: Settings
    folder: Path
    given: Mapping[str, str]
    tell: Callable[[str], None]
    auth: SecretStr | None
    started: list[str] = field(default_factory=list)

    def start(self, service: Service) -> None:
        """Start it unless it runs; tells."""
        if processes.running(service.name, self.folder):
            self.tell(f"{_sentence(service.about)} runs already.")
            return
        self.started.append(service.name)
        processes.start(service.name, service.command, service.environment(self.given), self.folder)
        self.tell(f"{_sentence(service.about)} started; its log is {self.folder / service.name}.log.")

    def check_alive(self, name: str) -> None:
        """Raises EnvironmentFault for a process of ours that ended: it would only be started again."""
        found = processes.running(name, self.folder)
        if found is None or (name in self.started and found.starts > 1):
            lines = log_end(name, self.folder).splitlines()
            last = lines[-1].rstrip(".!") if lines else "no word"
            raise EnvironmentFault(
                f"{name} ended as soon as it had started: {last}. All of it is in {self.folder / name}.log."
            )


def _sentence(about: str) -> str:
    return about[0].upper() + about[1:]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server of ours listens."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """Of its API, for clients on this machine."""
        host = "127.0.0.1" if self.host in {"0.0.0.0", "::"} else self.host  # noqa: S104
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/api"


def up(settings: Settings, wish: Wish, given: Mapping[str, str], tell: Callable[[str], None]) -> str:
    """Bring all that is wished up, or leave it running; the API's URL.

    `given`: a person's own environment. Raises ConfigurationError and EnvironmentFault, DatabaseUnreachable
    among them; what this call had started is then ended again.
    """
    wish.check(settings)
    with state.changing(settings) as folder:
        raising = Raising(settings, folder, given, tell, api.auth_of(settings, given))
        theirs, place = _find_server(raising, wish)
        check_openness(place.host, raising.auth)
        with _all_or_nothing(raising):
            _raise_database(raising)
            url = theirs or _raise_server(raising, place)
            with api.open_client(url, raising.auth) as client:
                check_shared(client, settings, is_joining=theirs is not None)
                _furnish(client, wish)
                check_name(client, tell, is_at_work=processes.running(services.CPU, folder) is not None)
                _raise_workers(raising, wish, url, client)
                _mind_watch(client, wish)
            return url


def down(settings: Settings, tell: Callable[[str], None]) -> bool:
    """End everything that `up` started on this home, Postgres last; says whether there was anything."""
    with state.changing(settings) as folder:
        end_runs(folder)
        names = [name for name in services.names_in(folder) if processes.stop(name, folder, _GRACE_S)]
        # Who guards Postgres and Postgres are one to whoever reads this.
        for name in [name for name in names if name != services.GUARD]:
            tell(f"{name} stopped.")
        stopped = embedded.stop(settings.root)
        if stopped:
            tell("Postgres stopped.")
        return bool(names) or stopped


def end_runs(folder: Path, most_s: float = _RUNS_S) -> int:
    """End the flow runs that workers of a run folder have under way, gently; says how many there were.

    A worker that ends kills its runs at once. What they held would count as a crash of that work.
    """
    workers = [found for name in (services.CPU, services.GPU) if (found := processes.running(name, folder))]
    runs: list[psutil.Process] = []
    for worker in workers:
        with contextlib.suppress(psutil.Error):
            children = psutil.Process(worker.child).children()
            runs += [child for child in children if "prefect.engine" in child.cmdline()]
    for run in runs:
        with contextlib.suppress(psutil.Error):
            run.terminate()
    until = time.monotonic() + most_s
    while any(postmaster.lives(run.pid) for run in runs) and time.monotonic() < until:
        time.sleep(_LOOK_S)
    return len(runs)


@contextlib.contextmanager
def _all_or_nothing(raising: Raising) -> Iterator[None]:
    had_postgres = raising.settings.database_url is not None or embedded.running(raising.settings.root)
    try:
        yield
    except BaseException:
        log.info("up failed, ending %s", ",".join(raising.started))
        if raising.started:
            raising.tell("Ending what was started; that may take half a minute.")
        with _uninterrupted():
            for name in reversed(raising.started):
                processes.stop(name, raising.folder, _GRACE_S)
            if not had_postgres:
                embedded.stop(raising.settings.root)
        raise


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C is heard afterwards: an impatient one would leave half of it running."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _raise_database(raising: Raising) -> None:
    """Postgres with the newest tables."""
    if raising.settings.database_url is None:
        raising.start(services.guard(raising.settings))
    open_database(raising.settings).close()


def _find_server(raising: Raising, wish: Wish) -> tuple[str | None, Place]:
    """The API of somebody else's server that is to be used, if any; and where ours is or can be."""
    place = _place(raising, wish)
    if wish.theirs and api.check_url(wish.theirs) != place.url:
        url = api.check_url(wish.theirs)
        api.check_server(url, raising.auth)
        raising.tell(f"The Prefect server at {api.shown(url)} is used.")
        return url, place
    if not processes.running(services.SERVER, raising.folder):
        check_port(place.host, place.port)
        if chosen := raising.given.get(database.VARIABLE):
            database.check_chosen(chosen)
    return None, place


def _raise_server(raising: Raising, place: Place) -> str:
    """Our server, answering; its API."""
    raising.start(services.server(raising.settings, place.host, place.port))
    api.wait_for_server(place.url, raising.auth, _SERVER_S, lambda: raising.check_alive(services.SERVER))
    # Whoever answered may be another's server on this port, and ours has ended because of it.
    raising.check_alive(services.SERVER)
    state.remember_api_url(raising.folder, place.url)
    return place.url


def _place(raising: Raising, wish: Wish) -> Place:
    """Where our server is, or is to be: where it was the last time, unless somebody says otherwise."""
    last = state.last_api_url(raising.folder)
    port = urlsplit(last).port if last else None
    if not processes.running(services.SERVER, raising.folder):
        return Place(wish.host, wish.port or port or _PORT)
    if wish.port not in {None, port}:
        raise ConfigurationError(
            f"The server of this home already listens on port {port}. Run 'pagemill down' first to move it."
        )
    return Place(wish.host, port or _PORT)


def _furnish(client: SyncPrefectClient, wish: Wish) -> None:
    """Pools, queues, rules and deployments. Raises EnvironmentFault for what the server refuses."""
    try:
        pools.make_pools(client, services.BACKFILLS)
        for pool in ("cpu", "gpu") if wish.gpu else ("cpu",):
            pools.make_queue(client, pool, services.worker_name(pool))
        pools.make_automations(client)
        deployments.register(client, _deployments(), wish.gpu)
        if wish.unwatch:
            deployments.unwatch(client, _deployments())
    except httpx.HTTPError as error:
        raise EnvironmentFault(f"The Prefect server refused what it was told: {error}.") from error


def _raise_workers(raising: Raising, wish: Wish, url: str, client: SyncPrefectClient) -> None:
    """Workers that have reported to the server."""
    raising.start(services.cpu_worker(raising.settings, url, raising.auth))
    if wish.gpu:
        if not raising.settings.ocr_url:
            raising.start(services.model_server(raising.settings, wish.gpu))
        raising.start(services.gpu_worker(raising.settings, url, raising.auth))
        _wait_for_worker(raising, client, "gpu", services.GPU)
    _wait_for_worker(raising, client, "cpu", services.CPU)


def _wait_for_worker(raising: Raising, client: SyncPrefectClient, pool: str, name: str) -> None:
    until = time.monotonic() + _WORKER_S
    while not _is_online(client, pool):
        raising.check_alive(name)
        if time.monotonic() > until:
            raise EnvironmentFault(
                f"The worker of {pool} did not report to the server within {_WORKER_S:.0f} seconds. See "
                f"{raising.folder / name}.log."
            )
        time.sleep(_LOOK_S)


def _is_online(client: SyncPrefectClient, pool: str) -> bool:
    found = client.read_workers_for_work_pool(pool)
    return any(one.name == services.worker_name(pool) and one.status == "ONLINE" for one in found)


def _mind_watch(client: SyncPrefectClient, wish: Wish) -> None:
    if wish.watch:
        folders = tuple(str(folder.expanduser().absolute()) for folder in wish.watch)
        watch = deployments.Watch(folders, wish.cron, wish.timezone, wish.profile)
        deployments.watch(client, _deployments(), watch)


def _deployments() -> list[deployments.Deployment]:
    return deployments.read_file(deployments.find_file()).deployments
