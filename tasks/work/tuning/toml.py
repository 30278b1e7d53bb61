"""Plain data as TOML: the standard library reads it and does not write it."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def dump(data: Mapping[str, Any]) -> str:
    """A document of strings, numbers, truths, lists and tables; None is left out."""
    return "\n".join(_table(data, ())) + "\n"


def _table(data: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    told = {key: value for key, value in data.items() if value is not None}
    plain = {key: value for key, value in told.items() if not isinstance(value, Mapping)}
    if path and (plain or not told):
        yield f"\n[{'.'.join(map(_key, path))}]"
    for key, value in plain.items():
        yield f"{_key(key)} = {_value(value, is_long=True)}"
    for key, value in told.items():
        if isinstance(value, Mapping):
            yield from _table(value, (*path, key))


def _value(value: Any, *, is_long: bool = False) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items() if one is not None)
        return f"{{ {pairs} }}"
    if isinstance(value, (list, tuple)):
        items = [_value(one) for one in value]
        is_table = is_long and any(isinstance(one, Mapping) for one in value)
        return "[\n  " + ",\n  ".join(items) + ",\n]" if is_table else f"[{', '.join(items)}]"
    return repr(value)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _string(key)


def _string(text: str) -> str:
    # JSON's escapes are TOML's; the one control character that JSON leaves as it is, TOML does not.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
