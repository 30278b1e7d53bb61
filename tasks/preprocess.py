"""Stage preprocess: make page images, in killable children, and keep them in the store."""

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ALL_COMPLETED, Future, wait
from typing import TYPE_CHECKING, Any

from db import pages, timings
from models.claim import Claim, Failure
from models.errors import Code, PagemillError
from models.notes import UNREADABLE_PAGE
from models.page import PageImage
from models.stage import Stage
from models.work import PageToPrepare, PreparedPage
from tasks.ledger import is_of_machine, settle, stage_run
from tasks.manifest import Entry, Manifest, Refusal, entry_of
from tasks.mill import Mill
from tasks.places import read_in_child
from tasks.policies import cache_key, perform, stage_task
from tasks.work.clock import Timed
from tasks.work.elsewhere import Elsewhere

if TYPE_CHECKING:
    from tasks.work.preprocess import preprocess_page
else:
    preprocess_page = Elsewhere("tasks.work.preprocess", "preprocess_page")

_GROUP_PAGES, _GROUP_S = 32, 5.0
"""Images are committed so many at a time, or what has been made in so many seconds: reading begins with them,
and a killed run loses no more."""

_LOOK_S = 0.2
"""A stop is heard within it."""

Made = Future[Timed[PageImage]]


class PageImages(Manifest[PageImage]):
    """Page images by content hash, page and options. A class of its own, as OpenedDocuments is."""


class Batch:
    """Pages of some claims to be prepared; what is committed is out of `left` and among `entries`.

    A plain class on purpose: Prefect copies lists that are passed to tasks, and another try of a task is to
    go on where the first broke off.
    """

    def __init__(self, mill: Mill, items: Iterable[PageToPrepare]) -> None:
        self.mill = mill
        self.left = {item.claim.id: item for item in items}
        self.entries: dict[str, Entry[PageImage]] = {}

    @property
    def key(self) -> str:
        """Of what is left, for Prefect's cache. Another attempt is another piece of work."""
        left = self.left.values()
        return cache_key(Stage.PREPROCESS, (f"{self.name(item)} {item.claim.attempt}" for item in left))

    def name(self, item: PageToPrepare) -> str:
        """Content hash, page and options."""
        return f"{item.sha256}:{item.facts.page_no}:{self.mill.recipe(item.claim.recipe_id).preprocess_key}"

    def commit(self, found: Mapping[int, Entry[PageImage]], *, are_cached: bool = False) -> None:
        """Enter what was found, by claim. It can then be read, and is not left any more.

        Raises a fault of the machine that was met, after entering the rest.
        """
        refusals = {claim_id: one.refusal.error() for claim_id, one in found.items() if one.refusal}
        faults = {claim_id: error for claim_id, error in refusals.items() if is_of_machine(error)}
        kept = {claim_id: entry for claim_id, entry in found.items() if claim_id not in faults}
        _commit(self.mill, [self.left[claim_id] for claim_id in kept], kept, are_cached=are_cached)
        for claim_id, entry in kept.items():
            self.entries[self.name(self.left.pop(claim_id))] = entry
        self.mill.bells.worked(Stage.PREPROCESS)
        for fault in faults.values():
            raise fault


def preprocess_batch(mill: Mill, claims: list[Claim]) -> None:
    """Prepare the pages of some claims; images that an earlier run made are taken over."""
    batch = Batch(mill, mill.database.run(lambda conn: pages.to_preprocess(conn, claims)))
    kept = {
        claim_id: Entry[PageImage](value=item.image)
        for claim_id, item in batch.left.items()
        if _is_kept(mill, item.image)
    }
    if kept:
        batch.commit(kept, are_cached=True)
    if batch.left:
        key = batch.key
        _take_over(batch, perform(make_images, batch, key))
        if batch.left and not mill.stopping.is_set():
            make_images.fn(batch, key)


