"""What lies where on a picture of a page: PaddlePaddle's PicoDet, trained on CDLA, run by ONNX Runtime.

Ten kinds of regions with upright boxes, in no order. The weights are Apache-2.0, see weights/README.md; ONNX
Runtime is the extra `layout`. Architecture: arXiv 2111.00902. Every box side is told as a distribution over
eight distances from a cell's middle, on four grids of cells.
"""

import os
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image

from models.errors import Code, EnvironmentFault
from models.geometry import Box
from models.region import RegionKind

Array = npt.NDArray[np.float32]

_WEIGHTS = Path(__file__).parent / "weights" / "layout-cdla.onnx"
_SIZE_PX = (608, 800)
_STRIDES = (8, 16, 32, 64)
_DISTANCES = 8
_MEAN = np.array([0.485, 0.456, 0.406], np.float32)
_DEVIATION = np.array([0.229, 0.224, 0.225], np.float32)
_LEAST_SCORE = 0.4
_SAME = 0.5
"""Share of both boxes' area that two boxes for one thing have in common."""
_KINDS = (
    RegionKind.TEXT,
    RegionKind.HEADING,
    RegionKind.PICTURE,
    RegionKind.CAPTION,
    RegionKind.TABLE,
    RegionKind.CAPTION,
    RegionKind.HEADER,
    RegionKind.FOOTER,
    RegionKind.TEXT,
    RegionKind.FORMULA,
)
"""Of the model's classes: text, title, figure, its caption, table, its caption, header, footer, reference,
equation."""


class Found(NamedTuple):
    """A region as the model sees it. `box` in pixels of the picture, `score` from 0 to 1."""

    kind: RegionKind
    box: Box
    score: float


def require() -> None:
    """Raises EnvironmentFault (package-missing) when ONNX Runtime is not installed."""
    if find_spec("onnxruntime") is None:
        raise EnvironmentFault(
            "Reading by regions needs the package 'onnxruntime', which is not installed. Type: pip install "
            "'pagemill[layout]', or leave --recipe regions=layout out.",
            Code.PACKAGE_MISSING,
        )


def find(picture: Image.Image) -> list[Found]:
    """Regions of a picture of a page, the surest first. Raises as `require`."""
    require()
    small = picture.convert("RGB").resize(_SIZE_PX, Image.Resampling.BILINEAR)
    pixels = (np.asarray(small, np.float32) / 255 - _MEAN) / _DEVIATION
    told = _session().run(None, {"image": pixels.transpose(2, 0, 1)[None]})
    half = len(_STRIDES)
    scores = np.concatenate([one[0] for one in told[:half]])
    corners = np.concatenate([_corners(*pair) for pair in zip(_STRIDES, told[half:], strict=True)])
    size = np.array([*picture.size] * 2, np.float32)
    return _distinct(scores, (corners * size / ([*_SIZE_PX] * 2)).clip(0, size))


@lru_cache(maxsize=1)
def _session() -> Any:
    """The model on one thread; loaded once in a process."""
    # onnxruntime 1.32 keeps a telemetry database in ~/.cache and a file in /tmp unless told not to before it
    # is imported.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    onnxruntime: Any = import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(_WEIGHTS), options, providers=["CPUExecutionProvider"])


def _corners(stride: int, told: Array) -> Array:
    """Left, top, right, bottom of each cell's box on the small picture, from its distances (1, n, 32)."""
    rows, columns = (-(-side // stride) for side in reversed(_SIZE_PX))
    down, across = np.divmod(np.arange(rows * columns), columns)
    middle = np.stack([across, down], axis=1) * stride + stride / 2
    shares = np.exp(told[0].reshape(-1, 4, _DISTANCES))
    shares /= shares.sum(axis=2, keepdims=True)
    reach = shares @ np.arange(_DISTANCES, dtype=np.float32) * stride
    return np.concatenate([middle - reach[:, :2], middle + reach[:, 2:]], axis=1).astype(np.float32)


def _distinct(scores: Array, corners: Array) -> list[Found]:
    """One box for each thing, the surest."""
    kinds, best = scores.argmax(axis=1), scores.max(axis=1)
    kept: list[Found] = []
    for place in np.argsort(-best):
        if best[place] < _LEAST_SCORE:
            break
        box = Box(*(float(side) for side in corners[place]))
        if all(_in_common(box, other.box) < _SAME for other in kept):
            kept.append(Found(_KINDS[kinds[place]], box, float(best[place])))
    return kept


def _in_common(one: Box, other: Box) -> float:
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    shared = max(0.0, width) * max(0.0, height)
    return shared / max(1.0, one.width * one.height + other.width * other.height - shared)
