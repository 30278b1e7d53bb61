"""Engines that answer from the page itself: its text layer, or where its ink stands."""

from concurrent.futures import Future

import numpy as np
from PIL import Image

from models.engine import OcrRequest
from models.geometry import Box
from models.reading import Block, BlockType, Reading, ReadingSource
from tasks.work.engines.fake import FakeEngine


class LayerEngine(FakeEngine):
    """Reads a page as its text layer has it: right by construction."""

    def submit(self, request: OcrRequest) -> Future[Reading]:
        """A paragraph with the words of the page."""
        self.requests.append(request)
        text = " ".join(word.text for word in request.words) or "no layer"
        return self._threads.submit(reading_of, text)


class InkEngine(FakeEngine):
    """Says where the ink of a page stands, in page points, as an engine with boxes does."""

    def submit(self, request: OcrRequest) -> Future[Reading]:
        """A paragraph around everything dark."""
        self.requests.append(request)
        with Image.open(request.path) as image:
            dark = np.asarray(image.convert("L")) < 128
        ys, xs = np.nonzero(dark)
        box = Box(*map(float, (xs.min(), ys.min(), xs.max() + 1, ys.max() + 1)))
        return self._threads.submit(reading_of, "Where the ink is", request.image.transform.box(box))


def reading_of(text: str, box: Box | None = None) -> Reading:
    """One paragraph."""
    return Reading(ReadingSource.OCR, text, (Block(BlockType.PARAGRAPH, text, box),), engine="test")
