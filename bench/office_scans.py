"""Pages as an office scanner makes them: drawn from documents, blurred, on noisy paper, as full-page JPEGs.

Documents by turns in grey and in colour, 200 dpi. Noise has a deviation of 4 grey levels, coloured where the
scan is, blur a radius of 0.6 px; JPEG quality 75 makes 0.4 MB a page.
"""

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pymupdf
from PIL import Image, ImageFilter

_DPI = 200
_BLUR_PX, _NOISE, _QUALITY = 0.6, 4.0, 75
_PAPER = (247, 245, 238)
"""No sheet is as white as paper on a screen."""


def scan(source: Path, pages: Sequence[int], target: Path, number: int) -> None:
    """Pages (from 1) of a PDF as a PDF of scans, in grey for an even `number`, which seeds the noise too."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with pymupdf.open(source, filetype="pdf") as document, pymupdf.open() as scans:
        for page_no in pages:
            page = document[page_no - 1]
            pixels = page.get_pixmap(dpi=_DPI, colorspace=pymupdf.csRGB, alpha=False)
            drawn = Image.frombytes("RGB", (pixels.width, pixels.height), pixels.samples)
            sheet = scans.new_page(width=page.rect.width, height=page.rect.height)
            seed = [abs(number), page_no]
            sheet.insert_image(sheet.rect, stream=_jpeg(on_paper(drawn, seed, is_grey=number % 2 == 0)))
        scans.save(target)


def on_paper(drawn: Image.Image, seed: Sequence[int], *, is_grey: bool) -> Image.Image:
    """A drawn page (RGB) as the scanner sees it on paper: L where `is_grey`, else RGB."""
    blurred = drawn.filter(ImageFilter.GaussianBlur(_BLUR_PX))
    seen = np.asarray(blurred.convert("L") if is_grey else blurred, np.float32)
    paper = np.float32(sum(_PAPER) / 3) if is_grey else np.array(_PAPER, np.float32)
    noise = np.random.default_rng(seed).standard_normal(seen.shape, np.float32) * _NOISE
    return Image.fromarray(np.clip(seen * paper / 255 + noise, 0, 255).astype(np.uint8))


def _jpeg(picture: Image.Image) -> bytes:
    data = io.BytesIO()
    picture.save(data, "JPEG", quality=_QUALITY, dpi=(_DPI, _DPI))
    return data.getvalue()
