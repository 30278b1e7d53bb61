"""Chandra's answers: HTML whose outer divs say where a block stands and what it is.

Of the format: `data-bbox` holds left, top, right and bottom on a scale of 1024 as a JSON list (Chandra 1) or
of 1000 split by spaces (Chandra 2); `data-label` is one of 15 labels, 19 from Chandra 2 on.
"""

from typing import Any

from models.notes import BOX_UNREADABLE
from models.reading import BlockType
from tasks.work.parsers.boxes import box_of
from tasks.work.parsers.flow import Place, parse_html
from tasks.work.parsers.shapes import Parsed, Sent, parsed

BLANK = "blank-said"
"""The model says that the page is blank."""
_WHOLE = {
    "Caption": BlockType.CAPTION,
    "Footnote": BlockType.FOOTNOTE,
    "Equation-Block": BlockType.FORMULA,
    "Page-Header": BlockType.HEADER,
    "Page-Footer": BlockType.FOOTER,
    "Image": BlockType.PICTURE,
    "Figure": BlockType.PICTURE,
    "Diagram": BlockType.PICTURE,
    "Code-Block": BlockType.CODE,
    "Chemical-Block": BlockType.OTHER,
    "Blank-Page": BlockType.OTHER,
}
"""All that such a div holds is one block."""
_MIXED = {
    "List-Group": BlockType.LIST,
    "Section-Header": BlockType.HEADING,
    "Table": BlockType.OTHER,
    "Text": BlockType.PARAGRAPH,
    "Complex-Block": BlockType.PARAGRAPH,
    "Form": BlockType.PARAGRAPH,
    "Table-Of-Contents": BlockType.LIST,
    "Bibliography": BlockType.PARAGRAPH,
}
"""Such a div may hold lists, tables and headings, which are told by their tags; the rest is of this type."""
LABELS = {**_WHOLE, **_MIXED}
_BY_NAME = {name.lower(): name for name in LABELS}
_PLAIN_LEVEL = 2
"""Of a section header without a heading tag: below the title, above most others."""


def parse_chandra(answer: str, sent: Sent) -> Parsed:
    """Blocks in the model's order with their boxes. Labels it does not know are taken for text.

    HTML without such divs, as the model answers to its other prompt, makes the same blocks without boxes.
    """
    notes: list[str] = []
    blocks, faults = parse_html(answer, lambda node: _place(node, sent, notes))
    return parsed(blocks, [*faults, *notes])


def _place(node: Any, sent: Sent, notes: list[str]) -> Place | None:
    label, written = node.get("data-label"), node.get("data-bbox")
    if label is None and (written is None or node.tag != "div"):
        return None
    name = _BY_NAME.get((label or "").strip().lower(), "Text")
    box = box_of(written, sent) if written else None
    if written and box is None and sent.box_scale:
        notes.append(BOX_UNREADABLE)
    if name == "Blank-Page":
        notes.append(BLANK)
    type_ = LABELS[name]
    level = _PLAIN_LEVEL if type_ is BlockType.HEADING else 0
    return Place(type_, box, level, is_whole=name in _WHOLE)
