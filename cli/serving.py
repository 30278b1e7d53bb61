"""`pagemill serve`: plan, print or run the servers of a profile until somebody stops them."""

import os
import shlex
import signal
import threading
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import psutil
import typer

from cli.choosing import choose_profile
from cli.exits import Exit
from models.errors import ConfigurationError, EngineUnavailable, EnvironmentFault
from models.profile import Profile
from models.settings import Settings
from tasks.work.ports import check_port
from tasks.work.processes import signals
from tasks.work.serving import gpus, vllm
from tasks.work.serving.endpoints import Endpoints
from tasks.work.serving.gate import gate_at
from tasks.work.serving.plan import Plan, check_options, find_weights
from tasks.work.serving.smoke import smoke_test
from tasks.work.serving.supervisor import Patience, State, Supervised
from tasks.work.serving.tested import OptionRecord
from tasks.work.serving.unit import unit

_LOOK_S = 1.0
_MEMORY_SHARE = 0.8


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked for on the command line."""

    profile: str
    model: str | None = None
    gpus: str = ""
    host: str = "127.0.0.1"
    port: int = 8000
    is_data_parallel: bool = False
    is_accepted: bool = False
    """The terms of the profile's weights are agreed to."""
    may_download: bool = False
    options: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    memory_mb: int | None = None
    reads_golden: bool = True
    """Golden pages before all others."""


def serve_and_watch(settings: Settings, wish: Wish, *, only_print: bool) -> Exit:
    """Serve until a signal comes. Raises ConfigurationError, EnvironmentFault, EngineUnavailable."""
    plan = plan_of(settings, wish)
    if only_print:
        _print(plan)
        return Exit.OK
    for server in plan.servers():
        check_port(plan.host, server.port)
    plan = _tested(settings, plan)
    _run(settings, plan, wish)
    return Exit.OK


def plan_of(settings: Settings, wish: Wish) -> Plan:
    """The plan for a wish, checked against this machine.

    Raises ConfigurationError for an unknown profile, option, GPU or folder; EnvironmentFault for a missing
    driver, vLLM, weights or memory.
    """
    profile = choose_profile(settings, wish.profile, is_accepted=wish.is_accepted)
    if profile.vlm is None:
        raise ConfigurationError(f"Profile '{profile.name}' needs no server: it reads on the CPU by itself.")
    check_options(profile, wish.options)
    api_key = settings.ocr_api_key.get_secret_value() if settings.ocr_api_key else ""
    installation = vllm.find(settings.vllm_python)
    draft = Plan(profile, wish.model or "", installation, host=wish.host, port=wish.port, api_key=api_key)
    vllm.check_versions(installation, draft.vlm)
    model = _weights(profile, wish)
    chosen = () if wish.gpus == "none" else gpus.choose(gpus.list_gpus(), _numbers(wish.gpus), _folder(model))
    return Plan(
        profile,
        model,
        installation,
        gpus=tuple(gpu.index for gpu in chosen),
        host=wish.host,
        port=wish.port,
        api_key=api_key,
        is_data_parallel=wish.is_data_parallel,
        may_download=wish.may_download,
        options=wish.options,
        extra=wish.extra,
    )


def _weights(profile: Profile, wish: Wish) -> str:
    assert profile.vlm is not None
    name = wish.model or profile.vlm.weights
    if not name:
        raise ConfigurationError(
            f"Profile '{profile.name}' does not say where its weights are: name their folder with --model, "
            "or set vlm.weights in its file."
        )
    home = os.environ.get("HF_HOME") or "~/.cache/huggingface"
    cache = Path(os.environ.get("HF_HUB_CACHE") or f"{home}/hub").expanduser()
    found = find_weights(profile.vlm, wish.model, cache)
    if found is None and not wish.may_download:
        raise EnvironmentFault(
            f"The weights of {name} are not on this machine. Fetch them with 'hf download {name}' (hf "
            "comes with vLLM), let 'pagemill serve' do it with --download, or name their folder: with "
            "--model, or as vlm.weights in a profile of your own."
        )
    return found or name


