"""JSON of models: read as it is, mended where a comma or the end is missing, refused where nothing helps."""

import json
from dataclasses import dataclass
from typing import Any

from models.notes import JSON_REPAIRED, UNPARSABLE
from tasks.work.repair.answers import unfenced

# json-repair is quadratic in an open string: 13 s for a megabyte, 0.15 s for this.
_MOST_CHARS = 64_000
# Deeper than any layout; both parsers recurse.
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Mended:
    """A JSON value. `value` is None where nothing could be read, and `notes` then hold `unparsable`."""

    value: Any
    notes: tuple[str, ...] = ()


def mend_json(text: str) -> Mended:
    """The JSON object or array in `text`, at any cost in form: fences, missing commas, an open end.

    Notes: fence-stripped, json-repaired, unparsable. Never raises; text that is no object or array, is nested
    over 100 deep, or is broken and longer than 64,000 characters is unparsable.
    """
    bare = unfenced(text.strip())
    if _depth(bare.text) > _DEEPEST:
        return Mended(None, (*bare.notes, UNPARSABLE))
    value = _strict(bare.text)
    if isinstance(value, dict | list):
        return Mended(value, bare.notes)
    start = min((at for at in map(bare.text.find, "{[") if at >= 0), default=-1)
    if start < 0 or len(bare.text) > _MOST_CHARS:
        return Mended(None, (*bare.notes, UNPARSABLE))
    value = _lenient(bare.text[start:])
    if not value:
        return Mended(None, (*bare.notes, UNPARSABLE))
    return Mended(value, (*bare.notes, JSON_REPAIRED))


def _strict(text: str) -> Any:
    try:
        # Newlines inside strings are what models write and no reason to doubt the rest.
        return json.loads(text, strict=False)
    except ValueError:
        return None


def _lenient(text: str) -> dict[str, Any] | list[Any] | None:
    try:
        import json_repair  # noqa: PLC0415 (for answers that are broken)

        value = json_repair.loads(text, skip_json_loads=True)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _depth(text: str) -> int:
    """How deep brackets are nested, those in strings too: an upper bound, 0 where there are few."""
    depth = deepest = 0
    if text.count("[") + text.count("{") <= _DEEPEST:
        return 0
    for char in text:
        if char in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "}]":
            depth = max(0, depth - 1)
    return deepest
