"""Bad and odd pictures through the whole pipeline: read upright and whole, or refused with a reason."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from models.document import DocumentStatus
from models.engine import OcrRequest
from tests import factories
from tests.flows.engines import InkEngine
from tests.flows.yard import Yard

# Each starts worker processes; `make check` has a minute.
pytestmark = pytest.mark.slow


def _stored(request: OcrRequest) -> np.ndarray:
    """The page image that an engine was given, in greys."""
    with Image.open(request.path) as image:
        return np.asarray(image.convert("L"), float)


def _end(yard: Yard, name: str) -> tuple[DocumentStatus, str | None]:
    document = yard.document(name)
    return document.status, document.code


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF", "WEBP"])
def test_the_first_half_of_a_picture_is_never_taken_for_the_whole(yard: Yard, kind: str) -> None:
    data = factories.picture_bytes(factories.picture("words " * 40, (1600, 1200)), kind)
    factories.write(yard.inbox / "a.jpg", data[: len(data) // 2])
    factories.write(yard.inbox / "b.jpg", data)
    assert len(yard.ingest().requests) == 1
    assert _end(yard, "a.jpg") == (DocumentStatus.REJECTED, "corrupt")
    assert "damaged or cut off" in (yard.document("a.jpg").message or "")
    assert _end(yard, "b.jpg") == (DocumentStatus.COMPLETE, None)


def test_of_a_fax_whose_last_sheet_is_cut_off_the_others_are_read(yard: Yard) -> None:
    sheets = [factories.picture(f"Sheet {n}", (800, 1000)) for n in (1, 2, 3)]
    whole = factories.frames(sheets)
    factories.write(yard.inbox / "a.tif", whole[: len(whole) - 200_000])
    yard.ingest()
    status, code = _end(yard, "a.tif")
    assert status in {DocumentStatus.PARTIAL, DocumentStatus.REJECTED}
    assert code in {"render-failed", "corrupt"}
    assert {row.page_no for row in yard.rows("reading")} <= {1, 2}


def test_deep_greys_keep_their_shades(yard: Yard) -> None:
    ramp = np.tile(np.linspace(0, 65_535, 512).astype(np.uint16), (256, 1))
    factories.write(yard.inbox / "16.png", factories.picture_bytes(Image.fromarray(ramp)))
    floats = Image.fromarray(ramp.astype(np.float32))
    factories.write(yard.inbox / "float.tif", factories.picture_bytes(floats, "TIFF"))
    engine = yard.ingest()
    assert all(len(np.unique(_stored(request))) > 200 for request in engine.requests)
    assert _end(yard, "16.png") == _end(yard, "float.tif") == (DocumentStatus.COMPLETE, None)


def test_a_photo_is_upright_and_of_one_size_however_the_camera_was_held(yard: Yard) -> None:
    upright = factories.picture("Held somehow", (800, 400))
    for orientation in range(1, 9):
        data = factories.turned_picture(upright, orientation)
        factories.write(yard.inbox / f"{orientation}.jpg", data)
    engine = yard.ingest(InkEngine())
    sizes = {(request.image.width_px, request.image.height_px) for request in engine.requests}
    assert sizes == {(800, 400)}
    wanted = np.asarray(upright.convert("L"), float)
    assert all(np.abs(_stored(request) - wanted).mean() < 1 for request in engine.requests)
    boxes = [row.boxes[0].box for row in yard.rows("chunk")]
    assert len(boxes) == 8
    assert all(box == pytest.approx(boxes[0], abs=2) for box in boxes)


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_black_on_nothing_is_read_as_black_on_white(yard: Yard, mode: str) -> None:
    clear = factories.picture("Hello", ink=(0, 0, 0, 255), paper=(0, 0, 0, 0), mode="RGBA")
    factories.write(yard.inbox / "a.png", factories.picture_bytes(clear.convert(mode)))
    (request,) = yard.ingest().requests
    assert _stored(request)[390, 790] == 255
    assert _stored(request).min() < 64


def test_an_absurd_picture_is_refused_from_its_header_and_a_large_one_is_read(yard: Yard) -> None:
    bomb = Image.new("1", (20_000, 20_000))
    factories.write(yard.inbox / "bomb.png", factories.picture_bytes(bomb))
    plan = Image.new("1", (9_000, 12_000), 1)
    plan.paste(0, (3_000, 3_000, 6_000, 6_000))
    factories.write(yard.inbox / "plan.png", factories.picture_bytes(plan))
    (request,) = yard.ingest().requests
    assert _end(yard, "bomb.png") == (DocumentStatus.REJECTED, "too-large")
    assert _end(yard, "plan.png") == (DocumentStatus.COMPLETE, None)
    assert max(request.image.width_px, request.image.height_px) == 1540


def test_an_engine_is_never_given_a_sliver(yard: Yard) -> None:
    for width, height in ((1, 1), (26, 28), (332, 27), (10, 3000), (3000, 2)):
        data = factories.picture_bytes(Image.new("L", (width, height), 0))
        factories.write(yard.inbox / f"{width}.png", data)
    engine = yard.ingest(recipe=("long_edge_px=512",))
    assert all(min(r.image.width_px, r.image.height_px) >= 64 for r in engine.requests)
    assert all(max(r.image.width_px, r.image.height_px) <= 512 for r in engine.requests)
    assert {row.status for row in yard.rows("document")} == {"complete"}


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("a.heic", b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic" + bytes(400), "corrupt"),
        ("a.svg", b'<svg xmlns="http://www.w3.org/2000/svg"><text>x</text></svg>', "unsupported-type"),
        ("a.png", b"%PDF-1.7\nnothing of a document", "corrupt"),
        ("b.png", b"\x89PNG\r\n\x1a\n", "corrupt"),
        ("a.mp4", b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom" + bytes(400), "unsupported-type"),
    ],
)
def test_what_is_no_readable_picture_is_refused_with_a_sentence(
    yard: Yard, name: str, data: bytes, code: str
) -> None:
    factories.write(yard.inbox / name, data)
    yard.ingest()
    assert _end(yard, name) == (DocumentStatus.REJECTED, code)
    assert " " in (yard.document(name).message or "")
    assert [row.attempt for row in yard.rows("stage_run", stage="split")] in ([], [1])


def test_a_name_says_nothing_of_the_kind(yard: Yard) -> None:
    picture = factories.picture("Really a picture")
    factories.write(yard.inbox / "photo.pdf", factories.picture_bytes(picture, "JPEG"))
    factories.write(yard.inbox / "letter.png", factories.pdf("Really a PDF"))
    factories.write(yard.inbox / "nothing", factories.picture_bytes(picture, "WEBP"))
    yard.ingest()
    kinds = {Path(row.uri).name: row.document_id for row in yard.rows("source")}
    media = {row.id: row.media_type for row in yard.rows("document")}
    assert media[kinds["photo.pdf"]] == "image/jpeg"
    assert media[kinds["letter.png"]] == "application/pdf"
    assert media[kinds["nothing"]] == "image/webp"
    assert {row.status for row in yard.rows("document")} == {"complete"}


@pytest.mark.parametrize("kind", ["JPEG2000", "AVIF", "GIF", "BMP", "HEIF"])
def test_every_kind_of_picture_goes_all_the_way(yard: Yard, kind: str) -> None:
    factories.write(yard.inbox / "a", factories.picture_bytes(factories.picture("All the way"), kind))
    yard.ingest()
    assert _end(yard, "a") == (DocumentStatus.COMPLETE, None)
    assert len(yard.rows("chunk")) == 1


def test_a_white_picture_is_blank_and_no_engine_is_asked(yard: Yard) -> None:
    noise = np.random.default_rng(1).normal(245, 3, (800, 600)).clip(0, 255).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(noise).save(buffer, "PNG")
    factories.write(yard.inbox / "a.png", buffer.getvalue())
    assert yard.ingest().requests == []
    assert _end(yard, "a.png") == (DocumentStatus.COMPLETE, None)
    assert [row.verdict for row in yard.rows("reading")] == ["blank"]
