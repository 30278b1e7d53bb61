"""The list of checks: what each is called, how much it weighs and what it looks for."""

from collections.abc import Callable
from dataclasses import dataclass

from models.reading import Reading
from models.verdict import Finding, PageUnderCheck, Severity
from tasks.work.checks import rules
from tasks.work.checks.limits import CheckLimits

Rule = Callable[[rules.Case], rules.Sighting | None]


@dataclass(frozen=True, slots=True)
class Check:
    """One check: stable code, weight of its findings unless one says otherwise, and a line about it."""

    code: str
    severity: Severity
    about: str
    rule: Rule


CHECKS: tuple[Check, ...] = (
    Check("truncated", Severity.ERROR, "the engine stopped at its length limit", rules.truncated),
    Check("repetition", Severity.ERROR, "the engine stopped because it repeated itself", rules.repetition),
    Check("loop", Severity.ERROR, "the text repeats itself as no printed page does", rules.loop),
    Check("empty-with-ink", Severity.ERROR, "ink on the page and nothing read", rules.empty_with_ink),
    Check(
        "no-text-found",
        Severity.WARNING,
        "a line finder found no line on a page with ink",
        rules.no_text_found,
    ),
    Check("text-on-blank", Severity.ERROR, "text for a page without ink", rules.text_on_blank),
    Check(
        "control-characters", Severity.ERROR, "text that the database would refuse", rules.control_characters
    ),
    Check("text-lost", Severity.ERROR, "text and blocks of a page differ", rules.text_lost),
    Check("layer-disagreement", Severity.WARNING, "text layer and reading differ", rules.layer_disagreement),
    Check("too-much-text", Severity.WARNING, "more text than the ink can draw", rules.too_much_text),
    Check(
        "script-unsupported", Severity.WARNING, "a script the profile cannot read", rules.script_unsupported
    ),
    Check("low-confidence", Severity.WARNING, "the engine is not sure of what it read", rules.low_confidence),
    Check("boxes-outside-page", Severity.WARNING, "boxes that stand off the page", rules.boxes_outside),
)


def check(reading: Reading, page: PageUnderCheck, limits: CheckLimits | None = None) -> tuple[Finding, ...]:
    """All findings about `reading`, in the order of CHECKS, then the notes of page and engine as INFO."""
    case = rules.Case(reading, page, limits or CheckLimits())
    found = [finding for one in CHECKS if (finding := _finding(one, case))]
    codes = {finding.code for finding in found}
    notes = [note for note in dict.fromkeys((*page.notes, *reading.notes)) if note not in codes]
    return (
        *found,
        *(Finding(note, Severity.INFO, "Noted while the page was prepared or read.") for note in notes),
    )


def _finding(one: Check, case: rules.Case) -> Finding | None:
    seen = one.rule(case)
    if seen is None:
        return None
    return Finding(one.code, seen.severity or one.severity, seen.message, seen.evidence)
