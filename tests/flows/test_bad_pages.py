"""Bad pages keep number, picture and reason wherever their document is seen; nothing invented is found."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from cli.choices import Format, Mode
from cli.export.formats import RENDERERS
from cli.searching import Answer, print_hits
from cli.views import DocumentView, picture_path, view_of, with_pictures
from db import review, search
from models.reading import Block, BlockType, FinishReason
from models.review import Gap
from tasks.work.engines.fake import said
from tests import factories
from tests.flows.backfilling import WordEngine
from tests.flows.yard import Yard

# Starts worker processes; `make check` has a minute.
pytestmark = pytest.mark.slow

CUT = replace(said("invented zebra"), finish_reason=FinishReason.LENGTH)
PICTURE = Block(BlockType.PICTURE, "a painted giraffe")
ILLUSTRATED = replace(said("true words"), blocks=(*said("true words").blocks, PICTURE))


@pytest.fixture
def read(yard: Yard) -> Yard:
    """A good page, a bad one, and one with a described picture."""
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO", "THREE"))
    yard.ingest(WordEngine({"ONE": said("plain words"), "TWO": CUT, "THREE": ILLUSTRATED}))
    return yard


def _view(yard: Yard) -> DocumentView:
    return with_pictures(yard.database.run(lambda conn: view_of(conn, "1")), yard.settings)


def _hits(yard: Yard, words: str) -> int:
    return len(yard.database.run(lambda conn: search.search(conn, words)))


def test_neither_bad_text_nor_descriptions_of_pictures_are_found(read: Yard) -> None:
    assert (_hits(read, "words"), _hits(read, "zebra"), _hits(read, "giraffe")) == (1, 0, 0)
    assert not [row for row in read.rows("chunk") if "zebra" in row.text or "giraffe" in row.text]


@pytest.mark.parametrize("kind", Format)
def test_every_export_has_number_reason_and_picture_of_a_bad_page(read: Yard, kind: Format) -> None:
    view = _view(read)
    path = view.pictures[2]
    assert Path(path).is_file()
    assert list(view.pictures) == [2]
    text = RENDERERS[kind](view)
    picture = "data:image/jpeg;base64," if kind is Format.HTML else path
    assert picture in text
    if kind is Format.JSON:
        page = json.loads(text)["pages"][1]
        assert (page["page_no"], page["verdict"], page["code"]) == (2, "bad", "truncated")
    else:
        assert "Page 2 could not be read (truncated)" in text
        assert "zebra" not in text


def test_search_tells_which_pages_of_the_documents_found_could_not_be_read(read: Yard) -> None:
    hits = read.database.run(lambda conn: search.search(conn, "words"))
    (gap,) = read.database.run(lambda conn: review.gaps(conn, {hit.document_id for hit in hits}))
    assert (gap.document_id, gap.page_no, gap.code) == (1, 2, "truncated")
    told = replace(gap, picture=picture_path(read.settings, gap.image_sha256, gap.image_suffix))
    out = Console(width=200, markup=False, highlight=False)
    with out.capture() as captured:
        print_hits(Answer("words", Mode.TEXT, hits, (told,) * 12), out)
    assert "Document 1, page 2 could not be read (truncated): " in captured.get()
    assert told.picture in captured.get()
    assert "and 2 pages more." in captured.get()


def test_a_picture_that_was_purged_is_not_named(read: Yard) -> None:
    for path in read.settings.store.rglob("*.jpg"):
        path.unlink()
    assert _view(read).pictures == {}
    assert "Page 2 could not be read" in RENDERERS[Format.MD](_view(read))
    gap = Gap(1, 2, None, None, "ab" * 32, ".jpg")
    assert picture_path(read.settings, gap.image_sha256, gap.image_suffix) == ""
