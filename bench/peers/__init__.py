"""Other clients of OCR models, each in a virtual environment of its own: what it is and how it is run.

They read the same files as pagemill does, at the same server; see bench.clients.
"""

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MODEL = "chandra"
"""Name of the one model that the benchmark's server knows."""
KEY = "none"
_ASK = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
_DRIVER = Path(__file__).with_name("with_docling.py")


@dataclass(frozen=True, slots=True)
class Task:
    """What every client is asked to do."""

    folder: Path
    """PDF files and nothing else."""
    url: str
    """Base URL of the server, without /v1."""
    out: Path
    slots: int
    """Requests that the server works on at once: as many are to be in flight."""

    @property
    def files(self) -> list[str]:
        """The documents, in order."""
        return [str(path) for path in sorted(self.folder.glob("*.pdf"))]


@dataclass(frozen=True, slots=True)
class Peer:
    """Another client: its package, and its command line for a task."""

    name: str
    requirements: tuple[str, ...]
    """As pip takes them; the first is the client, with the version that the figures are of."""
    command: Callable[[Path, Task], list[str]]
    """Of the environment's bin folder and the task."""
    variables: Callable[[Task], dict[str, str]] = lambda _: {}

    @property
    def package(self) -> str:
        """Name of the distribution."""
        return self.requirements[0].partition("==")[0].partition("[")[0]

    def version(self, envs: Path) -> str:
        """The version that is installed below `envs`; empty when there is none."""
        python = envs / self.name / "bin" / "python"
        if not python.exists():
            return ""
        told = subprocess.run(
            [str(python), "-c", _ASK, self.package], capture_output=True, text=True, check=False
        )
        return told.stdout.strip()


def _chandra(bins: Path, task: Task) -> list[str]:
    command = [str(bins / "chandra"), str(task.folder), str(task.out), "--method", "vllm"]
    return [*command, "--max-workers", str(task.slots), "--batch-size", str(task.slots)]


def _chandra_variables(task: Task) -> dict[str, str]:
    return {"VLLM_API_BASE": f"{task.url}/v1", "VLLM_MODEL_NAME": MODEL, "VLLM_API_KEY": KEY}


def _olmocr(bins: Path, task: Task) -> list[str]:
    command = [str(bins / "python"), "-m", "olmocr.pipeline", str(task.out), "--server", f"{task.url}/v1"]
    command += ["--api_key", KEY, "--model", MODEL, "--markdown", "--workers", str(task.slots)]
    return [*command, "--max_concurrent_requests", str(task.slots), "--pdfs", *task.files]


def _docling(bins: Path, task: Task) -> list[str]:
    told = {"files": task.files, "url": task.url, "model": MODEL, "out": str(task.out), "slots": task.slots}
    return [str(bins / "python"), str(_DRIVER), json.dumps(told)]


PEERS = (
    Peer("chandra-ocr", ("chandra-ocr==0.2.0",), _chandra, _chandra_variables),
    Peer("olmocr", ("olmocr==0.4.27",), _olmocr),
    # What its pipeline for served models needs; torch and packaging it imports without asking for them.
    Peer(
        "docling",
        ("docling-slim[convert-core,format-pdf]==2.143.0", "torch==2.13.0", "packaging"),
        _docling,
    ),
)
