"""A recipe: all that decides what OCR returns. Its hash names it."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from models.errors import Code, ConfigurationError
from models.meant import meant
from models.stage import STAGE_VERSION, Stage

TextLayerPolicy = Literal["check", "prefer", "ignore"]
Resolution = Literal["fixed", "legible", "max"]
Regions = Literal["off", "layout"]

_NOT_OPTIONS = {"profile", "revision", "asked_sha256"}
_OF_THE_PICTURE = {
    "long_edge_px",
    "max_pixels",
    "min_pixels",
    "grid_px",
    "resolution",
    "x_height_px",
    "orient",
    "deskew",
    "jpeg_quality",
    "annotations",
}


class Recipe(BaseModel):
    """What a page is read with. Frozen; equal recipes have equal hashes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    profile: str = "ppocr"
    revision: str = ""
    """Revision of the profile: weights, prompts and parser. Filled in from the profile."""
    text_layer: TextLayerPolicy = Field(
        "check",
        description="check: read every page and compare; prefer: use a PDF's text layer where it proves "
        "sane against the picture; ignore: do not look at it",
    )
    long_edge_px: int = Field(1540, ge=256, le=8192, description="long edge of the page image in pixels")
    max_pixels: int = Field(
        4_000_000, ge=65_536, le=64_000_000, description="most pixels of a page image; larger pages shrink"
    )
    min_pixels: int = Field(
        0, ge=0, le=64_000_000, description="fewest pixels of a page image; smaller ones are enlarged"
    )
    grid_px: int = Field(
        1, ge=1, le=64, description="both sides of a page image are multiples of this; the model's patch grid"
    )
    resolution: Resolution = Field(
        "fixed",
        description="fixed: the long edge decides; legible: the smallest picture whose smallest running text "
        "the model can read; max: the most pixels allowed",
    )
    x_height_px: float = Field(
        10.0, ge=3, le=64, description="legible: height in pixels that small letters keep"
    )
    orient: bool = Field(False, description="turn sideways and upside-down scans before they are read")
    deskew: bool = Field(False, description="straighten scans that lie up to 5 degrees askew")
    languages: str = Field(
        "",
        pattern=r"^([a-z]{2,3}( [a-z]{2,3})*)?$",
        description="languages expected, spaces between, e.g. en de; pages in others are suspect",
    )
    regions: Regions = Field(
        "off",
        description="off: a served model is asked for the whole page; layout: for its regions one by one, as "
        "a layout detector finds them",
    )
    task: str = Field("", description="what the model is asked; empty: the profile's first task")
    asked_sha256: str = Field(
        "", description="of question, JSON schema and further pictures; set by `pagemill ask`"
    )
    jpeg_quality: int = Field(90, ge=50, le=100, description="quality of stored page images")
    annotations: bool = Field(True, description="draw annotations and form values, as on paper")

    @property
    def hash(self) -> str:
        """SHA-256 (hex) over what differs from the defaults and the versions of the stages that read.

        A field that is added later changes no hash as long as it keeps its default.
        """
        return _digest(
            self.model_dump(exclude_defaults=True) | {"versions": _versions(Stage.PREPROCESS, Stage.OCR)}
        )

    @property
    def preprocess_key(self) -> str:
        """SHA-256 (hex) of what decides a page image: recipes that agree on it share page images."""
        return _digest(
            self.model_dump(include=_OF_THE_PICTURE, exclude_defaults=True)
            | {"versions": _versions(Stage.SPLIT, Stage.PREPROCESS)}
        )

    def with_options(self, options: Iterable[str]) -> "Recipe":
        """This recipe with `key=value` options applied; raises ConfigurationError for unknown ones."""
        changes: dict[str, Any] = {}
        for option in options:
            key, found, value = option.partition("=")
            if not found or key not in type(self).model_fields or key in _NOT_OPTIONS:
                known = sorted(set(type(self).model_fields) - _NOT_OPTIONS)
                raise ConfigurationError(
                    f"'{option}' is no recipe option. Write key=value with one of: {', '.join(known)}."
                    f"{meant(key, known)}",
                    Code.UNKNOWN_RECIPE_KEY,
                )
            changes[key] = value
        try:
            return Recipe.model_validate(self.model_dump() | changes)
        except ValidationError as error:
            first = error.errors()[0]
            raise ConfigurationError(
                f"recipe option {first['loc'][0]}: {first['msg']}.", Code.UNKNOWN_RECIPE_KEY
            ) from error


def _versions(*stages: Stage) -> dict[str, int]:
    return {stage.value: STAGE_VERSION[stage] for stage in stages}


def _digest(value: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
