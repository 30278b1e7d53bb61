"""Answers in JSON: fields read from a document, and what a model saw in a picture."""

import json
import re
from collections.abc import Iterator
from typing import Any

from models.geometry import Box
from models.notes import SCHEMA_MISMATCH
from models.reading import Block, BlockType
from tasks.work.parsers.boxes import box_of
from tasks.work.parsers.plain import parse_text
from tasks.work.parsers.shapes import Parsed, Sent, parsed
from tasks.work.repair import mend_json

TRANSCRIBED = frozenset({"text", "texts", "transcription", "sign"})
"""Keys whose values are words that stand in the picture; all else is description."""
_BOX_KEYS = ("bbox_2d", "bbox", "box")


def parse_fields(answer: str, sent: Sent) -> Parsed:
    """Fields that were read from a document: a table of paths and values, e.g. address.city and Oslo."""
    value, notes = _value(answer, sent)
    if value is None:
        return _unparsed(answer, sent, notes)
    rows = tuple(_leaves(value))
    return parsed([Block(BlockType.TABLE, "\n".join("\t".join(row) for row in rows), rows=rows)], notes)


def parse_json(answer: str, sent: Sent) -> Parsed:
    """Words that stand in the picture are paragraphs, all else is the description of a picture."""
    value, notes = _value(answer, sent)
    if value is None:
        return _unparsed(answer, sent, notes)
    words = [Block(BlockType.PARAGRAPH, text, box) for text, box in _words(value, sent)]
    told = "\n".join(f"{path}: {text}" for path, text in _leaves(value, skip=TRANSCRIBED) if text)
    return parsed([*words, Block(BlockType.PICTURE, told)], notes)


def _value(answer: str, sent: Sent) -> tuple[Any, list[str]]:
    mended = mend_json(answer)
    if mended.value is None or _keeps_to(mended.value, sent.schema):
        return mended.value, list(mended.notes)
    return mended.value, [*mended.notes, SCHEMA_MISMATCH]


def _keeps_to(value: Any, schema: str) -> bool:
    """Whether a value keeps to a schema; nothing is fetched for one that refers to others."""
    if not schema:
        return True
    # Few pages are asked for with a schema; what it takes to check one is loaded in 60 ms.
    import jsonschema  # noqa: PLC0415
    from referencing import Registry  # noqa: PLC0415
    from referencing.exceptions import Unresolvable  # noqa: PLC0415

    try:
        wanted = json.loads(schema)
        jsonschema.Draft202012Validator.check_schema(wanted)
        return bool(jsonschema.Draft202012Validator(wanted, registry=Registry()).is_valid(value))
    except (ValueError, re.error, RecursionError, jsonschema.SchemaError, Unresolvable):
        # A schema of one's own can be anything; a reading is no place to fail for it.
        return False


def _unparsed(answer: str, sent: Sent, notes: list[str]) -> Parsed:
    """The answer as it is: what it says can still be found."""
    plain = parse_text(answer, sent)
    return Parsed(plain.text, plain.blocks, tuple(notes))


def _leaves(value: Any, skip: frozenset[str] = frozenset()) -> Iterator[tuple[str, str]]:
    """Paths and texts of all values that hold no others, in order, but for those under keys in `skip`."""
    stack: list[tuple[str, Any]] = [("", value)]
    while stack:
        path, one = stack.pop()
        if isinstance(one, dict):
            inner = [(f"{path}.{key}".lstrip("."), held) for key, held in one.items() if key not in skip]
            stack += reversed(inner)
        elif isinstance(one, list):
            stack += [(f"{path}.{n + 1}".lstrip("."), held) for n, held in reversed(list(enumerate(one)))]
        else:
            yield path, _shown(one)


def _words(value: Any, sent: Sent) -> Iterator[tuple[str, Box | None]]:
    """Texts under transcribing keys in the order they are told, with the box beside them."""
    stack: list[tuple[Any, Box | None, bool]] = [(value, None, False)]
    while stack:
        one, box, is_read = stack.pop()
        if isinstance(one, list):
            stack += [(held, box, is_read) for held in reversed(one)]
        elif isinstance(one, dict):
            near = _box_beside(one, sent) or box
            stack += [(one[key], near, is_read or key in TRANSCRIBED) for key in reversed(one)]
        elif is_read and _shown(one):
            yield _shown(one), box


def _box_beside(one: dict[str, Any], sent: Sent) -> Box | None:
    return next((box_of(str(one[key]), sent) for key in _BOX_KEYS if key in one), None)


def _shown(value: Any) -> str:
    return " ".join(value.split()) if isinstance(value, str) else "" if value is None else json.dumps(value)
