"""Stage split: take documents apart into pages, in killable children, a slice of pages at a time."""

from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from db import documents, pages, timings
from models.claim import Claim
from models.document import DocumentFacts
from models.errors import Code, TransientError
from models.layer import SplitPages
from models.stage import Stage
from models.work import DocumentToSplit
from tasks.ledger import failure_of, is_of_machine, settle, stage_run
from tasks.manifest import Entry, Manifest, Refusal, entries_of
from tasks.mill import Mill
from tasks.places import read_in_child
from tasks.policies import cache_key, perform, stage_task
from tasks.work.clock import Timed
from tasks.work.elsewhere import Elsewhere

if TYPE_CHECKING:
    from tasks.work.layers import split_packed
    from tasks.work.split import open_document
else:
    split_packed = Elsewhere("tasks.work.layers", "split_packed")
    open_document = Elsewhere("tasks.work.split", "open_document")

_SLICE_PAGES = 64


class OpenedDocuments(Manifest[DocumentFacts]):
    """Facts by content hash. A class of its own: Prefect names it in what it keeps, to read it back."""


def split_batch(mill: Mill, claims: list[Claim]) -> None:
    """Split the documents of some claims. Each slice of pages is committed by itself and goes on at once."""
    items = mill.database.run(lambda conn: documents.to_split(conn, claims))
    fresh = [item for item in items if not _reuse(mill, item.claim)]
    if not fresh:
        return
    key = cache_key(Stage.SPLIT, (f"{item.sha256} {item.claim.attempt}" for item in fresh))
    opened = perform(open_documents, mill, fresh, key)
    # A batch that was stopped has left some of its documents to the next.
    is_whole = all(item.sha256 in opened.entries for item in fresh)
    if not (is_whole and opened.holds_for(mill.run_id)):
        opened = open_documents.fn(mill, fresh, key)
    for item in fresh:
        if mill.stopping.is_set():
            return
        _split(mill, item, opened.entries[item.sha256])


@stage_task(Stage.SPLIT, is_kept=True)
def open_documents(
    mill: Mill,
    items: list[DocumentToSplit],
    key: str,  # noqa: ARG001 (the cache policy reads it)
) -> OpenedDocuments:
    """Facts about some documents, by content hash; all are opened at once, each in a child."""
    futures: dict[str, Future[Timed[DocumentFacts]] | Refusal] = {}
    for item in items:
        try:
            futures[item.sha256] = _in_child(mill, item, open_document, mill.passwords())
        except TransientError as error:
            futures[item.sha256] = Refusal.of(error)
    return OpenedDocuments(run_id=mill.run_id, entries=entries_of(futures, mill.stopping))


def _reuse(mill: Mill, claim: Claim) -> bool:
    """Take over what an earlier run split, under whatever recipe."""
    count = mill.database.run(lambda conn: pages.reuse_split(conn, claim))
    if count is None:
        return False
    run = stage_run(mill, claim, 0.0, pages=count, cached=count)
    mill.database.run(lambda conn: timings.record(conn, mill.run_id, [run]))
    return True


def _split(mill: Mill, item: DocumentToSplit, opened: Entry[DocumentFacts]) -> None:
    try:
        facts, seconds = opened.result(), opened.seconds
        for first in range(item.pages_saved + 1, facts.page_count + 1, _SLICE_PAGES):
            last = min(first + _SLICE_PAGES - 1, facts.page_count)
            found = _in_child(mill, item, split_packed, first, last, mill.passwords()).result()
            seconds += found.seconds
            if mill.stopping.is_set() or not _save(mill, item, found.value):
                return
        _finish(mill, item.claim, facts, seconds)
    except Exception as error:
        failure = failure_of(item.claim, error)
        if is_of_machine(failure.error):
            raise failure.error from error
        mill.database.run(lambda conn: settle(mill, conn, [failure]))


def _save(mill: Mill, item: DocumentToSplit, found: SplitPages) -> bool:
    return mill.database.run(lambda conn: pages.save_pages(conn, item.claim, found.pages, found.layers))


def _finish(mill: Mill, claim: Claim, facts: DocumentFacts, seconds: float) -> None:
    run = stage_run(mill, claim, seconds, pages=facts.page_count)

    def commit(conn: Any) -> None:
        if pages.finish_split(conn, claim, facts):
            timings.record(conn, mill.run_id, [run])

    mill.database.run(commit)


def _in_child(mill: Mill, item: DocumentToSplit, function: Any, *args: Any) -> Future[Timed[Any]]:
    return read_in_child(
        mill,
        item.sha256,
        item.sources,
        function,
        item.media_type,
        *args,
        verifies=True,
        timeout_s=mill.settings.split_timeout_s,
        timeout_code=Code.SPLIT_TIMEOUT,
        crash_code=Code.SPLIT_CRASH,
    )
