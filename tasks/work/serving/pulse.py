"""Signs of life of a server: `/health`, and what `/metrics` counts."""

from collections.abc import Iterable
from dataclasses import dataclass

import httpx

from tasks.work.serving.exposition import sums

_ASK_S = 5.0
_NAMES = {
    "vllm:num_requests_running": "running",
    "vllm:num_requests_waiting": "waiting",
    "vllm:prompt_tokens_total": "tokens",
    "vllm:generation_tokens_total": "tokens",
}


@dataclass(frozen=True, slots=True)
class Pulse:
    """What a server has in hand and what it has done since it started."""

    running: int
    waiting: int
    tokens: float
    """Prompt and reply tokens since the start: they grow while an engine lives and has work."""

    @property
    def in_work(self) -> bool:
        """Whether requests are in flight or queued."""
        return self.running + self.waiting > 0


def is_up(url: str) -> bool:
    """Whether `/health` says 200."""
    try:
        return httpx.get(f"{url}/health", timeout=_ASK_S, trust_env=False).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


def pulse(url: str) -> Pulse | None:
    """The server's counters; None when it does not tell them."""
    try:
        answer = httpx.get(f"{url}/metrics", timeout=_ASK_S, trust_env=False)
    except httpx.HTTPError:
        return None
    return read_pulse(answer.text.splitlines()) if answer.status_code == httpx.codes.OK else None


def read_pulse(lines: Iterable[str]) -> Pulse:
    """Counters out of Prometheus text, summed over a server's engines."""
    found = sums(lines, _NAMES)
    return Pulse(int(found["running"]), int(found["waiting"]), found["tokens"])
