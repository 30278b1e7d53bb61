import hashlib
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from PIL import Image

from models.document import MediaType
from models.errors import Code, EnvironmentFault, PageFailed
from models.geometry import Box
from models.page import PageImage
from models.recipe import Recipe
from tasks.work.preprocess import preprocess_page
from tasks.work.sizing import MIN_SIDE_PX
from tasks.work.split import split_pages
from tasks.work.store import Store
from tests import factories

PDF = MediaType.PDF
RECIPE = Recipe()


def _prepare(
    tmp_path: Path, data: bytes, media_type: MediaType = PDF, recipe: Recipe = RECIPE, page_no: int = 1
) -> tuple[PageImage, Image.Image]:
    """The page image and its pixels as read back from the store."""
    path = factories.write(tmp_path / "document", data)
    made = preprocess_page(path, media_type, page_no, recipe, tmp_path / "store")
    with Image.open(Store(tmp_path / "store").path(made.sha256, made.suffix)) as stored:
        stored.load()
    assert stored.size == (made.width_px, made.height_px)
    return made, stored


def _ink_box(image: Image.Image) -> Box:
    """Where pixels are darker than mid-grey."""
    box = image.convert("L").point(lambda level: 255 * (level < 128)).getbbox()
    assert box is not None
    return Box(*box)


def test_a_page_is_rendered_straight_at_its_target_size(tmp_path: Path) -> None:
    made, stored = _prepare(tmp_path, factories.pdf("Hello"))
    assert stored.size == (1089, 1540)
    assert stored.format == "JPEG"
    assert made.suffix == ".jpg"
    assert not made.is_blank
    assert 0 < made.ink < 0.01


def test_the_same_page_has_the_same_hash_and_it_is_that_of_its_bytes(tmp_path: Path) -> None:
    data = factories.pdf("Hello", "Other")
    first, second = (_prepare(tmp_path / name, data)[0] for name in "ab")
    assert first == second
    stored = Store(tmp_path / "a" / "store").path(first.sha256, first.suffix).read_bytes()
    assert hashlib.sha256(stored).hexdigest() == first.sha256
    assert _prepare(tmp_path / "a", data, page_no=2)[0].sha256 != first.sha256


def test_the_recipe_decides_size_and_quality(tmp_path: Path) -> None:
    data = factories.pdf("Hello")
    small, _ = _prepare(tmp_path, data, recipe=Recipe(long_edge_px=800))
    rough, _ = _prepare(tmp_path, data, recipe=Recipe(long_edge_px=800, jpeg_quality=60))
    tight, _ = _prepare(tmp_path, data, recipe=Recipe(max_pixels=500_000))
    assert max(small.width_px, small.height_px) == 800
    assert rough.sha256 != small.sha256
    assert 450_000 < tight.width_px * tight.height_px <= 500_000


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("box", ["[0 0 595 842]", "[50 300 400 800]", "[-20 0 595 842]"])
def test_a_word_box_and_its_ink_are_in_the_same_place(tmp_path: Path, rotation: int, box: str) -> None:
    """Turned, cropped, and with an origin elsewhere."""
    with pymupdf.open(stream=factories.pdf_with("MediaBox", box, "Hello")) as document:
        document.xref_set_key(document[0].xref, "Rotate", str(rotation))
        data = document.tobytes()
    made, stored = _prepare(tmp_path, data)
    (page,) = split_pages(tmp_path / "document", PDF, 1, 1)
    assert (stored.width > stored.height) == (page.width_pt > page.height_pt)
    (word,) = page.words
    ink = made.transform.box(_ink_box(stored))
    assert word.box.x0 - 1 < ink.x0 < ink.x1 < word.box.x1 + 1
    assert word.box.y0 - 1 < ink.y0 < ink.y1 < word.box.y1 + 1


@pytest.mark.parametrize(
    ("key", "value"),
    [("MediaBox", "[612 792 0 0]"), ("MediaBox", "[0 0 0 0]"), ("CropBox", "[5000 5000 6000 6000]")],
)
def test_a_page_with_impossible_boxes_is_not_empty(tmp_path: Path, key: str, value: str) -> None:
    made, _ = _prepare(tmp_path, factories.pdf_with(key, value))
    assert not made.is_blank


@pytest.mark.parametrize("side", [20_000, 14_400 * 100])
def test_a_gigantic_page_is_drawn_within_the_budget_and_says_so(tmp_path: Path, side: int) -> None:
    made, _ = _prepare(tmp_path, factories.pdf("Tiny", width=side, height=side))
    assert (made.width_px, made.height_px) == (1540, 1540)
    assert made.notes == ("downscaled",)
    assert 72 / made.transform.a == pytest.approx(1540 / side * 72, rel=0.01)


