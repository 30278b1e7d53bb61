"""A JSON schema as an empty form: what models are shown that were trained to fill one in."""

import json
from typing import Any

_DEEPEST = 20
_TYPES = ("object", "array")


def template_of(schema: str) -> str:
    """A JSON object with the keys of `schema` and empty values, indented by four; `{}` for no schema.

    Lists hold one empty item. A document that is no schema but a form already is given back as it is.
    """
    try:
        wanted = json.loads(schema or "{}")
    except ValueError:
        return schema
    is_schema = isinstance(wanted, dict) and ("properties" in wanted or wanted.get("type") in _TYPES)
    return json.dumps(_empty(wanted, 0) if is_schema else wanted, ensure_ascii=False, indent=4)


def _empty(schema: Any, depth: int) -> Any:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return ""
    properties, items = schema.get("properties"), schema.get("items")
    if isinstance(properties, dict):
        return {key: _empty(inner, depth + 1) for key, inner in properties.items()}
    return [_empty(items, depth + 1)] if items is not None else ""
