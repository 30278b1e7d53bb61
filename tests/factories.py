"""Tiny PDFs and pictures made in code: no binary fixtures.

Everything returns bytes or a Pillow image; `write` puts bytes into a file. Page texts are drawn as real text
unless the name says scan.
"""

import io
import random
from collections.abc import Sequence
from pathlib import Path

import pymupdf
from PIL import Image, ImageDraw, ImageFont

EXIF_ORIENTATION = 0x0112

# What undoes each orientation: applied to an upright picture, it gives the pixels such a camera stores.
_STORED_AS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}


def write(path: Path, data: bytes) -> Path:
    """Write `data` to `path` and return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def pdf(*texts: str, width: float = 595, height: float = 842, rotation: int = 0, title: str = "") -> bytes:
    """A PDF with one page for each text (lines split by newlines); an empty text makes an empty page."""
    with pymupdf.open() as document:
        for text in texts:
            page = document.new_page(width=width, height=height)
            if text:
                page.insert_text((72, 96), text, fontsize=12)
            page.set_rotation(rotation)
        if title:
            document.set_metadata({"title": title})
        return bytes(document.tobytes())


def encrypted_pdf(*texts: str, user: str = "", owner: str = "owner", permissions: int = 0) -> bytes:
    """An AES-256 encrypted PDF. Without `user` it opens freely, with `permissions` as the owner set them."""
    with pymupdf.open(stream=pdf(*texts)) as document:
        return bytes(
            document.tobytes(
                encryption=pymupdf.PDF_ENCRYPT_AES_256,
                user_pw=user,
                owner_pw=owner,
                permissions=permissions,
            )
        )


def pdf_with(key: str, value: str, text: str = "Hello boxes") -> bytes:
    """A one-page PDF whose page dictionary has `key` set to a raw PDF value, e.g. MediaBox."""
    with pymupdf.open(stream=pdf(text)) as document:
        document.xref_set_key(document[0].xref, key, value)
        return bytes(document.tobytes())


def pdf_with_catalog(key: str, value: str) -> bytes:
    """A one-page PDF whose catalog has `key` set to a raw PDF value, e.g. OpenAction."""
    with pymupdf.open(stream=pdf("Hello catalog")) as document:
        document.xref_set_key(document.pdf_catalog(), key, value)
        return bytes(document.tobytes())


def pdf_with_broken_page(*texts: str, broken: int) -> bytes:
    """A PDF whose page number `broken` cannot be loaded: its place in the page tree refers to itself."""
    with pymupdf.open(stream=pdf(*texts)) as document:
        loop = document.get_new_xref()
        document.update_object(loop, f"<</Type/Pages/Kids[{loop} 0 R]/Count 1>>")
        tree = int(document.xref_get_key(document.pdf_catalog(), "Pages")[1].split()[0])
        kids = [f"{document[number].xref} 0 R" for number in range(len(texts))]
        kids[broken - 1] = f"{loop} 0 R"
        document.xref_set_key(tree, "Kids", f"[{' '.join(kids)}]")
        return bytes(document.tobytes())


def endless_pdf(segments: int = 30_000, before: int = 0, after: int = 0) -> bytes:
    """A PDF with one page that takes minutes to render: one path of random segments, stroked once.

    `before` and `after` are numbers of ordinary pages around it.
    """
    rng = random.Random(1)
    points = [(rng.uniform(0, 595), rng.uniform(0, 842)) for _ in range(segments)]
    path = "0 0 m\n" + "".join(f"{x:.1f} {y:.1f} l\n" for x, y in points) + "S\n"
    with pymupdf.open() as document:
        for number in range(before + 1 + after):
            page = document.new_page()
            page.insert_text((72, 96), f"Page {number + 1}")
            if number == before:
                document.update_stream(page.get_contents()[0], path.encode())
        return bytes(document.tobytes(deflate=True))


def scan_pdf(*pictures: Image.Image, dpi: float = 150, quality: int = 85, form: str = "JPEG") -> bytes:
    """A PDF whose pages are each one full-page picture, as a scanner makes them."""
    with pymupdf.open() as document:
        for picture in pictures:
            width, height = (side * 72 / dpi for side in picture.size)
            page = document.new_page(width=width, height=height)
            page.insert_image(page.rect, stream=picture_bytes(picture, form, quality=quality))
        return bytes(document.tobytes())


def long_pdf(path: Path, pages: int) -> Path:
    """Write a PDF of many one-line pages, "Page 1" to "Page N", without holding them all as text."""
    with pymupdf.open() as document:
        for number in range(1, pages + 1):
            document.new_page().insert_text((72, 96), f"Page {number} of a long document")
        document.save(path)
    return path


def picture(
    text: str = "Hello picture",
    size: tuple[int, int] = (800, 400),
    *,
    font_px: int = 48,
    ink: object = "black",
    paper: object = "white",
    mode: str = "RGB",
) -> Image.Image:
    """A picture with `text` (lines split by newlines) at its top left."""
    image = Image.new(mode, size, paper)
    font = ImageFont.load_default(font_px)
    ImageDraw.Draw(image).multiline_text((font_px, font_px // 2), text, fill=ink, font=font)
    return image


def picture_bytes(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    """`image` in a file format that Pillow writes."""
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def frames(images: Sequence[Image.Image], kind: str = "TIFF") -> bytes:
    """A file of several frames."""
    first, *others = images
    return picture_bytes(first, kind, save_all=True, append_images=others)


def turned_picture(upright: Image.Image, orientation: int, kind: str = "JPEG") -> bytes:
    """A file whose EXIF orientation (1 to 8) makes its stored pixels show `upright`."""
    stored = upright.transpose(_STORED_AS[orientation]) if orientation > 1 else upright
    exif = Image.Exif()
    exif[EXIF_ORIENTATION] = orientation
    if kind == "TIFF":
        return picture_bytes(stored, kind, tiffinfo={EXIF_ORIENTATION: orientation})
    return picture_bytes(stored, kind, exif=exif.tobytes())
