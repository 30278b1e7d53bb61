"""Answers in each model's published format become the right blocks."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from models.geometry import Box, Transform
from models.profiles import get
from models.reading import Block, BlockType
from models.vlm import Vlm
from tasks.work.parsers import Parsed, Sent, parse

ANSWERS = Path(__file__).parents[1] / "answers"
EXPECTED = sorted(ANSWERS.glob("*/*.json"))
KEPT = ("type", "text", "level", "rows", "box")


def told(block: Block) -> dict[str, Any]:
    """The fields of a block that are not at their default, as JSON has them."""
    values = {field.name: getattr(block, field.name) for field in fields(block) if field.name in KEPT}
    if block.box is not None:
        values["box"] = [round(side, 2) for side in block.box]
    values["rows"] = [list(row) for row in block.rows]
    return {name: str(value) if name == "type" else value for name, value in values.items() if value}


def served(name: str) -> Vlm:
    vlm = get(name).vlm
    assert vlm is not None
    return vlm


def read(expected: Path) -> tuple[dict[str, Any], Parsed]:
    wanted = json.loads(expected.read_text("utf-8"))
    answer = next(path for path in expected.parent.glob(f"{expected.stem}.*") if path != expected)
    width, height = wanted["sent"]
    schema = json.dumps(wanted["schema"]) if "schema" in wanted else ""
    scale = served(expected.parent.name).box_scale
    sent = Sent(width, height, Transform.scale(0.5, 0.5), scale, schema)
    return wanted, parse(wanted["parser"], answer.read_text("utf-8"), sent)


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_an_answer_becomes_its_blocks(expected: Path) -> None:
    wanted, found = read(expected)
    assert [told(block) for block in found.blocks] == wanted["blocks"]
    assert list(found.notes) == wanted["notes"]


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_text_is_that_of_all_blocks_but_pictures(expected: Path) -> None:
    _, found = read(expected)
    words = [block.text for block in found.blocks if block.type is not BlockType.PICTURE]
    assert found.text == "\n\n".join(words)


def test_every_answer_says_what_has_to_become_of_it() -> None:
    answers = {path.with_suffix("") for path in ANSWERS.glob("*/*") if path.suffix != ".json"}
    assert answers == {path.with_suffix("") for path in EXPECTED}
    assert {path.parent.name for path in EXPECTED} == {"glm-ocr", "chandra", "chandra-2", "ostrakon"}


def test_boxes_follow_a_picture_that_was_turned_and_shrunk() -> None:
    # A page of 600 x 800 points, sent lying on its side at half a pixel a point.
    turned = Transform(0, -2, 2, 0, 0, 800)
    answer = '<div data-bbox="0 0 500 250" data-label="Text">x</div>'
    found = parse("chandra-2", answer, Sent(400, 300, turned, 1000))
    assert found.blocks[0].box == Box(0, 400, 150, 800)


def test_the_same_box_on_another_scale_is_another_box() -> None:
    answer = '<div data-bbox="[0, 0, 500, 500]" data-label="Text">x</div>'
    one, two = (parse("chandra", answer, Sent(1000, 1000, Transform.scale(1, 1), n)) for n in (1000, 1024))
    assert one.blocks[0].box == Box(0, 0, 500, 500)
    assert two.blocks[0].box != one.blocks[0].box