@stage_task(Stage.PREPROCESS, is_kept=True)
def make_images(
    batch: Batch,
    key: str,  # noqa: ARG001 (the cache policy reads it)
) -> PageImages:
    """Make what is left of a batch, each page in a child, and commit it group by group; all its images.

    Where the mill is stopped, what is done is kept, and the rest is for the next run.
    """
    mill = batch.mill
    asked = {claim_id: _submit(mill, item) for claim_id, item in batch.left.items()}
    refused = {key: Entry[PageImage](refusal=one) for key, one in asked.items() if isinstance(one, Refusal)}
    under_way = {key: one for key, one in asked.items() if not isinstance(one, Refusal)}
    try:
        if refused:
            batch.commit(refused)
        while under_way and not mill.stopping.is_set():
            done = _gather(mill, under_way.values())
            found = {key: entry_of(one) for key, one in under_way.items() if one in done}
            batch.commit(found)
            under_way = {key: one for key, one in under_way.items() if key not in found}
    finally:
        for one in under_way.values():
            one.cancel()
    return PageImages(run_id=mill.run_id, entries=batch.entries)


def _take_over(batch: Batch, made: PageImages) -> None:
    """Enter images of a task run that Prefect kept; they count while they are in the store."""
    if batch.left and made.holds_for(batch.mill.run_id):
        named = {claim_id: made.entries.get(batch.name(item)) for claim_id, item in batch.left.items()}
        kept = {key: entry for key, entry in named.items() if entry and _is_kept(batch.mill, entry.value)}
        if kept:
            batch.commit(kept, are_cached=True)


def _gather(mill: Mill, under_way: Iterable[Made]) -> set[Made]:
    """What has been made, as soon as that is enough or all, or some of it is ready when time is up."""
    until, waited = time.monotonic() + _GROUP_S, list(under_way)
    while True:
        done, others = wait(waited, 0 if mill.stopping.is_set() else _LOOK_S, ALL_COMPLETED)
        is_enough = len(done) >= _GROUP_PAGES or not others
        if is_enough or mill.stopping.is_set() or (done and time.monotonic() > until):
            return done


def _submit(mill: Mill, item: PageToPrepare) -> Made | Refusal:
    if UNREADABLE_PAGE in item.facts.notes:
        return Refusal(
            code=Code.RENDER_FAILED, message="The file is damaged at this page.", is_transient=False
        )
    try:
        return read_in_child(
            mill,
            item.sha256,
            item.sources,
            preprocess_page,
            item.media_type,
            item.facts.page_no,
            mill.recipe(item.claim.recipe_id),
            mill.store.root,
            mill.passwords(),
            timeout_s=mill.settings.render_timeout_s,
            timeout_code=Code.RENDER_TIMEOUT,
            crash_code=Code.RENDER_CRASH,
        )
    except PagemillError as error:
        return Refusal.of(error)


def _commit(
    mill: Mill, items: Sequence[PageToPrepare], found: Mapping[int, Entry[PageImage]], *, are_cached: bool
) -> None:
    prepared: list[PreparedPage] = []
    failures: list[Failure] = []
    for item in items:
        try:
            image = found[item.claim.id].result()
            mill.prefetch.made(mill.store.size(image.sha256, image.suffix))
            prepared.append(PreparedPage(item.claim, mill.recipe(item.claim.recipe_id).preprocess_key, image))
        except PagemillError as error:
            failures.append(Failure(item.claim, error))
    runs = [
        stage_run(mill, one.claim, found[one.claim.id].seconds, cached=int(are_cached)) for one in prepared
    ]

    def commit(conn: Any) -> None:
        pages.save_images(conn, prepared)
        timings.record(conn, mill.run_id, runs)
        settle(mill, conn, failures)

    mill.database.run(commit)


def _is_kept(mill: Mill, image: PageImage | None) -> bool:
    return image is not None and mill.store.exists(image.sha256, image.suffix)
