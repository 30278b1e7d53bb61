"""What runs inside a worker process of an engine: one page from its picture to its reading."""

import io
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Protocol

from PIL import Image

from models.engine import OcrRequest
from models.errors import Code, PageFailed, PictureGone
from models.geometry import Transform
from models.notes import SCRIPT_UNSUPPORTED
from models.reading import Reading, ReadingSource, mean_confidence
from models.text import clean
from tasks.work import textlayer
from tasks.work.engines.rising import read_rising
from tasks.work.layerink import grey_of
from tasks.work.layout import blocks_of, text_of
from tasks.work.lines import Line
from tasks.work.merged import take_apart
from tasks.work.metrics import agreement
from tasks.work.turning import Sheet, confidence, is_better, turns_to_try


class Reader(Protocol):
    """An OCR library with its weights loaded."""

    name: str
    """Library, version and model, stored with each reading."""

    def lines(self, picture: bytes) -> list[Line]:
        """Lines of text in an encoded picture, boxes in its pixels. Raises what the library raises."""
        ...


TURNED = "turned-"
"""Note on a reading, followed by the degrees against the clock by which the page image was turned to read it:
nothing in the file said how it stands."""

UNSURE = "unsure-lines-dropped"
"""Note on a reading: lines that the engine itself hardly believes in were left out, as it sees them in specks
and pictures. On nine hard pages these came with up to 0.29, the worst handwriting with 0.41."""

_LEAST_CONFIDENCE = 0.3

LoadReader = Callable[[], Reader]
"""A module-level function, so that it can be sent to a worker."""


@cache
def reader_of(load: LoadReader) -> Reader:
    """This process's reader: weights are loaded once, when the worker starts."""
    return load()


def read_page(load: LoadReader, request: OcrRequest, readable: frozenset[str]) -> Reading:
    """Read the page of `request`, or take its text layer where the recipe allows and the layer proves sane.

    `readable` are the scripts of the model. Raises PictureGone when the page image is missing, PageFailed
    (`ocr-failed`) when it cannot be decoded or the library fails on it.
    """
    started = time.perf_counter()
    reader = reader_of(load)
    picture = _picture(request)
    if request.recipe.text_layer == "prefer":
        reading = _prefer(reader, request, picture, readable)
    elif request.recipe.text_layer == "check":
        reading = _check(reader, request, picture, readable)
    else:
        reading = _ocr(reader, request, picture)
    return replace(reading, seconds=time.perf_counter() - started)


def _prefer(reader: Reader, request: OcrRequest, data: bytes, readable: frozenset[str]) -> Reading:
    picture = _decoded(data)
    layer = textlayer.look(request, picture, readable)
    if layer is None:
        return _ocr(reader, request, data)
    proof = textlayer.prove(layer, picture, readable, lambda probe: _lines(reader, probe))
    if proof.fault:
        return _noted(_ocr(reader, request, data), textlayer.REJECTED + proof.fault)
    notes = () if proof.is_read else (textlayer.UNPROVEN,)
    return _reading(ReadingSource.TEXT_LAYER, "text-layer", layer.lines, request.image.transform, notes)


def _check(reader: Reader, request: OcrRequest, data: bytes, readable: frozenset[str]) -> Reading:
    layer = textlayer.look(request, _decoded(data), readable)
    reading = _ocr(reader, request, data)
    if layer is None:
        return reading
    if layer.fault:
        return _noted(reading, textlayer.REJECTED + layer.fault)
    reading = replace(reading, layer_agreement=agreement(layer.text, reading.text))
    return _noted(reading, SCRIPT_UNSUPPORTED) if layer.is_foreign else reading


def _noted(reading: Reading, note: str) -> Reading:
    return replace(reading, notes=(*reading.notes, note))


def _ocr(reader: Reader, request: OcrRequest, data: bytes) -> Reading:
    sheet, lines = _upright(reader, data, Sheet(_decoded(data), request.image.transform))
    lines = read_rising(lines, sheet.picture, lambda label: _lines(reader, label))
    lines = take_apart(lines, grey_of(sheet.picture))
    sure = [line for line in lines if line.confidence is None or line.confidence >= _LEAST_CONFIDENCE]
    notes = (f"{TURNED}{sheet.turned}",) if sheet.turned else ()
    if len(sure) < len(lines):
        lines, notes = sure, (*notes, UNSURE)
    return _reading(ReadingSource.OCR, reader.name, lines, sheet.transform, notes)


def _upright(reader: Reader, data: bytes, sheet: Sheet) -> tuple[Sheet, list[Line]]:
    """The sheet as it is best read, and its lines. A page that was read well is read once."""
    first = _lines(reader, data)
    found = [(sheet, first)]
    for degrees in turns_to_try(first):
        turned = sheet.turn(degrees)
        again = _lines(reader, turned.encoded())
        if is_better(again, first, degrees):
            found.append((turned, again))
    # A turn that helped wins over the page as it came; of two such, the one that was read more surely.
    return max(found[1:] or found, key=lambda one: confidence(one[1]))


def _lines(reader: Reader, data: bytes) -> list[Line]:
    try:
        found = reader.lines(data)
    except Exception as error:
        # Libraries raise RuntimeError, ValueError and classes of their own for a picture they cannot take.
        raise PageFailed(f"{reader.name} could not read the page: {error}.", Code.OCR_FAILED) from error
    return [replace(line, text=" ".join(clean(line.text).split())) for line in found]


def _reading(
    source: ReadingSource,
    engine: str,
    lines: Sequence[Line],
    transform: Transform,
    notes: tuple[str, ...] = (),
) -> Reading:
    blocks = blocks_of(lines, transform)
    confidence = mean_confidence((block.confidence, len(block.text)) for block in blocks)
    return Reading(source, text_of(blocks), blocks, engine=engine, confidence=confidence, notes=notes)


def _picture(request: OcrRequest) -> bytes:
    try:
        return request.path.read_bytes()
    except FileNotFoundError as error:
        raise PictureGone("The page image is missing from the store.") from error


def _decoded(data: bytes) -> Image.Image:
    try:
        picture = Image.open(io.BytesIO(data))
        picture.load()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise PageFailed(f"The page image cannot be decoded: {error}.", Code.OCR_FAILED) from error
    return picture
