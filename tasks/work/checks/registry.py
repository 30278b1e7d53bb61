"""The list of checks: what each is called, how much it weighs, what it looks for and what to do about it."""

from collections.abc import Iterator, Mapping

from models.limits import CheckLimits
from models.reading import Reading
from models.verdict import Finding, PageUnderCheck, Severity
from tasks.work.checks import fields, formulas, languages, neighbours, repeats, rules, structure, wording
from tasks.work.checks.case import Case, Sighting
from tasks.work.checks.kinds import Check, DocumentCheck, Named
from tasks.work.checks.remarks import remark

_ERROR, _WARNING = Severity.ERROR, Severity.WARNING
# What a ladder of retries does, and a person can ask for.
_AGAIN = "read it again, with other sampling, pixels or another profile"


CHECKS: tuple[Check, ...] = (
    Check(
        "truncated",
        _ERROR,
        "the engine stopped at its length limit",
        "raise the token limit, or read the page in halves",
        rules.truncated,
    ),
    Check("repetition", _ERROR, "the engine stopped because it repeated itself", _AGAIN, rules.repetition),
    Check("loop", _ERROR, "the text repeats itself as no printed page does", _AGAIN, repeats.loop),
    Check(
        "empty-with-ink",
        _ERROR,
        "ink on the page and nothing read",
        f"look at the picture: {_AGAIN}, or accept it as a picture",
        rules.empty_with_ink,
    ),
    Check(
        "no-text-found",
        _WARNING,
        "a line finder found no line on a page with ink",
        "look at the picture; accept it if there is no text",
        rules.no_text_found,
    ),
    Check(
        "text-on-blank",
        _ERROR,
        "text for a page without ink",
        "look at the picture; accept the page as blank",
        rules.text_on_blank,
    ),
    Check(
        "answer-too-long",
        _ERROR,
        "more text than any printed page holds",
        f"look at the picture; {_AGAIN}",
        rules.answer_too_long,
    ),
    Check(
        "control-characters",
        _ERROR,
        "text that the database would refuse",
        "report it: texts are cleaned before they get here",
        rules.control_characters,
    ),
    Check(
        "text-lost",
        _ERROR,
        "text and blocks of a page differ",
        "report it with the raw answer: a parser lost words",
        rules.text_lost,
    ),
    Check(
        "chat-text",
        _ERROR,
        "a refusal or remarks of the model instead of the page",
        f"look whether the page is legible; {_AGAIN}",
        wording.chat_text,
    ),
    Check(
        "prompt-echo",
        _WARNING,
        "the answer repeats what was asked",
        "use the prompt the model was trained on; read it again",
        wording.prompt_echo,
    ),
    Check(
        "leaked-token",
        _WARNING,
        "special tokens of the model in the text",
        "compare with the picture; set stop strings in the profile",
        wording.leaked_token,
    ),
    Check(
        "leaked-markup",
        _WARNING,
        "tags, boxes or keys of the answer's form in the text",
        "choose the parser of the model's own format; read it again",
        wording.leaked_markup,
    ),
    Check(
        "stray-fence",
        _WARNING,
        "a code fence that is none of the page's",
        "compare the end with the picture: the answer may be cut",
        wording.stray_fence,
    ),
    Check("layout-invalid", _ERROR, "an answer that is not of its form", _AGAIN, structure.layout_invalid),
    Check(
        "table-too-large",
        _WARNING,
        "a table with more cells than a page prints",
        f"look at the picture; {_AGAIN}",
        structure.table_too_large,
    ),
    Check(
        "table-ragged",
        _WARNING,
        "rows of a table that differ in length",
        "compare the table with the picture, edit it or read it again",
        structure.table_ragged,
    ),
    Check(
        "column-jump",
        _WARNING,
        "a table whose number of columns jumps",
        "compare the table with the picture: cells may have been made up",
        structure.column_jump,
    ),
    Check(
        "formula-unbalanced",
        _WARNING,
        "formulas that LaTeX refuses",
        "compare the formulas with the picture and edit them",
        formulas.formula_unbalanced,
    ),
    Check(
        "field-not-on-page",
        _WARNING,
        "extracted values that do not occur on the page",
        "compare the values with the picture and edit them",
        fields.field_not_on_page,
    ),
    Check(
        "sums-differ",
        _WARNING,
        "amounts that do not add up to their total",
        "compare the amounts with the picture: a row or a digit may be wrong",
        fields.sums_differ,
        is_optional=True,
    ),
    Check(
        "layer-disagreement",
        _WARNING,
        "text layer and reading differ",
        "compare both with the picture; take the text layer if it is right",
        rules.layer_disagreement,
    ),
    Check(
        "too-much-text",
        _WARNING,
        "more text than the ink can draw",
        "compare the end of the text with the picture: it may be made up",
        rules.too_much_text,
    ),
    Check(
        "too-little-text",
        _WARNING,
        "a few characters on a page with ink for far more",
        "look at the picture; accept it if the ink is a drawing, else read it again",
        rules.too_little_text,
    ),
    Check(
        "mostly-signs",
        _WARNING,
        "hardly a letter among signs",
        f"look at the picture, it may lie on its side or head; {_AGAIN}",
        rules.mostly_signs,
    ),
    Check(
        "script-unsupported",
        _WARNING,
        "a script the profile cannot read",
        "read it with a profile that knows the script",
        rules.script_unsupported,
    ),
    Check(
        "language-unexpected",
        _WARNING,
        "a language the recipe does not expect",
        "look at the picture; add the language to the recipe or read it again",
        languages.language_unexpected,
    ),
    Check(
        "low-confidence",
        _WARNING,
        "the engine is not sure of what it read",
        "compare with the picture; read it with more pixels or another profile",
        rules.low_confidence,
    ),
    Check(
        "boxes-outside-page",
        _WARNING,
        "boxes that stand off the page",
        "check the profile's box scale; the text itself may be right",
        rules.boxes_outside,
    ),
)

