"""Answers to questions: readings without a claim, which no edition shows."""

import sqlalchemy as sa

from db import intake, pages, readings, runs
from models.document import IntakeFile
from models.errors import Code, DocumentRejected
from models.page import PageFacts
from models.reading import Reading, cleaned
from models.recipe import Recipe
from models.verdict import Verdict


def keep(
    connection: sa.Connection,
    file: IntakeFile,
    facts: PageFacts,
    recipe: Recipe,
    reading: Reading,
    *,
    image_sha256: str,
) -> int:
    """Keep an answer about a page under its recipe, beside earlier answers to the same question; its id.

    The verdict is `skipped`: nobody has checked it. Raises DocumentRejected for a file that is no document.
    """
    if file.rejection is not None:
        raise DocumentRejected(file.message or "This is no document.", Code(file.rejection))
    ids, _ = intake.save_documents(connection, [file])
    intake.save_sources(connection, [file], ids)
    page = ids[file.sha256], facts.page_no
    pages.keep_page(connection, page[0], facts)
    recipe_id = runs.recipe_id(connection, recipe)
    return readings.add(
        connection, page, recipe_id, cleaned(reading), Verdict.SKIPPED, image_sha256=image_sha256
    )
