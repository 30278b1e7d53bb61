"""What steps of the ladder work with: other pictures, parts put together, a text layer that stands in."""

from dataclasses import replace
from pathlib import Path

import pytest

from models.engine import OcrRequest
from models.errors import PageFailed
from models.geometry import Box, Transform
from models.page import PageImage, Word
from models.reading import Block, BlockType, FinishReason, Reading, ReadingSource, Trial
from models.recipe import Recipe
from tasks.work.engines.fake import said
from tasks.work.rungs import joined, layer_reading, variants
from tasks.work.store import Store
from tests import factories

LATIN = frozenset({"latin"})


def request(folder: Path, *words: Word, text: str = "Plain words on paper") -> OcrRequest:
    """A page whose picture shows `text`, a point a pixel, with this text layer."""
    picture = factories.picture(text, (800, 400), font_px=40)
    sha256 = Store(folder).put(factories.picture_bytes(picture, "JPEG"), ".jpg")
    image = PageImage(sha256, ".jpg", 800, 400, Transform.scale(1, 1), 0.1, is_blank=False)
    path = Store(folder).path(sha256, ".jpg")
    return OcrRequest(image, path, 800, 400, Recipe(), trial=Trial("larger"), words=words)


def test_one_part_is_the_reading_itself() -> None:
    reading = said("alone")
    assert joined([reading]) is reading


def test_parts_are_put_together_in_order_with_all_they_cost() -> None:
    top = replace(said("top"), seconds=1.0, tokens_in=100, tokens_out=10, notes=("a",), queue_s=0.5)
    bottom = replace(said("bottom"), seconds=2.0, tokens_in=50, tokens_out=None, notes=("a", "b"))
    whole = joined([top, bottom])
    assert (whole.text, [block.text for block in whole.blocks]) == ("top\n\nbottom", ["top", "bottom"])
    assert (whole.seconds, whole.tokens_in, whole.tokens_out, whole.queue_s) == (3.0, 150, 10, 0.5)
    assert whole.notes == ("a", "b")


@pytest.mark.parametrize(
    ("one", "other", "whole"),
    [
        (FinishReason.STOP, FinishReason.STOP, FinishReason.STOP),
        (FinishReason.STOP, FinishReason.LENGTH, FinishReason.LENGTH),
        (FinishReason.REPETITION, FinishReason.LENGTH, FinishReason.REPETITION),
    ],
)
def test_a_page_ended_as_its_worst_part(one: FinishReason, other: FinishReason, whole: FinishReason) -> None:
    parts = [replace(said("x"), finish_reason=reason) for reason in (one, other)]
    assert joined(parts).finish_reason is whole


def test_confidence_is_the_mean_over_characters_of_parts_that_have_one() -> None:
    parts = [replace(said("x" * 30), confidence=1.0), replace(said("y" * 10), confidence=0.6)]
    assert joined(parts).confidence == pytest.approx(0.9)
    assert joined([replace(part, confidence=None) for part in parts]).confidence is None


def test_an_empty_part_leaves_no_gap_but_its_answer_is_kept() -> None:
    parts = [said("top"), replace(said(""), raw="<nothing>")]
    whole = joined(parts)
    assert (whole.text, whole.raw) == ("top", "top\n\n<nothing>")


def test_other_pictures_make_requests_of_their_own(tmp_path: Path) -> None:
    first = request(tmp_path)
    other = replace(first.image, sha256="b" * 64, width_px=400, height_px=200)
    (one,) = variants(first, tmp_path, lambda: other)
    assert (one.image, one.path) == (other, Store(tmp_path).path("b" * 64, ".jpg"))
    assert (one.trial.rung, one.trial.width_px, one.trial.height_px) == ("larger", 400, 200)
    assert len(variants(first, tmp_path, lambda: (other, other))) == 2


def test_the_same_picture_again_is_no_other_one(tmp_path: Path) -> None:
    first = request(tmp_path)
    with pytest.raises(PageFailed, match="no other picture"):
        variants(first, tmp_path, lambda: first.image)


def test_a_sane_layer_is_the_page(tmp_path: Path) -> None:
    words = [
        Word(text, Box(40 + 110 * at, 22, 140 + 110 * at, 70)) for at, text in enumerate(["Plain", "words"])
    ]
    reading = layer_reading(request(tmp_path, *words, text="Plain words"), LATIN)
    assert (reading.source, reading.text) == (ReadingSource.TEXT_LAYER, "Plain words")
    assert "layer-unproven" in reading.notes
    assert reading.blocks[0].box is not None


def test_a_layer_that_stands_on_no_ink_cannot_stand_in(tmp_path: Path) -> None:
    words = [Word(f"ghost{at}", Box(40, 250 + 20 * at, 400, 265 + 20 * at)) for at in range(5)]
    with pytest.raises(PageFailed, match="not sane"):
        layer_reading(request(tmp_path, *words), LATIN)


def test_a_page_without_a_layer_has_nothing_to_stand_in(tmp_path: Path) -> None:
    with pytest.raises(PageFailed, match="has none"):
        layer_reading(request(tmp_path), LATIN)


def test_blocks_of_parts_keep_their_places_on_the_page() -> None:
    blocks = [
        Block(BlockType.PARAGRAPH, name, Box(0, top, 10, top + 5)) for name, top in (("a", 0), ("b", 400))
    ]
    parts = [Reading(ReadingSource.OCR, block.text, (block,)) for block in blocks]
    assert [block.box for block in joined(parts).blocks] == [block.box for block in blocks]
