"""Reading a document whose print is known, and comparing page by page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.marking import Marked
from bench.measures import mean_of, order, wer, words
from bench.structure import NO_STRUCTURE, TableScore, formula_scores, structure_of, table_scores
from bench.truths import Truth, requests
from models.engine import OcrEngine, OcrRequest
from models.errors import PagemillError
from models.profile import Profile
from models.reading import Reading
from models.verdict import Finding, PageUnderCheck, Verdict
from tasks.work.checks import check, check_document, verdict
from tasks.work.layertext import foreign_share
from tasks.work.metrics import agreement, cer, cer_in_any_order, normalise, word_recall

# A text with more foreign letters than this is one that the profile cannot read.
_FOREIGN = 0.2


@dataclass(frozen=True, slots=True)
class PageScore:
    """The measures of one page."""

    page_no: int
    chars: int
    """Of the ground truth, white left out."""
    words: int
    cer: float
    wer: float
    any_order: float
    agreement: float
    recall: float
    order: float | None
    """None where the page has too few lines to tell."""
    tables: tuple[TableScore, ...] = ()
    """One for each table that is printed."""
    formulas: tuple[float, ...] = ()
    """One for each formula that is printed."""
    verdict: Verdict = Verdict.GOOD
    failure: str = ""
    """Code of the error, where nothing was read."""


@dataclass(frozen=True, slots=True)
class Score:
    """The measures of one document. Means are weighted by characters, words for `wer`."""

    truth: Truth
    pages: tuple[PageScore, ...]
    is_foreign: bool
    """Most of its text is in scripts that the profile does not read."""

    @property
    def chars(self) -> int:
        """Of the ground truth, white left out."""
        return sum(page.chars for page in self.pages)

    @property
    def words(self) -> int:
        """Of the ground truth."""
        return sum(page.words for page in self.pages)

    @property
    def wer(self) -> float:
        """Word error rate."""
        return mean_of([(page.wer, page.words) for page in self.pages])

    @property
    def order(self) -> float | None:
        """Kendall's tau of the lines; None where no page tells."""
        told = [(page.order, page.chars) for page in self.pages if page.order is not None]
        return mean_of(told) if told else None

    def mean(self, measure: Callable[[PageScore], float]) -> float:
        """Any measure of its pages."""
        return mean_of([(measure(page), page.chars) for page in self.pages])

    @property
    def failures(self) -> tuple[str, ...]:
        """Codes of pages of which nothing was read."""
        return tuple(page.failure for page in self.pages if page.failure)

    @property
    def marked(self) -> list[Marked]:
        """Its pages as the checks saw them."""
        name = self.truth.path.name
        return [Marked(name, page.page_no, page.any_order, page.verdict) for page in self.pages]


def score(  # noqa: PLR0917 (all but the last are what a document is read with)
    truth: Truth, engine: OcrEngine, profile: Profile, most: int, home: Path, options: Sequence[str] = ()
) -> Score:
    """Read a document and compare; `options`: KEY=VALUE of the recipe."""
    asked = requests(truth, profile, most, home, options)
    read = [_read(future.result) for future in [engine.submit(request) for request in asked]]
    told = {number: each for number, each in enumerate(read, 1) if isinstance(each, Reading)}
    around = check_document(told, profile.checks)
    pages = tuple(
        _page(truth, number, each, _verdict(each, request, profile, around.get(number, ())))
        for number, (each, request) in enumerate(zip(read, asked, strict=True), 1)
    )
    text = "\n".join(truth.text_of(page.page_no) for page in pages)
    return Score(truth, pages, foreign_share(text, profile.scripts) > _FOREIGN)


def _read(answer: Callable[[], Reading]) -> Reading | PagemillError:
    try:
        return answer()
    except PagemillError as error:
        return error


def _verdict(
    read: Reading | PagemillError, request: OcrRequest, profile: Profile, around: Sequence[Finding]
) -> Verdict:
    """As in a run: a page of which nothing was read is a bad one."""
    if isinstance(read, PagemillError):
        return Verdict.BAD
    return verdict(read, (*check(read, PageUnderCheck.of(request, profile)), *around))


def _page(truth: Truth, page_no: int, read: Reading | PagemillError, seen: Verdict) -> PageScore:
    expected, printed = truth.text_of(page_no), truth.structure_of(page_no)
    reading = read if isinstance(read, Reading) else None
    text = reading.text if reading else ""
    found = structure_of(reading.blocks) if reading else NO_STRUCTURE
    return PageScore(
        page_no,
        chars=len(normalise(expected).replace(" ", "")),
        words=len(words(expected)),
        cer=cer(expected, text),
        wer=wer(expected, text),
        any_order=cer_in_any_order(expected, text),
        agreement=agreement(expected, text),
        recall=word_recall(expected, text),
        order=order(expected, text),
        tables=tuple(table_scores(printed.tables, found.tables)),
        formulas=tuple(formula_scores(printed.formulas, found.formulas)),
        verdict=seen,
        failure=read.code if isinstance(read, PagemillError) else "",
    )


def by(scores: Sequence[Score], key: Callable[[Score], str]) -> Mapping[str, list[Score]]:
    """Scores in groups, by the name of the group."""
    groups: dict[str, list[Score]] = {}
    for each in sorted(scores, key=key):
        groups.setdefault(key(each), []).append(each)
    return groups
