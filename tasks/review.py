"""Review: decisions about pages are kept, and the knowledge base shows what they make of a document."""

import logging
from collections.abc import Iterable, Sequence
from itertools import groupby

import sqlalchemy as sa

from db import decisions, editions, readings, runs, switches
from db.engine import Database, has_vectors
from models.chunk import Chunk
from models.errors import Code, ConfigurationError
from models.geometry import Transform
from models.limits import CheckLimits
from models.reading import Block, BlockType, Reading, ReadingSource, cleaned
from models.review import HUMAN_RECIPE, Action, Decision, PageRef, Reviewed
from models.settings import Settings
from models.text import clean
from models.verdict import DOUBTFUL, Verdict
from models.work import ChunkVectors, PageToLoad
from tasks.load import searchable_chunks
from tasks.neighbours import judge_together, known_findings
from tasks.work.custom import find_profile
from tasks.work.embedding import open_embedder
from tasks.work.parsers import MOST_CHARS, PARSERS, Sent

log = logging.getLogger(__name__)


def decide(
    database: Database, settings: Settings, pages: Sequence[PageRef], decision: Decision
) -> tuple[Reviewed, ...]:
    """Accept or ignore pages, all or none of them.

    Accepted text is good and can be found, also that of a bad page. Raises ConfigurationError for pages that
    are not shown (not-found), that nobody doubts, or of which there is no text to accept.
    """

    def work(connection: sa.Connection) -> tuple[Reviewed, ...]:
        done = []
        for document_id, refs in _by_document(pages):
            shown = pages_shown(connection, document_id)
            for ref in refs:
                page = page_of(shown, ref)
                _check(ref, page, decision.action)
                decisions.record(connection, ref, page.reading_id, decision)
            done.append(rebuild(connection, settings, document_id, refs, decision.person))
        return tuple(done)

    return database.run(work)


def edit(
    database: Database,
    settings: Settings,
    ref: PageRef,
    text: str,
    decision: Decision,
    *,
    is_markdown: bool,
) -> Reviewed:
    """Show what a person wrote instead of what was read of a page, whatever is read of it later.

    Raises ConfigurationError for a page that is not shown (not-found) and for a text that is none.
    """
    written = human_reading(text, decision.person, is_markdown=is_markdown)

    def work(connection: sa.Connection) -> Reviewed:
        page = page_of(pages_shown(connection, ref.document_id), ref)
        recipe_id = runs.recipe_id(connection, HUMAN_RECIPE)
        key = ref.document_id, ref.page_no
        made = readings.add(connection, key, recipe_id, written, Verdict.GOOD)
        action_id = decisions.record(connection, ref, page.reading_id, decision)
        decisions.set_made(connection, action_id, made)
        return rebuild(connection, settings, ref.document_id, [ref], decision.person)

    return database.run(work)


def human_reading(text: str, person: str, *, is_markdown: bool) -> Reading:
    """What a person wrote as a reading; plain text has a paragraph for each part between empty lines.

    Raises ConfigurationError for an empty text and for one that is too long for a page.
    """
    text = clean(text).strip()
    if not text:
        raise ConfigurationError("The file is empty. If nothing stands on the page: pagemill review ignore.")
    if len(text) > MOST_CHARS:
        raise ConfigurationError(f"The file has {len(text):,} characters; a page has at most {MOST_CHARS:,}.")
    if is_markdown:
        found = PARSERS["markdown"](text, Sent(1, 1, Transform.scale(1, 1)))
        return cleaned(Reading(ReadingSource.HUMAN, found.text, found.blocks, engine=person))
    parts = (part.strip("\n") for part in text.split("\n\n"))
    blocks = tuple(Block(BlockType.PARAGRAPH, part) for part in parts if part.strip())
    return Reading(ReadingSource.HUMAN, text, blocks, engine=clean(person))


def pages_shown(connection: sa.Connection, document_id: int) -> dict[int, PageToLoad]:
    """What a document shows, by page number; nobody else changes that until the transaction ends.

    Raises ConfigurationError (not-found) for a document that is not there or shows nothing.
    """
    if not switches.lock(connection, document_id):
        raise ConfigurationError(f"There is no document {document_id} that shows pages.", Code.NOT_FOUND)
    return {page.page_no: page for page in editions.shown(connection, document_id)}


def page_of(shown: dict[int, PageToLoad], ref: PageRef) -> PageToLoad:
    """A page of a document. Raises ConfigurationError (not-found)."""
    if ref.page_no not in shown:
        raise ConfigurationError(f"Document {ref.document_id} has no page {ref.page_no}.", Code.NOT_FOUND)
    return shown[ref.page_no]


def rebuild(
    connection: sa.Connection, settings: Settings, document_id: int, refs: Iterable[PageRef], person: str
) -> Reviewed:
    """Show of a document what decisions make of it; its edition before stays and can be put back."""
    recipe_id = switches.recipe_shown(connection, document_id)
    pages = editions.shown(connection, document_id)
    limits = _limits(connection, settings, recipe_id)
    judged = judge_together(pages, known_findings(connection, pages), limits)
    chunks = searchable_chunks(judged.pages)
    vectors = _vectors(connection, settings, document_id, chunks)
    key = document_id, recipe_id
    edition_id, _ = editions.make(connection, key, None, judged.pages, chunks, vectors=vectors)
    judged.save(connection, document_id)
    switches.show(connection, document_id, edition_id, kind=switches.REVIEW, by=person)
    log.info("reviewed document=%d edition=%d chunks=%d", document_id, edition_id, len(chunks))
    status = switches.status(connection, document_id)
    return Reviewed(document_id, tuple(map(str, refs)), status, edition_id)


def _by_document(pages: Iterable[PageRef]) -> Iterable[tuple[int, list[PageRef]]]:
    for document_id, refs in groupby(sorted(set(pages)), key=lambda ref: ref.document_id):
        yield document_id, list(refs)


def _check(ref: PageRef, page: PageToLoad, action: Action) -> None:
    if page.verdict not in DOUBTFUL | {Verdict.BLANK} and not page.is_settled:
        raise ConfigurationError(f"Page {ref} is {page.verdict}: there is nothing to {action}.")
    if action is Action.ACCEPT and page.reading_id is None:
        raise ConfigurationError(
            f"Nothing was read of page {ref}. Read it again, write its text, or ignore it: "
            f"pagemill review retry {ref}"
        )


def _limits(connection: sa.Connection, settings: Settings, recipe_id: int) -> CheckLimits:
    try:
        return find_profile(runs.recipe(connection, recipe_id).profile, settings).checks
    except ConfigurationError:
        # A profile of one's own whose file is gone: what it read is still there to be reviewed.
        return CheckLimits()


def _vectors(
    connection: sa.Connection, settings: Settings, document_id: int, chunks: Sequence[Chunk]
) -> ChunkVectors | None:
    """Vectors of passages; those of texts that are shown already are taken over: one costs 17 ms to make."""
    if not chunks or not settings.vectors or not has_vectors(connection):
        return None
    embedder = open_embedder()
    known = editions.vectors_shown(connection, document_id, embedder.name)
    new = list(dict.fromkeys(chunk.text for chunk in chunks if chunk.text not in known))
    known |= dict(zip(new, map(tuple, embedder.encode(new)), strict=True))
    return ChunkVectors(embedder.name, tuple(known[chunk.text] for chunk in chunks))
