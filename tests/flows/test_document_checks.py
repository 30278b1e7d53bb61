"""What only the pages around a page tell is found when a document is loaded."""

import textwrap

import pytest

from db import readings
from models.document import DocumentStatus
from models.verdict import Verdict
from tasks.maintain import check_ledger
from tasks.neighbours import CODES
from tests import factories
from tests.flows.engines import LayerEngine
from tests.flows.yard import Yard
from tests.unit.readings import GERMAN, PROSE

# Each starts worker processes; `make check` has a minute.
pytestmark = pytest.mark.slow


def book(*texts: str) -> bytes:
    """A PDF of prose, each page beginning at another word of its text."""
    return factories.pdf(*(_page(7 * number, text) for number, text in enumerate(texts, 1)))


def _page(start: int, text: str) -> str:
    words = text.split()
    return "\n".join(textwrap.wrap(" ".join(words[start:] + words[:start]), 70))


def _load_again(yard: Yard) -> None:
    yard.database.run(
        lambda conn: conn.exec_driver_sql(
            "UPDATE claim SET stage = 'load', status = 'ready', ended_at = NULL WHERE page_no = 0"
        )
    )
    yard.ingest(LayerEngine())


def _found(yard: Yard) -> list[tuple[int, str]]:
    return [(row.page_no, row.code) for row in yard.rows("finding") if row.code in CODES]


def test_a_good_page_in_another_language_than_its_document_becomes_suspect(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", book(PROSE, PROSE, GERMAN, PROSE, PROSE))
    yard.ingest(LayerEngine())
    assert _found(yard) == [(3, "language-jump")]
    verdicts = [row.verdict for row in yard.rows("edition_page")]
    assert verdicts == ["good", "good", "suspect", "good", "good"]
    assert [row.verdict for row in yard.rows("reading")].count("suspect") == 1
    assert yard.document("a.pdf").status is DocumentStatus.NEEDS_REVIEW
    assert check_ledger(yard.database) == ()


def test_loading_again_finds_the_same_once_and_makes_no_other_edition(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", book(PROSE, PROSE, GERMAN, PROSE, PROSE))
    yard.ingest(LayerEngine())
    before = yard.rows("finding"), yard.rows("reading"), yard.rows("edition")
    _load_again(yard)
    assert sum(row.stage == "load" for row in yard.rows("stage_run")) == 2
    assert (yard.rows("finding"), yard.rows("reading"), yard.rows("edition")) == before


def test_a_page_that_fits_in_once_its_neighbours_are_other_ones_is_good_again(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", book(GERMAN, GERMAN, PROSE, GERMAN))
    yard.ingest(LayerEngine())
    assert _found(yard) == [(3, "language-jump")]
    english = "UPDATE reading SET text = %s WHERE page_no <> 3"
    yard.database.run(lambda conn: conn.exec_driver_sql(english, (PROSE,)))
    _load_again(yard)
    assert _found(yard) == []
    assert {row.verdict for row in yard.rows("reading")} == {"good"}
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE


def test_what_a_page_has_of_its_own_stays_with_it(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", book(GERMAN, GERMAN, PROSE, GERMAN))
    yard.ingest(LayerEngine())
    own = "INSERT INTO finding (document_id, page_no, reading_id, code, severity, message, evidence) "
    own += "SELECT document_id, page_no, id, 'low-confidence', 'warning', 'Doubtful.', '{}' FROM reading "
    yard.database.run(lambda conn: conn.exec_driver_sql(own + "WHERE page_no = 3"))
    english = "UPDATE reading SET text = %s WHERE page_no <> 3"
    yard.database.run(lambda conn: conn.exec_driver_sql(english, (PROSE,)))
    _load_again(yard)
    third = next(row for row in yard.rows("reading") if row.page_no == 3)
    found = yard.database.run(lambda conn: readings.findings_of(conn, [third.id]))
    assert "low-confidence" in {finding.code for finding in found[third.id]}
    assert third.verdict == Verdict.SUSPECT.value


def test_bad_pages_are_no_neighbours_and_stay_bad(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", book(PROSE, GERMAN, PROSE))
    yard.ingest(LayerEngine())
    assert _found(yard) == [(2, "language-jump")]
    bad = "UPDATE reading SET verdict = 'bad' WHERE page_no <> 2"
    yard.database.run(lambda conn: conn.exec_driver_sql(bad))
    _load_again(yard)
    assert _found(yard) == []
    assert [row.verdict for row in yard.rows("reading")] == ["bad", "good", "bad"]
    assert yard.document("a.pdf").status is DocumentStatus.PARTIAL
