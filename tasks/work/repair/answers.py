"""What stands around an answer and is not the page: fences, special tokens, a friendly first line."""

import re
from dataclasses import dataclass

from models.notes import FENCE_STRIPPED, PREAMBLE_STRIPPED, TEXT_CLEANED, TOKENS_STRIPPED
from models.text import clean


@dataclass(frozen=True, slots=True)
class Repaired:
    """An answer after a repair and what was done, as stable codes; no notes: nothing had to be done."""

    text: str
    notes: tuple[str, ...] = ()


# The special tokens of the model families served today: ChatML, Llama, GLM, Gemma, DeepSeek, sentencepiece.
SPECIAL_TOKEN = re.compile(
    r"<[|｜][A-Za-z_/▁ ]{1,40}[|｜]>|<(?:pad|unk|eos|bos|eot|sop|eop)>"
    r"|\[/?INST\]|\[gMASK\]|<</?SYS>>|</?(?:start|end)_of_(?:turn|image|text)>"
    r"|</?(?:think|answer|image_?soft_?token|box|ref|quad|fcel|ecel|lcel|ucel|xcel|nl|otsl)>"
    r"|<(?:loc_?\d{1,4}|x_\d+(?:\.\d+)?|y_\d+(?:\.\d+)?|class_[A-Za-z-]{1,30}|0x[0-9A-F]{2})>"
)
# Of sentencepiece; in pairs they are HTML, struck-out text.
SENTENCE_TOKEN = re.compile("</?s>")
_AT_START = re.compile(rf"\s*(?:{SPECIAL_TOKEN.pattern})")
_AT_END_CHARS = 64
_MOST_TOKENS = 100

_FENCE = re.compile(r"(```+|~~~+)[ \t]*([A-Za-z0-9_+-]{0,20})[ \t]*\n")
# A fence with one of these, or with none, was put around the page; others name the language of a listing.
_WRAPPERS = frozenset(
    {"", "markdown", "md", "html", "json", "text", "txt", "plaintext", "latex", "tex", "xml"}
)

_PREAMBLE = re.compile(
    r"\s*(?:(?:sure|certainly|of course|okay|ok|absolutely)\b[^\n]{0,80}?[,.!:]\s*)?"
    r"(?:here(?:'s|’s| is| are)|below is|the following is|this is)\s"
    r"[^\n]{0,80}?\b(?:transcri\w+|extracted|ocr|markdown|html|converted|conversion|text (?:from|of|in))\b"
    r"[^\n]{0,80}?:[ \t]*\n",
    re.IGNORECASE,
)
_PREAMBLE_CHARS = 400


def repair(answer: str) -> Repaired:
    """`answer` without control characters, special tokens at its ends, a first line to the user, and a fence.

    Notes: text-cleaned, tokens-stripped, preamble-stripped, fence-stripped. Linear time.
    """
    text = clean(answer)
    notes = (TEXT_CLEANED,) if text != answer else ()
    for step in (without_tokens, without_preamble, unfenced, without_tokens):
        done = step(text)
        text, notes = done.text, (*notes, *(note for note in done.notes if note not in notes))
    return Repaired(text, notes)


def without_tokens(text: str) -> Repaired:
    """`text` without the special tokens at its start and end; those in the middle are for a check to find."""
    start, end = _inside_sentence(text)
    for _ in range(_MOST_TOKENS):
        found = _AT_START.match(text, start)
        if not found:
            break
        start = found.end()
    for _ in range(_MOST_TOKENS):
        cut = _token_before(text, start, end)
        if cut == end:
            break
        end = cut
    if (start, end) == (0, len(text)):
        return Repaired(text)
    return Repaired(text[start:end], (TOKENS_STRIPPED,))


def without_preamble(text: str) -> Repaired:
    """`text` without a first line that speaks to the user, as: Here is the text of the page."""
    found = _PREAMBLE.match(text[:_PREAMBLE_CHARS])
    if not found or not text[found.end() :].strip():
        return Repaired(text)
    return Repaired(text[found.end() :].lstrip("\n"), (PREAMBLE_STRIPPED,))


def unfenced(text: str) -> Repaired:
    """`text` without one code fence around all of it; a listing on the page keeps its own.

    A fence that was opened around the page and never closed counts too: the answer was cut.
    """
    bare = text.strip()
    opened = _FENCE.match(bare)
    if not opened or opened[2].lower() not in _WRAPPERS:
        return Repaired(text)
    inner = bare[opened.end() :]
    fence = opened[1]
    closings = sum(line.strip() == fence for line in inner.splitlines())
    if closings == 1 and inner.rstrip().endswith(fence):
        return Repaired(inner.rstrip()[: -len(fence)].rstrip(), (FENCE_STRIPPED,))
    if not closings and fence not in inner:
        return Repaired(inner, (FENCE_STRIPPED,))
    return _outer_fence(text, inner, opened)


def _outer_fence(text: str, inner: str, opened: re.Match[str]) -> Repaired:
    """A fence around a page that has listings of its own: an even number of fence lines inside."""
    lines = inner.rstrip().splitlines()
    inside = [line for line in lines[:-1] if line.lstrip().startswith(opened[1])]
    is_wrapped = bool(lines) and lines[-1].strip() == opened[1] and len(inside) % 2 == 0
    if not is_wrapped or not opened[2]:
        return Repaired(text)
    return Repaired("\n".join(lines[:-1]), (FENCE_STRIPPED,))


def _inside_sentence(text: str) -> tuple[int, int]:
    """Start and end of `text` without an unpaired <s> before it or </s> after it."""
    bare = text.strip()
    if text.count("<s>") == text.count("</s>"):
        return 0, len(text)
    start = text.index(bare) + 3 if bare.startswith("<s>") else 0
    end = text.rindex("</s>") if bare.endswith("</s>") else len(text)
    return start, end


def _token_before(text: str, start: int, end: int) -> int:
    """Where the last special token before `end` starts; `end` where there is none."""
    low = max(start, end - _AT_END_CHARS)
    for found in SPECIAL_TOKEN.finditer(text, low, end):
        if not text[found.end() : end].strip():
            return found.start()
    return end
