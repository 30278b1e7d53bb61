"""Text layers beside a served model: compared with what it reads, or taken in its place."""

import pymupdf
import pytest
from PIL import Image

from models import profiles
from models.document import DocumentStatus
from models.reading import ReadingSource
from models.verdict import Verdict
from tasks.work.engines.fake import FakeEngine, said
from tests import factories
from tests.flows.yard import Yard
from tests.unit.paperwork import two_columns

pytestmark = pytest.mark.slow

WORDS = "The harbour master counted forty barrels of salted herring before breakfast"
OTHER = "Nobody expects a lecture about tropical orchids on a quiet Sunday evening"
PREFER = ("text_layer=prefer",)


@pytest.fixture
def glm(yard: Yard) -> Yard:
    """The yard with a served profile that asks once."""
    yard.profile = profiles.get("glm-ocr").model_copy(update={"ladder": ()})
    return yard


def hidden(layer: str, picture: Image.Image | None = None) -> bytes:
    """A scan whose text layer stands where there is no ink."""
    with pymupdf.open(stream=factories.scan_pdf(picture or factories.picture("Salt herring"))) as document:
        page = document[0]
        page.insert_text((20, page.rect.height - 20), layer, fontsize=6, render_mode=3)
        return bytes(document.tobytes())


def codes(yard: Yard) -> set[str]:
    return {row.code for row in yard.rows("finding")}


def test_what_a_served_model_reads_is_compared_with_the_text_layer(glm: Yard) -> None:
    factories.write(glm.inbox / "a.pdf", factories.pdf(WORDS))
    glm.ingest(FakeEngine(default=said(WORDS)))
    (row,) = glm.rows("reading")
    assert row.layer_agreement == pytest.approx(1.0)
    assert (row.source, row.verdict) == (ReadingSource.OCR.value, Verdict.GOOD.value)


def test_a_fluent_answer_about_something_else_is_doubted(glm: Yard) -> None:
    factories.write(glm.inbox / "a.pdf", factories.pdf(WORDS))
    glm.ingest(FakeEngine(default=said(OTHER)))
    assert "layer-disagreement" in codes(glm)
    assert glm.document("a.pdf").status is DocumentStatus.NEEDS_REVIEW


def test_nothing_read_where_the_layer_has_words_is_an_error(glm: Yard) -> None:
    factories.write(glm.inbox / "a.pdf", factories.pdf(WORDS))
    glm.ingest(FakeEngine(default=said("")))
    (row,) = glm.rows("finding", code="empty-with-ink")
    assert row.evidence["layer_words"] == len(WORDS.split())


def test_a_layer_that_is_not_on_the_page_doubts_nothing(glm: Yard) -> None:
    factories.write(glm.inbox / "a.pdf", hidden(OTHER))
    glm.ingest(FakeEngine(default=said("Salt herring")))
    assert "layer-disagreement" not in codes(glm)
    assert any(code.startswith("layer-rejected") for code in codes(glm))


def test_a_stamp_is_no_witness(glm: Yard) -> None:
    factories.write(glm.inbox / "a.pdf", factories.pdf("Page 7"))
    glm.ingest(FakeEngine(default=said(OTHER)))
    assert [row.layer_agreement for row in glm.rows("reading")] == [None]


def test_a_layer_that_is_to_be_ignored_is_not_compared(glm: Yard) -> None:
    factories.write(glm.inbox / "a.pdf", factories.pdf(WORDS))
    glm.ingest(FakeEngine(default=said(OTHER)), ("text_layer=ignore",))
    assert [row.layer_agreement for row in glm.rows("reading")] == [None]


def test_a_sane_layer_that_is_preferred_is_taken_and_nobody_is_asked(glm: Yard) -> None:
    factories.write(glm.inbox / "a.pdf", factories.pdf(WORDS, OTHER))
    engine = glm.ingest(FakeEngine(default=said("never")), PREFER)
    assert engine.requests == []
    rows = glm.rows("reading")
    assert [row.source for row in rows] == [ReadingSource.TEXT_LAYER.value] * 2
    assert [row.text for row in rows] == [WORDS, OTHER]


def test_pages_without_a_sane_layer_are_read_though_layers_are_preferred(glm: Yard) -> None:
    factories.write(glm.inbox / "a.pdf", factories.pdf(WORDS))
    factories.write(glm.inbox / "b.pdf", hidden(OTHER))
    factories.write(glm.inbox / "c.pdf", factories.scan_pdf(factories.picture("Forty barrels")))
    engine = glm.ingest(FakeEngine(default=said("Salt herring")), PREFER)
    assert len(engine.requests) == 2
    assert {request.trial.rung for request in engine.requests} == {"first"}


def test_a_page_whose_preferred_layer_is_not_sane_is_asked_for_by_regions_where_that_is_wished(
    glm: Yard,
) -> None:
    glm.settings = glm.settings.model_copy(update={"render_timeout_s": 120.0})
    factories.write(glm.inbox / "a.pdf", hidden(OTHER, two_columns()))
    engine = glm.ingest(FakeEngine(default=said("A region of the page")), (*PREFER, "regions=layout"))
    assert len(engine.requests) >= 2
    assert all(request.region is not None for request in engine.requests)
