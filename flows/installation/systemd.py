"""One systemd unit for each process of an installation, for those who run them as services."""

import getpass
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from flows.installation import services
from flows.installation.services import Service
from flows.installation.wish import Wish
from models.errors import Code, EnvironmentFault
from models.settings import Settings

_PORT = 4200

_UNIT = """\
[Unit]
Description=pagemill: {about}
After=network-online.target{after}
Wants=network-online.target{wants}

[Service]
Type=exec
User={user}
{environment}
# Passwords, one NAME=value a line, readable by root alone: {secrets}.
EnvironmentFile=-/etc/pagemill.env
ExecStart={command}
{stop}Restart=always
RestartSec=5
# The signal goes to the process itself, which ends what it started; what is left after that is killed.
KillMode={kill}
TimeoutStopSec=60

[Install]
WantedBy=multi-user.target
"""

_SECRETS = (
    "PAGEMILL_DATABASE_URL",
    "PAGEMILL_PREFECT_AUTH",
    "PREFECT_API_AUTH_STRING",
    "PAGEMILL_OCR_API_KEY",
)


def units(settings: Settings, wish: Wish, given: Mapping[str, str], user: str) -> dict[str, str]:
    """File name and text of each unit. No secret is in them: what is one is named for the environment file.

    `given`: a person's environment; of it only PAGEMILL_ and PREFECT_ variables go into the units. `user`:
    who they run as.
    """
    kept = {name: value for name, value in given.items() if name.startswith(("PAGEMILL_", "PREFECT_"))}
    chosen = _services(settings, wish)
    names = [service.name for service in chosen]
    return {f"pagemill-{one.name}.service": _unit(one, names, kept, user) for one in chosen}


def write(settings: Settings, wish: Wish, given: Mapping[str, str], folder: Path) -> list[Path]:
    """Write the units into `folder`. Raises EnvironmentFault where it cannot be written."""
    wish.check(settings)
    paths = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in units(settings, wish, given, getpass.getuser()).items():
            (folder / name).write_text(text)
            paths.append(folder / name)
    except OSError as error:
        raise EnvironmentFault(
            f"The units cannot be written into {folder}: {error.strerror}. Choose another with --into.",
            Code.HOME_UNWRITABLE,
        ) from error
    return paths


def _services(settings: Settings, wish: Wish) -> list[Service]:
    port = wish.port or _PORT
    url = wish.theirs or f"http://127.0.0.1:{port}/api"
    chosen = [] if settings.database_url else [services.guard(settings)]
    if not wish.theirs:
        chosen.append(services.server(settings, wish.host, port))
    auth = settings.prefect_auth
    chosen.append(services.cpu_worker(settings, url, auth))
    if wish.gpu and not settings.ocr_url:
        chosen.append(services.model_server(settings, wish.gpu))
    if wish.gpu:
        chosen.append(services.gpu_worker(settings, url, auth))
    return chosen


def _unit(service: Service, names: Sequence[str], given: Mapping[str, str], user: str) -> str:
    earlier = [f"pagemill-{name}.service" for name in _needs(service.name) if name in names]
    variables = service.environment(given)
    lines = [f"Environment={_quoted(f'{name}={variables[name]}')}" for name in sorted(variables)]
    return _UNIT.format(
        about=service.about,
        after="".join(f" {name}" for name in earlier),
        wants="".join(f" {name}" for name in earlier),
        user=user,
        environment="\n".join(line for line in lines if not any(f"{name}=" in line for name in _SECRETS)),
        secrets=", ".join(name for name in _SECRETS if name in variables) or "none is needed",
        command=shlex.join(service.command).replace("%", "%%").replace("$", "$$"),
        stop=_stop(service),
        # Ending the guard ends Postgres by its own command, not by a signal to all of its processes.
        kill="mixed" if service.name != services.GUARD else "process",
    )


def _needs(name: str) -> tuple[str, ...]:
    """What is to be started before; systemd orders it, and each waits for the other by itself."""
    return {
        services.GUARD: (),
        services.SERVER: (services.GUARD,),
        services.GPU: (services.GUARD, services.SERVER),
    }.get(name, (services.GUARD, services.SERVER))


def _stop(service: Service) -> str:
    if service.name != services.GUARD:
        return ""
    program = Path(service.command[0]).with_name("pagemill")
    return f"ExecStop={shlex.join([str(program), 'down'])}\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'
