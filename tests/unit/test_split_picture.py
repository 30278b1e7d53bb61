from pathlib import Path

import pytest
from PIL import Image

from models.document import MediaType
from models.errors import Code, DocumentRejected
from models.page import PageFacts
from tasks.work.split import open_document, split_pages
from tests import factories


def _page(path: Path, media_type: MediaType) -> PageFacts:
    (page,) = split_pages(path, media_type, 1, 1)
    return page


def _code(path: Path, media_type: MediaType) -> Code:
    with pytest.raises(DocumentRejected) as caught:
        open_document(path, media_type)
    return caught.value.code


def test_every_frame_of_a_tiff_is_a_page(tmp_path: Path) -> None:
    frames = [Image.new("L", (100 * n, 50), "white") for n in (1, 2, 3)]
    path = factories.write(tmp_path / "a.tif", factories.frames(frames))
    assert open_document(path, MediaType.TIFF).page_count == 3
    pages = split_pages(path, MediaType.TIFF, 1, 3)
    assert [(page.page_no, page.width_pt) for page in pages] == [(1, 100), (2, 200), (3, 300)]


@pytest.mark.parametrize(
    ("kind", "media_type"),
    [("GIF", MediaType.GIF), ("MPO", MediaType.MPO), ("WEBP", MediaType.WEBP), ("PNG", MediaType.PNG)],
)
def test_of_moving_and_stereo_pictures_the_first_is_the_page(
    tmp_path: Path, kind: str, media_type: MediaType
) -> None:
    frames = [factories.picture(text, (80, 60)) for text in "ab"]
    path = factories.write(tmp_path / "a", factories.frames(frames, kind))
    assert open_document(path, media_type).page_count == 1


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize(("kind", "media_type"), [("JPEG", MediaType.JPEG), ("TIFF", MediaType.TIFF)])
def test_a_turned_picture_has_its_upright_size(
    tmp_path: Path, orientation: int, kind: str, media_type: MediaType
) -> None:
    data = factories.turned_picture(factories.picture(size=(80, 40)), orientation, kind)
    page = _page(factories.write(tmp_path / "a", data), media_type)
    assert (page.width_pt, page.height_pt) == (80, 40)
    assert page.rotation == {1: 0, 2: 0, 3: 180, 4: 180, 5: 90, 6: 90, 7: 270, 8: 270}[orientation]


@pytest.mark.parametrize(
    ("dpi", "points"),
    [((300, 300), (144, 72)), ((1, 1), (600, 300)), ((96_000, 96_000), (600, 300)), ((0, 300), (600, 300))],
)
def test_only_a_plausible_resolution_counts(
    tmp_path: Path, dpi: tuple[int, int], points: tuple[int, int]
) -> None:
    data = factories.picture_bytes(Image.new("L", (600, 300), "white"), "TIFF", dpi=dpi)
    page = _page(factories.write(tmp_path / "a.tif", data), MediaType.TIFF)
    assert (page.width_pt, page.height_pt) == points


def test_a_fax_with_flat_pixels_has_the_size_of_its_paper(tmp_path: Path) -> None:
    data = factories.picture_bytes(Image.new("1", (1728, 1143), 1), "TIFF", dpi=(204, 98))
    page = _page(factories.write(tmp_path / "fax.tif", data), MediaType.TIFF)
    assert page.width_pt == pytest.approx(610, abs=1)
    assert page.height_pt == pytest.approx(840, abs=1)


def test_resolution_turns_with_the_picture(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[factories.EXIF_ORIENTATION] = 6
    data = factories.picture_bytes(Image.new("L", (200, 400), "white"), "JPEG", dpi=(100, 200), exif=exif)
    page = _page(factories.write(tmp_path / "a.jpg", data), MediaType.JPEG)
    assert (page.width_pt, page.height_pt) == pytest.approx((144, 144))


def test_the_first_half_of_a_jpeg_is_corrupt(tmp_path: Path) -> None:
    """Pillow's own check lets it pass: only decoding finds it."""
    data = factories.picture_bytes(factories.picture("words " * 40, (1600, 1200)), "JPEG")
    path = factories.write(tmp_path / "a.jpg", data[: len(data) // 2])
    assert _code(path, MediaType.JPEG) is Code.CORRUPT


@pytest.mark.parametrize(("kind", "media_type"), [("PNG", MediaType.PNG), ("WEBP", MediaType.WEBP)])
def test_other_truncated_pictures_are_corrupt(tmp_path: Path, kind: str, media_type: MediaType) -> None:
    data = factories.picture_bytes(factories.picture(), kind)
    assert _code(factories.write(tmp_path / "a", data[: len(data) // 2]), media_type) is Code.CORRUPT


def test_a_header_without_a_picture_is_corrupt(tmp_path: Path) -> None:
    data = factories.picture_bytes(factories.picture())[:20]
    assert _code(factories.write(tmp_path / "a.png", data), MediaType.PNG) is Code.CORRUPT


@pytest.mark.slow
def test_a_bomb_is_refused_from_its_header(tmp_path: Path) -> None:
    data = factories.picture_bytes(Image.new("1", (20_000, 20_000)))
    assert len(data) < 100_000
    assert _code(factories.write(tmp_path / "a.png", data), MediaType.PNG) is Code.TOO_LARGE


@pytest.mark.slow
def test_a_large_scan_is_no_bomb(tmp_path: Path) -> None:
    """Pillow's own limit warns at 90 and refuses at 179 million pixels."""
    data = factories.picture_bytes(Image.new("1", (14_000, 14_000), 1), "TIFF", compression="group4")
    path = factories.write(tmp_path / "a.tif", data)
    assert open_document(path, MediaType.TIFF).page_count == 1


def test_a_frame_that_is_cut_off_keeps_its_place(tmp_path: Path) -> None:
    frames = [Image.effect_noise((64, 64), 90) for _ in range(3)]
    data = factories.frames(frames)
    path = factories.write(tmp_path / "a.tif", data[:-200])
    assert open_document(path, MediaType.TIFF).page_count >= 1


def test_jpeg_2000_opens_with_pdf_code_loaded(tmp_path: Path) -> None:
    """Both libraries bring a JPEG 2000 decoder of their own."""
    import pymupdf

    data = factories.picture_bytes(factories.picture(), "JPEG2000")
    assert pymupdf.VersionBind
    assert open_document(factories.write(tmp_path / "a.jp2", data), MediaType.JPEG2000).page_count == 1
