"""Text that Postgres, JSON and people can take: cleaned once, right after OCR or extraction."""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# Those by which Python does not mean an undecodable byte of a file name.
_NO_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
# C0 and C1 controls but tab and newline, and the two noncharacters that some fonts map to.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")

_NAMED_SCRIPTS = {
    "LATIN": "latin",
    "CYRILLIC": "cyrillic",
    "GREEK": "greek",
    "ARABIC": "arabic",
    "HEBREW": "hebrew",
    "DEVANAGARI": "devanagari",
    "BENGALI": "bengali",
    "TAMIL": "tamil",
    "THAI": "thai",
    "HANGUL": "hangul",
    "HIRAGANA": "kana",
    "KATAKANA": "kana",
    "KATAKANA-HIRAGANA": "kana",
    "CJK": "han",
    "IDEOGRAPHIC": "han",
    "FULLWIDTH": "latin",
    "HALFWIDTH": "kana",
}

CJK_SCRIPTS = frozenset({"han", "kana", "hangul"})
RIGHT_TO_LEFT = frozenset({"arabic", "hebrew"})


def clean(text: str) -> str:
    """`text` without NUL, control characters and lone surrogates; pairs joined, one kind of newline.

    Form feeds, vertical tabs and carriage returns become newlines. Idempotent.
    """
    if text.isprintable():
        # As nearly every word is: none of the signs looked for can be printed.
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n").replace("\v", "\n")
    text = _SURROGATE_PAIR.sub(_join_pair, text)
    return _CONTROL.sub("", _LONE_SURROGATE.sub("", text))


def printable(name: str) -> str:
    """A file name for logs, tables and people: undecodable bytes and controls become visible marks."""
    name = _NO_BYTE.sub(lambda found: f"\\x{ord(found.group()):04x}", name)
    shown = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in shown)


@lru_cache(maxsize=65_536)
def script_of(char: str) -> str:
    """The script of one character: latin, han, …; common for digits, marks, punctuation and space."""
    if not char.isalpha():
        return "common"
    first = unicodedata.name(char, "").split(" ", 1)[0]
    return _NAMED_SCRIPTS.get(first, "other")


def scripts(text: str) -> Counter[str]:
    """How many letters of each script `text` holds; `common` is left out."""
    counts: Counter[str] = Counter()
    for char, count in Counter(text).items():
        counts[script_of(char)] += count
    del counts["common"]
    return counts


def _join_pair(match: re.Match[str]) -> str:
    return match.group().encode("utf-16-le", "surrogatepass").decode("utf-16-le")
