"""Plain text: what is between empty lines is a paragraph."""

import re

from models.reading import Block, BlockType
from tasks.work.parsers.shapes import Parsed, Sent

_GAP = re.compile(r"\n[ \t]*\n\s*")


def parse_text(answer: str, sent: Sent) -> Parsed:  # noqa: ARG001 (as every parser)
    """The answer as it is, for models that write no markup."""
    text = answer.strip()
    parts = [part.strip() for part in _GAP.split(text)] if text else []
    return Parsed(text, tuple(Block(BlockType.PARAGRAPH, part) for part in parts if part))
