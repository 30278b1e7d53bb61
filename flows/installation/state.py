"""What an installation remembers in its home: one change at a time, and where its server is."""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from flows.installation.services import SERVER
from models.errors import Code, EnvironmentFault
from models.settings import Settings
from tasks.work import processes


def run_folder(settings: Settings) -> Path:
    """Where the processes of the installation have their logs and records."""
    return settings.root / "run"


@contextlib.contextmanager
def changing(settings: Settings) -> Iterator[Path]:
    """The run folder, for one `up` or `down` at a time. Raises EnvironmentFault (home-unwritable)."""
    folder = run_folder(settings)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (folder / "installation.lock").open("a")
    except OSError as error:
        raise EnvironmentFault(
            f"The home {settings.root} cannot be written: {error.strerror}. Set PAGEMILL_HOME to a folder of "
            "your own.",
            Code.HOME_UNWRITABLE,
        ) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def api_url(settings: Settings) -> str | None:
    """The API of the Prefect server of this home, where it runs."""
    folder = run_folder(settings)
    return last_api_url(folder) if processes.running(SERVER, folder) else None


def last_api_url(folder: Path) -> str | None:
    """Where that server is, or was when it last ran."""
    with contextlib.suppress(FileNotFoundError):
        return (folder / "api_url").read_text().strip() or None
    return None


def remember_api_url(folder: Path, url: str) -> None:
    """Keep it for `last_api_url`."""
    (folder / "api_url").write_text(url + "\n")
