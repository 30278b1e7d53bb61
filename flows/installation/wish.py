"""What is asked of an installation, checked before anything is touched."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import available_timezones

from prefect.client.schemas.schedules import CronSchedule
from pydantic import SecretStr, ValidationError

from models.errors import Code, ConfigurationError
from models.meant import meant
from models.settings import Settings
from tasks.work import consent
from tasks.work.custom import find_profile

EVERY, ZONE = "*/5 * * * *", "UTC"
"""When watched folders are looked through, unless somebody says otherwise."""

_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


@dataclass(frozen=True, slots=True)
class Wish:
    """What `pagemill up` is to bring about."""

    host: str = "127.0.0.1"
    port: int | None = None
    """None: 4200, or where the server of this home already is."""
    theirs: str | None = None
    """API of a Prefect server that somebody else runs."""
    gpu: str | None = None
    """Profile to serve on this machine's GPUs."""
    watch: tuple[Path, ...] = ()
    unwatch: bool = False
    cron: str = EVERY
    timezone: str = ZONE
    profile: str = "ppocr"
    """For what is watched."""

    def check(self, settings: Settings) -> None:
        """Raises ConfigurationError for what does not exist or contradicts itself."""
        consent.require(find_profile(self.profile, settings), settings)
        if self.gpu is not None and find_profile(self.gpu, settings).vlm is None:
            raise ConfigurationError(
                f"Profile '{self.gpu}' needs no GPU: leave --gpu out, it reads on the CPU by itself."
            )
        if self.watch and self.unwatch:
            raise ConfigurationError("--watch and --no-watch contradict each other.")
        _check_folders(self.watch)
        _check_times(self.cron, self.timezone)


def _check_folders(folders: Sequence[Path]) -> None:
    for folder in folders:
        if not folder.is_dir():
            raise ConfigurationError(f"There is no folder {folder} to watch.", Code.NOT_FOUND)


def _check_times(cron: str, timezone: str) -> None:
    try:
        CronSchedule(cron=cron)
    except ValidationError as error:
        raise ConfigurationError(
            f"--cron '{cron}' is no schedule. Write minute, hour, day, month and weekday, e.g. '*/5 * * * *'."
        ) from error
    if timezone not in available_timezones():
        near = meant(timezone, available_timezones())
        raise ConfigurationError(f"There is no time zone {timezone}. Write e.g. Europe/Berlin.{near}")


def check_openness(host: str, auth: SecretStr | None) -> None:
    """Raises ConfigurationError for a server that everybody could reach and use."""
    if host not in _LOOPBACK and auth is None:
        raise ConfigurationError(
            f"A server on {host} can be reached from elsewhere: set PAGEMILL_PREFECT_AUTH to a name:secret "
            "first, or leave --host out to listen on this machine only."
        )