def _folder(model: str) -> Path | None:
    return Path(model) if Path(model).is_dir() else None


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(",")) if text else ()
    except ValueError:
        raise ConfigurationError(f"--gpus {text}: write numbers split by commas, e.g. 0,1.") from None


def _print(plan: Plan) -> None:
    for server in plan.servers():
        typer.echo(f"# {server.name}: {server.url}")
        for name, value in sorted(server.environment().items()):
            typer.echo(f"export {name}={shlex.quote(value)}")
        if plan.api_key:
            typer.echo("export VLLM_API_KEY=…   # as PAGEMILL_OCR_API_KEY")
        typer.echo(shlex.join(server.command()))
        typer.echo(f"\n# /etc/systemd/system/{server.name}.service\n{unit(server)}")
    typer.echo(f"# export PAGEMILL_OCR_URL={','.join(server.url for server in plan.servers())}")


def _tested(settings: Settings, plan: Plan) -> Plan:
    """The plan, its options smoke-tested on this machine first. Raises EnvironmentFault when they fail."""
    if not plan.options:
        return plan
    record = OptionRecord(settings.root / "serve" / "tested.json")
    gpu = next((g.name for g in gpus.list_gpus() if g.index in plan.gpus), "") if plan.gpus else ""
    known = record.of(plan, gpu)
    if known is None:
        typer.echo(f"Trying {', '.join(plan.options)} on this machine first.")
        works, said = smoke_test(plan, settings.root / "logs" / "vllm-smoke.log", Patience(), typer.echo)
        record.keep(plan, gpu, works=works, said=said)
        known = record.of(plan, gpu)
    if known is None or not known.works:
        said = known.said if known else ""
        raise EnvironmentFault(
            f"{', '.join(plan.options)} does not work here with vLLM {plan.installation.vllm}: {said}. Serve "
            f"without it; to try again, delete {record.path}."
        )
    return plan


def _run(settings: Settings, plan: Plan, wish: Wish) -> None:
    stopping = threading.Event()

    def on_signal(number: int, _frame: FrameType | None) -> None:
        if number == signals.HANG_UP:
            signals.leave_terminal()
        stopping.set()

    for number in signals.ending():
        signal.signal(number, on_signal)
    servers = plan.servers()
    most_mb = wish.memory_mb or int(psutil.virtual_memory().total / 2**20 * _MEMORY_SHARE / len(servers))
    watched = [
        Supervised(
            server,
            settings.root / "logs" / f"{server.name}.log",
            most_memory_mb=most_mb,
            gate=gate_at(settings.root) if wish.reads_golden else None,
            tell=typer.echo,
        )
        for server in servers
    ]
    endpoints = Endpoints(settings.root / "serve")
    with ExitStack() as ends:
        for one in watched:
            ends.callback(one.stop)
            one.start()
        ends.callback(endpoints.withdraw, plan.profile.name)
        _watch(watched, plan, endpoints, stopping)
        typer.echo(f"Stopping; a server that does not end within {Patience().stop_s:.0f} s is killed.")


def _watch(watched: list[Supervised], plan: Plan, endpoints: Endpoints, stopping: threading.Event) -> None:
    published: tuple[str, ...] = ()
    while not stopping.wait(_LOOK_S):
        for one in watched:
            one.tick()
        ready = tuple(one.server.url for one in watched if one.state in {State.READY, State.EMPTYING})
        if ready != published:
            endpoints.publish(plan.profile.name, ready)
            published = ready
        if all(one.state is State.GIVEN_UP for one in watched):
            raise EngineUnavailable(
                f"No server of '{plan.profile.name}' is up. What was said above, or the end of "
                f"{watched[0].log}, says why."
            )
