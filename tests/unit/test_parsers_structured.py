"""Answers in JSON: fields of forms, words and descriptions of pictures, schemas."""

import json

import pytest

from models.geometry import Box, Transform
from models.profiles.ostrakon_tasks import TASKS
from models.reading import BlockType
from tasks.work.engines.vllm.template import template_of
from tasks.work.parsers import Sent, parse
from tests.unit.parsing import only, read, shown, types


def test_fields_are_a_table_of_paths_and_values() -> None:
    block = only("glm-json", '{"a": "x\\ny", "b": {"c": 1.5, "d": null}, "e": [true, "z"]}')
    assert block.rows == (("a", "x y"), ("b.c", "1.5"), ("b.d", ""), ("e.1", "true"), ("e.2", "z"))


def test_words_of_a_picture_are_found_and_descriptions_are_not() -> None:
    found = read("json", '{"scene": "a shop", "sign": "Lucky", "shelf": [{"text": "Tea", "colour": "red"}]}')
    assert found.text == "Lucky\n\nTea"
    assert found.blocks[-1].type is BlockType.PICTURE
    assert found.blocks[-1].text == "scene: a shop\nshelf.1.colour: red"


def test_words_come_in_the_order_they_are_told() -> None:
    answer = '{"texts": ["one"], "inner": {"text": "two"}, "transcription": ["three", ["four"]]}'
    assert read("json", answer).text == "one\n\ntwo\n\nthree\n\nfour"


def test_a_box_beside_words_is_theirs() -> None:
    sent = Sent(200, 100, Transform.scale(1, 1), 1000)
    found = parse("json", '{"signs": [{"bbox_2d": [0, 0, 500, 500], "text": "Lucky"}]}', sent)
    assert found.blocks[0].box == Box(0, 0, 100, 50)


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        ('```json\n{"a": "x"}\n```', "fence-stripped"),
        ('{"a": "x",}', "json-repaired"),
        ('{"a": "x", "b": "cut of', "json-repaired"),
    ],
)
def test_broken_json_is_mended_and_noted(answer: str, note: str) -> None:
    found = read("glm-json", answer)
    assert found.blocks[0].rows[0] == ("a", "x")
    assert found.notes == (note,)


@pytest.mark.parametrize("answer", ["I cannot read it.", "7", '"text"', "nothing", "[" * 5_000])
def test_what_is_no_json_stays_text_and_is_noted(answer: str) -> None:
    found = read("json", answer)
    assert found.text == answer
    assert "unparsable" in found.notes


def test_an_empty_answer_has_no_blocks() -> None:
    for name in ("text", "markdown", "glm-table", "glm-formula", "glm-json", "chandra", "chandra-2", "json"):
        assert types(name, " \n ") == []


def _sent(schema: str) -> Sent:
    return Sent(10, 10, Transform.scale(1, 1), 0, schema)


@pytest.mark.parametrize(
    ("answer", "is_kept"),
    [('{"texts": ["a"]}', True), ('{"texts": "a"}', False), ('{"lines": []}', False), ("[]", False)],
)
def test_an_answer_that_does_not_keep_to_its_schema_is_noted(answer: str, is_kept: bool) -> None:
    schema = json.dumps(TASKS["transcribe"].schema_)
    assert ("schema-mismatch" in parse("json", answer, _sent(schema)).notes) is not is_kept


@pytest.mark.parametrize(
    "schema",
    ["{", "[]", '{"type": 7}', '{"$ref": "http://example.org/x"}', '{"type": "object", "pattern": "("}'],
)
def test_a_schema_that_is_none_makes_no_page_fail(schema: str) -> None:
    assert shown("json", '{"text": "a"}') == [("paragraph", "a")]
    assert parse("json", '{"text": "a"}', _sent(schema)).text == "a"


def test_a_schema_becomes_the_empty_form_that_models_fill_in() -> None:
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "address": {"type": "object", "properties": {"city": {"type": "string"}}},
            "lines": {
                "type": "array",
                "items": {"type": "object", "properties": {"sum": {"type": "number"}}},
            },
        },
    }
    form = json.loads(template_of(json.dumps(schema)))
    assert form == {"name": "", "address": {"city": ""}, "lines": [{"sum": ""}]}


def test_a_form_is_given_back_as_it_is_and_no_schema_is_an_empty_one() -> None:
    assert json.loads(template_of('{"type": "", "姓名": ""}')) == {"type": "", "姓名": ""}
    assert "姓名" in template_of('{"姓名": ""}')
    assert template_of("") == "{}"
    assert template_of("{no json") == "{no json"
