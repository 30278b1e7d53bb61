"""Pages that are asked for by regions, in real runs: children cut them, one reading a page comes of it."""

import threading
from dataclasses import replace
from typing import Any

import pytest

from models import profiles
from models.document import DocumentStatus
from models.engine import OcrRequest
from models.errors import Code, ConfigurationError, EnvironmentFault, PageFailed
from models.reading import FinishReason, Reading
from models.vlm import Rung
from tasks.work import regions_net
from tasks.work.engines.fake import FakeEngine, said
from tasks.work.regions_asked import check
from tests import factories
from tests.flows.yard import Yard
from tests.unit.paperwork import LEFT, paper, two_columns

pytestmark = pytest.mark.slow
BY_REGIONS = ("regions=layout",)


@pytest.fixture
def glm(yard: Yard) -> Yard:
    """The yard with a profile that can be asked by regions and asks once, and time to cut pages."""
    yard.settings = yard.settings.model_copy(update={"render_timeout_s": 120.0})
    yard.profile = profiles.get("glm-ocr").model_copy(update={"ladder": ()})
    return yard


def page(yard: Yard, picture: Any = None) -> None:
    factories.write(yard.inbox / "a.pdf", factories.scan_pdf(picture or two_columns()))


def by_place(request: OcrRequest) -> Reading:
    """Says where on the page a region lies."""
    if request.region is None:
        return said("the whole page, from top to bottom")
    x0, y0 = request.region.box[:2]
    return said(f"region at {'left' if x0 < 300 else 'right'} {y0:.0f}")


def test_a_page_is_read_region_by_region_and_kept_as_one_reading(glm: Yard) -> None:
    page(glm)
    engine = glm.ingest(FakeEngine(by_place, slots=4), BY_REGIONS)
    (row,) = glm.rows("reading")
    assert len(engine.requests) >= 3
    assert row.text.count("region at") == len(engine.requests)
    assert row.text.index("left") < row.text.index("right")
    assert (row.attempts, len(glm.rows("attempt"))) == (1, 0)
    assert all(block.box for block in row.blocks)
    assert {claim.status for claim in glm.rows("claim")} == {"done"}


def test_whole_pages_are_what_is_asked_for_by_default(glm: Yard) -> None:
    page(glm)
    engine = glm.ingest(FakeEngine(by_place))
    assert [request.region for request in engine.requests] == [None]


def test_a_page_of_one_region_is_asked_for_whole(glm: Yard) -> None:
    page(glm, paper((LEFT, 110, 260)))
    engine = glm.ingest(FakeEngine(by_place), BY_REGIONS)
    assert [request.region for request in engine.requests] == [None]
    (row,) = glm.rows("reading")
    assert row.text.startswith("the whole page")
    assert engine.requests[0].trial.rung == "whole"


def test_a_page_that_cannot_be_cut_is_asked_for_whole(glm: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    page(glm)
    monkeypatch.setattr("tasks.ladder.by_regions", _broken)
    engine = glm.ingest(FakeEngine(by_place), BY_REGIONS)
    assert [request.region for request in engine.requests] == [None]
    assert glm.document("a.pdf").status is not DocumentStatus.FAILED


def _broken(*_: object) -> None:
    raise ValueError("no cutting today")


def test_one_region_cut_short_makes_the_page_bad(glm: Yard) -> None:
    page(glm)
    answered = threading.Event()

    def short_once(request: OcrRequest) -> Reading | None:
        if answered.is_set():
            return by_place(request)
        answered.set()
        return replace(said("cut sho"), finish_reason=FinishReason.LENGTH)

    glm.ingest(FakeEngine(short_once), BY_REGIONS)
    (row,) = glm.rows("reading")
    assert (row.finish_reason, row.verdict) == ("length", "bad")
    assert row.text.count("region at") >= 2


def test_a_region_that_is_refused_sends_the_page_down_the_ladder(glm: Yard) -> None:
    glm.profile = glm.profile.model_copy(update={"ladder": (Rung(kind="smaller", factor=0.5),)})
    page(glm)
    refused = PageFailed("no such picture", Code.OCR_REJECTED)
    glm.ingest(FakeEngine(lambda request: refused if request.region else said("read at last")), BY_REGIONS)
    (row,) = glm.rows("reading")
    assert (row.text, row.trial.rung, row.attempts) == ("read at last", "smaller", 2)


def test_the_ladder_splits_a_page_that_loops_into_regions(glm: Yard) -> None:
    glm.profile = glm.profile.model_copy(update={"ladder": (Rung(kind="regions", when=("loop",)),)})
    page(glm)
    engine = glm.ingest(FakeEngine(lambda one: by_place(one) if one.region else said("THIS FAR " * 4_000)))
    (row,) = glm.rows("reading")
    assert (row.trial.rung, row.attempts, row.verdict) == ("regions", 2, "good")
    assert len(engine.requests) >= 4
    assert [attempt.is_kept for attempt in glm.rows("attempt")] == [False, True]


def test_what_was_asked_by_regions_is_not_split_again(glm: Yard) -> None:
    glm.profile = glm.profile.model_copy(update={"ladder": (Rung(kind="regions", when=("loop",)),)})
    page(glm)
    glm.ingest(FakeEngine(default=said("THIS FAR " * 4_000)), BY_REGIONS)
    (row,) = glm.rows("reading")
    assert (row.attempts, row.verdict) == (1, "bad")


def test_without_a_detector_the_run_ends_with_what_to_install(
    glm: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(regions_net, "find_spec", lambda _: None)
    recipe = glm.profile.recipe().with_options(BY_REGIONS)
    with pytest.raises(EnvironmentFault, match="pagemill\\[layout\\]"):
        check(glm.profile, recipe)
    with pytest.raises(ConfigurationError, match="regions"):
        glm.profile.recipe().with_options(["regions=some"])
