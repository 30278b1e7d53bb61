"""Pages that a model reads badly are asked for in other ways, and the best answer is kept: real runs."""

from dataclasses import replace
from pathlib import Path

import pytest

from models.document import DocumentStatus
from models.engine import OcrRequest
from models.errors import Code, PageFailed
from models.profiles import PROFILES
from models.reading import Block, BlockType, FinishReason, Reading
from models.vlm import Rung
from tasks.work.engines.fake import Answer, FakeEngine, said
from tests import factories
from tests.flows.climbing import (
    CUT,
    EMPTY,
    GOOD,
    HOTTER,
    LOOP,
    LOOPS,
    STOPPED,
    WORDS,
    climbing,
    page,
    tries,
)
from tests.flows.yard import Yard


def asked(engine: FakeEngine) -> list[str]:
    return [request.trial.rung for request in engine.requests]


@pytest.mark.parametrize("bad", [LOOP, STOPPED], ids=["found by us", "stopped by the server"])
def test_a_loop_is_read_again_with_other_sampling(yard: Yard, bad: Reading) -> None:
    page(climbing(yard, HOTTER))
    engine = yard.ingest(FakeEngine([bad, GOOD]))
    (row,) = yard.rows("reading")
    assert (row.text, row.verdict, row.attempts) == (WORDS, "good", 2)
    assert (row.trial.rung, row.trial.temperature) == ("sampling", 0.3)
    assert tries(yard) == [("first", "bad", False), ("sampling", "good", True)]
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE
    assert [request.trial.repetition_penalty for request in engine.requests] == [None, 1.1]


def test_what_was_answered_and_not_kept_is_in_the_attempts(yard: Yard) -> None:
    page(climbing(yard, HOTTER))
    yard.ingest(FakeEngine([LOOP, GOOD]))
    first, second = yard.rows("attempt")
    assert (first.raw, second.raw) == (LOOP.text, None)
    assert "loop" in first.codes
    assert (first.number, second.number, first.profile) == (1, 2, "ppocr")
    (run,) = yard.rows("run")
    assert {row.run_id for row in (first, second)} == {run.id}


def test_a_page_read_well_at_once_costs_one_try_and_leaves_no_attempts(yard: Yard) -> None:
    page(climbing(yard, HOTTER))
    engine = yard.ingest(FakeEngine(default=GOOD))
    assert asked(engine) == ["first"]
    assert yard.rows("attempt") == []
    assert yard.rows("reading")[0].trial is None


def test_a_cut_answer_is_read_in_halves_that_are_joined_in_order(yard: Yard) -> None:
    page(climbing(yard, Rung(kind="halves", when=("truncated",))))

    def script(request: OcrRequest) -> Answer:
        if request.trial.rung == "first":
            return CUT
        is_top = request.image.transform.point(0, 0)[1] < 100
        return said("the upper half" if is_top else "the lower half")

    engine = yard.ingest(FakeEngine(script))
    (row,) = yard.rows("reading")
    assert row.text == "the upper half\n\nthe lower half"
    assert [block.text for block in row.blocks] == ["the upper half", "the lower half"]
    assert (row.verdict, row.attempts, len(engine.requests)) == ("good", 2, 3)


def test_a_page_that_stays_cut_is_stored_as_truncated_and_the_others_are_found(yard: Yard) -> None:
    rungs = Rung(kind="sampling", sampling={"max_tokens": 16_000}, when=("truncated",)), Rung(kind="halves")
    page(climbing(yard, *rungs), "a.pdf", "ONE " * 9, "TWO " * 20, "THREE " * 9)
    wide: list[str] = []

    def script(request: OcrRequest) -> Answer:
        if not wide:
            wide.append(str(request.width_pt))
            return CUT
        return CUT if request.trial.rung != "first" else GOOD

    engine = yard.ingest(FakeEngine(script, slots=1))
    assert sorted(row.verdict for row in yard.rows("reading")) == ["bad", "good", "good"]
    assert yard.document("a.pdf").status is DocumentStatus.PARTIAL
    assert [row.code for row in yard.rows("edition_page") if row.code] == ["truncated"]
    assert asked(engine).count("halves") == 2
    assert 16_000 in [request.trial.max_tokens for request in engine.requests]


