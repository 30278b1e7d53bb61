"""What tests of the retry ladder have in common: a yard whose profile has one, and answers that are bad."""

from dataclasses import replace
from typing import Any

from models import profiles
from models.reading import FinishReason, Reading
from models.vlm import LadderLimits, Rung
from tasks.work.engines.fake import said
from tests import factories
from tests.flows.yard import Yard

WORDS = "Words on paper that a person can read"
LOOP = said("THIS FAR " * 4000)
CUT = replace(said("<table><tr><td>1</td><td>2</td></tr><tr><td>3"), finish_reason=FinishReason.LENGTH)
STOPPED = replace(LOOP, finish_reason=FinishReason.REPETITION)
EMPTY = said("")
GOOD = said(WORDS)

LOOPS = ("loop", "repetition")
HOTTER = Rung(kind="sampling", sampling={"temperature": 0.3, "repetition_penalty": 1.1}, when=LOOPS)


def climbing(yard: Yard, *rungs: Rung, **limits: Any) -> Yard:
    """The yard with a profile that writes freely and has this ladder."""
    yard.profile = profiles.get("ppocr").model_copy(
        update={"finds_lines": False, "ladder": rungs, "ladder_limits": LadderLimits(**limits)}
    )
    return yard


def page(yard: Yard, name: str = "a.pdf", *texts: str) -> None:
    """A document of one page, or of these."""
    factories.write(yard.inbox / name, factories.pdf(*(texts or (WORDS,))))


def costing(reading: Reading, seconds: float = 0.0, tokens: int = 0) -> Reading:
    """A reading that took this."""
    return replace(reading, seconds=seconds, tokens_in=0, tokens_out=tokens)


def tries(yard: Yard) -> list[tuple[str, str, bool]]:
    """Step, verdict and whether it was kept, of each attempt in order."""
    return [(row.trial.rung, row.verdict, row.is_kept) for row in yard.rows("attempt")]
