"""Pictures for the wire, the number of open requests and empty forms, by properties."""

import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from models.errors import Code, PageFailed, PictureGone
from models.geometry import Box, Transform
from models.vlm import Pixels
from tasks.work.engines.vllm.picture import Picture, load_other, size_to_send, snapped
from tasks.work.engines.vllm.sample import Sample
from tasks.work.engines.vllm.steering import Steering
from tasks.work.engines.vllm.template import template_of
from tests import factories
from tests.unit.vlms import vlm

_SAMPLES = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300), st.integers(0, 300)), max_size=40)
_SCHEMAS = st.recursive(
    st.sampled_from([{"type": "string"}, {"type": "number"}, {}, True, None, 7, []]),
    lambda inner: st.one_of(
        st.dictionaries(st.text("abc", min_size=1), inner, max_size=3).map(lambda p: {"properties": p}),
        inner.map(lambda items: {"type": "array", "items": items}),
    ),
    max_leaves=10,
)


def picture(width: int, height: int, kind: str = "png") -> Picture:
    data = factories.picture_bytes(Image.new("RGB", (width, height), "white"), kind.upper())
    return Picture(data, kind, width, height, Transform.scale(72 / 150, 72 / 150))


def bare(width: int, height: int) -> Picture:
    """A picture of which only the size matters."""
    return Picture(b"", "png", width, height, Transform.scale(1, 1))


@pytest.mark.parametrize(("side", "grid", "found"), [(0, 28, 28), (28, 28, 28), (55.9, 28, 28), (56, 28, 56)])
def test_a_side_is_snapped_down_to_the_grid_but_never_to_nothing(side: float, grid: int, found: int) -> None:
    assert snapped(side, grid) == found


@pytest.mark.parametrize("kind", ["png", "jpeg", "webp"])
def test_a_quarter_of_the_pixels_is_half_of_each_side_in_the_same_format(kind: str) -> None:
    smaller = picture(200, 100, kind).shrunk(0.25)
    assert (smaller.width_px, smaller.height_px, smaller.media) == (100, 50, kind)
    with Image.open(io.BytesIO(smaller.data)) as decoded:
        assert (decoded.size, decoded.format) == ((100, 50), kind.upper())
    assert smaller.url()[0] == f"data:image/{kind};base64,".encode()


@given(st.integers(1, 90), st.integers(1, 90))
def test_a_picture_of_another_size_covers_the_same_page(width: int, height: int) -> None:
    whole = picture(60, 40)
    other = whole.resized(width, height)
    wanted = whole.transform.box(Box(0, 0, 60, 40))
    assert other.transform.box(Box(0, 0, width, height)) == pytest.approx(wanted)


@pytest.mark.parametrize("size", [(0, 10), (10, 0), (-5, -5)])
def test_no_picture_is_made_smaller_than_a_pixel(size: tuple[int, int]) -> None:
    small = picture(20, 20).resized(*size)
    assert (small.width_px, small.height_px) == tuple(max(1, side) for side in size)


def test_a_picture_that_cannot_be_decoded_fails_as_a_page() -> None:
    with pytest.raises(PageFailed) as failed:
        Picture(b"no picture", "png", 10, 10, Transform.scale(1, 1)).shrunk(0.5)
    assert failed.value.code is Code.OCR_FAILED


@settings(max_examples=50)
@given(st.integers(1, 8_000), st.integers(1, 8_000), st.integers(1_024, 20_000))
def test_what_is_sent_is_within_the_model_s_limits_and_leaves_room(
    width: int, height: int, context: int
) -> None:
    model = vlm(pixels=Pixels(patch_px=14, min_pixels=12_544, max_pixels=4_000_000))
    sent = size_to_send(bare(width, height), model, context)
    assert min(sent) >= model.pixels.grid_px
    assert sent[0] * sent[1] <= model.pixels.max_pixels
    # A strip cannot be thinner than a grid cell: there the rule has no room to give.
    if min(sent) > model.pixels.grid_px:
        assert model.pixels.tokens(*sent) < context


def test_a_picture_that_fits_is_sent_as_it_is() -> None:
    assert size_to_send(bare(1_001, 777), vlm(), 16_384) == (1_001, 777)


def test_another_picture_of_a_comparison_has_its_own_size(tmp_path: Path) -> None:
    path = factories.write(tmp_path / "other.JPG", picture(30, 20, "jpeg").data)
    other = load_other(path)
    assert (other.width_px, other.height_px, other.media) == (30, 20, "jpeg")


def test_what_cannot_be_sent_is_told_by_its_code(tmp_path: Path) -> None:
    with pytest.raises(PictureGone):
        load_other(tmp_path / "gone.png")
    path = factories.write(tmp_path / "a.tiff", factories.picture_bytes(Image.new("RGB", (9, 9)), "TIFF"))
    with pytest.raises(PageFailed) as failed:
        load_other(path)
    assert failed.value.code is Code.OCR_REJECTED


@given(st.integers(1, 64), st.integers(1, 256), _SAMPLES)
def test_whatever_a_server_says_the_limit_stays_in_its_bounds(
    least: int, most: int, samples: list[tuple[int, int, int]]
) -> None:
    steering = Steering(least, most)
    for running, waiting, open_now in samples:
        before = steering.limit
        still = steering.observe(Sample(running, waiting), open_now)
        assert min(least, most) <= steering.limit <= most
        assert still or steering.limit == before
        assert steering.limit <= before or (not waiting and open_now >= before)


@given(_SAMPLES)
def test_a_refusal_never_makes_more_requests(samples: list[tuple[int, int, int]]) -> None:
    steering = Steering(1, 256)
    for running, waiting, open_now in samples:
        steering.observe(Sample(running, waiting), open_now)
        before = steering.limit
        steering.refused()
        assert 1 <= steering.limit <= before


@given(_SCHEMAS)
def test_an_empty_form_is_json_with_the_keys_of_its_schema(schema: object) -> None:
    form = json.loads(template_of(json.dumps(schema)))
    if isinstance(schema, dict) and "properties" in schema:
        assert list(form) == list(schema["properties"])
    elif isinstance(schema, dict) and schema.get("items") is not None:
        assert len(form) == 1


def test_a_schema_nested_without_end_has_an_end() -> None:
    schema: dict[str, object] = {"type": "string"}
    for _ in range(60):
        schema = {"properties": {"a": schema}}
    assert template_of(json.dumps(schema)).count('"a"') == 21
