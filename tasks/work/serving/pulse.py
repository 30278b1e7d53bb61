"""Signs of life of a server: `/health`, and what `/metrics` counts."""

from collections.abc import Iterable
from dataclasses import dataclass

import httpx

_ASK_S = 5.0


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
        return httpx.get(f"{url}/health", timeout=_ASK_S).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


def pulse(url: str) -> Pulse | None:
    """The server's counters; None when it does not tell them."""
    try:
        answer = httpx.get(f"{url}/metrics", timeout=_ASK_S)
    except httpx.HTTPError:
        return None
    return read_pulse(answer.text.splitlines()) if answer.status_code == httpx.codes.OK else None


def read_pulse(lines: Iterable[str]) -> Pulse:
    """Counters out of Prometheus text: each summed over its labels, one a data-parallel engine."""
    sums: dict[str, float] = {}
    for line in lines:
        if line.startswith("vllm:"):
            name, _, value = line.partition(" ") if "{" not in line else _labelled(line)
            sums[name] = sums.get(name, 0.0) + float(value)
    return Pulse(
        running=int(sums.get("vllm:num_requests_running", 0)),
        waiting=int(sums.get("vllm:num_requests_waiting", 0)),
        tokens=sums.get("vllm:generation_tokens_total", 0) + sums.get("vllm:prompt_tokens_total", 0),
    )


def _labelled(line: str) -> tuple[str, str, str]:
    # Label values may hold spaces and braces; the value is what stands after the last brace.
    return line.partition("{")[0], "", line.rpartition("}")[2].split()[0]
