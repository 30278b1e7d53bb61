"""The checks themselves: each looks at one thing and says what it saw, or nothing."""

import re
import unicodedata
from collections import Counter

from models.geometry import Box
from models.notes import SCRIPT_UNSUPPORTED, TOO_LONG
from models.reading import BlockType, FinishReason, ReadingSource
from models.text import clean, scripts
from models.verdict import PageUnderCheck, Severity
from tasks.work.checks.case import Case, Evidence, Sighting, clipped

# Leaders, boxes and bars of forms, and what formulas and tables are set with: pages may be full of these.
_RULED = frozenset("._-–—·…|_=*□☐☑☒•+^{}()[]<>/\\&~")
_FORMULA = re.compile(r"\$[^$\s](?:[^$\n]{0,200}[^$\s])?\$")
_OF_SIGNS = frozenset({BlockType.CODE, BlockType.FORMULA})


def truncated(case: Case) -> Sighting | None:
    """The engine stopped at its token limit."""
    if case.reading.finish_reason is not FinishReason.LENGTH:
        return None
    evidence: Evidence = {"tokens": case.reading.tokens_out} if case.reading.tokens_out else {}
    return Sighting("The engine stopped at its length limit: the end of the page is missing.", evidence)


def repetition(case: Case) -> Sighting | None:
    """The engine stopped because it repeated itself."""
    if case.reading.finish_reason is not FinishReason.REPETITION:
        return None
    return Sighting("The engine stopped because it repeated itself.")


def empty_with_ink(case: Case) -> Sighting | None:
    """Ink on the page, nothing read, and no good reason to believe that."""
    if case.has_answer or case.page.is_blank:
        return None
    evidence: Evidence = {"ink": round(case.page.ink, 4)}
    if case.has_layer_words:
        evidence["layer_words"] = case.page.layer_words
        return Sighting("Nothing was read although the page's text layer has words.", evidence)
    if case.page.finds_lines:
        return None
    weight = Severity.WARNING if case.page.ink >= case.limits.picture_ink else None
    return Sighting("Nothing was read although there is ink on the page.", evidence, weight)


def no_text_found(case: Case) -> Sighting | None:
    """A line finder looked at a page with ink and found no line: most likely a picture."""
    is_asked = case.page.finds_lines and not case.page.is_blank
    if not is_asked or case.has_answer or case.has_layer_words:
        return None
    weight = Severity.INFO if case.page.ink >= case.limits.picture_ink else None
    return Sighting("No line of text was found on the page.", {"ink": round(case.page.ink, 4)}, weight)


def text_on_blank(case: Case) -> Sighting | None:
    """Text for a page that has no ink was made up, or is hidden in the file."""
    if not case.page.is_blank or not case.has_answer:
        return None
    return Sighting(
        "There is text although the page is blank.",
        {"chars": len(case.reading.text), "ink": round(case.page.ink, 4)},
    )


def control_characters(case: Case) -> Sighting | None:
    """Text that was not cleaned: Postgres would refuse it."""
    texts = [case.reading.text, *(block.text for block in case.reading.blocks)]
    texts += [cell for block in case.reading.blocks for row in block.rows for cell in row]
    dirty = sum(text != clean(text) for text in texts)
    if not dirty:
        return None
    return Sighting("The text holds control characters or half characters.", {"texts": dirty})


def answer_too_long(case: Case) -> Sighting | None:
    """More text than any printed page holds; what is looked at besides is its start and its end."""
    chars, is_noted = len(case.reading.text), TOO_LONG in case.reading.notes
    if case.reading.source is not ReadingSource.OCR or (chars <= case.limits.most_chars and not is_noted):
        return None
    return Sighting("There is more text than any printed page holds.", {"chars": chars})


def text_lost(case: Case) -> Sighting | None:
    """Text and blocks must hold the same characters: only blocks reach the knowledge base."""
    said = [block for block in case.reading.blocks if block.type is not BlockType.PICTURE]
    if _bare(case.reading.text) == "".join(_bare(block.text) for block in said):
        return None
    text, words = _chars(case.reading.text), Counter[str]()
    for block in said:
        words.update(_bare(block.text))
    blocks = words.copy()
    for block in case.reading.blocks:
        if block.type is BlockType.PICTURE:
            blocks.update(_bare(block.text))
    lost, added = (text - blocks).total(), (words - text).total()
    if not lost and not added:
        return None
    return Sighting("The text and the blocks of the page differ.", {"lost": lost, "added": added})


