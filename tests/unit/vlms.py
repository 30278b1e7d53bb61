"""Profiles of served models, and servers that are none, for tests."""

from pathlib import Path
from typing import Any

from models.profile import Profile
from models.vlm import Pixels, ServeFlag, Task, Vlm
from tasks.work.serving.plan import Plan
from tasks.work.serving.vllm import Installation

PIXELS = Pixels(patch_px=14, min_pixels=12_544, max_pixels=11_760_000)
FLAGS = (
    ServeFlag(flag="--max-num-seqs 64", state="on", about="seats"),
    ServeFlag(flag='--speculative-config \'{"method":"mtp"}\'', state="option", option="mtp", about="drafts"),
    ServeFlag(flag="--allowed-local-media-path /", state="breaks", about="opens the disk"),
)


def vlm(**changes: Any) -> Vlm:
    """A small served model."""
    about: dict[str, Any] = {
        "served_name": "tiny",
        "weights": "example/tiny",
        "architecture": "GlmOcrForConditionalGeneration",
        "tasks": {"text": Task(prompt="Text Recognition:", parser="text", about="all text")},
        "pixels": PIXELS,
        "flags": FLAGS,
    }
    return Vlm(**about | changes)


def profile(**changes: Any) -> Profile:
    """Its profile; `changes` are fields of Vlm."""
    return Profile(
        name="tiny",
        title="A tiny model",
        engine="vllm",
        revision="1",
        licence="MIT",
        scripts=frozenset(),
        vlm=vlm(**changes),
    )


def plan(**changes: Any) -> Plan:
    """A plan on one GPU, with a vLLM that is not there."""
    about: dict[str, Any] = {
        "profile": profile(),
        "model": "/models/tiny",
        "installation": Installation(Path("/opt/vllm/bin/python"), "0.25.1", "5.17.0"),
    }
    return Plan(**about | changes)
