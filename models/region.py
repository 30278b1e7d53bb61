"""Regions: parts of a page that a model is asked for one by one."""

from dataclasses import dataclass
from enum import StrEnum

from models.geometry import Box


class RegionKind(StrEnum):
    """What a layout detector takes a part of a page for."""

    TEXT = "text"
    HEADING = "heading"
    TABLE = "table"
    FORMULA = "formula"
    PICTURE = "picture"
    CAPTION = "caption"
    HEADER = "header"
    FOOTER = "footer"
    OTHER = "other"
    """Ink that the detector did not take for anything: it is read like text."""


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a page; the unit of `box` (points or pixels) is said where it is used."""

    kind: RegionKind
    box: Box
    runs_down: bool = False
    """Whether what is printed on its page stands in columns, sign below sign."""
