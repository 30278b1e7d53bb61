"""Backfills as tests of the ledger take them: begun and put in, without a drain."""

import sqlalchemy as sa

from db import backfill_enrol, backfills, runs
from db.engine import Database
from models.backfill import Backfill, FromStage, Selection, Wish
from models.recipe import Recipe
from tests.db.steps import RECIPE

EVERYTHING = Selection(everything=True)


def wish(selection: Selection = EVERYTHING, start: FromStage = FromStage.OCR, **how: object) -> Wish:
    return Wish(selection=selection, profile="ppocr", start=start, **how)  # type: ignore[arg-type]


def begin(database: Database, wanted: Wish, recipe: Recipe = RECIPE) -> tuple[Backfill, int]:
    """A backfill and its run."""

    def work(connection: sa.Connection) -> tuple[Backfill, int]:
        run_id = runs.start(connection, "backfill", recipe, {})
        return backfills.begin(connection, wanted, recipe, run_id), run_id

    return database.run(work)


def enrol(database: Database, wanted: Wish, recipe: Recipe = RECIPE) -> Backfill:
    """A backfill with all its documents in the ledger."""
    begun, run_id = begin(database, wanted, recipe)

    def work(connection: sa.Connection) -> None:
        ids = backfill_enrol.candidates(connection, begun, 0, 1000)
        backfill_enrol.enrol(connection, begun, run_id, ids)
        backfills.set_enrolled(connection, begun.id)

    database.run(work)
    return begun
