"""PP-OCRv6 small through RapidOCR and onnxruntime: the fallback, from a larger project, optional to install.

The default weights ship in its wheel. The angle classifier is off: it turned long upright lines upside down.
"""

import os
from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

from models.engine import OcrEngine
from models.geometry import Box
from models.profile import Profile
from tasks.work.engines.workers import WorkerEngine, require
from tasks.work.lines import Line

_PARAMS = {
    "Global.use_cls": False,
    "Global.log_level": "critical",
    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
}


class RapidReader:
    """The library with one thread, as a reader."""

    def __init__(self) -> None:
        # onnxruntime 1.32 keeps a telemetry database in ~/.cache and a file in /tmp unless told not to
        # before it is imported; OpenCV starts a thread per core.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import cv2  # noqa: PLC0415
        from rapidocr import RapidOCR  # noqa: PLC0415

        cv2.setNumThreads(1)
        self.name = f"rapidocr {version('rapidocr')} small"
        # Its type is a union of the outputs of all ways to call it; this way gives boxes, txts, scores.
        self._native: Any = RapidOCR(params=_PARAMS)

    def lines(self, picture: bytes) -> list[Line]:
        """Lines in the order found, each in the upright box around its four corners."""
        found = self._native(picture)
        if found.boxes is None:
            return []
        return [
            Line(text, _around(corners), float(score))
            for corners, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
        ]


def open_engine(profile: Profile, jobs: int) -> OcrEngine:
    """The engine with `jobs` workers."""
    for package in ("rapidocr", "onnxruntime"):
        require(package, "Type: pip install 'pagemill[rapidocr]', or 'rapidocr==3.10.0' and 'onnxruntime'.")
    facts = {
        "rapidocr": version("rapidocr"),
        "onnxruntime": version("onnxruntime"),
        "model": "PP-OCRv6 small",
    }
    return WorkerEngine(profile, jobs, RapidReader, facts)


def _around(corners: Iterable[tuple[float, float]]) -> Box:
    xs, ys = zip(*((float(x), float(y)) for x, y in corners), strict=True)
    return Box(min(xs), min(ys), max(xs), max(ys))
