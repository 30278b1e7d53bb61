"""Cutting text where it may be cut: at sentence ends, at rows, at spaces, and only then anywhere."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# Latin marks end a sentence only before white space (3.14, e.g.), others wherever they stand.
_SENTENCE_END = re.compile(r"""[。！？।؟۔][”’」』）]*|[.!?…]+["'”’»)\]]*(?=\s)|\n""")


@dataclass(frozen=True, slots=True)
class ChunkLimits:
    """Sizes of chunks in characters."""

    target: int = 800
    """Passages are put together until the next one would lead further away from this."""
    most: int = 1_500
    """No chunk is longer, but for a heading before a table."""


def sentences(text: str) -> Iterator[str]:
    """The sentences of `text`, a newline ending one too; put together they are `text`."""
    start = 0
    for match in _SENTENCE_END.finditer(text):
        yield text[start : match.end()]
        start = match.end()
    if start < len(text):
        yield text[start:]


def cut(text: str, limits: ChunkLimits) -> list[str]:
    """`text` in pieces of at most `limits.most` characters; one piece if it fits."""
    if len(text) <= limits.most:
        return [text]
    fitting = (piece for sentence in sentences(text) for piece in _cut_anywhere(sentence, limits.most))
    pieces = ("".join(group).strip() for group in pack(fitting, limits))
    return [piece for piece in pieces if piece]


def pack(units: Iterable[str], limits: ChunkLimits, glue: int = 0) -> Iterator[list[str]]:
    """Groups of neighbouring units near the target size; `glue` is what joining two of them costs."""
    group: list[str] = []
    size = 0
    for unit in units:
        if group and not fits(size, len(unit) + glue, limits):
            yield group
            group, size = [], 0
        size += len(unit) + (glue if group else 0)
        group.append(unit)
    if group:
        yield group


def fits(size: int, more: int, limits: ChunkLimits) -> bool:
    """Whether a chunk of `size` should take `more` characters: not too long, and nearer to the target."""
    return size + more <= limits.most and abs(size + more - limits.target) <= abs(limits.target - size)


def _cut_anywhere(text: str, most: int) -> Iterator[str]:
    """Pieces of at most `most` characters, cut at white space where there is some."""
    while len(text) > most:
        spaces = [match.end() for match in re.finditer(r"\s", text[:most])]
        end = spaces[-1] if spaces else most
        yield text[:end]
        text = text[end:]
    yield text
