"""Which way up a picture of a document lies: PaddlePaddle's PP-LCNet_x1_0_doc_ori, run by numpy.

The model is small enough (0.16 G multiplications) that numpy needs 9 ms on one core for a picture of
224 x 224 px; that spares every installation an inference library of 70 MB. The weights are Apache-2.0, see
weights/README.md.
Architecture: arXiv 2109.15099.
"""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

Array = npt.NDArray[np.float32]

_WEIGHTS = Path(__file__).parent / "weights" / "doc-ori.npz"
_MIDDLE_GREY = 0.449
"""The mean of what the model was trained on: its padding."""
_STRIDES = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1)
"""Of the 13 blocks' first convolutions."""
_WEIGHING = 11
"""From this block on, channels are weighed (squeeze and excitation)."""


class _Layer(NamedTuple):
    weights: Array
    """(rows, columns, channels) of a convolution a channel, (inputs, outputs) else."""
    bias: Array


def shares(pictures: npt.NDArray[np.uint8]) -> Array:
    """For grey pictures (n, side, side) the probabilities (n, 4) of lying turned by 0, 90, 180, 270 degrees.

    The side is a multiple of 32 px; the model was trained on 224. Turned clockwise against upright, so by
    that much against the clock they become upright.
    """
    first, *layers = _layers()
    found = _swish(_first(pictures.astype(np.float32), first))
    rest = iter(layers)
    for number, stride in enumerate(_STRIDES):
        found = _swish(_each_channel(found, next(rest), stride))
        if number >= _WEIGHING:
            found = found * _weighed(found, next(rest), next(rest))[:, None, None]
        found = _swish(_across(found, next(rest)))
    pooled = _swish(_across(found.mean(axis=(1, 2)), next(rest)))
    scores = np.exp(_across(pooled * np.float32(0.8), next(rest)))
    result: Array = scores / scores.sum(axis=1, keepdims=True)
    return result


@lru_cache(maxsize=1)
def _layers() -> tuple[_Layer, ...]:
    with np.load(_WEIGHTS) as stored:
        count = len(stored.files) // 2
        pairs = [(stored[f"w{n:02}"], stored[f"b{n:02}"].astype(np.float32)) for n in range(count)]
    return tuple(_Layer(_laid_out(weights.astype(np.float32)), bias) for weights, bias in pairs)


def _laid_out(weights: Array) -> Array:
    """Channels last, so that numpy runs along them."""
    if weights.ndim == 2:
        return weights
    if weights.shape[1] == 1:
        return np.ascontiguousarray(weights[:, 0].transpose(1, 2, 0))
    # BLAS takes it as it lies.
    return weights[:, :, 0, 0].T


def _first(pictures: Array, layer: _Layer) -> Array:
    pictures /= 255
    padded = np.pad(pictures, ((0, 0), (1, 1), (1, 1)), constant_values=_MIDDLE_GREY)
    half = pictures.shape[1] // 2
    taps = [padded[:, y : y + 2 * half : 2, x : x + 2 * half : 2] for y in range(3) for x in range(3)]
    return _across(np.stack(taps, axis=-1), _Layer(layer.weights.reshape(9, -1), layer.bias))


def _each_channel(found: Array, layer: _Layer, stride: int) -> Array:
    """Einsum multiplies and adds in one pass, where numpy else needs two; but it is quick on long lines only.

    So columns and channels lie in one line, which asks for the weights once for each column.
    """
    size, channels = layer.weights.shape[0], found.shape[3]
    padded = np.pad(found, ((0, 0), (size // 2, size // 2), (size // 2, size // 2), (0, 0)))
    rows, columns = (-(-side // stride) for side in found.shape[1:3])
    result = np.tile(layer.bias, columns)
    for first in range(stride):
        # The columns that the same weights see.
        lines, seen = np.ascontiguousarray(padded[:, :, first::stride]), layer.weights[:, first::stride]
        picture, row, column, number = lines.strides
        taps = as_strided(
            lines,
            (len(lines), *seen.shape[:2], rows, columns * channels),
            (picture, row, column, row * stride, number),
        )
        result = result + np.einsum("nyxrl,yxl->nrl", taps, np.tile(seen, columns))
    return result.reshape(len(found), rows, columns, channels)


def _across(found: Array, layer: _Layer) -> Array:
    """All places at once: numpy would call BLAS for each row of them."""
    result: Array = found.reshape(-1, found.shape[-1]) @ layer.weights
    result += layer.bias
    return result.reshape(*found.shape[:-1], -1)


def _weighed(found: Array, squeeze: _Layer, excite: _Layer) -> Array:
    inner = np.maximum(_across(found.mean(axis=(1, 2)), squeeze), 0)
    result: Array = np.clip(_across(inner, excite) / 6 + 0.5, 0, 1)
    return result


def _swish(found: Array) -> Array:
    """The model's activation: x · clip(x + 3, 0, 6) / 6."""
    gate: Array = found + np.float32(3)
    np.clip(gate, 0, 6, out=gate)
    gate *= found
    gate *= np.float32(1 / 6)
    return gate