def test_a_stamp_is_not_blown_up_beyond_use(tmp_path: Path) -> None:
    made, _ = _prepare(tmp_path, factories.pdf("", width=72, height=72))
    assert (made.width_px, made.height_px) == (400, 400)


def test_annotations_and_form_values_are_drawn_as_on_paper(tmp_path: Path) -> None:
    with pymupdf.open(stream=factories.pdf("")) as document:
        document[0].add_freetext_annot(pymupdf.Rect(100, 200, 300, 240), "Annotated")
        data = document.tobytes()
    assert not _prepare(tmp_path, data)[0].is_blank
    assert _prepare(tmp_path, data, recipe=Recipe(annotations=False))[0].is_blank


def test_invisible_text_leaves_the_page_blank(tmp_path: Path) -> None:
    with pymupdf.open(stream=factories.pdf("")) as document:
        document[0].insert_text((72, 96), "Nobody sees this", render_mode=3)
        data = document.tobytes()
    assert _prepare(tmp_path, data)[0].is_blank


def test_a_page_that_cannot_be_loaded_fails_alone(tmp_path: Path) -> None:
    data = factories.pdf_with_broken_page("ONE", "TWO", "THREE", broken=2)
    with pytest.raises(PageFailed) as caught:
        _prepare(tmp_path, data, page_no=2)
    assert caught.value.code is Code.RENDER_FAILED
    assert not _prepare(tmp_path, data, page_no=3)[0].is_blank


def test_a_form_that_draws_itself_ends(tmp_path: Path) -> None:
    with pymupdf.open(stream=factories.pdf("x")) as document:
        form = document.get_new_xref()
        itself = f"<</XObject<</F {form} 0 R>>>>"
        document.update_object(form, f"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources{itself}>>")
        document.update_stream(form, b"/F Do")
        document.xref_set_key(document[0].xref, "Resources", itself)
        document.update_stream(document[0].get_contents()[0], b"/F Do")
        data = document.tobytes()
    assert _prepare(tmp_path, data)[0].is_blank


def test_a_store_that_cannot_be_written_is_no_fault_of_the_page(tmp_path: Path) -> None:
    factories.write(tmp_path / "store", b"in the way")
    with pytest.raises(EnvironmentFault):
        _prepare(tmp_path, factories.pdf("Hello"))


UPRIGHT = factories.picture("Hello", (800, 400))


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize(
    ("kind", "media_type"),
    [
        ("JPEG", MediaType.JPEG),
        ("TIFF", MediaType.TIFF),
        ("PNG", MediaType.PNG),
        ("WEBP", MediaType.WEBP),
        ("AVIF", MediaType.AVIF),
        ("HEIF", MediaType.HEIC),
    ],
)
def test_every_orientation_shows_the_same_picture(
    tmp_path: Path, orientation: int, kind: str, media_type: MediaType
) -> None:
    made, stored = _prepare(tmp_path, factories.turned_picture(UPRIGHT, orientation, kind), media_type)
    assert stored.size == UPRIGHT.size
    difference = np.asarray(stored.convert("L"), float) - np.asarray(UPRIGHT.convert("L"), float)
    assert np.abs(difference).mean() < 0.5
    assert made.transform.box(Box(0, 0, *stored.size)) == pytest.approx((0, 0, 800, 400))


@pytest.mark.parametrize("mode", ["RGBA", "LA", "PA"])
def test_black_on_nothing_becomes_black_on_white(tmp_path: Path, mode: str) -> None:
    clear = factories.picture("Hello", ink=(0, 0, 0, 255), paper=(0, 0, 0, 0), mode="RGBA")
    kind, media_type = ("TIFF", MediaType.TIFF) if mode == "PA" else ("PNG", MediaType.PNG)
    _, stored = _prepare(tmp_path, factories.picture_bytes(clear.convert(mode), kind), media_type)
    assert stored.convert("L").getpixel((790, 390)) == 255
    assert not _is_black(stored)


def test_a_palette_with_a_transparent_entry_lies_on_white(tmp_path: Path) -> None:
    grey = factories.picture("Hello", mode="L").convert("P")
    data = factories.picture_bytes(grey, "PNG", transparency=255)
    _, stored = _prepare(tmp_path, data, MediaType.PNG)
    assert stored.convert("L").getpixel((790, 390)) == 255
    assert not _is_black(stored)


def _is_black(image: Image.Image) -> bool:
    return float(np.asarray(image.convert("L")).mean()) < 128


