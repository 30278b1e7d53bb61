"""What is to be served, and the command and environment for it."""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from models.errors import ConfigurationError
from models.profile import Profile
from models.vlm import Vlm
from tasks.work.serving.vllm import Installation

_LOOPBACK = {"127.0.0.1", "localhost", "::1"}

# No telemetry, and no surprise downloads unless they were asked for.
_QUIET = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}

# A server on the CPU: one thread a process, else each token waits for a time slice of the other cores.
_ON_CPU = {
    "OMP_NUM_THREADS": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_CPU_CI_ENV": "1",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "TORCHDYNAMO_DISABLE": "1",
    "PYTHONDONTWRITEBYTECODE": "",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """One profile to serve on some GPUs; empty `gpus`: on the CPU."""

    profile: Profile
    model: str
    """Folder with the weights, or their published name."""
    installation: Installation
    gpus: tuple[int, ...] = (0,)
    host: str = "127.0.0.1"
    port: int = 8000
    api_key: str = ""
    is_data_parallel: bool = False
    """All GPUs behind one port instead of one server each."""
    may_download: bool = False
    options: tuple[str, ...] = ()
    """Names of the profile's optional flags to switch on."""
    extra: tuple[str, ...] = ()
    """More flags as typed; they come last and win."""

    def __post_init__(self) -> None:
        if self.host not in _LOOPBACK and not self.api_key:
            raise ConfigurationError(
                f"A server on {self.host} can be reached from elsewhere: set PAGEMILL_OCR_API_KEY first, or "
                "leave --host out to listen on this machine only."
            )

    @property
    def vlm(self) -> Vlm:
        """The profile's served-model part. Raises ConfigurationError for engines of our own."""
        if self.profile.vlm is None:
            raise ConfigurationError(
                f"Profile '{self.profile.name}' needs no server: it reads on the CPU by itself."
            )
        return self.profile.vlm

    def servers(self) -> tuple["Server", ...]:
        """One server per GPU, or one for all."""
        if self.is_data_parallel or not self.gpus:
            return (Server(self, self.port, self.gpus),)
        return tuple(Server(self, self.port + n, (gpu,)) for n, gpu in enumerate(self.gpus))


@dataclass(frozen=True, slots=True)
class Server:
    """One `vllm serve` process of a plan."""

    plan: Plan
    port: int
    gpus: tuple[int, ...] = field(default=())

    @property
    def name(self) -> str:
        """Names its log file and systemd unit."""
        where = "-".join(f"gpu{gpu}" for gpu in self.gpus) or "cpu"
        return f"vllm-{self.plan.profile.name}-{where}"

    @property
    def url(self) -> str:
        """Base URL for clients on this machine."""
        host = "127.0.0.1" if self.plan.host in {"0.0.0.0", "::"} else self.plan.host  # noqa: S104
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    def command(self) -> list[str]:
        """The command line. Secrets are not in it: anyone on the machine can read it."""
        vlm, plan = self.plan.vlm, self.plan
        flags = [
            *("--served-model-name", vlm.served_name),
            *("--host", plan.host),
            *("--port", str(self.port)),
            *("--max-model-len", str(vlm.context)),
        ]
        if len(self.gpus) > 1:
            flags += ["--data-parallel-size", str(len(self.gpus))]
        for flag in vlm.flags:
            if flag.state == "on" or (flag.state == "option" and flag.option in plan.options):
                flags += shlex.split(flag.flag)
        return [*plan.installation.serve(plan.model), *without(flags, plan.extra), *plan.extra]

    def environment(self) -> dict[str, str]:
        """Variables to set besides those that are there."""
        variables = dict(_QUIET)
        if self.gpus:
            variables["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, self.gpus))
        else:
            variables |= _ON_CPU
        if not self.plan.may_download:
            variables |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
        return variables

    def full_environment(self, base: Mapping[str, str] = os.environ) -> dict[str, str]:
        """All variables of the process, the API key included."""
        key = {"VLLM_API_KEY": self.plan.api_key} if self.plan.api_key else {}
        return {name: value for name, value in {**base, **self.environment(), **key}.items() if value}


def known_options(profile: Profile) -> frozenset[str]:
    """Names of the flags of a profile that can be switched on."""
    flags = profile.vlm.flags if profile.vlm else ()
    return frozenset(flag.option for flag in flags if flag.state == "option")


def check_options(profile: Profile, options: Sequence[str]) -> None:
    """Raises ConfigurationError for an option that the profile does not have."""
    unknown = sorted(set(options) - known_options(profile))
    if unknown:
        known = ", ".join(sorted(known_options(profile))) or "none"
        raise ConfigurationError(f"Profile '{profile.name}' has no option '{unknown[0]}'. Known: {known}.")


def find_weights(vlm: Vlm, model: str | None, cache: Path) -> str | None:
    """The model to serve: a folder, or a published name that lies in `cache`; `model`, else the profile's.

    `cache`: the Hugging Face hub's folder. None when the weights are not on this machine. Raises
    ConfigurationError for a folder that holds no model.
    """
    name = model or vlm.weights
    path = Path(name).expanduser()
    if path.is_dir() and not (path / "config.json").is_file():
        raise ConfigurationError(f"{name} holds no model: there is no config.json in it.")
    if path.is_dir():
        return str(path)
    if path.is_absolute() or name.startswith("."):
        raise ConfigurationError(f"There is no folder {name} with weights.")
    snapshots = cache / f"models--{name.replace('/', '--')}" / "snapshots"
    return name if any(snapshots.glob("*/config.json")) else None


def without(flags: Sequence[str], extra: Sequence[str]) -> list[str]:
    """`flags` without those that `extra` gives anew, with their values."""
    given = {_positive(word.split("=")[0]) for word in extra if word.startswith("--")}
    kept: list[str] = []
    is_dropping = False
    for word in flags:
        if word.startswith("--"):
            is_dropping = _positive(word.split("=")[0]) in given
        if not is_dropping:
            kept.append(word)
    return kept


def _positive(flag: str) -> str:
    """The switch that `--no-SWITCH` turns off."""
    return f"--{flag.removeprefix('--no-')}" if flag.startswith("--no-") else flag
