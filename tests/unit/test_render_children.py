"""Rendering in child processes: what hangs, crashes or grows stays there."""

import hashlib
import os
import random
import resource
import signal
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import psutil
import pytest

from models.document import MediaType
from models.errors import Code, DocumentRejected, PageFailed, TransientError
from models.page import PageImage
from models.recipe import Recipe
from tasks.work.pool import WorkerPool
from tasks.work.preprocess import preprocess_page
from tasks.work.split import open_document, split_pages
from tests import factories

pytestmark = pytest.mark.slow

RECIPE = Recipe(long_edge_px=600)


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    made = WorkerPool(2)
    yield made
    made.close()


def _render(pool: WorkerPool, path: Path, page_no: int = 1, timeout_s: float = 60) -> Future[PageImage]:
    return pool.submit(
        preprocess_page,
        path,
        MediaType.PDF,
        page_no,
        RECIPE,
        path.parent / "store",
        timeout_s=timeout_s,
        timeout_code=Code.RENDER_TIMEOUT,
        crash_code=Code.RENDER_CRASH,
    )


def _render_or_die(path: Path, page_no: int, fatal: int) -> PageImage:
    """A stand-in for a page that crashes native code."""
    if page_no == fatal:
        os.kill(os.getpid(), signal.SIGSEGV)
    return preprocess_page(path, MediaType.PDF, page_no, RECIPE, path.parent / "store")


def test_a_page_that_renders_for_ever_is_stopped_and_the_others_go_on(
    pool: WorkerPool, tmp_path: Path
) -> None:
    path = factories.write(tmp_path / "a.pdf", factories.endless_pdf(before=2, after=2))
    futures = {number: _render(pool, path, number, 2 if number == 3 else 120) for number in range(1, 6)}
    with pytest.raises(PageFailed) as caught:
        futures.pop(3).result(120)
    assert caught.value.code is Code.RENDER_TIMEOUT
    assert all(not future.result(120).is_blank for future in futures.values())


def test_a_page_that_crashes_takes_no_other_with_it(pool: WorkerPool, tmp_path: Path) -> None:
    path = factories.write(tmp_path / "a.pdf", factories.pdf(*(f"Page {number}" for number in range(8))))
    options = {"timeout_s": 60, "timeout_code": Code.RENDER_TIMEOUT, "crash_code": Code.RENDER_CRASH}
    futures = {n: pool.submit(_render_or_die, path, n, 4, **options) for n in range(1, 9)}  # type: ignore[arg-type]
    with pytest.raises(TransientError, match="signal 11") as caught:
        futures.pop(4).result(120)
    assert caught.value.code is Code.RENDER_CRASH
    assert len({future.result(120).sha256 for future in futures.values()}) == 7


def test_a_refused_document_keeps_its_code_over_the_border(pool: WorkerPool, tmp_path: Path) -> None:
    path = factories.write(tmp_path / "a.pdf", factories.encrypted_pdf("x", user="u"))
    split = pool.submit(open_document, path, MediaType.PDF, timeout_s=60, timeout_code=Code.SPLIT_TIMEOUT)
    with pytest.raises(DocumentRejected) as caught:
        split.result(120)
    assert caught.value.code is Code.NEEDS_PASSWORD
    with pytest.raises(PageFailed) as failed:
        _render(pool, path).result(120)
    assert failed.value.code is Code.NEEDS_PASSWORD


def _render_all(paths: list[Path], store: Path) -> list[str]:
    return [preprocess_page(path, MediaType.PDF, 1, RECIPE, store).sha256 for path in paths]


def test_no_page_shows_another_document(tmp_path: Path) -> None:
    """60 documents with the same object numbers and names in one process, against a fresh process each."""
    rng = random.Random(1)
    words = [hashlib.sha256(bytes([number])).hexdigest()[: rng.randint(4, 30)] for number in range(60)]
    paths = [
        factories.write(
            tmp_path / f"{number}.pdf",
            factories.scan_pdf(factories.picture(word)) if number % 3 else factories.pdf(word),
        )
        for number, word in enumerate(words)
    ]
    together = _render_all(paths, tmp_path / "store")
    fresh = WorkerPool(2, recycle_after=1)
    alone = [_render(fresh, path).result(120).sha256 for path in paths]
    fresh.close()
    assert together == alone
    assert len(set(alone)) == 60


def test_rendering_often_does_not_grow(tmp_path: Path) -> None:
    path = factories.write(tmp_path / "a.pdf", factories.scan_pdf(factories.picture("Hello", (1200, 1600))))
    other = factories.write(tmp_path / "b.pdf", factories.pdf("Other"))
    process = psutil.Process()

    def rounds(count: int) -> int:
        for _ in range(count):
            _render_all([path, other], tmp_path / "store")
        return int(process.memory_info().rss)

    settled = rounds(50)
    assert rounds(200) - settled < 20_000_000


def _peak_mb(path: Path, pages: int) -> int:
    for first in range(1, pages + 1, 64):
        split_pages(path, MediaType.PDF, first, min(first + 63, pages))
        preprocess_page(path, MediaType.PDF, first, RECIPE, path.parent / "store")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def test_memory_does_not_depend_on_the_number_of_pages(tmp_path: Path) -> None:
    peaks = []
    for pages in (64, 1280):
        path = factories.long_pdf(tmp_path / f"{pages}.pdf", pages)
        pool = WorkerPool(1)
        options = {"timeout_s": 300, "timeout_code": Code.SPLIT_TIMEOUT}
        peaks.append(pool.submit(_peak_mb, path, pages, **options).result())  # type: ignore[arg-type]
        pool.close()
    few, many = peaks
    assert many < 250
    assert many - few < 40
