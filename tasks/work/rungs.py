"""What rungs of the retry ladder need besides an engine: pictures, the text layer, halves put together."""

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from PIL import Image

from models.engine import OcrRequest
from models.errors import Code, PageFailed
from models.page import PageImage
from models.reading import FinishReason, Reading, ReadingSource, mean_confidence
from tasks.work import textlayer
from tasks.work.layout import blocks_of, text_of
from tasks.work.store import Store
from tasks.work.variants import draw_again

_Number = TypeVar("_Number", int, float)

_HEAVIEST = (FinishReason.REPETITION, FinishReason.LENGTH, FinishReason.STOP)


def variants(
    request: OcrRequest, store_root: Path, make: Callable[[], PageImage | tuple[PageImage, ...]]
) -> tuple[OcrRequest, ...]:
    """Requests for the pictures that `make()` gives instead of the request's own.

    Raises PageFailed when there is only the same one again.
    """
    made = make()
    images = made if isinstance(made, tuple) else (made,)
    if [image.sha256 for image in images] == [request.image.sha256]:
        raise PageFailed("There is no other picture of this page.", Code.OCR_FAILED)
    store = Store(store_root)
    return tuple(
        replace(
            request,
            image=image,
            path=store.path(image.sha256, image.suffix),
            trial=replace(request.trial, width_px=image.width_px, height_px=image.height_px),
        )
        for image in images
    )


def drawn_larger(
    path: Path, request: OcrRequest, store_root: Path, how: tuple[Any, ...]
) -> tuple[OcrRequest, ...]:
    """The request for its page drawn again from `path`; `how` are the other arguments of `draw_again`."""
    return variants(request, store_root, partial(draw_again, path, *how))


def joined(readings: Sequence[Reading]) -> Reading:
    """Readings of a page's parts as one, in order. It ended as its worst part did."""
    if len(readings) == 1:
        return readings[0]
    reasons = {reading.finish_reason for reading in readings}
    return replace(
        readings[0],
        text="\n\n".join(reading.text for reading in readings if reading.text),
        blocks=tuple(block for reading in readings for block in reading.blocks),
        finish_reason=next(reason for reason in _HEAVIEST if reason in reasons),
        seconds=sum(reading.seconds for reading in readings),
        tokens_in=_sum(reading.tokens_in for reading in readings),
        tokens_out=_sum(reading.tokens_out for reading in readings),
        queue_s=_sum(reading.queue_s for reading in readings),
        confidence=mean_confidence((one.confidence, len(one.text)) for one in readings),
        raw="\n\n".join(reading.text if reading.raw is None else reading.raw for reading in readings),
        notes=tuple(dict.fromkeys(note for reading in readings for note in reading.notes)),
    )


def layer_reading(request: OcrRequest, readable: frozenset[str]) -> Reading:
    """The page as its text layer has it; nothing is read, so no line was compared.

    Raises PageFailed (ocr-failed) when there is no layer that can be believed.
    """
    with Image.open(io.BytesIO(request.path.read_bytes())) as picture:
        layer = textlayer.look(request, picture.convert("RGB"), readable)
    if layer is None or layer.fault:
        why = "has none" if layer is None else f"is not sane ({layer.fault})"
        raise PageFailed(f"The page's text layer cannot stand in: it {why}.", Code.OCR_FAILED)
    blocks = blocks_of(layer.lines, request.image.transform)
    return Reading(
        ReadingSource.TEXT_LAYER, text_of(blocks), blocks, engine="text-layer", notes=(textlayer.UNPROVEN,)
    )


def _sum(values: Iterable[_Number | None]) -> _Number | None:
    known = [value for value in values if value is not None]
    return sum(known[1:], known[0]) if known else None
