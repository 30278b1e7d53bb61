"""Phrases of models and the clues to them: a text without a clue holds no phrase, so none is looked for."""

import re
from collections.abc import Iterator
from itertools import product
from re import _constants as op
from re import _parser as parser
from typing import Any

import pytest

from bench.sayings import REFUSALS
from tasks.work.checks import phrases
from tasks.work.checks.phrases import REFUSAL, REMARK, holds_clue
from tests.unit.readings import CHINESE, GERMAN, PROSE, RUSSIAN

ANY = "\ue000"
"""Some other character."""
ANYWHERE = [pattern for pattern in phrases._REFUSALS + phrases._REMARKS if not pattern.startswith(r"\A")]
AT_THE_START = [pattern for pattern in phrases._REMARKS if pattern.startswith(r"\A")]


def texts(nodes: Any) -> Iterator[str]:
    """Texts of all shapes that a parsed pattern matches; what may repeat does so as seldom as it may."""
    for parts in product(*(list(_shapes(*node)) for node in nodes)):
        yield "".join(parts)


def _shapes(kind: Any, value: Any) -> Iterator[str]:
    if kind is op.LITERAL:
        yield chr(value)
    elif kind is op.BRANCH:
        for branch in value[1]:
            yield from texts(branch)
    elif kind is op.SUBPATTERN:
        yield from texts(value[3])
    elif kind is op.MAX_REPEAT:
        least, most, inner = value
        yield from ["".join(many) for many in product(list(texts(inner)), repeat=least)]
        if least == 0 and most == 1:
            yield from texts(inner)
    elif kind is op.AT:
        yield ""
    else:
        assert kind in {op.IN, op.NOT_LITERAL, op.ANY}, kind
        yield ANY


def anywhere(pattern: str) -> list[str]:
    """The alternatives of a pattern that may begin anywhere, each as a text."""
    return list(texts(parser.parse(pattern, re.IGNORECASE)))


@pytest.mark.parametrize("pattern", ANYWHERE)
def test_every_phrase_that_begins_anywhere_holds_a_clue(pattern: str) -> None:
    assert [text for text in anywhere(pattern) if not holds_clue(text.replace(ANY, "s"))] == []


@pytest.mark.parametrize("pattern", AT_THE_START)
def test_a_phrase_of_the_start_begins_nowhere_else_unless_it_holds_a_clue(pattern: str) -> None:
    found = re.compile(pattern, re.IGNORECASE)
    for text in anywhere(pattern):
        moved = "Page 12\n" + text.replace(ANY, "s")
        assert holds_clue(moved) or not found.search(moved)


@pytest.mark.parametrize("text", REFUSALS)
@pytest.mark.parametrize("form", [str, str.upper, str.title, lambda text: text.replace("i", "ı")])
def test_what_is_found_in_known_sayings_holds_a_clue_however_it_is_written(text: str, form: Any) -> None:
    assert holds_clue(form(text)) or not (REFUSAL.search(form(text)) or REMARK.search(form(text)))


@pytest.mark.parametrize("text", [PROSE, RUSSIAN, "The pump of the cellar stands under water.\n" * 7])
def test_a_page_that_speaks_to_nobody_holds_none(text: str) -> None:
    assert not holds_clue(text[:300])


def test_what_holds_a_clue_is_still_looked_at() -> None:
    assert [holds_clue(text) for text in ("Please turn over.", CHINESE + "图", GERMAN + " keinen")] == [
        True
    ] * 3
    assert REFUSAL.search("Please turn over.") is None
