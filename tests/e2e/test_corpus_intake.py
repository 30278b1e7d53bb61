"""Every file of the corpus through intake: kind, document facts and its first pages, as its manifest says."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.corpus import CODES
from models.document import DocumentFacts, IntakeFile, SourceFile
from models.errors import Code, DocumentRejected
from models.page import PageImage
from models.recipe import Recipe
from tasks.work.pool import WorkerPool
from tasks.work.preprocess import preprocess_page
from tasks.work.sources import find, take
from tasks.work.split import open_document, split_pages

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
PAGES = 3

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not on this machine"),
]


def _manifest() -> list[dict[str, str]]:
    if not CORPUS.is_dir():
        return []
    with (CORPUS / "manifest.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


ROWS = {row["file"]: row for row in _manifest()}


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    made = WorkerPool(2)
    yield made
    made.close()


def _take(name: str) -> IntakeFile:
    (source,) = find([CORPUS / name])
    assert isinstance(source, SourceFile)
    return take(source)


def _open(pool: WorkerPool, taken: IntakeFile, passwords: tuple[str, ...]) -> DocumentFacts:
    """The document's facts; a refusal at first sight is raised as one at opening."""
    if taken.media_type is None:
        raise DocumentRejected(str(taken.message), Code(taken.rejection))
    path = Path(taken.source.uri)
    options = {"timeout_s": 60, "timeout_code": Code.SPLIT_TIMEOUT}
    return pool.submit(open_document, path, taken.media_type, passwords, **options).result()  # type: ignore[arg-type]


def _outcome(pool: WorkerPool, taken: IntakeFile) -> str:
    """`ok`, or the code with which the file is refused without a password."""
    try:
        _open(pool, taken, ())
    except DocumentRejected as refused:
        return refused.code.value
    return "ok"


def _images(
    pool: WorkerPool, taken: IntakeFile, last: int, store: Path, passwords: tuple[str, ...]
) -> list[PageImage]:
    path, media_type = Path(taken.source.uri), taken.media_type
    options = {"timeout_s": 60, "timeout_code": Code.RENDER_TIMEOUT}
    pages = pool.submit(split_pages, path, media_type, 1, last, passwords, **options).result()  # type: ignore[arg-type]
    return [
        pool.submit(preprocess_page, path, media_type, number, Recipe(), store, passwords, **options).result()  # type: ignore[arg-type]
        for number in range(1, len(pages) + 1)
    ]


def _allowed(expected: str) -> set[str]:
    """Codes of refusal that the manifest allows; `ok` where it allows to accept."""
    words = (word.strip().removeprefix("rejected:") for word in expected.split(" or "))
    return {code for word in words for code in ({"ok"} if word.startswith("ok") else CODES.get(word, {word}))}


@pytest.mark.parametrize("name", ROWS)
def test_each_file_is_taken_or_refused_as_expected(pool: WorkerPool, tmp_path: Path, name: str) -> None:
    row, taken = ROWS[name], _take(name)
    outcome = _outcome(pool, taken)
    assert outcome in _allowed(row["expected"])
    if outcome != "ok" and not row["password"]:
        return
    facts = _open(pool, taken, ("wrong", row["password"]))
    assert facts.page_count == int(row["pages"])
    images = _images(pool, taken, min(PAGES, facts.page_count), tmp_path, (row["password"],))
    assert all(max(image.width_px, image.height_px) <= Recipe().long_edge_px for image in images)


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row["ground_truth"]])
def test_no_page_with_known_text_is_called_blank(pool: WorkerPool, tmp_path: Path, name: str) -> None:
    taken, passwords = _take(name), (ROWS[name]["password"],)
    truth = (CORPUS / f"{name}.gt.txt").read_text(encoding="utf-8").split("\f")
    images = _images(pool, taken, 1, tmp_path, passwords)
    assert not truth[0].strip() or not images[0].is_blank
