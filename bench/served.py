"""A server for a benchmark: one that runs already, or one started for it and ended after it."""

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from models.errors import ConfigurationError, EnvironmentFault
from models.profile import Profile
from models.vlm import Vlm
from tasks.work.serving import gpus, visit, vllm
from tasks.work.serving.plan import Plan
from tasks.work.serving.supervisor import Patience


def plan(
    profile: Profile,
    model: str,
    python: Path | None,
    extra: Sequence[str],
    *,
    options: Sequence[str] = (),
    is_bare: bool = False,
) -> Plan:
    """A plan on the first GPU, or on the CPU where that is what vLLM was built for.

    `is_bare`: without the profile's flags, as vLLM does it by default.
    """
    if is_bare and profile.vlm is not None:
        profile = profile.model_copy(update={"vlm": profile.vlm.model_copy(update={"flags": ()})})
    installation, chosen = _place(python)
    return Plan(
        profile,
        model,
        installation,
        gpus=chosen,
        port=free_port(),
        options=tuple(options),
        extra=tuple(extra),
    )


def _place(python: Path | None) -> tuple[vllm.Installation, tuple[int, ...]]:
    try:
        found = vllm.find(python)
        if found.is_cpu_build:
            return found, ()
        (first,) = gpus.choose(gpus.list_gpus()[:1], (), None)
    except EnvironmentFault as error:
        raise EnvironmentFault(
            f"{error.message} The benchmarks sweep and pipeline can measure a server that runs: --url.",
            error.code,
        ) from error
    return found, (first.index,)


def vlm_of(profile: Profile) -> Vlm:
    """The served model of a profile. Raises ConfigurationError for one that needs no server."""
    if profile.vlm is None:
        raise ConfigurationError(
            f"Profile {profile.name} is read on the CPU: this benchmark measures a server. Try glm-ocr."
        )
    return profile.vlm


@contextmanager
def serving(plan: Plan, log: Path) -> Iterator[str]:
    """The URL of a server of this plan, proven; ended afterwards. Raises EngineUnavailable."""
    with visit.serving(plan, log, Patience(starts=1), lambda said: print(said, flush=True)) as url:
        yield url


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
