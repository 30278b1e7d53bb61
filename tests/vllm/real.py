"""A real vLLM on the CPU with a tiny model."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from bench.served import free_port
from tests.vllm.install import PYTHON

PATIENCE_S = 900.0
"""Nothing here is about speed: a start takes 45 s on two idle cores, a page one, and minutes on busy ones."""
NAMES = {"qwen3_vl": "chandra", "qwen3_5": "chandra", "glm_ocr": "glm-ocr"}
# One thread: with two on busy cores each token waits for a time slice. The worker lives with the engine.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_CPU_CI_ENV": "1",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "TORCHDYNAMO_DISABLE": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
}
FLAGS = [
    *("--enforce-eager", "--distributed-executor-backend", "uni", "--kv-cache-memory-bytes", "128M"),
    *("--max-model-len", "4096", "--max-num-seqs", "4", "--limit-mm-per-prompt", '{"image": 2, "video": 0}'),
]


@dataclass
class RealVllm:
    """A server process; `start` does not wait, `wait` does."""

    arch: str
    model: Path
    log: Path
    key: str = ""
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Base URL."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def name(self) -> str:
        """Served model name."""
        return NAMES[self.arch]

    def start(self) -> None:
        """Begin to start; 40 CPU seconds, nearly all of it imports."""
        # Qwen3.5's linear attention runs in bfloat16 only.
        dtype = "bfloat16" if self.arch == "qwen3_5" else "float32"
        command = [str(PYTHON), "-m", "vllm.entrypoints.openai.api_server", "--model", str(self.model)]
        command += ["--served-model-name", self.name, "--host", "127.0.0.1", "--port", str(self.port)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--dtype", dtype, *FLAGS],
                env=self._environment(),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def wait(self) -> None:
        """Until it is healthy."""
        deadline = time.monotonic() + PATIENCE_S
        while not self._is_healthy():
            assert self.process is not None
            assert self.process.poll() is None, self.log.read_text()[-3_000:]
            assert time.monotonic() < deadline, "vLLM did not start in time"
            time.sleep(0.5)

    def kill(self) -> None:
        """As a crash does: no good-bye, its engine as well."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(30)

    def stop(self) -> None:
        """Politely at first, once it has come up."""
        if self.process is not None and self.process.poll() is None and self._is_healthy():
            os.killpg(self.process.pid, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(60)
        self.kill()

    def metric(self, name: str) -> float:
        """Sum of a metric over its labels."""
        lines = httpx.get(f"{self.url}/metrics").text.splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith(name))

    def _is_healthy(self) -> bool:
        try:
            return httpx.get(f"{self.url}/health", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    def _environment(self) -> Mapping[str, str]:
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        key = {"VLLM_API_KEY": self.key} if self.key else {}
        return kept | ENVIRONMENT | key | {"PATH": f"{PYTHON.parent}:{os.environ['PATH']}"}
