import numpy as np
import pytest

from bench.weights import WHEEL_SHA256, grey
from tasks.work import orientation_net


def test_a_grey_layer_answers_as_the_coloured_one_does_to_grey() -> None:
    rng = np.random.default_rng(2)
    weights, bias = rng.normal(size=(4, 3, 3, 3)).astype(np.float32), rng.normal(size=4).astype(np.float32)
    patch = rng.random((3, 3)).astype(np.float32)
    mean, deviation = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    colours = (patch[None] - mean[:, None, None]) / deviation[:, None, None]
    wanted = (weights * colours[None]).sum(axis=(1, 2, 3)) + bias
    plain, shifted = grey(weights, bias)
    assert (plain[:, 0] * patch).sum(axis=(1, 2)) + shifted == pytest.approx(wanted, abs=1e-4)


def test_the_weights_are_those_of_the_architecture() -> None:
    with np.load(orientation_net._WEIGHTS) as stored:
        shapes = {name: stored[name].shape for name in stored.files}
    assert shapes["w00"] == (16, 1, 3, 3)
    assert shapes["w32"] == (1280, 4)
    # The first, two to each of 13 blocks, two for each of the two that weigh channels, and two at the end.
    assert len(shapes) == 2 * (1 + 2 * 13 + 2 * 2 + 2)


def test_where_the_weights_come_from_is_said_beside_them() -> None:
    readme = (orientation_net._WEIGHTS.parent / "README.md").read_text(encoding="utf-8")
    assert WHEEL_SHA256 in readme
    assert "Apache-2.0" in readme
