"""A profile: an OCR model as data."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from models.limits import CheckLimits
from models.recipe import Recipe, Resolution
from models.vlm import LadderLimits, Rung, Vlm


class Profile(BaseModel):
    """What a client has to know of an OCR model. One module of `models.profiles` each."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: str
    engine: Literal["ppocr", "rapidocr", "fake", "vllm"]
    revision: str
    """Names the weights, prompts and parser; part of every recipe hash."""
    licence: str
    """Licence of code and weights, in a line shown to whoever uses the profile."""
    scripts: frozenset[str]
    """Scripts (as models.text.script_of names them) that the model reads; others are flagged."""
    finds_lines: bool = False
    """The model finds lines before it reads them: no line is its word that there is no text, and what it
    writes is bounded by the lines it found, so it cannot run in a loop."""
    long_edge_px: int = 1540
    max_pixels: int = 4_000_000
    timeout_s: float = Field(120.0, gt=0)
    """Most seconds for one page before its worker is killed."""
    batch_pages: int = Field(16, ge=1)
    """Pages claimed as one."""
    min_pixels: int = 0
    grid_px: int = 1
    resolution: Resolution = "fixed"
    x_height_px: float = 10.0
    orient: bool = False
    deskew: bool = False
    checks: CheckLimits = CheckLimits()
    """Thresholds that readings of this model are held to, and checks that are not made or made on top."""
    ladder: tuple[Rung, ...] = ()
    """What is tried when a page reads badly, in order; empty: nothing."""
    ladder_limits: LadderLimits = LadderLimits()
    vlm: Vlm | None = None
    """What the client of a served model needs; None for engines of our own."""

    def recipe(self) -> Recipe:
        """The profile's default recipe: fields that both have are the same in both."""
        return Recipe(profile=self.name, **self.model_dump(include=set(Recipe.model_fields)))
