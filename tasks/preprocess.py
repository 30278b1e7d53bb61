"""Stage preprocess: make page images, in killable children, and keep them in the store."""

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from db import pages, timings
from models.claim import Claim, Failure
from models.errors import Code, PagemillError
from models.page import PageImage
from models.stage import Stage
from models.work import PageToPrepare, PreparedPage
from tasks.ledger import settle, stage_run
from tasks.manifest import Entry, Manifest, Refusal, entries_of
from tasks.mill import Mill
from tasks.places import read_in_child
from tasks.policies import BY_KEY, cache_key, perform, stage_task
from tasks.work.clock import Timed
from tasks.work.preprocess import preprocess_page


class PageImages(Manifest[PageImage]):
    """Page images by content hash, page and options. A class of its own, as OpenedDocuments is."""


def preprocess_batch(mill: Mill, claims: list[Claim]) -> None:
    """Prepare the pages of some claims; images that an earlier run made are taken over."""
    items = mill.database.run(lambda conn: pages.to_preprocess(conn, claims))
    found = {
        item.claim.id: Entry[PageImage](value=item.image) for item in items if _is_kept(mill, item.image)
    }
    cached = set(found)
    fresh = [item for item in items if item.claim.id not in cached]
    if fresh:
        made = _made(mill, fresh)
        names = {item.claim.id: _name(mill, item) for item in fresh}
        found |= {claim_id: made.entries[name] for claim_id, name in names.items() if name in made.entries}
    _commit(mill, [item for item in items if item.claim.id in found], found, cached)


@stage_task(Stage.PREPROCESS, BY_KEY)
def make_images(
    mill: Mill,
    items: list[PageToPrepare],
    key: str,  # noqa: ARG001 (the cache policy reads it)
) -> PageImages:
    """Page images of some pages, by content hash, page and options; each is made in a child."""
    futures = {_name(mill, item): _submit(mill, item) for item in items}
    return PageImages(run_id=mill.run_id, entries=entries_of(futures, mill.stopping))


def _made(mill: Mill, items: list[PageToPrepare]) -> PageImages:
    """As `make_images`; a manifest that Prefect kept counts only while its images are in the store.

    One of a batch that was stopped holds some of its pages: the others are for the next run.
    """
    key = cache_key(Stage.PREPROCESS, (f"{_name(mill, item)} {item.claim.attempt}" for item in items))
    made = perform(make_images, mill, items, key)
    is_kept = all(entry.value is None or _is_kept(mill, entry.value) for entry in made.entries.values())
    is_whole = all(_name(mill, item) in made.entries for item in items) or mill.stopping.is_set()
    if is_whole and is_kept and made.holds_for(mill.run_id):
        return made
    return make_images.fn(mill, items, key)


def _submit(mill: Mill, item: PageToPrepare) -> Future[Timed[PageImage]] | Refusal:
    if "unreadable-page" in item.facts.notes:
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
    mill: Mill, items: Sequence[PageToPrepare], found: dict[int, Entry[PageImage]], cached: set[int]
) -> None:
    prepared: list[PreparedPage] = []
    failures: list[Failure] = []
    for item in items:
        try:
            image = found[item.claim.id].result()
            key = mill.recipe(item.claim.recipe_id).preprocess_key
            prepared.append(PreparedPage(item.claim, key, image))
        except PagemillError as error:
            failures.append(Failure(item.claim, error))
    runs = [
        stage_run(mill, page.claim, found[page.claim.id].seconds, cached=int(page.claim.id in cached))
        for page in prepared
    ]

    def commit(conn: Any) -> None:
        pages.save_images(conn, prepared)
        timings.record(conn, mill.run_id, runs)
        settle(mill, conn, failures)

    mill.database.run(commit)


def _is_kept(mill: Mill, image: PageImage | None) -> bool:
    return image is not None and mill.store.exists(image.sha256, image.suffix)


def _name(mill: Mill, item: PageToPrepare) -> str:
    return f"{item.sha256}:{item.facts.page_no}:{mill.recipe(item.claim.recipe_id).preprocess_key}"
