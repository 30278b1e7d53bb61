"""What always holds of the ledger, each as a query for what breaks it. No query touches a text."""

import sqlalchemy as sa

from models.invariant import Invariant, Violation

_EXAMPLES = 5

INVARIANTS = (
    Invariant(
        "claim-state",
        "Work is in exactly one state, leased if and only if somebody holds it; what failed says why",
        """
        SELECT document_id, page_no FROM claim
        WHERE status NOT IN ('ready', 'leased', 'waiting', 'done', 'failed')
           OR stage NOT IN ('split', 'preprocess', 'ocr', 'validate', 'load')
           OR (status = 'leased') <> (owner IS NOT NULL)
           OR (status = 'leased') <> (leased_until IS NOT NULL)
           OR (status = 'waiting' AND page_no > 0)
           OR (status = 'failed' AND code IS NULL)
        """,
    ),
    Invariant(
        "page-without-work",
        "Once a document is split under a recipe, each of its pages has work under that recipe",
        """
        SELECT page.document_id, page.page_no FROM claim AS whole
        JOIN page ON page.document_id = whole.document_id
        WHERE whole.page_no = 0 AND (whole.status = 'waiting' OR whole.stage = 'load') AND NOT EXISTS (
            SELECT FROM claim WHERE claim.document_id = page.document_id
            AND claim.recipe_id = whole.recipe_id AND claim.page_no = page.page_no)
        """,
    ),
    Invariant(
        "work-without-page",
        "Work on a page is about a page that is there",
        """
        SELECT document_id, page_no FROM claim WHERE page_no > 0 AND NOT EXISTS (
            SELECT FROM page WHERE page.document_id = claim.document_id AND page.page_no = claim.page_no)
        """,
    ),
    Invariant(
        "done-without-reading",
        "A page that is done has a reading under the recipe",
        """
        SELECT document_id, page_no FROM claim WHERE page_no > 0 AND status = 'done' AND NOT EXISTS (
            SELECT FROM reading WHERE reading.document_id = claim.document_id
            AND reading.page_no = claim.page_no AND reading.recipe_id = claim.recipe_id
            AND superseded_at IS NULL)
        """,
    ),
    Invariant(
        "waiting-for-nothing",
        "A document waits only while pages of it are being worked on",
        """
        SELECT document_id, 0 AS page_no FROM claim AS whole
        WHERE page_no = 0 AND status = 'waiting' AND NOT EXISTS (
            SELECT FROM claim WHERE claim.document_id = whole.document_id
            AND claim.recipe_id = whole.recipe_id AND claim.page_no > 0
            AND claim.status IN ('ready', 'leased'))
        """,
    ),
    Invariant(
        "pending-without-work",
        "A document that is not finished has work that will finish it",
        """
        SELECT id AS document_id, 0 AS page_no FROM document WHERE status = 'pending' AND NOT EXISTS (
            SELECT FROM claim WHERE claim.document_id = document.id
            AND claim.status IN ('ready', 'leased', 'waiting')
        ) AND (EXISTS (SELECT FROM claim WHERE claim.document_id = document.id)
            OR NOT EXISTS (SELECT FROM reading WHERE reading.document_id = document.id))
        """,
    ),
    Invariant(
        "ocr-without-picture",
        "A page that is to be read has a picture",
        """
        SELECT document_id, page_no FROM claim
        WHERE stage = 'ocr' AND status IN ('ready', 'leased') AND NOT EXISTS (
            SELECT FROM page_image WHERE page_image.document_id = claim.document_id
            AND page_image.page_no = claim.page_no)
        """,
    ),
    Invariant(
        "reading-without-picture",
        "A reading by OCR names the picture it was read in",
        """
        SELECT document_id, page_no FROM reading WHERE source = 'ocr' AND image_sha256 IS NULL
        """,
    ),
    Invariant(
        "timing-impossible",
        "Work ends after it started, takes no negative time, and no more pages are cached than there were",
        """
        SELECT document_id, 0 AS page_no FROM stage_run
        WHERE ended_at < started_at OR ended_at < ready_at OR seconds < 0 OR pages < 0
           OR cached < 0 OR cached > pages
        """,
    ),
    Invariant(
        "timing-missing",
        "The timings of a document add up to at least the pages and seconds of its readings",
        """
        SELECT made.document_id, 0 AS page_no FROM (
            SELECT document_id, count(*) AS pages, sum(seconds) AS seconds FROM reading
            WHERE source = 'ocr' AND superseded_at IS NULL AND EXISTS (
                SELECT FROM claim WHERE claim.document_id = reading.document_id
                AND claim.recipe_id = reading.recipe_id AND claim.page_no = reading.page_no)
            GROUP BY document_id
        ) AS made LEFT JOIN (
            SELECT document_id, sum(pages) AS pages, sum(seconds) AS seconds FROM stage_run
            WHERE stage = 'ocr' GROUP BY document_id
        ) AS timed USING (document_id)
        WHERE made.pages > coalesce(timed.pages, 0) OR made.seconds > coalesce(timed.seconds, 0) + 0.1
        """,
    ),
    Invariant(
        "edition-of-nobody",
        "What a document shows is an edition of its own",
        """
        SELECT document.id AS document_id, 0 AS page_no FROM document
        LEFT JOIN edition ON edition.id = document.edition_id
        WHERE document.edition_id IS NOT NULL AND edition.document_id IS DISTINCT FROM document.id
        """,
    ),
    Invariant(
        "edition-hollow",
        "An edition points at a reading for each page, or says why there is none",
        """
        SELECT edition.document_id, edition_page.page_no FROM edition_page
        JOIN edition ON edition.id = edition_page.edition_id
        WHERE edition_page.reading_id IS NULL AND edition_page.verdict NOT IN ('bad', 'skipped')
        UNION ALL
        SELECT id, 0 FROM document WHERE edition_id IS NOT NULL AND page_count > 0 AND NOT EXISTS (
            SELECT FROM edition_page WHERE edition_page.edition_id = document.edition_id)
        """,
    ),
    Invariant(
        "status-untrue",
        "A document that counts as whole shows no page that could not be read",
        """
        SELECT id AS document_id, 0 AS page_no FROM document
        WHERE status IN ('complete', 'needs_review') AND EXISTS (
            SELECT FROM edition_page WHERE edition_page.edition_id = document.edition_id
            AND edition_page.verdict IN ('bad', 'skipped'))
        """,
    ),
    Invariant(
        "shown-nowhere",
        "A document that was read and still stands under a name can be searched",
        """
        SELECT id AS document_id, 0 AS page_no FROM document
        WHERE edition_id IS NULL AND status IN ('complete', 'partial', 'needs_review') AND EXISTS (
            SELECT FROM source WHERE source.document_id = document.id AND superseded_at IS NULL)
        """,
    ),
)


def check(connection: sa.Connection, invariant: Invariant) -> Violation | None:
    """How often an invariant is broken and where; None where it holds."""
    columns = sa.column("document_id", sa.BigInteger), sa.column("page_no", sa.Integer)
    broken = sa.text(invariant.broken).columns(*columns).subquery("broken")
    query = sa.select(broken.c.document_id, broken.c.page_no, sa.func.count().over().label("number"))
    rows = connection.execute(query.limit(_EXAMPLES)).all()
    if not rows:
        return None
    examples = tuple(_place(row.document_id, row.page_no) for row in rows)
    return Violation(invariant.name, invariant.about, rows[0].number, examples)


def _place(document_id: int, page_no: int) -> str:
    return f"document {document_id} page {page_no}" if page_no else f"document {document_id}"
