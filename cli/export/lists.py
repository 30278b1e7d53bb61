"""Lists as pages have them: lines with a bullet or a number before them, set in where they are nested."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_MARK = re.compile(
    r"([^\S\n]*)"
    r"(?:[-*+–—·∙]\s+|[•●○▪■◦‣]\s*|(\d{1,9})([.)])\s+|(?=\(?(?:[A-Za-z]|[ivxIVX]{1,5}|\d{1,3})[.)]\s))"
    r"(?=\S)"
)
# Of one level more, as parsers write it.
_STEP = 2


@dataclass(frozen=True, slots=True)
class Item:
    """An entry of a list."""

    text: str
    """Without its bullet or number; further lines of the entry follow it."""
    level: int = 0
    """How deep it is nested."""
    number: int | None = None
    """None for a bullet."""
    sign: str = ""
    """What stands behind the number: a dot or a bracket."""

    def follows(self, before: "Item | None") -> bool:
        """Whether a reader that counts by itself comes to the same number."""
        if self.number is None or before is None or before.number is None:
            return self.number in {None, 1}
        return self.number == before.number + 1 and self.sign == before.sign


def items_of(text: str) -> list[Item]:
    """The entries of a list. A line without a mark goes on with the entry above it, where others have marks.

    Other marks, as a) and (iv), stay in the text, and begin an entry too.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    marks = [_MARK.match(line) for line in lines]
    if not any(marks):
        return [Item(line.strip()) for line in lines]
    items: list[Item] = []
    for line, mark in zip(lines, marks, strict=True):
        if mark is None and items:
            last = items.pop()
            items.append(Item(f"{last.text}\n{line.strip()}", last.level, last.number, last.sign))
        else:
            items.append(_item(line, mark, items[-1].level + 1 if items else 0))
    return items


def _item(line: str, mark: re.Match[str] | None, deepest: int) -> Item:
    if mark is None:
        return Item(line.strip())
    level = min(len(mark[1]) // _STEP, deepest)
    number = int(mark[2]) if mark[2] else None
    return Item(line[mark.end() :].strip(), level, number, mark[3] or "")


def siblings(items: Sequence[Item]) -> Iterator[tuple[Item, Item | None]]:
    """Each entry with the one before it in the same list."""
    last: dict[int, Item] = {}
    for item in items:
        yield item, last.get(item.level)
        last = {level: seen for level, seen in last.items() if level < item.level} | {item.level: item}
