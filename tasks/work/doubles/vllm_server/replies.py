"""Bodies of replies in vLLM's form."""

import time
from collections.abc import Mapping
from typing import Any

import orjson
from starlette.responses import Response

from tasks.work.doubles.vllm_server.script import Asked, Refused, Said


def refusal(refused: Refused) -> Response:
    """An error: an object with message, type, param and code; for an empty kind a string."""
    error: object = refused.message
    if refused.kind:
        error = {
            "message": refused.message,
            "type": refused.kind,
            "param": refused.param,
            "code": refused.status,
        }
    return as_json({"error": error}, refused.status)


def completion(asked: Asked, said: Said, model: str) -> dict[str, Any]:
    """`chat.completion`."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": said.text, "refusal": None, "tool_calls": []},
        "logprobs": _logprobs(asked, said),
        "finish_reason": said.finish,
        "stop_reason": "repetition_detected" if said.finish == "repetition" else None,
    }
    return _head(asked, model, "chat.completion") | {"choices": [choice], "usage": usage(asked, said)}


def chunk(asked: Asked, model: str, delta: Mapping[str, str], finish: str | None = None) -> bytes:
    """One event of a stream: `chat.completion.chunk`."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return _event(_head(asked, model, "chat.completion.chunk") | {"choices": [choice]})


def last_chunk(asked: Asked, said: Said, model: str) -> bytes:
    """The event with the usage, where it was asked for, and the end of the stream."""
    options = asked.body.get("stream_options") or {}
    done = b"data: [DONE]\n\n"
    if not options.get("include_usage"):
        return done
    head = _head(asked, model, "chat.completion.chunk")
    return _event(head | {"choices": [], "usage": usage(asked, said)}) + done


def usage(asked: Asked, said: Said) -> dict[str, int]:
    """Token counts."""
    return {
        "prompt_tokens": asked.tokens_in,
        "total_tokens": asked.tokens_in + said.length,
        "completion_tokens": said.length,
    }


def as_json(value: object, status: int = 200) -> Response:
    """A JSON response."""
    return Response(orjson.dumps(value), status, media_type="application/json")


def _head(asked: Asked, model: str, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{asked.number:08x}",
        "object": kind,
        "created": int(time.time()),
        "model": model,
    }


def _event(value: object) -> bytes:
    return b"data: " + orjson.dumps(value) + b"\n\n"


def _logprobs(asked: Asked, said: Said) -> dict[str, Any] | None:
    if not asked.body.get("logprobs"):
        return None
    one = {"token": "?", "logprob": said.logprob, "bytes": [63], "top_logprobs": []}
    return {"content": [one] * said.length}
