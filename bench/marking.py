"""Whether the checks marked the pages that are really wrong."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench.measures import interval
from models.verdict import DOUBTFUL, Verdict

WRONG = (0.05, 0.1, 0.2)
"""From such an error on a page counts as wrong."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A page, how wrong it is, and whether somebody is told."""

    document: str
    page_no: int
    error: float
    verdict: Verdict

    @property
    def is_marked(self) -> bool:
        """Whether it waits for a person."""
        return self.verdict in DOUBTFUL


@dataclass(frozen=True, slots=True)
class Marking:
    """How well marks and errors go together, for one error that counts as wrong."""

    limit: float
    pages: int
    wrong: int
    marked: int
    both: int
    precision_between: tuple[float, float] | None
    recall_between: tuple[float, float] | None

    @property
    def precision(self) -> float | None:
        """Share of the marked pages that are wrong."""
        return self.both / self.marked if self.marked else None

    @property
    def recall(self) -> float | None:
        """Share of the wrong pages that are marked."""
        return self.both / self.wrong if self.wrong else None


def marking(pages: Sequence[Marked], limit: float) -> Marking:
    """Precision and recall of the marks where an error of `limit` on makes a page wrong."""
    documents: dict[str, list[Marked]] = {}
    for page in pages:
        documents.setdefault(page.document, []).append(page)
    counts = [_counts(each, limit) for each in documents.values()]
    return Marking(
        limit,
        len(pages),
        wrong=sum(wrong for wrong, _, _ in counts),
        marked=sum(marked for _, marked, _ in counts),
        both=sum(both for _, _, both in counts),
        precision_between=interval([(both / (marked or 1), marked) for _, marked, both in counts]),
        recall_between=interval([(both / (wrong or 1), wrong) for wrong, _, both in counts]),
    )


def missed(pages: Sequence[Marked], limit: float) -> list[Marked]:
    """Pages that are wrong and that nobody is told of, the worst first."""
    silent = (page for page in pages if page.error >= limit and not page.is_marked)
    return sorted(silent, key=lambda page: page.error, reverse=True)


def _counts(pages: Sequence[Marked], limit: float) -> tuple[int, int, int]:
    wrong = [page for page in pages if page.error >= limit]
    return len(wrong), sum(page.is_marked for page in pages), sum(page.is_marked for page in wrong)
