"""The Prefect server as its clients meet it: does it answer, is it new enough, does it let us in."""

import re
import time
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

import httpx
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.settings import get_current_settings
from pydantic import SecretStr

from models.errors import Code, ConfigurationError, EnvironmentFault
from models.settings import Settings

OLDEST = (3, 9, 1)
"""Before it, a server with a password lost task runs, and the batch settings did not exist."""

_ASK_S = 10.0
_PAUSE_S = 0.25


def check_url(url: str) -> str:
    """`url` without a slash at its end. Raises ConfigurationError for what is no address of a Prefect API."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigurationError("PREFECT_API_URL is no web address. Write http://host:4200/api.")
    return url.rstrip("/")


def auth_of(settings: Settings, given: Mapping[str, str]) -> SecretStr | None:
    """The name:secret to show a server: ours, or what a person has set for Prefect itself.

    Raises ConfigurationError for one without a colon, which no client could send.
    """
    told = given.get("PREFECT_API_AUTH_STRING")
    auth = settings.prefect_auth or (SecretStr(told) if told else None)
    if auth is not None and ":" not in auth.get_secret_value():
        raise ConfigurationError("PAGEMILL_PREFECT_AUTH: write a name, a colon and a secret.")
    return auth


def wait_for_server(url: str, auth: SecretStr | None, most_s: float, goes_on: Callable[[], None]) -> None:
    """Until the server at `url` answers and is one that we can use.

    `goes_on` is called meanwhile and raises when waiting has become pointless. Raises EnvironmentFault:
    prefect-unreachable after `most_s` seconds, prefect-refused, prefect-outdated.
    """
    until = time.monotonic() + most_s
    while not _is_healthy(url):
        goes_on()
        if time.monotonic() > until:
            raise _unreachable(url, f"no answer for {most_s:.0f} seconds")
        time.sleep(_PAUSE_S)
    check_server(url, auth)


def check_server(url: str, auth: SecretStr | None) -> None:
    """Raises EnvironmentFault: prefect-unreachable, prefect-refused, prefect-outdated."""
    try:
        answer = httpx.get(f"{url}/admin/version", auth=_pair(auth), timeout=_ASK_S)
    except httpx.HTTPError as error:
        raise _unreachable(url, str(error)) from error
    if answer.status_code in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
        raise _refused(url)
    if answer.status_code != httpx.codes.OK:
        raise _unreachable(url, f"HTTP {answer.status_code}, this is no Prefect server")
    _check_version(url, answer.text)


def check_named_server() -> None:
    """That the server answers which this process's own Prefect settings name. Prefect's cloud is not asked.

    Raises ConfigurationError for what is no address, EnvironmentFault: prefect-unreachable, prefect-refused.
    """
    url = check_url(str(get_current_settings().api.url))
    try:
        with get_client(sync_client=True) as client:
            client.raise_for_api_version_mismatch()
    except httpx.HTTPStatusError as error:
        raise _refused(url) from error
    except (RuntimeError, httpx.HTTPError) as error:
        raise _unreachable(url, str(error.__cause__ or error)) from error


def open_client(url: str, auth: SecretStr | None) -> SyncPrefectClient:
    """A client of the server, whatever this process's own Prefect settings say."""
    return SyncPrefectClient(url, auth_string=auth.get_secret_value() if auth else None)


def shown(url: str) -> str:
    """`url` without what may stand before the host: a name and password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _is_healthy(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=_ASK_S).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


def _check_version(url: str, told: str) -> None:
    found = re.match(r'"?(\d+)\.(\d+)\.(\d+)', told.strip())
    if found is None:
        raise _unreachable(url, "this is no Prefect server")
    if tuple(map(int, found.groups())) < OLDEST:
        raise EnvironmentFault(
            f"The Prefect server at {shown(url)} is version {'.'.join(found.groups())}, older than "
            f"{'.'.join(map(str, OLDEST))}. Update it, or unset PREFECT_API_URL to have one started.",
            Code.PREFECT_OUTDATED,
        )


def _refused(url: str) -> EnvironmentFault:
    return EnvironmentFault(
        f"The Prefect server at {shown(url)} refuses us: it was started with another password. Set "
        "PAGEMILL_PREFECT_AUTH to its name:secret, or run 'pagemill down' and start again.",
        Code.PREFECT_REFUSED,
    )


def _unreachable(url: str, why: str) -> EnvironmentFault:
    return EnvironmentFault(
        f"No Prefect server answers at {shown(url)}: {why}. Start it, or unset PREFECT_API_URL to have one "
        "started.",
        Code.PREFECT_UNREACHABLE,
    )


def _pair(auth: SecretStr | None) -> tuple[str, str] | None:
    if auth is None:
        return None
    name, _, secret = auth.get_secret_value().partition(":")
    return name, secret
