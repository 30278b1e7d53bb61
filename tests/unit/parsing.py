"""Short ways to parse in tests."""

from models.geometry import Transform
from models.reading import Block, BlockType
from models.vlm import Parser
from tasks.work.parsers import Parsed, Sent, parse

SENT = Sent(1000, 1000, Transform.scale(1, 1), 1000)


def read(name: Parser, answer: str) -> Parsed:
    return parse(name, answer, SENT)


def shown(name: Parser, answer: str) -> list[tuple[str, str]]:
    """Type and text of every block."""
    return [(str(block.type), block.text) for block in read(name, answer).blocks]


def only(name: Parser, answer: str) -> Block:
    (block,) = read(name, answer).blocks
    return block


def page(*divs: tuple[str, str]) -> str:
    """Chandra's HTML of labelled divs."""
    return "".join(f'<div data-bbox="0 0 9 9" data-label="{label}">{inner}</div>' for label, inner in divs)


def types(name: Parser, answer: str) -> list[BlockType]:
    return [block.type for block in read(name, answer).blocks]
