"""What a served model answered becomes text and blocks that look alike for every model.

One normal form: headings have a level from 1 and no marks; raised figures and signs are characters (x²,
note¹); formulas within text stand in $…$, those on lines of their own are blocks of bare LaTeX; tables have
rows and clean HTML; lists have a line an item; boxes are page points. Descriptions of pictures are PICTURE
blocks and never part of the text.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from models.notes import TOO_LONG
from models.vlm import Parser
from tasks.work.parsers.chandra import parse_chandra
from tasks.work.parsers.markdown import parse_formula, parse_markdown, parse_table
from tasks.work.parsers.plain import parse_text
from tasks.work.parsers.shapes import Parsed, Sent
from tasks.work.parsers.structured import parse_fields, parse_json
from tasks.work.repair import repair

__all__ = ["MOST_CHARS", "PARSERS", "Parsed", "Sent", "parse"]

MOST_CHARS = 400_000
"""Longer answers are no page: 32,000 tokens of prose are 150,000 characters."""

PARSERS: Mapping[Parser, Callable[[str, Sent], Parsed]] = {
    "text": parse_text,
    "markdown": parse_markdown,
    "glm-table": parse_table,
    "glm-formula": parse_formula,
    "glm-json": parse_fields,
    "chandra": parse_chandra,
    "chandra-2": parse_chandra,
    "json": parse_json,
}


def parse(name: Parser, answer: str, sent: Sent) -> Parsed:
    """Text and blocks of an answer. Never raises: what is broken is repaired or kept as text, and noted.

    Time and memory grow with the answer's length alone, however deep it is nested.
    """
    mended = repair(answer)
    if len(mended.text) > MOST_CHARS:
        found, notes = parse_text(mended.text, sent), (*mended.notes, TOO_LONG)
    else:
        found, notes = PARSERS[name](mended.text, sent), mended.notes
    return replace(found, notes=tuple(dict.fromkeys((*notes, *found.notes))))
