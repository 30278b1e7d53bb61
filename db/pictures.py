"""Which page images the store has to keep."""

from collections.abc import Collection

import sqlalchemy as sa

from db import tables
from db.backfill_enrol import PURGE_LOCK
from db.tables.base import same_page
from models.stage import UNFINISHED, ClaimStatus
from models.verdict import DOUBTFUL

image, c, r = tables.page_image, tables.claim, tables.reading


def needed(connection: sa.Connection, hashes: Collection[str]) -> frozenset[str]:
    """Which of these page images somebody still needs.

    Those of documents that are being worked on, of pages that failed or are doubtful, since a person may want
    to look, and of documents whose file is gone: they could not be made again. Until the transaction ends no
    backfill can put documents back, so that what is not needed stays so.
    """
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(PURGE_LOCK)))
    of_document = c.c.document_id == image.c.document_id
    # While a page of it is in work, the document itself is waiting.
    mine = of_document & c.c.page_no.in_([0, image.c.page_no])
    at_work = sa.exists().where(mine, c.c.status.in_(UNFINISHED))
    failed = sa.exists().where(same_page(c, image), c.c.status == ClaimStatus.FAILED.value)
    doubtful = sa.exists().where(same_page(r, image), r.c.superseded_at.is_(None), r.c.verdict.in_(DOUBTFUL))
    source = tables.source
    is_there = sa.exists().where(source.c.document_id == image.c.document_id, source.c.gone_at.is_(None))
    wanted = at_work | failed | doubtful | ~is_there
    query = sa.select(image.c.sha256).where(image.c.sha256.in_(hashes), wanted)
    return frozenset(connection.scalars(query))