@pytest.mark.parametrize(("kind", "media_type"), [("TIFF", MediaType.TIFF), ("PNG", MediaType.PNG)])
def test_a_ramp_of_16_bits_keeps_its_greys(tmp_path: Path, kind: str, media_type: MediaType) -> None:
    ramp = np.tile(np.linspace(0, 65_535, 512).astype(np.uint16), (256, 1))
    _, stored = _prepare(tmp_path, factories.picture_bytes(Image.fromarray(ramp), kind), media_type)
    assert len(np.unique(np.asarray(stored))) > 200


@pytest.mark.parametrize("white", [1.0, 255.0, 4_095.0])
def test_a_ramp_of_floats_keeps_its_greys_wherever_white_is(tmp_path: Path, white: float) -> None:
    ramp = np.tile(np.linspace(0, white, 512).astype(np.float32), (256, 1))
    data = factories.picture_bytes(Image.fromarray(ramp), "TIFF")
    assert len(np.unique(np.asarray(_prepare(tmp_path, data, MediaType.TIFF)[1]))) > 200


def test_the_grain_of_deep_grey_paper_does_not_become_contrast(tmp_path: Path) -> None:
    grain = np.random.default_rng(1).normal(60_000, 60, (400, 400)).astype(np.uint16)
    data = factories.picture_bytes(Image.fromarray(grain), "TIFF")
    assert _prepare(tmp_path, data, MediaType.TIFF)[0].is_blank


def test_cmyk_keeps_its_lightness(tmp_path: Path) -> None:
    data = factories.picture_bytes(UPRIGHT.convert("CMYK"), "JPEG")
    _, stored = _prepare(tmp_path, data, MediaType.JPEG)
    assert stored.mode == "RGB"
    assert min(stored.getpixel((790, 390))) > 250  # type: ignore[type-var, arg-type]
    assert not _is_black(stored)


def test_one_bit_is_scaled_down_in_greys(tmp_path: Path) -> None:
    scan = factories.picture("Hello", (4000, 2000), font_px=240).convert("1")
    _, stored = _prepare(tmp_path, factories.picture_bytes(scan), MediaType.PNG)
    assert stored.size == (1540, 770)
    assert stored.mode == "L"
    assert len(np.unique(np.asarray(stored))) > 20


def test_a_picture_is_never_enlarged(tmp_path: Path) -> None:
    assert _prepare(tmp_path, factories.picture_bytes(UPRIGHT), MediaType.PNG)[1].size == (800, 400)


def test_a_photo_reduced_to_a_fifth_says_so(tmp_path: Path) -> None:
    data = factories.picture_bytes(Image.new("L", (8_000, 6_000), 255), "JPEG")
    assert _prepare(tmp_path, data, MediaType.JPEG)[0].notes == ("downscaled",)


@pytest.mark.parametrize("size", [(1, 1), (26, 28), (332, 27), (10, 3000), (31, 639), (3000, 1)])
def test_tiny_pictures_and_slivers_get_a_usable_size(tmp_path: Path, size: tuple[int, int]) -> None:
    data = factories.picture_bytes(Image.new("L", size, 0))
    for recipe in (RECIPE, Recipe(long_edge_px=256, max_pixels=65_536)):
        made, _ = _prepare(tmp_path, data, MediaType.PNG, recipe)
        assert min(made.width_px, made.height_px) >= MIN_SIDE_PX
        assert max(made.width_px, made.height_px) <= recipe.long_edge_px


def test_filling_up_moves_the_transform_along(tmp_path: Path) -> None:
    data = factories.picture_bytes(Image.new("L", (600, 4), 0))
    made, stored = _prepare(tmp_path, data, MediaType.PNG)
    ink = made.transform.box(_ink_box(stored))
    assert ink == pytest.approx((0, 0, 600, 4), abs=0.5)


def test_every_frame_of_a_tiff_is_its_own_page(tmp_path: Path) -> None:
    data = factories.frames([Image.new("L", (100 * n, 90), 80 * n) for n in (1, 2, 3)])
    for number in (1, 2, 3):
        stored = _prepare(tmp_path, data, MediaType.TIFF, page_no=number)[1]
        assert stored.size == (100 * number, 90)
        assert stored.getpixel((50, 45)) == pytest.approx(80 * number, abs=1)


def test_a_truncated_picture_fails_as_a_page(tmp_path: Path) -> None:
    data = factories.picture_bytes(factories.picture("words " * 40, (1600, 1200)), "JPEG")
    with pytest.raises(PageFailed) as caught:
        _prepare(tmp_path, data[: len(data) // 2], MediaType.JPEG)
    assert caught.value.code is Code.RENDER_FAILED