DOCUMENT_CHECKS: tuple[DocumentCheck, ...] = (
    DocumentCheck(
        "script-jump",
        _WARNING,
        "another script than on the pages around it",
        "look at the picture: the model may have made up the text",
        neighbours.script_jump,
    ),
    DocumentCheck(
        "language-jump",
        _WARNING,
        "another language than on the pages around it",
        "look at the picture: the model may have translated or made up the text",
        neighbours.language_jump,
    ),
    DocumentCheck(
        "running-line-lost",
        _WARNING,
        "a header or footer that the pages around it have",
        "look at the top and bottom of the picture",
        neighbours.running_line_lost,
    ),
)


def check(reading: Reading, page: PageUnderCheck, limits: CheckLimits | None = None) -> tuple[Finding, ...]:
    """All findings about `reading`, in the order of CHECKS, then the notes of page and engine as INFO.

    `limits`: those of the page's profile unless others are given.
    """
    case = Case(reading, page, limits or page.limits)
    found = [_finding(one, seen) for one in made(case.limits) if (seen := one.rule(case))]
    codes = {finding.code for finding in found}
    notes = dict.fromkeys((*page.notes, *reading.notes))
    return (*found, *(_note(note) for note in notes if note not in codes))


def check_document(
    pages: Mapping[int, Reading], limits: CheckLimits | None = None
) -> dict[int, tuple[Finding, ...]]:
    """Findings that only the pages around a page tell, by page number; pages without any are left out.

    `pages` are the readings of one document by number, from 1. Missing and blank ones are no neighbours.
    """
    limits = limits or CheckLimits()
    known = neighbours.leaves(pages, limits)
    rules_made = [one for one in DOCUMENT_CHECKS if one.code not in limits.disabled]
    found = {
        number: tuple(_finding(one, seen) for one in rules_made if (seen := one.rule(number, known, limits)))
        for number in known
    }
    return {number: findings for number, findings in found.items() if findings}


def made(limits: CheckLimits) -> Iterator[Check]:
    """The checks that `limits` ask for."""
    for one in CHECKS:
        if one.code not in limits.disabled and (not one.is_optional or one.code in limits.enabled):
            yield one


def _finding(one: Named, seen: Sighting) -> Finding:
    return Finding(one.code, seen.severity or one.severity, seen.message, seen.evidence)


def _note(code: str) -> Finding:
    return Finding(code, Severity.INFO, remark(code))
