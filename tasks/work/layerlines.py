"""Words of a text layer to the lines that layout works on."""

from collections.abc import Sequence

from models.geometry import Box, Transform
from models.page import Word
from models.text import CJK_SCRIPTS, RIGHT_TO_LEFT, clean, script_of
from tasks.work.lines import Line, join

# Symbol fonts put their signs at U+F000 and up; alone, such a sign is a bullet.
_SYMBOL = range(0xF000, 0xF100)
# Gaps in heights of the line: up to the first, words belong together; beyond, they are cells or columns.
_WORD_GAP, _OVERLAP = 0.9, 0.5
# Signs of upright writing follow one another within this part of their height.
_SIGN_GAP = 0.6


def printed(words: Sequence[Word], width_pt: float, height_pt: float) -> list[Word]:
    """Words with a visible sign that stand on the page, cleaned; drawn twice (a fake bold) counts once."""
    kept: dict[tuple[str, tuple[int, ...]], Word] = {}
    for word in words:
        text = clean(word.text).strip()
        if len(text) == 1 and ord(text) in _SYMBOL:
            text = "•"
        x, y = (word.box.x0 + word.box.x1) / 2, (word.box.y0 + word.box.y1) / 2
        if text and 0 <= x <= width_pt and 0 <= y <= height_pt:
            place = tuple(round(edge) for edge in word.box)
            kept.setdefault((text, place), Word(text, word.box, word.block, word.line))
    return list(kept.values())


def lines_of(words: Sequence[Word], transform: Transform) -> list[Line]:
    """Words grouped to pieces of lines, with boxes in pixels. `transform` maps pixels to page points.

    What a file calls a line may run over several columns or cells: the gap decides. Upright signs that
    follow one another downwards become one line, as an engine would see it.
    """
    to_pixels = transform.inverse()
    groups: list[list[Word]] = []
    for word in words:
        if groups and (_follows(groups[-1][-1], word) or _is_below(groups[-1], word)):
            groups[-1].append(word)
        else:
            groups.append([word])
    return [Line(_text(group), to_pixels.box(Box.around(word.box for word in group))) for group in groups]


def _follows(before: Word, word: Word) -> bool:
    if (before.block, before.line) != (word.block, word.line):
        return False
    height = min(before.box.height, word.box.height)
    overlap = min(before.box.y1, word.box.y1) - max(before.box.y0, word.box.y0)
    gap = word.box.x0 - before.box.x1
    if _is_right_to_left(before.text) or _is_right_to_left(word.text):
        # The next word stands to the left; numbers and signs between go on at either side.
        gap = max(gap, before.box.x0 - word.box.x1)
    return overlap >= _OVERLAP * height and -height < gap <= _WORD_GAP * height


def _is_below(group: Sequence[Word], word: Word) -> bool:
    signs = [*group[-2:], word]
    if word.block != group[-1].block or any(not _is_sign(sign.text) for sign in signs):
        return False
    before = group[-1].box
    across = abs((before.x0 + before.x1) - (word.box.x0 + word.box.x1)) / 2
    gap = word.box.y0 - before.y1
    return across < 0.3 * before.width and -0.3 * before.height < gap < _SIGN_GAP * before.height


def _is_sign(text: str) -> bool:
    # Punctuation of upright writing is `common`: it counts as a sign when it is not ASCII.
    return len(text) == 1 and (script_of(text) in CJK_SCRIPTS or not text.isascii())


def _is_right_to_left(text: str) -> bool:
    return any(script_of(char) in RIGHT_TO_LEFT for char in text)


def _text(group: Sequence[Word]) -> str:
    return join((word.text for word in group), " ")