def test_a_sideways_page_is_read_at_the_angle_that_reads_best(yard: Yard) -> None:
    page(climbing(yard, Rung(kind="turn", degrees=(180, 90, 270), when=LOOPS)))

    def script(request: OcrRequest) -> Answer:
        return GOOD if request.trial.turn == 90 else LOOP

    engine = yard.ingest(FakeEngine(script))
    assert asked(engine) == ["first", "turn 180", "turn 90"]
    upright, upside_down, turned = (request.image for request in engine.requests)
    assert (upright.width_px, upright.height_px) == (upside_down.width_px, upside_down.height_px)
    assert (upright.width_px, upright.height_px) == (turned.height_px, turned.width_px)
    assert yard.rows("reading")[0].trial.turn == 90


def test_what_is_read_on_a_turned_picture_lands_where_it_stands_on_the_page(yard: Yard) -> None:
    page(climbing(yard, Rung(kind="turn", degrees=(180,), when=("empty-with-ink",))))

    def script(request: OcrRequest) -> Answer:
        if request.trial.rung == "first":
            return EMPTY
        # Upside down, the line near the top of the page is near the bottom right.
        x, y = request.image.transform.point(request.image.width_px, request.image.height_px)
        assert max(abs(x), abs(y)) < 2
        return GOOD

    yard.ingest(FakeEngine(script))
    assert yard.rows("reading")[0].verdict == "good"


def test_small_print_is_drawn_larger_from_the_source(yard: Yard) -> None:
    page(climbing(yard, Rung(kind="larger", factor=2.0, when=("empty-with-ink",))))
    engine = yard.ingest(FakeEngine([EMPTY, GOOD]), recipe=("long_edge_px=800",))
    small, large = (request.image for request in engine.requests)
    assert 1.8 < large.width_px * large.height_px / (small.width_px * small.height_px) < 2.2
    assert yard.rows("reading")[0].verdict == "good"
    # The page image of the recipe stays what it was.
    assert [row.sha256 for row in yard.rows("page_image")] == [small.sha256]


def test_a_page_made_as_small_as_legible_is_asked_at_full_size_before_it_is_turned(yard: Yard) -> None:
    page(climbing(yard, *PROFILES["glm-ocr"].ladder))

    def script(request: OcrRequest) -> Answer:
        full = request.image.width_px * request.image.height_px > 3_500_000
        return GOOD if full else EMPTY

    engine = yard.ingest(FakeEngine(script), recipe=("resolution=legible", "text_layer=ignore"))
    steps = asked(engine)
    assert (steps[0], steps[-1]) == ("first", "larger")
    assert not any("turn" in step for step in steps)
    first, *_, last = (request.image for request in engine.requests)
    assert first.width_px * first.height_px * 1.5 < last.width_px * last.height_px
    assert yard.rows("reading")[0].verdict == "good"


def test_a_step_that_cannot_be_taken_is_passed_over(yard: Yard) -> None:
    page(climbing(yard, Rung(kind="larger", factor=2.0), Rung(kind="text-layer"), Rung(kind="sampling")))

    def script(request: OcrRequest) -> Answer:
        for path in Path(yard.inbox).iterdir():
            path.unlink()
        return EMPTY if request.trial.rung == "first" else GOOD

    engine = yard.ingest(FakeEngine(script), recipe=("text_layer=ignore",))
    assert asked(engine) == ["first", "sampling"]
    assert tries(yard) == [("first", "bad", False), ("sampling", "good", True)]