def layer_disagreement(case: Case) -> Sighting | None:
    """What was read and the page's text layer do not say the same."""
    agreement = case.reading.layer_agreement
    if agreement is None or agreement >= case.limits.layer_agreement:
        return None
    return Sighting(
        f"The page's text layer agrees with what was read only to {agreement:.0%}.",
        {"agreement": round(agreement, 4)},
    )


def too_much_text(case: Case) -> Sighting | None:
    """More characters than the page's ink can draw."""
    if case.reading.source is not ReadingSource.OCR or case.page.is_blank:
        return None
    chars, ink_px = len(_bare(case.reading.text)), case.page.ink * case.page.pixels
    if chars < case.limits.min_chars_for_ink or ink_px >= chars * case.limits.ink_px_per_char:
        return None
    evidence: Evidence = {"chars": chars, "ink_px": round(ink_px)}
    return Sighting("There is more text than the ink on the page can draw.", evidence)


def too_little_text(case: Case) -> Sighting | None:
    """A few characters for a page whose ink says far more, and no picture named; photos are left alone."""
    chars, page, limits = len(_bare(case.reading.text)), case.page, case.limits
    has_picture = any(block.type is BlockType.PICTURE for block in case.reading.blocks)
    if (
        not case.is_written
        or not 0 < chars <= limits.few_chars
        or has_picture
        or page.ink >= limits.picture_ink
    ):
        return None
    ink_px = page.ink * page.pixels
    if page.is_blank or ink_px < limits.ink_px_per_char_most * chars:
        return None
    evidence: Evidence = {"chars": chars, "ink_px": round(ink_px)}
    return Sighting("There is far more ink on the page than its few characters draw.", evidence)


def mostly_signs(case: Case) -> Sighting | None:
    """Hardly a letter or digit among signs: what a model makes of a page that it cannot read."""
    if not case.is_written:
        return None
    blocks = case.reading.blocks
    words = "\n".join(b.text for b in blocks if b.type not in _OF_SIGNS) if blocks else case.reading.text
    counts = Counter(_FORMULA.sub("", clipped(words, case.limits.scan_chars)))
    said = {char: n for char, n in counts.items() if not char.isspace() and char not in _RULED}
    total, letters = sum(said.values()), sum(n for char, n in said.items() if _is_letter(char))
    if total < case.limits.signs_chars or letters >= case.limits.letters_share * total:
        return None
    return Sighting("Hardly a letter stands among the signs.", {"chars": total, "letters": letters})


def script_unsupported(case: Case) -> Sighting | None:
    """The page is in a script that the profile cannot read; a text layer taken as it is needs no reading."""
    is_noted = SCRIPT_UNSUPPORTED in case.reading.notes
    noted = Sighting("The engine met a script that it cannot read.") if is_noted else None
    if case.reading.source is not ReadingSource.OCR or not case.page.reads:
        return noted
    letters = Counter(scripts(case.reading.text))
    if is_noted or case.reading.layer_agreement is not None:
        letters.update(case.page.layer_scripts)
    foreign = {script: n for script, n in letters.items() if script not in case.page.reads}
    count = sum(foreign.values())
    if count < max(case.limits.min_foreign_letters, case.limits.foreign_share * letters.total()):
        return noted
    main = max(foreign, key=lambda script: foreign[script])
    return Sighting(f"The profile does not read {main} letters.", {"script": main, "letters": count})


def low_confidence(case: Case) -> Sighting | None:
    """The engine itself is not sure."""
    confidence = case.reading.confidence
    if confidence is None or not case.has_answer or confidence >= case.limits.confidence:
        return None
    return Sighting(f"The engine is sure only to {confidence:.0%}.", {"confidence": round(confidence, 4)})


def boxes_outside(case: Case) -> Sighting | None:
    """A box that stands off the page points nowhere."""
    boxes = [block.box for block in case.reading.blocks if block.box is not None]
    outside = sum(_is_outside(box, case.page, case.limits.box_slack_pt) for box in boxes)
    if not outside:
        return None
    evidence: Evidence = {"outside": outside, "boxes": len(boxes)}
    return Sighting(f"{outside} of {len(boxes)} boxes stand outside the page.", evidence)


def _is_letter(char: str) -> bool:
    """Or a digit, or a mark that a letter bears."""
    return char.isalnum() or unicodedata.category(char).startswith("M")


def _bare(text: str) -> str:
    return "".join(text.split())


def _chars(text: str) -> Counter[str]:
    return Counter(_bare(text))


def _is_outside(box: Box, page: PageUnderCheck, slack: float) -> bool:
    return min(box.x0, box.y0) < -slack or box.x1 > page.width_pt + slack or box.y1 > page.height_pt + slack
