"""What the checks say of a reading."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from models.engine import OcrRequest
from models.limits import CheckLimits
from models.profile import Profile
from models.text import scripts


class Severity(StrEnum):
    """How much a finding weighs."""

    INFO = "info"
    WARNING = "warning"
    """The reading becomes suspect."""
    ERROR = "error"
    """The reading is bad."""


class Verdict(StrEnum):
    """The sum of a page's findings."""

    GOOD = "good"
    REPAIRED = "repaired"
    SUSPECT = "suspect"
    BAD = "bad"
    BLANK = "blank"
    SKIPPED = "skipped"


UNREADABLE = frozenset({Verdict.BAD, Verdict.SKIPPED})
"""Of pages that have no text to show."""
DOUBTFUL = frozenset({Verdict.BAD, Verdict.SUSPECT})
"""Of pages that a person should look at."""

# The layer's words are looked at so far: normalising a run of marks takes time with its square.
_LAYER_CHARS, _WORD_CHARS = 100_000, 100
_LIMITS = CheckLimits()


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a check saw: stable code, weight and evidence (numbers, spans; never whole texts)."""

    code: str
    severity: Severity
    message: str
    evidence: dict[str, float | int | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PageUnderCheck:
    """What the checks know of a page besides its reading: size, pixels, text layer and who read it."""

    width_pt: float
    height_pt: float
    ink: float
    """Share of pixels, 0 to 1, that differ from the paper."""
    pixels: int
    """Of the page image, width times height."""
    is_blank: bool = False
    notes: tuple[str, ...] = ()
    """Stable finding codes from split and preprocess."""
    layer_words: int = 0
    """Words of the text layer, sane or not."""
    layer_scripts: Mapping[str, int] = field(default_factory=dict)
    """Letters of each script in the text layer."""
    reads: frozenset[str] = frozenset()
    """Scripts that the profile reads; empty: nothing is known, all are taken."""
    finds_lines: bool = False
    """As `Profile.finds_lines`."""
    prompt: str = ""
    """What the model was asked; empty for engines that are asked nothing."""
    languages: tuple[str, ...] = ()
    """Languages that the recipe expects, as ISO 639-1 codes; empty: any."""
    extracts: bool = False
    """The answer holds values of fields, not the page."""
    witness: str = ""
    """Words of the page from another source, the text layer: what extracted values must occur in."""
    limits: CheckLimits = _LIMITS

    @classmethod
    def of(cls, request: OcrRequest, profile: Profile, notes: tuple[str, ...] = ()) -> "PageUnderCheck":
        """The page of a request, read with `profile`; `notes` are those of its PageFacts."""
        image = request.image
        words = " ".join(word.text[:_WORD_CHARS] for word in request.words)[:_LAYER_CHARS]
        # Letters of formulas (𝑥) are their plain letters here: OCR reads them as such.
        layer = unicodedata.normalize("NFKC", words)
        tasks = profile.vlm.tasks if profile.vlm else {}
        # Another profile of a ladder may not know the recipe's task.
        task = tasks.get(request.recipe.task) or next(iter(tasks.values()), None)
        return cls(
            width_pt=request.width_pt,
            height_pt=request.height_pt,
            ink=image.ink,
            pixels=image.width_px * image.height_px,
            is_blank=image.is_blank,
            notes=(*notes, *image.notes),
            layer_words=len(request.words),
            layer_scripts=scripts(layer),
            reads=profile.scripts,
            finds_lines=profile.finds_lines,
            prompt=task.prompt.replace("{question}", request.question) if task else "",
            languages=tuple(request.recipe.languages.split()),
            extracts=task is not None and task.parser == "glm-json",
            witness=layer,
            limits=profile.checks,
        )
