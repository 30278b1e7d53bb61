"""How near two texts are: character error rate, and measures that do not mind the order of passages."""

import re
import unicodedata
from collections import Counter

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from models.text import CJK_SCRIPTS, script_of

_WORD = re.compile(r"\w+")
# Soft hyphens and marks of writing direction are not printed; layers carry them, engines never return them.
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


# Lines under this length are compared word by word where order is set aside.
_SHORT = 8
# A word parted at the end of a line.
_HYPHENATED = re.compile(r"(?<=[^\W\d_])[-‐]\n(?=[a-zà-ÿ])")


def normalise(text: str) -> str:
    """`text` as measured: NFKC (one form for ligatures and full-width signs), one space for any white.

    Words parted at line ends are put together: some ground truths keep the hyphen, some do not.
    """
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return " ".join(_HYPHENATED.sub("", text).split())


def cer(reference: str, hypothesis: str) -> float:
    """Character error rate: edits (insert, delete, replace) per character of the reference, white left out.

    Both texts are normalised first. It is 0.0 for equal texts and can exceed 1.0; for an empty reference
    it is 0.0 or 1.0. A passage that stands at another place counts as deleted and inserted: where order
    is not in question, look at `agreement` too.
    """
    expected = normalise(reference).replace(" ", "")
    found = normalise(hypothesis).replace(" ", "")
    if not expected:
        return float(bool(found))
    return Levenshtein.distance(expected, found) / len(expected)


def cer_in_any_order(reference: str, hypothesis: str) -> float:
    """Character error rate with each line of the reference compared where the other text fits it best.

    The order of passages plays no part, so a page whose columns a ground truth has in another order is
    measured fairly; text that was invented or read twice is not seen. White and hyphens as in `cer`. Short
    lines, such as the cells of a table, would fit anywhere: they must be there as words, each used once.
    Never more than `cer`: the order as it stands is one of the orders.
    """
    found = normalise(hypothesis)
    lines = [normalise(line) for line in _rejoined(reference).splitlines()]
    short = [line for line in lines if len(line) < _SHORT and not any(map(_is_cjk, line))]
    text, words = found.replace(" ", ""), Counter(found.split())
    total = sum(len(line.replace(" ", "")) for line in lines)
    edits = sum(_edits_at_best_place(line.replace(" ", ""), text) for line in lines if line not in short)
    missing = Counter(" ".join(short).split()) - words
    edits += sum(len(word) * count for word, count in missing.items())
    return min(edits / total, cer(reference, hypothesis)) if total else 0.0


def _rejoined(text: str) -> str:
    return _HYPHENATED.sub("", unicodedata.normalize("NFKC", text))


def _edits_at_best_place(line: str, text: str) -> int:
    if not line:
        return 0
    if len(line) >= len(text):
        return min(len(line), Levenshtein.distance(line, text))
    place = fuzz.partial_ratio_alignment(line, text)
    if place is None:
        return len(line)
    return min(len(line), Levenshtein.distance(line, text[place.dest_start : place.dest_end]))


def agreement(a: str, b: str) -> float:
    """0 to 1: how much of two texts is the same, whatever the order of words, lines and columns.

    The F1 score over bags of pieces: three letters in a row of each word, its edges included, and two
    characters in a row of Chinese, Japanese and Korean. Whole words would make one wrong letter a wrong
    word; pairs of letters agree by chance (two English pages share 60 % of them, but 30 % of the triples).
    1.0 for two empty texts.
    """
    left, right = _pieces(a), _pieces(b)
    total = left.total() + right.total()
    return 2 * (left & right).total() / total if total else 1.0


def word_recall(reference: str, hypothesis: str) -> float:
    """Share of the reference's words that the other text holds, case and order left out; 1.0 for none.

    A character of Chinese or Japanese counts as a word. The measure for a ground truth that holds only a
    part of what is printed.
    """
    expected, found = Counter(_words(reference)), Counter(_words(hypothesis))
    return (expected & found).total() / expected.total() if expected else 1.0


def _pieces(text: str) -> Counter[str]:
    pieces: Counter[str] = Counter()
    for run in _WORD.findall(normalise(text).casefold()):
        if _is_cjk(run[0]):
            pieces.update(run[i : i + 2] for i in range(max(1, len(run) - 1)))
        else:
            pieces.update(f" {run} "[i : i + 3] for i in range(len(run)))
    return pieces


def _words(text: str) -> list[str]:
    words: list[str] = []
    for run in _WORD.findall(normalise(text).casefold()):
        words += list(run) if _is_cjk(run[0]) else [run]
    return words


def _is_cjk(char: str) -> bool:
    return script_of(char) in CJK_SCRIPTS
