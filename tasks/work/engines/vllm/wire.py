"""A page and a profile put into words for the server, and its answer taken out again."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from models.engine import OcrRequest
from models.errors import Code, PageFailed
from models.reading import FinishReason
from models.vlm import Sampling, Task, Vlm
from tasks.work.engines.vllm.faults import Broken
from tasks.work.engines.vllm.picture import Picture
from tasks.work.engines.vllm.template import template_of

_SLOT = "\u0001picture\u0001"
_FINISHED = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "repetition": FinishReason.REPETITION,
}
_BYTES_A_TOKEN = 3


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked of the model: profile, recipe and trial put together."""

    task: Task
    prompt: str
    schema: str
    sampling: Sampling

    @property
    def prompt_sha256(self) -> str:
        """Names the prompt, schema included."""
        return hashlib.sha256(f"{self.prompt}\0{self.schema}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a server understands beyond the OpenAI API."""

    is_vllm: bool = True
    has_priorities: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply, counted."""

    text: str
    finish: FinishReason
    tokens_in: int | None
    tokens_out: int | None
    confidence: float | None
    """exp of the mean log-probability of the reply's tokens, where they were asked for."""
    queue_s: float | None
    """Where the server tells it of each request (vLLM with --enable-per-request-metrics)."""


def wish_of(vlm: Vlm, request: OcrRequest) -> Wish:
    """Raises PageFailed (ocr-rejected) for a task that the model does not have."""
    try:
        task = vlm.task(request.recipe.task)
    except KeyError:
        known = ", ".join(vlm.tasks)
        raise PageFailed(
            f"The model has no task '{request.recipe.task}'. Known: {known}.", Code.OCR_REJECTED
        ) from None
    schema = request.schema or (orjson.dumps(task.schema_).decode() if task.schema_ else "")
    prompt = task.prompt.replace("{question}", request.question).replace("{schema}", schema)
    if "{template}" in prompt:
        prompt = prompt.replace("{template}", template_of(schema))
    trial = request.trial
    changes = {
        name: getattr(trial, name)
        for name in ("temperature", "top_p", "repetition_penalty", "max_tokens")
        if getattr(trial, name) is not None
    }
    return Wish(task, prompt, schema, vlm.sampling.model_copy(update=changes))


def reply_room(vlm: Vlm, wish: Wish, pictures: Sequence[Picture], context: int) -> int:
    """Most tokens of the reply: as wanted, or what the context leaves after pictures and prompt."""
    image_tokens = sum(vlm.pixels.tokens(picture.width_px, picture.height_px) for picture in pictures)
    text = max(vlm.prompt_tokens, len(wish.prompt.encode()) // _BYTES_A_TOKEN)
    return max(1, min(wish.sampling.max_tokens, context - image_tokens - text))


def body_of(
    vlm: Vlm, wish: Wish, pictures: Sequence[Picture], *, max_tokens: int, dialect: Dialect, priority: int = 0
) -> bytes:
    """The request's JSON. The pictures' base64 is put in as it is: encoding it as a string costs more."""
    content: list[dict[str, Any]] = [
        {"type": "image_url", "image_url": {"url": f"{_SLOT}{number}"}} for number in range(len(pictures))
    ]
    content.append({"type": "text", "text": wish.prompt})
    fields = {
        "model": vlm.served_name,
        "messages": [{"role": "user", "content": content}],
        **_sampling(wish.sampling, dialect),
        "max_tokens": max_tokens,
    }
    if vlm.logprobs:
        fields["logprobs"] = True
    if dialect.has_priorities and priority:
        fields["priority"] = priority
    fields |= _structure(wish, dialect)
    # Joined at once: each further step would copy all pictures.
    parts, rest = [], orjson.dumps(fields)
    for number, picture in enumerate(pictures):
        before, _, rest = rest.partition(orjson.dumps(f"{_SLOT}{number}")[1:-1])
        parts += [before, *picture.url()]
    return b"".join([*parts, rest])


def answer_of(content: bytes) -> Answer:
    """Raises Broken for what is no answer, PageFailed (ocr-rejected) where the server would not go on."""
    try:
        reply = orjson.loads(content)
        choice = reply["choices"][0]
        text = choice["message"]["content"] or ""
    except (orjson.JSONDecodeError, KeyError, IndexError, TypeError) as error:
        raise Broken(f"no chat completion: {type(error).__name__}") from error
    usage = reply.get("usage") or {}
    metrics = reply.get("metrics") or {}
    waited = metrics.get("queue_time_ms")
    return Answer(
        text=text,
        finish=_finish(choice),
        tokens_in=usage.get("prompt_tokens"),
        tokens_out=usage.get("completion_tokens"),
        confidence=_confidence(choice.get("logprobs")),
        queue_s=None if waited is None else float(waited) / 1000,
    )


def _sampling(sampling: Sampling, dialect: Dialect) -> dict[str, Any]:
    told = sampling.model_dump(exclude_none=True, exclude={"max_tokens", "stop", "extra"})
    if sampling.stop:
        told["stop"] = list(sampling.stop)
    if not dialect.is_vllm:
        for name in ("top_k", "repetition_penalty", "repetition_detection"):
            told.pop(name, None)
        return told
    return told | sampling.extra


def _structure(wish: Wish, dialect: Dialect) -> dict[str, Any]:
    """The schema that the reply is held to, in the server's words."""
    if not wish.schema:
        return {}
    schema = orjson.loads(wish.schema)
    if dialect.is_vllm:
        return {"structured_outputs": {"json": schema}}
    named = {"name": "answer", "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _finish(choice: dict[str, Any]) -> FinishReason:
    reason = choice.get("finish_reason")
    if choice.get("stop_reason") == "repetition_detected":
        return FinishReason.REPETITION
    if reason in _FINISHED:
        return _FINISHED[reason]
    if reason in {"abort", "error", None}:
        raise Broken(f"the reply ended with '{reason}'")
    raise PageFailed(f"The OCR server ended its reply with '{reason}'.", Code.OCR_REJECTED)


def _confidence(logprobs: dict[str, Any] | None) -> float | None:
    tokens = (logprobs or {}).get("content") or []
    if not tokens:
        return None
    return math.exp(sum(token["logprob"] for token in tokens) / len(tokens))
