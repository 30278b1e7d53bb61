"""A scripted server that speaks vLLM's API: for tests of everything around OCR, and for measurements.

    python -m tasks.work.doubles.vllm_server --port 8000 --slots 32 --token-s 0.002

It keeps to what a real vLLM answers; tests/vllm holds both to the same claims.
"""

from tasks.work.doubles.vllm_server.app import Mood
from tasks.work.doubles.vllm_server.model import Model
from tasks.work.doubles.vllm_server.script import (
    Answer,
    Asked,
    Drops,
    Hangs,
    Kills,
    Refused,
    Said,
    bad_request,
    engine_dead,
    overloaded,
    picture_too_large,
    prompt_too_long,
    server_error,
)
from tasks.work.doubles.vllm_server.server import ScriptedVllm

__all__ = [
    "Answer",
    "Asked",
    "Drops",
    "Hangs",
    "Kills",
    "Model",
    "Mood",
    "Refused",
    "Said",
    "ScriptedVllm",
    "bad_request",
    "engine_dead",
    "overloaded",
    "picture_too_large",
    "prompt_too_long",
    "server_error",
]
