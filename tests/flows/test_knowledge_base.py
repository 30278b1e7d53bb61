"""What search, show and export see of partial, changed, blank, dirty and re-read documents."""

import math
import os
import signal
import subprocess
import sys
from concurrent.futures import Future

import pytest

from cli.choices import Format
from cli.export.formats import RENDERERS
from cli.views import view_of
from db.search import search
from models.document import DocumentStatus
from models.engine import OcrRequest
from models.errors import Code, EngineUnavailable, PageFailed
from models.geometry import Box
from models.reading import Block, BlockType, Reading, ReadingSource
from models.search import Hit
from tasks.work.engines.fake import said
from tests import factories
from tests.flows.engines import LayerEngine
from tests.flows.yard import Yard, saying

# Each starts worker processes; `make check` has a minute.
pytestmark = pytest.mark.slow

_KILLED_IN_LOAD = """
import os, sys
from pathlib import Path
from db import editions
from db.engine import Database
from tests.flows.engines import LayerEngine
from tests.flows.yard import Yard
editions.supersede = lambda *_: os.kill(os.getpid(), 9)
yard = Yard(Database(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
yard.ingest(LayerEngine())
"""


def _search(yard: Yard, query: str) -> tuple[Hit, ...]:
    return yard.database.run(lambda conn: search(conn, query))


def _export(yard: Yard, name: str, kind: Format) -> str:
    path = str(yard.inbox / name)
    return RENDERERS[kind](yard.database.run(lambda conn: view_of(conn, path)))


def test_page_2_is_found_by_what_stands_on_page_2(yard: Yard) -> None:
    texts = [f"The {word} stands here. " * 40 for word in ("anchor", "rudder", "mast")]
    factories.write(yard.inbox / "a.pdf", factories.pdf("anchor", "rudder", "mast"))
    yard.ingest(saying(*map(said, texts)))
    factories.write(yard.inbox / "b.pdf", factories.pdf("compass", "sextant", "chart"))
    yard.ingest(LayerEngine())
    (hit,) = _search(yard, "sextant")
    assert 2 in hit.pages
    view = yard.database.run(lambda conn: view_of(conn, str(yard.inbox / "b.pdf")))
    assert [(page.page_no, page.text) for page in view.pages] == [
        (1, "compass"),
        (2, "sextant"),
        (3, "chart"),
    ]


def test_a_partial_document_is_found_by_its_good_pages_and_shows_the_bad_one_in_its_place(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("1", "2", "3"))
    yard.ingest(saying(said("anchor"), PageFailed("Torn in two.", Code.OCR_FAILED), said("mast")))
    assert yard.document("a.pdf").status is DocumentStatus.PARTIAL
    assert len(_search(yard, "anchor")) == len(_search(yard, "mast")) == 1
    for kind in (Format.MD, Format.HTML, Format.TXT):
        text = _export(yard, "a.pdf", kind)
        assert "could not be read (ocr-failed): Torn in two." in text
        assert "anchor" in text
        assert "mast" in text


def test_what_an_engine_says_with_nul_and_half_characters_is_kept_clean(yard: Yard) -> None:
    dirty = "anchor a\x00b \ud835 and \ud83d\ude00\x07"
    cells = (("cell \x00", "\udfff"),)
    blocks = (
        Block(BlockType.PARAGRAPH, dirty),
        Block(BlockType.TABLE, "cell \x00\t\udfff", rows=cells, html="<b>\x00</b>"),
    )
    text = "\n\n".join(block.text for block in blocks)
    reading = Reading(ReadingSource.OCR, text, blocks, engine="e\x00", raw="raw \x00", notes=("odd\x00",))
    factories.write(yard.inbox / "a.pdf", factories.pdf("1", "2"))
    yard.ingest(saying(reading))
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE
    stored = next(row for row in yard.rows("reading") if "anchor" in row.text)
    assert stored.text.startswith("anchor ab  and 😀\n")
    assert stored.blocks[1].rows == (("cell ", ""),)
    assert "text-cleaned" in {row.code for row in yard.rows("finding")}
    assert len(_search(yard, "anchor")) == 1


def test_a_page_whose_figures_the_database_refuses_ends_alone(yard: Yard) -> None:
    nowhere = Block(BlockType.PARAGRAPH, "lost", Box(math.nan, 0, math.inf, 1))
    odd = Reading(ReadingSource.OCR, "lost", (nowhere,))
    factories.write(yard.inbox / "a.pdf", factories.pdf("1", "2", "3"))
    yard.ingest(saying(odd, said("anchor"), said("mast")))
    document = yard.document("a.pdf")
    assert (document.status, document.code) == (DocumentStatus.PARTIAL, "internal")
    assert "lost" not in (document.message or "")
    assert len(_search(yard, "anchor")) == len(_search(yard, "mast")) == 1


def test_an_error_with_half_characters_in_its_words_ends_its_page_alone(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("1", "2"))
    yard.ingest(saying(PageFailed("It said a\x00b\ud835.", Code.OCR_FAILED), said("fine")))
    document = yard.document("a.pdf")
    assert (document.status, document.code) == (DocumentStatus.PARTIAL, "ocr-failed")
    assert "It said ab." in (document.message or "")


