"""Loops of free-writing models, wherever they write."""

import json
import re
from collections.abc import Mapping
from html import escape
from random import Random

from bench.goodpages import Fault, Good, Wrong, div, read_as


def _loop(good: Good, rng: Random, unit: str) -> str:
    """The first part of the page, then `unit` again and again; cut anywhere, as a token limit does."""
    text = good.reading.text[: rng.randrange(len(good.reading.text))]
    least = 2_000 if any(map(str.isalpha, unit)) else 3_500
    chars = rng.randrange(least, 25_000)
    return f"{text}\n{(unit * (chars // len(unit) + 1))[:chars]}"


def _loop_words(good: Good, rng: Random) -> Wrong:
    words = good.reading.text.split()
    start = rng.randrange(max(1, len(words) - 4))
    return good.with_text(_loop(good, rng, " ".join(words[start : start + rng.randint(1, 4)]) + " "))


def _loop_lines(good: Good, rng: Random) -> Wrong:
    lines = [line[:150] for line in good.reading.text.splitlines() if len(line) > 2] or ["the line"]
    return good.with_text(_loop(good, rng, "\n".join(rng.choices(lines, k=rng.randint(1, 2))) + "\n"))


def _loop_dots(good: Good, rng: Random) -> Wrong:
    return good.with_text(_loop(good, rng, rng.choice([".", ". ", "_", "…", "0 ", "- ", "| "])))


def _loop_rows(good: Good, rng: Random) -> Wrong:
    label, price = rng.choice(good.reading.text.split())[:20], f"{rng.randrange(100, 9999) / 100:.2f}"
    row = f"<tr><td>Item {escape(label)}</td><td>{price}</td><td>pcs</td></tr>"
    return read_as("chandra", div("Table", f"<table>{row * rng.randint(10, 80)}</table>")), good.page


def _loop_cell(good: Good, rng: Random) -> Wrong:
    cell = escape(_loop(good, rng, rng.choice(good.reading.text.split()) + " "))
    return read_as("chandra", div("Table", f"<table><tr><td>a</td><td>{cell}</td></tr></table>")), good.page


def _loop_attribute(good: Good, rng: Random) -> Wrong:
    alt = _loop(good, rng, escape(rng.choice(good.reading.text.split())) + " ").replace('"', "")
    return read_as("chandra", div("Image", f'<img alt="{escape(alt)}"/>')), good.page


def _loop_json(good: Good, rng: Random) -> Wrong:
    text = _loop(good, rng, rng.choice(good.reading.text.split()) + " ")
    return read_as("json", json.dumps({"text": text, "kind": "sign"}, ensure_ascii=False)), good.page


def _loop_counting(good: Good, rng: Random) -> Wrong:
    words = " ".join(re.sub(r"\d", "", good.reading.text).split()[:12]) or "one more line of the page"
    unit = f"{words[:80]} and all the other entries of that list"
    lines = (f"{n}. {unit}" for n in range(1, rng.randint(40, 200)))
    return good.with_text(good.reading.text[:200] + "\n" + "\n".join(lines))


LOOPS: Mapping[str, Fault] = {
    "loop of words": _loop_words,
    "loop of lines": _loop_lines,
    "loop of dots, zeros, bars": _loop_dots,
    "loop of table rows": _loop_rows,
    "loop inside a cell": _loop_cell,
    "loop inside an attribute": _loop_attribute,
    "loop inside a JSON value": _loop_json,
    "loop that counts": _loop_counting,
}
