"""What a client has to know of a vision-language model that a server runs: prompts, pixels, limits, flags."""

import math
from collections.abc import Callable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from models.region import RegionKind

Parser = Literal["text", "markdown", "glm-table", "glm-formula", "glm-json", "chandra", "chandra-2", "json"]
"""Names of tasks.work.parsers."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RepetitionDetection(_Frozen):
    """vLLM's request parameter: the server stops a reply whose end repeats a pattern (from vLLM 0.17)."""

    max_pattern_size: int = Field(32, ge=1)
    """In tokens."""
    min_pattern_size: int = Field(1, ge=1)
    min_count: int = Field(40, ge=2)


class Sampling(_Frozen):
    """How a reply is drawn. `None`: not sent, the server's default."""

    temperature: float = Field(0.0, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    top_k: int | None = None
    repetition_penalty: float | None = Field(None, gt=0)
    max_tokens: int = Field(8192, ge=1)
    """Wanted; what the context leaves after the prompt bounds it."""
    stop: tuple[str, ...] = ()
    repetition_detection: RepetitionDetection | None = RepetitionDetection()
    extra: dict[str, Any] = Field(default_factory=dict)
    """More fields of the request, as the server takes them."""


class Pixels(_Frozen):
    """The pixel grid: how a model's processor cuts a picture into tokens."""

    patch_px: int
    merge: int = 2
    min_pixels: int
    max_pixels: int

    @property
    def grid_px(self) -> int:
        """Sides of a picture are multiples of this; one token covers grid × grid pixels."""
        return self.patch_px * self.merge

    def tokens(self, width_px: int, height_px: int) -> int:
        """Tokens of a picture of this size once the processor has fitted it to grid and limits."""
        width, height = self.fitted(width_px, height_px)
        return (width // self.grid_px) * (height // self.grid_px)

    def fitted(self, width_px: int, height_px: int) -> tuple[int, int]:
        """Width and height after the processor: multiples of the grid within the limits.

        The rule of Qwen2-VL and its kin (smart_resize): round, then scale by area when out of bounds.
        """
        grid, area = self.grid_px, width_px * height_px
        width, height = (max(grid, round(side / grid) * grid) for side in (width_px, height_px))
        if width * height > self.max_pixels:
            shrink = math.sqrt(area / self.max_pixels)
            return _cells(grid, width_px / shrink, height_px / shrink, math.floor)
        if width * height < self.min_pixels:
            grow = math.sqrt(self.min_pixels / area)
            return _cells(grid, width_px * grow, height_px * grow, math.ceil)
        return width, height


def _cells(grid: int, width: float, height: float, whole: Callable[[float], int]) -> tuple[int, int]:
    """Both sides as multiples of `grid`, at least one grid cell each; `whole` is math.floor or math.ceil."""
    return max(grid, whole(width / grid) * grid), max(grid, whole(height / grid) * grid)


class Task(_Frozen):
    """One thing a model can be asked of a page."""

    # A dump by the field's own name has to be readable again.
    model_config = ConfigDict(populate_by_name=True)

    prompt: str
    """Exactly as the model was trained on. `{question}`, `{schema}` and `{template}` are filled in where they
    occur; the last is a JSON object of the schema's keys with empty values."""
    parser: Parser
    about: str
    schema_: dict[str, Any] | None = Field(None, alias="schema")
    """JSON schema the server holds the reply to (structured outputs)."""
    max_images: int = 1


class ServeFlag(_Frozen):
    """A `vllm serve` flag and what is known of it."""

    flag: str
    """As typed, with its value."""
    state: Literal["on", "option", "breaks"]
    """on: always given; option: only once it has been smoke-tested on this machine; breaks: known to fail."""
    about: str
    option: str = ""
    """Name of the option that switches it on, e.g. mtp or fp8."""


class Rung(_Frozen):
    """One step of the retry ladder: what is done differently. Steps are tried in order."""

    kind: Literal["sampling", "turn", "larger", "smaller", "halves", "regions", "profile", "text-layer"]
    sampling: dict[str, float | int] = Field(default_factory=dict)
    """Fields of Sampling to change, for any kind."""
    degrees: tuple[int, ...] = ()
    """turn: angles to try, clockwise."""
    factor: float = 1.0
    """larger, smaller: of the pixels of the page image; larger with 1: all that model and source have."""
    profile: str = ""
    """profile: which other one reads the page."""
    when: tuple[str, ...] = ()
    """Finding codes that this step can help against; empty: any."""


class LadderLimits(_Frozen):
    """Most that one page may cost, all attempts together."""

    attempts: int = Field(6, ge=1)
    seconds: float = Field(600.0, gt=0)
    tokens: int = Field(65_536, ge=1)


class Vlm(_Frozen):
    """The part of a profile that is about a served model."""

    served_name: str
    """`model` of the requests, `--served-model-name` of the server."""
    weights: str
    """Where the weights are published, e.g. zai-org/GLM-OCR."""
    architecture: str
    """vLLM's model class."""
    tasks: dict[str, Task] = Field(min_length=1)
    """By name; the first is the default."""
    pixels: Pixels
    sampling: Sampling = Sampling()
    context: int = Field(16_384, ge=1024)
    """`--max-model-len`: image, prompt and reply together."""
    prompt_tokens: int = Field(64, ge=0)
    """Room for prompt text and chat template besides the picture."""
    least_in_flight: int = Field(4, ge=1)
    most_in_flight: int = Field(256, ge=1)
    tokens_per_s: float = Field(8.0, gt=0)
    """Slowest rate of one request that is still taken for alive: deadlines grow with the tokens wanted."""
    first_token_s: float = Field(60.0, gt=0)
    """Part of the deadline for queueing and prefill."""
    logprobs: bool = False
    """Ask for log-probabilities: the reading's confidence, at some cost."""
    regions: dict[RegionKind, str] = Field(default_factory=dict)
    """Task for a region of each kind, the first one for those not named. Empty: the model is not asked by
    regions, since it lays pages out itself."""
    box_scale: int = 0
    """Boxes of replies run from 0 to this along each side; 0: no boxes."""
    flags: tuple[ServeFlag, ...] = ()
    least_vllm: str = ""
    """Oldest version of vLLM that serves this architecture."""
    least_transformers: str = ""
    checked_with: str = ""
    """Versions of vLLM and transformers this was seen to work with."""
    most_errors: float = Field(0.0, ge=0, le=1)
    """Share of characters that may be wrong on golden pages before a server gets pages; 0: it reads none."""
    consent: str = ""
    """Terms that whoever uses the weights has to agree to; asked for once, at first use."""

    @model_validator(mode="after")
    def _regions_name_tasks(self) -> "Vlm":
        unknown = sorted(set(self.regions.values()) - set(self.tasks))
        if unknown:
            raise ValueError(f"regions: there is no task '{unknown[0]}'; known: {', '.join(self.tasks)}")
        return self

    def task(self, name: str) -> Task:
        """A task by name; the first for an empty one. Raises KeyError."""
        return self.tasks[name] if name else next(iter(self.tasks.values()))
