"""The tables, and nothing else. The words are those of the models; times are UTC."""

from db.tables.backfills import backfill, backfill_document
from db.tables.base import metadata
from db.tables.documents import document, page, page_image, run_document, scan_problem, source
from db.tables.knowledge import VECTOR_DIMS, chunk, chunk_vector, edition, edition_page, edition_switch
from db.tables.readings import attempt, finding, reading
from db.tables.reviews import review_action
from db.tables.telemetry import telemetry
from db.tables.work import claim, recipe, run, stage_run

__all__ = [
    "VECTOR_DIMS",
    "attempt",
    "backfill",
    "backfill_document",
    "chunk",
    "chunk_vector",
    "claim",
    "document",
    "edition",
    "edition_page",
    "edition_switch",
    "finding",
    "metadata",
    "page",
    "page_image",
    "reading",
    "recipe",
    "review_action",
    "run",
    "run_document",
    "scan_problem",
    "source",
    "stage_run",
    "telemetry",
]
