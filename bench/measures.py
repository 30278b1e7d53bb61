"""What benchmarks of reading measure beside characters: words, reading order, and how sure a mean is."""

from collections.abc import Sequence
from itertools import combinations

import jiwer
import numpy as np
from rapidfuzz import fuzz

from models.text import CJK_SCRIPTS, script_of
from tasks.work.metrics import normalise

# Lines under this length, or that fit nowhere so well, tell nothing of the order.
_LEAST_CHARS, _LEAST_LIKENESS = 12, 80.0
_ROUNDS = 2_000
# A mean over fewer documents has no interval worth printing.
LEAST_DOCUMENTS = 3


def wer(reference: str, hypothesis: str) -> float:
    """Word error rate: edits per word of the reference, case and signs included, by jiwer.

    A character of Chinese or Japanese is a word. Both texts are normalised first; 0.0 or 1.0 for an empty
    reference. It can exceed 1.0.
    """
    expected, found = words(reference), words(hypothesis)
    if not expected:
        return float(bool(found))
    return float(jiwer.wer(" ".join(expected), " ".join(found)))


def words(text: str) -> list[str]:
    """Words as they are printed, signs and all; each character of Chinese and Japanese for itself."""
    return "".join(
        f" {char} " if script_of(char) in CJK_SCRIPTS else char for char in normalise(text)
    ).split()


def order(reference: str, hypothesis: str) -> float | None:
    """Kendall's tau of the lines of the reference as they follow each other in the other text, -1 to 1.

    1: all in the same order; 0: any order. Lines that are short, resemble another passage of the reference or
    were not found tell nothing; None where fewer than two are left.
    """
    found = normalise(hypothesis)
    places = [place for line in _telling(reference) if (place := _place(line, found)) is not None]
    pairs = [np.sign(after - before) for before, after in combinations(places, 2)]
    return float(np.mean(pairs)) if pairs else None


def _telling(text: str) -> list[str]:
    lines = [normalise(line) for line in text.splitlines()]
    around = [" ".join([*lines[:n], "\0" * _LEAST_CHARS, *lines[n + 1 :]]) for n in range(len(lines))]
    return [
        line
        for line, rest in zip(lines, around, strict=True)
        if len(line) >= _LEAST_CHARS and _place(line, rest) is None
    ]


def _place(line: str, text: str) -> int | None:
    if len(line) > len(text):
        return None
    best = fuzz.partial_ratio_alignment(line, text, score_cutoff=_LEAST_LIKENESS)
    return best.dest_start if best else None


def mean_of(parts: Sequence[tuple[float, float]]) -> float:
    """The mean of values with weights; 0.0 for nothing."""
    total = sum(weight for _, weight in parts)
    return sum(value * weight for value, weight in parts) / total if total else 0.0


def interval(parts: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """95 % interval of `mean_of` one value and weight per document, by drawing documents again (bootstrap).

    Percentiles of 2,000 draws, the same ones each time; None for fewer than three documents with weight.
    """
    values, weights = np.array([part for part in parts if part[1]], dtype=float).reshape(-1, 2).T
    if len(values) < LEAST_DOCUMENTS:
        return None
    draws = np.random.default_rng(0).integers(len(values), size=(_ROUNDS, len(values)))
    means = (values * weights)[draws].sum(1) / weights[draws].sum(1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)
