"""One question about one or more pictures, the answer token by token."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import httpx

from models.engine import OcrRequest
from models.errors import ConfigurationError, EngineUnavailable
from models.reading import FinishReason, Reading, ReadingSource, Trial
from models.vlm import Vlm
from tasks.work.engines.vllm import faults, picture, wire
from tasks.work.engines.vllm.server import without_secrets
from tasks.work.parsers import Sent, parse

_STREAM = b',"stream":true,"stream_options":{"include_usage":true}}'
_FINISHED = {"length": FinishReason.LENGTH, "repetition": FinishReason.REPETITION}
_CONNECT_S = 10.0
_NO_SUCH_PLACE = frozenset(
    {httpx.codes.NOT_FOUND, httpx.codes.METHOD_NOT_ALLOWED, httpx.codes.NOT_IMPLEMENTED}
)


@dataclass
class _Heard:
    """What has been said so far."""

    words: list[str] = field(default_factory=list)
    finish: str = "stop"
    tokens_in: int | None = None
    tokens_out: int | None = None


def ask(url: str, vlm: Vlm, request: OcrRequest, hear: Callable[[str], None], api_key: str = "") -> Reading:
    """Ask the server at `url` about the request's pictures; `hear` is told the answer as it comes.

    Raises EngineUnavailable when the server cannot be reached or breaks off, ConfigurationError for a wrong
    key or model name, PageFailed when it refuses.
    """
    wish = wire.wish_of(vlm, request)
    pictures = [
        _fitted(one, vlm) for one in (picture.load(request), *map(picture.load_other, request.others))
    ]
    room = wire.reply_room(vlm, wish, pictures, vlm.context)
    dialect = wire.Dialect(is_vllm=_is_vllm(url))
    body = wire.body_of(vlm, wish, pictures, max_tokens=room, dialect=dialect)
    started = time.perf_counter()
    heard = _converse(url, body[:-1] + _STREAM, api_key, vlm, hear)
    seconds = time.perf_counter() - started
    answer = "".join(heard.words)
    first = pictures[0]
    sent = Sent(first.width_px, first.height_px, first.transform, vlm.box_scale, wish.schema)
    found = parse(wish.task.parser, answer, sent)
    return Reading(
        source=ReadingSource.OCR,
        text=found.text,
        blocks=found.blocks,
        finish_reason=_FINISHED.get(heard.finish, FinishReason.STOP),
        engine=vlm.served_name,
        seconds=seconds,
        tokens_in=heard.tokens_in,
        tokens_out=heard.tokens_out,
        raw=answer,
        server=without_secrets(url),
        trial=Trial(
            temperature=wish.sampling.temperature,
            max_tokens=room,
            width_px=first.width_px,
            height_px=first.height_px,
            prompt_sha256=wish.prompt_sha256,
        ),
        notes=found.notes,
    )


def _is_vllm(url: str) -> bool:
    """Whether it understands more than the OpenAI API. A server that is away says so when it is asked."""
    try:
        answer = httpx.get(f"{url}/version", timeout=_CONNECT_S, trust_env=False)
        return bool(answer.json().get("version"))
    except (httpx.HTTPError, ValueError, AttributeError):
        return False


def _fitted(one: picture.Picture, vlm: Vlm) -> picture.Picture:
    size = picture.size_to_send(one, vlm, vlm.context)
    return one if size == (one.width_px, one.height_px) else one.resized(*size)


def _converse(url: str, body: bytes, api_key: str, vlm: Vlm, hear: Callable[[str], None]) -> _Heard:
    headers = {"Content-Type": "application/json"}
    if api_key:
        headers["Authorization"] = f"Bearer {api_key}"
    patience = httpx.Timeout(vlm.first_token_s, connect=_CONNECT_S)
    heard = _Heard()
    try:
        with httpx.stream(
            "POST",
            f"{url}/v1/chat/completions",
            content=body,
            headers=headers,
            timeout=patience,
            trust_env=False,
        ) as response:
            if response.status_code != httpx.codes.OK:
                response.read()
                _refuse(response, url, vlm)
            for event in _events(response.iter_lines()):
                _take_in(event, heard, hear)
            return heard
    except httpx.HTTPError as error:
        why = error or type(error).__name__
        raise EngineUnavailable(
            f"The OCR server {without_secrets(url)} does not answer ({why}). Start one with 'pagemill serve' "
            "or name another with PAGEMILL_OCR_URL."
        ) from error


def _events(lines: Iterator[str]) -> Iterator[dict[str, object]]:
    """Events of the stream; `[DONE]` ends it."""
    for line in lines:
        text = line.removeprefix("data:").strip()
        if text == "[DONE]":
            return
        if line.startswith("data:") and text:
            yield json.loads(text)


def _take_in(event: dict[str, object], heard: _Heard, hear: Callable[[str], None]) -> None:
    for choice in event.get("choices") or []:  # type: ignore[attr-defined]
        word = choice.get("delta", {}).get("content")
        if word:
            heard.words.append(word)
            hear(word)
        heard.finish = choice.get("finish_reason") or heard.finish
    usage = event.get("usage")
    if isinstance(usage, dict):
        heard.tokens_in, heard.tokens_out = usage["prompt_tokens"], usage["completion_tokens"]


def _refuse(response: httpx.Response, url: str, vlm: Vlm) -> None:
    message, _ = faults.told(response)
    url = without_secrets(url)
    is_json = "json" in response.headers.get("content-type", "")
    if response.status_code in _NO_SUCH_PLACE and not is_json:
        raise ConfigurationError(
            f"{url} does not speak the OpenAI API ({response.status_code}). Set PAGEMILL_OCR_URL to a server "
            "such as 'pagemill serve' starts."
        )
    if response.status_code in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
        raise faults.key_refused(url, response)
    if response.status_code == httpx.codes.NOT_FOUND:
        raise ConfigurationError(
            f"The OCR server {url} does not serve '{vlm.served_name}': {message} Start "
            f"it with --served-model-name {vlm.served_name}, or name another with PAGEMILL_OCR_URL."
        )
    try:
        faults.raise_for(response)
    except (faults.Away, faults.Broken, faults.Busy) as error:
        raise EngineUnavailable(f"The OCR server {url} failed: {message}") from error
    except faults.TooLarge as error:
        raise ConfigurationError(f"The pictures are too large for the server's context: {message}") from error
