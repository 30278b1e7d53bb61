"""What the characters of a text layer say about it: unmapped glyphs, wrong encodings, mixed-up scripts."""

import re
import unicodedata
from collections.abc import Iterable
from itertools import groupby

from models.text import CJK_SCRIPTS, script_of, scripts

# Unassigned, private use, control, surrogate: no reader sees such a character.
_UNMAPPED = frozenset({"Cn", "Co", "Cc", "Cs"})
_MARKS = frozenset({"Mn", "Mc"})
_REPLACEMENT = "\ufffd"
# UTF-8 that was taken for Latin-1 or Windows-1252: Ã© for é, â€™ for an apostrophe.
_UTF8_SOUP = re.compile("[ÃÂÐÑ][\u0080-\u00bf€-™]|â€|ï»¿")

# Shares above which a layer is not believed. Sane layers measured: at most 0.1 %, 5 %, 1.2 %; broken ones
# from 1.5 %, 70 %, 8 % (docs/adr/0003-ocr-on-the-cpu.md).
_UNMAPPED_SHARE, _LATIN1_SHARE, _MIXED_SHARE, _SOUP_SHARE = 0.01, 0.35, 0.04, 0.01
# Where the engine cannot read the script, a few holes in the layer are still the better text.
_UNMAPPED_FOREIGN = 0.05
# Scripts that are at home in one word: Japanese, Korean with Chinese characters, letters of formulas.
_AT_HOME = (frozenset({"latin", "greek"}), CJK_SCRIPTS | {"latin"})


def unmapped_share(text: str) -> float:
    """Share of characters without a meaning: private use, unassigned, control, U+FFFD."""
    chars = [char for char in text if not char.isspace()]
    bad = sum(char == _REPLACEMENT or unicodedata.category(char) in _UNMAPPED for char in chars)
    return bad / max(1, len(chars))


def mixed_share(words: Iterable[str]) -> float:
    """Share of characters in words whose letters come from scripts that no language mixes."""
    total = mixed = 0
    for word in words:
        total += len(word)
        mixed += sum(len(run) for run in _runs(word) if _is_mixed(run))
    return mixed / max(1, total)


def is_mojibake(text: str) -> bool:
    """Letters of another encoding shown as Latin-1: far more accents than any language writes."""
    letters = [char for char in text if char.isalpha()]
    accents = sum("\u00c0" <= char <= "\u00ff" for char in letters)
    soup = len(_UTF8_SOUP.findall(text))
    return accents > _LATIN1_SHARE * max(1, len(letters)) or soup > _SOUP_SHARE * max(1, len(text))


def fault_in_text(words: Iterable[str], *, is_foreign: bool = False) -> str | None:
    """Why these words cannot be what is printed: unmapped, mojibake, mixed-scripts; None when they can.

    `is_foreign`: the engine cannot read their script, so OCR is no better way out.
    """
    # Letters of formulas (𝑥) are their plain letters: they are printed and read as such.
    words = [unicodedata.normalize("NFKC", word) for word in words]
    text = " ".join(words)
    if unmapped_share(text) > (_UNMAPPED_FOREIGN if is_foreign else _UNMAPPED_SHARE):
        return "unmapped"
    if is_mojibake(text):
        return "mojibake"
    return "mixed-scripts" if mixed_share(words) > _MIXED_SHARE else None


def foreign_share(text: str, readable: frozenset[str]) -> float:
    """Share of letters in scripts other than `readable`; 0.0 without letters."""
    counts = scripts(text)
    return sum(n for script, n in counts.items() if script not in readable) / max(1, counts.total())


def _runs(word: str) -> list[str]:
    """Letters in a row, with the marks of scripts that write vowels as marks."""
    letters = groupby(word, lambda char: char.isalpha() or unicodedata.category(char) in _MARKS)
    return ["".join(chars) for are_letters, chars in letters if are_letters]


def _is_mixed(run: str) -> bool:
    # Modifier letters (raised h, half rings of transliterations) go with any script.
    found = {script_of(char) for char in run if unicodedata.category(char) != "Lm"} - {"common"}
    return len(found) > 1 and not any(found <= home for home in _AT_HOME)
