"""What is killed, and how: each strikes a site in the middle of its work and undoes itself, if it has to."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg

from bench.recovery_site import PROFILE, SLOTS, Site, wait_until
from flows.installation import services

_CONNECTIONS = 100
_CUT_EVERY_S = 1.0
_SHIM = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int answer = real(id, now);
    if (id == CLOCK_REALTIME && getenv("CLOCK_OFF_S")) now->tv_sec += atol(getenv("CLOCK_OFF_S"));
    return answer;
}
"""


@dataclass(frozen=True, slots=True)
class Kill:
    """One thing to break."""

    name: str
    about: str
    strike: Callable[[Site, float], None]
    """Breaks it; returns when it is as before, or at once where it stays broken until somebody mends it."""
    outage_s: float = 0.0
    """How long it is broken on purpose, at full size."""
    while_rendering: bool = False
    """In the middle of making page images, else of reading."""
    failing: int = 0
    """Pages that must fail, with a reason."""
    needs: Callable[[], str] = lambda: ""
    """Why it cannot be done here, if so."""


def _signal(process: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def worker(site: Site, _: float) -> None:
    """The process that starts flow runs; those under way have lost their parent."""
    _signal(site.child(services.CPU), signal.SIGKILL)


def flow(site: Site, _: float) -> None:
    """The process of the run, and not its worker, which sees it end."""
    for process in site.flow_processes():
        _signal(process.pid, signal.SIGKILL)


def worker_and_flow(site: Site, _: float) -> None:
    """All at once, as when memory runs out: nobody is left to say that the run has ended."""
    family = site.flow_processes()
    for pid in [site.child(services.CPU), *(one.pid for one in family)]:
        _signal(pid, signal.SIGKILL)


def render_children(number: int) -> Callable[[Site, float], None]:
    """Children that render get a signal."""

    def strike(site: Site, _: float) -> None:
        wait_until(site.render_children, 60, "a child that renders")
        for child in site.render_children():
            _signal(child.pid, number)

    return strike


def nothing(_site: Site, _outage_s: float) -> None:
    """The document itself brings it."""


def stop_server(site: Site, outage_s: float) -> None:
    """The Prefect server stands still, its connections open."""
    pid = site.child(services.SERVER)
    os.kill(pid, signal.SIGSTOP)
    time.sleep(outage_s)
    os.kill(pid, signal.SIGCONT)


def kill_server(site: Site, _: float) -> None:
    """Its keeper starts it again."""
    _signal(site.child(services.SERVER), signal.SIGKILL)


def postgres(number: int) -> Callable[[Site, float], None]:
    """SIGINT: it ends all connections and itself; SIGKILL: it is gone."""
    return lambda site, _: _signal(site.postgres().pid, number)


def use_up_connections(site: Site, outage_s: float) -> None:
    """Nobody gets a new connection, of Prefect neither."""
    held: list[psycopg.Connection] = []
    until = time.monotonic() + outage_s
    while time.monotonic() < until:
        with contextlib.suppress(psycopg.OperationalError):
            while len(held) < _CONNECTIONS:
                held.append(site.connect())
        time.sleep(0.2)
    for connection in held:
        connection.close()


def cut_connections(site: Site, outage_s: float) -> None:
    """Every connection is ended from the other side, again and again."""
    query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    until = time.monotonic() + outage_s
    with site.connect() as connection:
        while time.monotonic() < until:
            connection.execute(query + " AND backend_type = 'client backend' AND usename = 'postgres'")
            time.sleep(_CUT_EVERY_S)


def ocr_away(site: Site, outage_s: float) -> None:
    """Every connection to it breaks, and nobody listens."""
    site.server.die()
    time.sleep(outage_s)
    site.server.revive()


def fill_disk(site: Site, outage_s: float) -> None:
    """Not a byte is left below the store."""
    filler = site.settings.store / "filler"
    # Unbuffered: closing would meet the full disk once more.
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 2**16)
    time.sleep(outage_s)
    filler.unlink()


def clocks(site: Site, _: float) -> None:
    """Two more runs beside that of the installation, one an hour ahead and one an hour behind."""
    with tempfile.TemporaryDirectory(prefix="pm-") as folder:
        shim = make_clock(Path(folder))
        command = [sys.executable, "-m", "cli.main", "ingest", str(site.inbox), "--profile", PROFILE]
        runs = [
            psutil.Popen(
                command,
                env=site.environment() | {"LD_PRELOAD": str(shim), "CLOCK_OFF_S": off},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for off in ("3600", "-3600")
        ]
        for run in runs:
            run.wait(600)


def make_clock(folder: Path) -> Path:
    """A library to preload: the clock of a process is then CLOCK_OFF_S seconds ahead. Needs a C compiler."""
    (folder / "clock.c").write_text(_SHIM)
    made = folder / "clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", made, folder / "clock.c", "-ldl"], check=True)
    return made


def _has_compiler() -> str:
    done = subprocess.run(["sh", "-c", "command -v cc"], capture_output=True, check=False)
    return "" if done.returncode == 0 else "a C compiler is needed to put a clock off"


def _may_mount() -> str:
    return "" if os.geteuid() == 0 else "mounting a small file system takes root"


_2_MIN, _3_MIN = 120.0, 180.0
_KILL, _SEGV, _INT = signal.SIGKILL, signal.SIGSEGV, signal.SIGINT

KILLS = (
    Kill("worker", "worker, SIGKILL", worker),
    Kill("flow", "flow process, SIGKILL", flow),
    Kill("worker-and-flow", "worker and flow process, SIGKILL", worker_and_flow),
    Kill("render-kill", "render children, SIGKILL", render_children(_KILL), while_rendering=True),
    Kill("render-segv", "render children, SIGSEGV", render_children(_SEGV), while_rendering=True),
    Kill("render-endless", "a page that renders for ever", nothing, while_rendering=True, failing=1),
    Kill("prefect-stop", "Prefect server, SIGSTOP for {:.0f} s", stop_server, _2_MIN),
    Kill("prefect-kill", "Prefect server, SIGKILL", kill_server),
    Kill("postgres-restart", "Postgres, stopped while in use", postgres(_INT)),
    Kill("postgres-kill", "Postgres, SIGKILL", postgres(_KILL)),
    Kill("postgres-full", "all connections of Postgres taken for {:.0f} s", use_up_connections, 60.0),
    Kill("postgres-cut", "every connection cut each second for {:.0f} s", cut_connections, 20.0),
    Kill("ocr-away", "OCR server gone for {:.0f} s", ocr_away, _3_MIN),
    Kill("disk-full", "disk of the store full for {:.0f} s", fill_disk, 60.0, True, needs=_may_mount),
    # They take a while to start, and are to find work left.
    Kill("clock", "two more runs, clocks an hour ahead and behind", clocks, 90.0, needs=_has_compiler),
)


def answer_for(outage_s: float, answer_s: float, pages: int) -> float:
    """Seconds of a page, so long that reading them outlasts what is broken."""
    return max(answer_s, 1.5 * (outage_s + 5) * SLOTS / pages if outage_s else 0.0)
