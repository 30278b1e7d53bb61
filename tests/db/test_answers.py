"""Answers to questions are kept beside readings, and shown by nothing."""

import sqlalchemy as sa

from db import answers, tables
from db.engine import Database
from models.document import IntakeFile, MediaType, SourceFile
from models.page import PageFacts
from models.reading import Block, BlockType, Reading, ReadingSource
from models.recipe import Recipe

ASKED = Recipe(profile="ostrakon", task="question", asked_sha256="01")
FILE = IntakeFile(SourceFile("/shelf.jpg", 10, 1), "ab" * 32, MediaType.JPEG)
PAGE = PageFacts(1, 300.0, 200.0)


def said(text: str) -> Reading:
    return Reading(ReadingSource.OCR, text, (Block(BlockType.PARAGRAPH, text),), raw=text)


def keep(database: Database, text: str, recipe: Recipe = ASKED) -> int:
    return database.run(
        lambda conn: answers.keep(conn, FILE, PAGE, recipe, said(text), image_sha256="cd" * 32)
    )


def rows(database: Database, table: sa.Table) -> list[sa.Row[object]]:
    return list(database.run(lambda conn: conn.execute(sa.select(table).order_by(*table.primary_key)).all()))


def test_an_answer_is_a_reading_of_its_page_that_no_edition_shows(database: Database) -> None:
    reading_id = keep(database, "Three bottles")
    (row,) = rows(database, tables.reading)
    assert (row.id, row.text, row.verdict) == (reading_id, "Three bottles", "skipped")
    assert rows(database, tables.edition_page) == []
    assert rows(database, tables.claim) == []


def test_the_same_question_asked_again_keeps_both_answers_and_the_newer_counts(database: Database) -> None:
    keep(database, "Three bottles")
    newer = keep(database, "Four bottles")
    kept = rows(database, tables.reading)
    assert [row.text for row in kept if row.superseded_at is None] == ["Four bottles"]
    assert {row.text for row in kept} == {"Three bottles", "Four bottles"}
    assert newer == max(row.id for row in kept)


def test_another_question_is_another_recipe(database: Database) -> None:
    keep(database, "Three bottles")
    keep(database, "Red", ASKED.model_copy(update={"asked_sha256": "02"}))
    assert all(row.superseded_at is None for row in rows(database, tables.reading))
    assert len(rows(database, tables.document)) == len(rows(database, tables.page)) == 1


def test_half_characters_do_not_keep_an_answer_out(database: Database) -> None:
    keep(database, "a\x00b\ud800")
    (row,) = rows(database, tables.reading)
    assert "\x00" not in row.text
    assert row.text.startswith("ab")
