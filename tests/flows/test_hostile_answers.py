"""Answers made to break a run: the page is marked, its document is partial, the run goes on."""

from typing import Any

import pytest

from models.document import DocumentStatus
from models.reading import Block, BlockType, Reading, ReadingSource
from tasks.maintain import check_ledger
from tasks.work.engines.fake import FakeEngine, said
from tests import factories
from tests.flows.yard import Yard
from tests.unit.readings import table_of

pytestmark = pytest.mark.slow

HOSTILE: dict[str, Reading] = {
    "a megabyte": said("no end to it " * 80_000),
    "ten thousand cells": table_of([[f"cell {n * m}" for n in range(100)] for m in range(100)]),
    "combining marks": said("a" + "\u0301\u0316" * 100_000),
    "five thousand levels": Reading(
        ReadingSource.OCR, "x", (Block(BlockType.PARAGRAPH, "x"),), raw="<div>" * 5_000 + "x"
    ),
}


def test_hostile_answers_cost_their_page_and_nothing_else(yard: Yard) -> None:
    names = list(HOSTILE)
    texts = [name.upper() for name in names]
    factories.write(yard.inbox / "a.pdf", factories.pdf(*texts, "GOOD"))
    factories.write(yard.inbox / "b.pdf", factories.pdf("FINE"))

    def answer(request: Any) -> Reading:
        words = " ".join(word.text for word in request.words).lower()
        return HOSTILE.get(words, said("Words on paper"))

    yard.ingest(FakeEngine(answer))
    assert yard.document("b.pdf").status is DocumentStatus.COMPLETE
    assert yard.document("a.pdf").status is DocumentStatus.PARTIAL, yard.rows("claim")
    verdicts = [
        row.verdict for row in yard.rows("edition_page", edition_id=yard.document("a.pdf").edition_id)
    ]
    assert verdicts[-1] == "good"
    assert set(verdicts[:-1]) <= {"bad", "suspect"}
    assert check_ledger(yard.database) == ()