def test_an_engine_that_raises_what_nobody_foresaw_ends_its_page_alone(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("1", "2"))
    yard.ingest(saying(ZeroDivisionError("a\x00b"), said("fine")))
    document = yard.document("a.pdf")
    assert (document.status, document.code) == (DocumentStatus.PARTIAL, "internal")


def test_what_is_stored_is_what_was_returned_to_the_character(yard: Yard) -> None:
    answers = ["Tab\there, “quotes”, ½ µ ﬁ 文字化け", "e\u0301 ≠ é; line\nbreak", "RTL שלום 123 \u202eabc"]
    factories.write(yard.inbox / "a.pdf", factories.pdf("1", "2", "3"))
    yard.ingest(saying(*map(said, answers)))
    assert sorted(row.text for row in yard.rows("reading")) == sorted(answers)
    stored = [block.text for row in yard.rows("reading") for block in row.blocks]
    assert sorted(stored) == sorted(answers)


def test_ingesting_a_changed_file_again_and_again_changes_no_count(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf(*(f"old {n}" for n in range(5))))
    yard.ingest(LayerEngine())
    factories.write(yard.inbox / "a.pdf", factories.pdf(*(f"new {n}" for n in range(3))))
    yard.ingest(LayerEngine())
    tables = ("document", "source", "page", "reading", "edition", "edition_page", "chunk", "finding")
    before = {table: len(yard.rows(table)) for table in tables}
    for _ in range(2):
        yard.ingest(LayerEngine())
    assert before == {table: len(yard.rows(table)) for table in tables}
    assert yard.document("a.pdf").page_count == 3
    assert _search(yard, "old") == ()
    assert [hit.document_id for hit in _search(yard, "new")] == [yard.document("a.pdf").id]


def test_a_blank_page_in_the_place_of_a_text_takes_the_text_away(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("anchor"))
    yard.ingest(LayerEngine())
    factories.write(yard.inbox / "a.pdf", factories.pdf(""))
    yard.ingest(LayerEngine())
    assert _search(yard, "anchor") == ()
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE
    assert "Page 1 is blank." in _export(yard, "a.pdf", Format.MD)


def test_the_old_content_stays_searchable_when_nothing_of_the_new_can_be_read(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("anchor"))
    yard.ingest(LayerEngine())
    factories.write(yard.inbox / "a.pdf", factories.pdf("rudder", "mast"))
    yard.ingest(saying(*[EngineUnavailable("no answer")] * 8))
    assert len(_search(yard, "anchor")) == 1
    yard.ingest(LayerEngine())
    assert _search(yard, "anchor") == ()
    assert len(_search(yard, "rudder")) == 1


def test_the_old_readings_stay_searchable_when_nothing_is_read_under_another_recipe(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("anchor"))
    yard.ingest(LayerEngine())
    shown = yard.document("a.pdf").edition_id
    yard.ingest(saying(*[EngineUnavailable("no answer")] * 4), recipe=("long_edge_px=1000",))
    assert yard.document("a.pdf").edition_id == shown
    assert yard.document("a.pdf").code == "engine-unavailable"
    assert len(_search(yard, "anchor")) == 1
    yard.ingest(LayerEngine(), recipe=("long_edge_px=1000",))
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE
    assert yard.document("a.pdf").edition_id != shown
    assert len(_search(yard, "anchor")) == 1


class _Away(LayerEngine):
    """Cannot be reached for pages with a rudder."""

    def submit(self, request: OcrRequest) -> Future[Reading]:
        answer = super().submit(request)
        if any(word.text == "rudder" for word in request.words):
            answer = Future()
            answer.set_exception(EngineUnavailable("no answer"))
        return answer


def test_what_is_shown_stays_while_pages_of_another_recipe_wait_for_the_engine(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("anchor", "rudder"))
    yard.ingest(LayerEngine())
    shown = yard.document("a.pdf").edition_id
    yard.ingest(_Away(), recipe=("long_edge_px=1000",))
    document = yard.document("a.pdf")
    assert (document.status, document.code) == (DocumentStatus.PARTIAL, "engine-unavailable")
    assert document.edition_id == shown
    assert len(_search(yard, "anchor")) == len(_search(yard, "rudder")) == 1
    yard.ingest(saying(PageFailed("torn", Code.OCR_FAILED)), recipe=("long_edge_px=1000",))
    assert yard.document("a.pdf").edition_id != shown
    assert _search(yard, "rudder") == ()


def test_a_load_killed_before_its_commit_shows_nothing_and_the_next_run_shows_it_once(
    yard: Yard, postgres: str
) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("anchor", "rudder"))
    arguments = [postgres, str(yard.home), str(yard.inbox)]
    run = subprocess.run([sys.executable, "-c", _KILLED_IN_LOAD, *arguments], check=False)
    assert run.returncode == -signal.SIGKILL
    assert (yard.rows("edition"), yard.rows("chunk")) == ([], [])
    assert len(yard.rows("reading")) == 2
    assert yard.ingest().requests == []
    assert len(_search(yard, "anchor")) == 1
    assert len(yard.rows("edition")) == 1
    assert os.getpid() not in {row.pid for row in yard.rows("run")[:1]}
