import io
import zipfile
from pathlib import Path

import pytest
from PIL import Image

from models.document import MediaType
from models.errors import Code, DocumentRejected
from tasks.work.media import sniff
from tests import factories


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("JPEG", MediaType.JPEG),
        ("PNG", MediaType.PNG),
        ("TIFF", MediaType.TIFF),
        ("WEBP", MediaType.WEBP),
        ("GIF", MediaType.GIF),
        ("BMP", MediaType.BMP),
        ("JPEG2000", MediaType.JPEG2000),
        ("AVIF", MediaType.AVIF),
        ("HEIF", MediaType.HEIC),
    ],
)
def test_each_kind_of_picture_is_known_by_its_content(tmp_path: Path, kind: str, expected: MediaType) -> None:
    import tasks.work.picture  # noqa: F401 (registers HEIF with Pillow)

    data = factories.picture_bytes(factories.picture(size=(64, 64)), kind)
    assert sniff(factories.write(tmp_path / "misnamed.txt", data)) is expected


def test_a_picture_of_several_pictures_is_mpo(tmp_path: Path) -> None:
    pictures = [factories.picture(text, (64, 64)) for text in "ab"]
    data = factories.frames(pictures, "MPO")
    assert sniff(factories.write(tmp_path / "stereo.jpg", data)) is MediaType.MPO


def test_a_pdf_is_known_under_any_name(tmp_path: Path) -> None:
    assert sniff(factories.write(tmp_path / "scan.png", factories.pdf("x"))) is MediaType.PDF


def test_a_pdf_header_may_come_after_other_bytes(tmp_path: Path) -> None:
    data = b"HTTP/1.1 200 OK\r\n\r\n" + factories.pdf("x")
    assert sniff(factories.write(tmp_path / "a.pdf", data)) is MediaType.PDF


def test_a_pdf_with_a_damaged_header_line_is_still_a_pdf(tmp_path: Path) -> None:
    data = b"%1.4\n%\xe2\xe3\n1 0 obj\n<< /Type /Catalog >>\nendobj\n"
    assert sniff(factories.write(tmp_path / "a.pdf", data)) is MediaType.PDF


def test_a_png_named_pdf_is_a_png(tmp_path: Path) -> None:
    data = factories.picture_bytes(factories.picture(size=(64, 64)))
    assert sniff(factories.write(tmp_path / "page.pdf", data)) is MediaType.PNG


def _rejection(path: Path, data: bytes) -> DocumentRejected:
    with pytest.raises(DocumentRejected) as caught:
        sniff(factories.write(path, data))
    return caught.value


def test_nothing_at_all_is_empty(tmp_path: Path) -> None:
    assert _rejection(tmp_path / "a.pdf", b"").code is Code.EMPTY


def test_html_named_pdf_is_refused_and_called_html(tmp_path: Path) -> None:
    refused = _rejection(tmp_path / "a.pdf", b"<html><body>Login required</body></html>")
    assert refused.code is Code.UNSUPPORTED_TYPE
    assert "HTML" in refused.message


def test_a_zip_named_pdf_is_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "hello")
    refused = _rejection(tmp_path / "a.pdf", buffer.getvalue())
    assert refused.code is Code.UNSUPPORTED_TYPE
    assert "ZIP archive" in refused.message


def test_svg_is_refused_by_name_of_its_kind(tmp_path: Path) -> None:
    refused = _rejection(tmp_path / "a.svg", b'<svg xmlns="http://www.w3.org/2000/svg"></svg>')
    assert "Scalable Vector Graphics" in refused.message


@pytest.mark.parametrize(
    "text", [b"Dear Sir,\nplease find", "Sehr geehrte Frau Müller,".encode(), b"BMW and other cars of today"]
)
def test_text_is_refused_as_plain_text(tmp_path: Path, text: bytes) -> None:
    assert "plain text" in _rejection(tmp_path / "a.pdf", text).message


def test_noise_is_refused_as_unknown(tmp_path: Path) -> None:
    assert "unknown kind" in _rejection(tmp_path / "a.pdf", b"\x00\x01\x02\x03\xff" * 9).message


def test_a_movie_in_the_same_container_as_heic_is_refused(tmp_path: Path) -> None:
    data = b"\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2" + bytes(64)
    assert _rejection(tmp_path / "a.heic", data).code is Code.UNSUPPORTED_TYPE


def test_telling_a_kind_decodes_nothing(tmp_path: Path) -> None:
    """A header alone is enough: what is wrong behind it is found in a child process."""
    data = factories.picture_bytes(Image.new("L", (64, 64)))[:20]
    assert sniff(factories.write(tmp_path / "a.png", data)) is MediaType.PNG
