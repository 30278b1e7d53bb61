"""What the figures of a benchmark hold for: the machine, its GPUs, the server, the documents."""

import os
import platform
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import httpx
import psutil

from models.errors import Code, ConfigurationError

Value = str | float | int | bool | None

_ASK_S = 5.0
_MOST_NAMES = 3


def machine() -> dict[str, Value]:
    """Processor, memory, load at this moment, versions, and GPUs where a driver answers."""
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "pagemill": _version(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30, 1),
        "load": round(os.getloadavg()[0], 1),
        **gpus(open_nvml()),
    }


def gpus(library: Any) -> dict[str, Value]:
    """Names, memory and driver of the GPUs that NVML tells; nothing without it."""
    if library is None:
        return {}
    handles = [library.nvmlDeviceGetHandleByIndex(n) for n in range(library.nvmlDeviceGetCount())]
    names = [_text(library.nvmlDeviceGetName(handle)) for handle in handles]
    if not names:
        return {}
    return {
        "gpu": ", ".join(f"{names.count(name)} x {name}" for name in dict.fromkeys(names)),
        "gpu_total_mb": round(library.nvmlDeviceGetMemoryInfo(handles[0]).total / 2**20),
        "driver": _text(library.nvmlSystemGetDriverVersion()),
    }


def open_nvml() -> Any:
    """The module pynvml, initialised; None where there is none or no driver answers."""
    try:
        import pynvml  # noqa: PLC0415 (only where the extra `gpu` is installed)
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    return pynvml


def server(url: str, api_key: str = "") -> dict[str, Value]:
    """The version and the model that the server at `url` tells, if any; what it does not tell is left out.

    Of several, with commas between them, the first is asked.
    """
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    told: dict[str, Value] = {}
    if not url:
        return told
    with httpx.Client(
        base_url=url.split(",", maxsplit=1)[0], headers=headers, timeout=_ASK_S, trust_env=False
    ) as client:
        with suppress(httpx.HTTPError, ValueError, KeyError):
            told["vllm"] = str(client.get("/version").raise_for_status().json()["version"])
        with suppress(httpx.HTTPError, ValueError, KeyError, IndexError):
            told["model"] = str(client.get("/v1/models").raise_for_status().json()["data"][0]["id"])
    return told


def documents(places: Sequence[Path]) -> dict[str, Value]:
    """How many files, how large, and the first names, without the folders they lie in."""
    found = list(files(places))
    names = [place.name for place in places]
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return {
        "documents": ", ".join(names[:_MOST_NAMES]) + more,
        "files": len(found),
        "files_mb": round(sum(path.stat().st_size for path in found) / 1e6, 1),
    }


def files(places: Iterable[Path]) -> Iterator[Path]:
    """Files named or in the folders named. Raises ConfigurationError for what is not there."""
    for place in places:
        if not place.exists():
            raise ConfigurationError(f"There is no {place}.", Code.NOT_FOUND)
        yield from (path for path in place.rglob("*") if path.is_file()) if place.is_dir() else [place]


def _text(told: str | bytes) -> str:
    return told.decode() if isinstance(told, bytes) else told


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def _version() -> str:
    try:
        return version("pagemill")
    except PackageNotFoundError:  # run from the source folder
        return "source"
