"""The stretch of a passage that is shown with a hit."""

from collections.abc import Sequence

from models.lexemes import Term, tokens

_LENGTH = 240
_LEAD = 60
"""Characters shown before the first term."""


def snippet_of(text: str, terms: Sequence[Term]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """At most 240 characters of `text`, on one line, where most terms stand; and the terms' offsets in it."""
    spans = _spans(text, terms)
    start, end = _window(text, spans)
    shown = "".join(" " if char.isspace() else char for char in text[start:end])
    inside = [(max(a, start), min(b, end)) for a, b in spans if a < end and b > start]
    return shown, tuple((a - start, b - start) for a, b in inside)


def _spans(text: str, terms: Sequence[Term]) -> list[tuple[int, int]]:
    """Where terms stand, in order, one span where two meet."""
    found = list(tokens(text))
    merged: list[tuple[int, int]] = []
    for start, end in sorted(span for term in terms for span in term.spans(found)):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _window(text: str, spans: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """From and to: beginning a little before the span that has most others soon after it."""
    anchor = max(spans, key=lambda span: _followers(span, spans), default=(0, 0))[0]
    start = max(0, min(anchor - _LEAD, len(text) - _LENGTH))
    start = _next_gap(text, start, anchor)
    end = min(len(text), start + _LENGTH)
    if end < len(text):
        end = text.rfind(" ", start + _LENGTH // 2, end) if " " in text[start + _LENGTH // 2 : end] else end
    return start, end


def _followers(span: tuple[int, int], spans: Sequence[tuple[int, int]]) -> int:
    return sum(span[0] <= other[0] < span[0] + _LENGTH - _LEAD for other in spans)


def _next_gap(text: str, start: int, anchor: int) -> int:
    """The start of the next word, if one starts before the anchor."""
    if start == 0:
        return 0
    gap = text.find(" ", start, anchor)
    return start if gap < 0 else gap + 1
