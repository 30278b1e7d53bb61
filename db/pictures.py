"""Which page images the store has to keep."""

from collections.abc import Collection

import sqlalchemy as sa

from db import tables
from db.backfill_enrol import PURGE_LOCK
from models.stage import ClaimStatus
from models.verdict import Verdict

image, c, r = tables.page_image, tables.claim, tables.reading

_DOUBTFUL = (Verdict.BAD, Verdict.SUSPECT)
_AT_WORK = (ClaimStatus.READY, ClaimStatus.LEASED, ClaimStatus.WAITING)


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
    at_work = sa.exists().where(mine, c.c.status.in_(_AT_WORK))
    failed = sa.exists().where(
        of_document, c.c.page_no == image.c.page_no, c.c.status == ClaimStatus.FAILED.value
    )
    doubtful = sa.exists().where(
        r.c.document_id == image.c.document_id,
        r.c.page_no == image.c.page_no,
        r.c.superseded_at.is_(None),
        r.c.verdict.in_(_DOUBTFUL),
    )
    source = tables.source
    is_there = sa.exists().where(source.c.document_id == image.c.document_id, source.c.gone_at.is_(None))
    wanted = at_work | failed | doubtful | ~is_there
    query = sa.select(image.c.sha256).where(image.c.sha256.in_(hashes), wanted)
    return frozenset(connection.scalars(query))
