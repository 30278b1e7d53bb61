"""What a server says of itself at one moment."""

from collections.abc import Iterable
from dataclasses import dataclass

from tasks.work.serving.exposition import sums

_NAMES = {
    "vllm:num_requests_running": "running",
    "vllm:num_requests_waiting": "waiting",
    "vllm:prompt_tokens_total": "tokens",
    "vllm:generation_tokens_total": "tokens",
    "vllm:request_queue_time_seconds_sum": "queue_s",
    "vllm:request_queue_time_seconds_count": "queued",
    "process_start_time_seconds": "started",
}


@dataclass(frozen=True, slots=True)
class Sample:
    """A reading of /metrics, summed over a server's engines."""

    running: int = 0
    waiting: int = 0
    tokens: float = 0.0
    """Prompt and reply tokens since the server started."""
    queue_s: float = 0.0
    queued: float = 0.0
    """Requests that `queue_s` is the waiting time of."""
    started: float = 0.0
    """Start of the process; 0 where it is not told (several API processes)."""

    def is_younger_than(self, other: "Sample") -> bool:
        """Whether the server was started again in between."""
        return self.started != other.started or self.tokens < other.tokens

    def queueing_since(self, other: "Sample") -> float | None:
        """Mean seconds in the queue of requests seated in between; None when there were none."""
        seated = self.queued - other.queued
        return (self.queue_s - other.queue_s) / seated if seated > 0 else None


def read_sample(lines: Iterable[str]) -> Sample:
    """A sample from Prometheus text."""
    found = sums(lines, _NAMES)
    running, waiting = int(found.pop("running")), int(found.pop("waiting"))
    return Sample(running, waiting, **found)
