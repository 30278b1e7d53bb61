"""Stage load: the pages of a document become chunks with vectors, shown from one transaction on."""

import logging
from collections.abc import Sequence
from typing import Any

from db import editions, timings
from db.engine import has_vectors
from models.chunk import Chunk
from models.claim import Claim, Failure
from models.errors import Code
from models.verdict import Verdict
from models.work import ChunkVectors, PageToLoad
from tasks.ledger import failure_of, settle, stage_run
from tasks.mill import Mill
from tasks.neighbours import Findings, Judged, judge_together, known_findings
from tasks.work.chunking import chunks_of
from tasks.work.clock import timed
from tasks.work.embedding import embed_texts, open_embedder

log = logging.getLogger(__name__)

_TEXTS_AT_ONCE = 64
_EMBED_TIMEOUT_S = 300.0


def load_batch(mill: Mill, claims: list[Claim]) -> None:
    """Load documents whose pages have all ended; each is committed by itself."""
    for claim in claims:
        if mill.stopping.is_set():
            return
        try:
            _load(mill, claim)
        except Exception as error:
            _give_up(mill, failure_of(claim, error))


def _give_up(mill: Mill, failure: Failure) -> None:
    mill.database.run(lambda conn: settle(mill, conn, [failure]))


def _load(mill: Mill, claim: Claim) -> None:
    pages, known = mill.database.run(lambda conn: _pages(conn, claim))
    done = timed(_prepared, mill, pages, known)
    judged, chunks, vectors = done.value
    log.info("load document=%d pages=%d chunks=%d", claim.document_id, len(pages), len(chunks))

    def commit(conn: Any) -> None:
        if editions.load(conn, claim, mill.run_id, judged.pages, chunks, vectors=vectors) is not None:
            judged.save(conn, claim.document_id)
            timings.record(conn, mill.run_id, [stage_run(mill, claim, done.seconds, pages=len(pages))])

    mill.database.run(commit)


def _pages(connection: Any, claim: Claim) -> tuple[tuple[PageToLoad, ...], Findings]:
    pages = editions.to_load(connection, claim)
    return pages, known_findings(connection, pages)


def _prepared(
    mill: Mill, pages: Sequence[PageToLoad], known: Findings
) -> tuple[Judged, tuple[Chunk, ...], ChunkVectors | None]:
    judged = judge_together(pages, known, mill.profile.checks)
    return judged, *_chunks(mill, judged.pages)


def searchable_chunks(pages: Sequence[PageToLoad]) -> tuple[Chunk, ...]:
    """Passages of an edition. What was judged bad keeps its place in it, but nobody must find it."""
    return tuple(chunks_of((page.page_no, page.blocks) for page in pages if page.verdict is not Verdict.BAD))


def _chunks(mill: Mill, pages: Sequence[PageToLoad]) -> tuple[tuple[Chunk, ...], ChunkVectors | None]:
    """Chunks and, where the database keeps them, their vectors. No transaction is open meanwhile."""
    chunks = searchable_chunks(pages)
    wants_vectors = mill.settings.vectors and mill.database.run(has_vectors)
    if not chunks or not wants_vectors:
        return chunks, None
    texts = [chunk.text for chunk in chunks]
    futures = [
        mill.load_pool.submit(
            embed_texts,
            texts[first : first + _TEXTS_AT_ONCE],
            timeout_s=_EMBED_TIMEOUT_S,
            timeout_code=Code.WORKER_DIED,
        )
        for first in range(0, len(texts), _TEXTS_AT_ONCE)
    ]
    vectors = tuple(tuple(vector) for future in futures for vector in future.result())
    return chunks, ChunkVectors(open_embedder().name, vectors)
