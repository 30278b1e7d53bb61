"""One try at a page, as the ledger keeps it beside the reading that won."""

from dataclasses import dataclass

from models.claim import Claim
from models.reading import Trial
from models.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Attempt:
    """What was asked, what came of it and what it cost. A try without an answer has the error's code."""

    claim: Claim
    number: int
    """From 1, in the order they were made."""
    profile: str
    """Who was asked."""
    trial: Trial | None
    verdict: Verdict
    codes: tuple[str, ...]
    """Of all findings, or of the error."""
    finish_reason: str
    """Empty where there was no answer."""
    seconds: float
    tokens_in: int | None = None
    tokens_out: int | None = None
    raw: str | None = None
    """The answer, of tries that were not kept: the kept one's is in the reading."""
    is_kept: bool = False
