"""The GPUs of this machine, as the driver's own tool tells them."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from models.errors import ConfigurationError, EnvironmentFault

_ASK_S = 20.0
_FIELDS = "index,name,memory.total,memory.free,driver_version"
_ROOM_MB = 2_048
"""For activations and the smallest useful key-value cache beside the weights."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU; memory in MiB."""

    index: int
    name: str
    total_mb: int
    free_mb: int
    driver: str


def list_gpus(tool: str = "nvidia-smi") -> tuple[Gpu, ...]:
    """All GPUs. Raises EnvironmentFault when the driver does not answer."""
    command = [tool, f"--query-gpu={_FIELDS}", "--format=csv,noheader,nounits"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=_ASK_S, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise EnvironmentFault(
            f"No NVIDIA GPU answers ({tool}: {_why(error)}). Install the driver, or read on the CPU with "
            "--profile ppocr."
        ) from error
    return tuple(_gpu(line) for line in told.stdout.splitlines() if line.strip())


def choose(gpus: Sequence[Gpu], wanted: Sequence[int], weights: Path | None) -> tuple[Gpu, ...]:
    """The GPUs `wanted`, all for none, with room for the weights in folder `weights`.

    Raises ConfigurationError for one that is not there, EnvironmentFault for one that is too full.
    """
    by_index = {gpu.index: gpu for gpu in gpus}
    missing = [index for index in wanted if index not in by_index]
    if missing or not gpus:
        there = ", ".join(f"{gpu.index} ({gpu.name})" for gpu in gpus) or "none"
        raise ConfigurationError(f"There is no GPU {missing[0] if missing else 0}. Here: {there}.")
    chosen = tuple(by_index[index] for index in wanted) or tuple(gpus)
    needed = _ROOM_MB + (size_mb(weights) if weights else 0)
    for gpu in chosen:
        if gpu.free_mb < needed:
            raise EnvironmentFault(
                f"GPU {gpu.index} ({gpu.name}) has {gpu.free_mb:,} MiB free of {gpu.total_mb:,}; this model "
                f"needs at least {needed:,}. 'nvidia-smi' shows who holds the rest."
            )
    return chosen


def size_mb(folder: Path) -> int:
    """MiB of the weight files in a folder."""
    return sum(file.stat().st_size for file in folder.glob("*.safetensors")) // 2**20


def _gpu(line: str) -> Gpu:
    index, name, total, free, driver = (part.strip() for part in line.split(","))
    return Gpu(int(index), name, int(float(total)), int(float(free)), driver)


def _why(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "not found"
    return (getattr(error, "stderr", "") or str(error)).strip().splitlines()[-1]