def test_another_profile_reads_what_this_one_cannot(yard: Yard) -> None:
    yard.others["rapidocr"] = FakeEngine(default=replace(GOOD, engine="another"))
    page(climbing(yard, Rung(kind="profile", profile="rapidocr")))
    engine = yard.ingest(FakeEngine([LOOP]))
    (row,) = yard.rows("reading")
    assert (row.engine, row.text, row.trial.rung) == ("another", WORDS, "profile rapidocr")
    assert [row.profile for row in yard.rows("attempt")] == ["ppocr", "rapidocr"]
    assert len(engine.requests) == len(yard.others["rapidocr"].requests) == 1
    assert yard.others["rapidocr"].requests[0].recipe.profile == "rapidocr"


def test_a_sane_text_layer_stands_in_for_a_page_that_nothing_reads(yard: Yard) -> None:
    page(climbing(yard, Rung(kind="sampling"), Rung(kind="text-layer")))
    yard.ingest(FakeEngine(default=LOOP))
    (row,) = yard.rows("reading")
    assert (row.source, row.text, row.attempts) == ("text-layer", WORDS, 3)
    assert "layer-unproven" in row.notes


def test_the_best_answer_is_kept_not_the_last(yard: Yard) -> None:
    better = Reading(GOOD.source, "Some", (Block(BlockType.PARAGRAPH, "Some"),), FinishReason.LENGTH)
    page(
        climbing(
            yard, Rung(kind="sampling"), Rung(kind="turn", degrees=(180,)), Rung(kind="smaller", factor=0.5)
        )
    )
    yard.ingest(FakeEngine([EMPTY, better, LOOP, EMPTY]))
    (row,) = yard.rows("reading")
    assert (row.text, row.verdict, row.attempts) == ("Some", "bad", 4)
    assert [is_kept for _, _, is_kept in tries(yard)] == [False, True, False, False]


def test_a_picture_too_large_for_the_server_is_sent_smaller_and_never_unchanged(yard: Yard) -> None:
    page(climbing(yard, Rung(kind="sampling"), Rung(kind="smaller", factor=0.5, when=("too-large",))))

    def script(request: OcrRequest) -> Answer:
        is_large = request.image.width_px * request.image.height_px > 1_000_000
        return PageFailed("exceeds the pre-allocated encoder cache", Code.TOO_LARGE) if is_large else GOOD

    engine = yard.ingest(FakeEngine(script))
    assert asked(engine) == ["first", "smaller"]
    assert len({request.image.sha256 for request in engine.requests}) == 2
    assert yard.rows("reading")[0].verdict == "good"
    assert yard.rows("attempt")[0].codes == ("too-large",)


def test_a_page_that_is_refused_smaller_too_fails_with_that_reason(yard: Yard) -> None:
    page(climbing(yard, Rung(kind="smaller", factor=0.5, when=("ocr-rejected",)), Rung(kind="sampling")))
    engine = yard.ingest(FakeEngine(default=PageFailed("bad request", Code.OCR_REJECTED)))
    assert asked(engine) == ["first", "smaller"]
    assert yard.document("a.pdf").code == "ocr-rejected"
    assert [row.codes for row in yard.rows("attempt")] == [("ocr-rejected",)] * 2
    assert yard.rows("reading") == []


def test_gibberish_beyond_what_the_ink_can_draw_is_asked_for_again(yard: Yard) -> None:
    gibberish = " ".join(f"{number:x}{number * 7919:x}" for number in range(3000))
    page(climbing(yard, Rung(kind="sampling", when=("too-much-text",))))
    engine = yard.ingest(FakeEngine([said(gibberish), GOOD]))
    assert asked(engine) == ["first", "sampling"]
    assert yard.rows("reading")[0].text == WORDS


def test_a_blank_page_is_never_sent_whatever_the_ladder(yard: Yard) -> None:
    climbing(yard, Rung(kind="sampling"))
    factories.write(yard.inbox / "a.pdf", factories.pdf(""))
    assert yard.ingest(FakeEngine(default=said("The Art of War"))).requests == []
    assert [row.verdict for row in yard.rows("reading")] == ["blank"]
