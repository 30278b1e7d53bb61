"""What a scripted server saw and did, for tests to look at and for /metrics."""

import time
from collections import Counter
from dataclasses import dataclass, field

from tasks.work.doubles.vllm_server.script import Asked


@dataclass(eq=False)
class Entry:
    """One request. Times from `time.monotonic`; `ended` is 0 while it is open."""

    asked: Asked
    started: float = field(default_factory=time.monotonic)
    seated: float = 0.0
    ended: float = 0.0
    outcome: str = "open"
    """open, the finish reason, the status of a refusal, or aborted: the client went away."""
    tokens: int = 0
    """Of the reply under way, and the seconds it takes."""
    seconds: float = 0.0
    counted: int = 0
    """Reply tokens that the server's counter has of it."""

    def progress(self) -> int:
        """Reply tokens that were made since this was asked last."""
        share = (time.monotonic() - self.seated) / self.seconds if self.seconds else 1.0
        made = max(self.counted, int(self.tokens * min(1.0, share)))
        before, self.counted = self.counted, made
        return made - before


@dataclass
class Counters:
    """What vLLM counts from the start of its process."""

    started_at: float = field(default_factory=time.time)
    prompt_tokens: int = 0
    generation_tokens: int = 0
    finished: Counter[str] = field(default_factory=Counter)
    """By reason, as in `vllm:request_success_total`."""
    rejections: int = 0
    queue_s: float = 0.0
    queued: int = 0
    e2e_s: float = 0.0


def exposition(counters: Counters, model: str, running: int, waiting: int) -> str:
    """Prometheus text with the names and labels of vLLM."""
    labels = f'engine="0",model_name="{model}"'
    lines = [
        "# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.",
        "# TYPE process_start_time_seconds gauge",
        f"process_start_time_seconds {counters.started_at:.2f}",
        *_one("num_requests_running", "gauge", labels, running),
        *_one("num_requests_waiting", "gauge", labels, waiting),
        *_one("kv_cache_usage_perc", "gauge", labels, 0.0),
        *_one("num_preemptions_total", "counter", labels, 0),
        *_one("prompt_tokens_total", "counter", labels, counters.prompt_tokens),
        *_one("generation_tokens_total", "counter", labels, counters.generation_tokens),
        *_one("admission_rejections_total", "counter", labels, counters.rejections),
        "# TYPE vllm:request_success_total counter",
    ]
    for reason in ("stop", "length", "abort", "error", "repetition"):
        count = float(counters.finished[reason])
        lines.append(f'vllm:request_success_total{{{labels},finished_reason="{reason}"}} {count}')
    lines += _histogram("request_queue_time_seconds", labels, counters.queue_s, counters.queued)
    done = counters.finished.total() - counters.finished["abort"]
    lines += _histogram("e2e_request_latency_seconds", labels, counters.e2e_s, done)
    return "\n".join(lines) + "\n"


def _one(name: str, kind: str, labels: str, value: float) -> list[str]:
    return [f"# TYPE vllm:{name} {kind}", f"vllm:{name}{{{labels}}} {float(value)}"]


def _histogram(name: str, labels: str, total: float, count: int) -> list[str]:
    return [
        f"# TYPE vllm:{name} histogram",
        f'vllm:{name}_bucket{{{labels},le="+Inf"}} {float(count)}',
        f"vllm:{name}_count{{{labels}}} {float(count)}",
        f"vllm:{name}_sum{{{labels}}} {total}",
    ]
