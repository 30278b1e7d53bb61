"""The language of a page, and whether it is one that was expected."""

import threading
from collections import Counter

from models.limits import CheckLimits
from models.reading import ReadingSource
from models.text import CJK_SCRIPTS, scripts
from tasks.work.checks.case import Case, Sighting

# A longer sample tells no more and costs half a millisecond a thousand characters.
_SAMPLE_CHARS = 1_500
_LINE_LETTERS = 0.6
# A Chinese character says as much as three letters.
_DENSE = 3
# The model takes half a second of CPU to load; lanes that look at once would load it each for itself.
_ONE_AT_A_TIME = threading.Lock()


def language_unexpected(case: Case) -> Sighting | None:
    """The page is in a language that the recipe does not expect: read plausibly, but not what is printed."""
    if not case.page.languages or case.reading.source is not ReadingSource.OCR:
        return None
    language = language_of(case.words, case.limits)
    if not language or language in case.page.languages:
        return None
    return Sighting(f"The page is in a language that was not expected: {language}.", {"language": language})


def language_of(text: str, limits: CheckLimits) -> str:
    """ISO 639-1 code of the language of `text`; empty for too few letters to tell.

    Lines of numbers are left out: their few letters are abbreviations in any language.
    """
    sample = " ".join(_prose(text))[:_SAMPLE_CHARS]
    letters = sum(map(str.isalpha, sample))
    is_dense = main_script(sample, limits) in CJK_SCRIPTS
    if letters < limits.language_letters / (_DENSE if is_dense else 1):
        return ""
    with _ONE_AT_A_TIME:
        import py3langid  # noqa: PLC0415 (with numpy, and most runs need no language)

        return str(py3langid.classify(sample)[0])


def main_script(text: str, limits: CheckLimits) -> str:
    """The script of most letters of `text`; Japanese is kana whatever its share; empty where none leads."""
    counts: Counter[str] = Counter(scripts(text))
    total = counts.total()
    if counts["kana"] > 0.1 * total:
        counts["kana"] += counts.pop("han", 0)
    script, most = counts.most_common(1)[0] if counts else ("", 0)
    return script if most >= max(1, limits.script_share * total) else ""


def _prose(text: str) -> list[str]:
    lines = text[: 4 * _SAMPLE_CHARS].splitlines()
    return [
        line for line in lines if sum(map(str.isalpha, line)) >= _LINE_LETTERS * len(line.replace(" ", ""))
    ]
