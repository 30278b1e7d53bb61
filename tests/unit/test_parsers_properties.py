"""Whatever a model answers: no parser raises, none loses words, none takes long."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from models.notes import TOO_LONG
from models.reading import BlockType
from models.vlm import Parser
from tasks.work.parsers import MOST_CHARS, PARSERS
from tests.unit.parsing import page, read

pytestmark = pytest.mark.slow

_PIECES = (
    *("<div>", "</div>", '<div data-bbox="1 2 3 4" data-label="Text">', "<table>", "<tr>", "<td>", "</td>"),
    *('<td colspan="3" rowspan=2>', "</tr>", "</table>", "<p>", "</p>", "<b>", "</b>", "<sup>", "</sup>"),
    *(
        "<math>",
        "</math>",
        "<ul>",
        "<li>",
        "</ul>",
        "<br>",
        "<h1>",
        "</h1>",
        "<pre>",
        "</pre>",
        "<img alt='x'>",
    ),
    *(
        "$",
        "$$",
        "\\(",
        "\\)",
        "\\[",
        "\\]",
        "```",
        "`",
        "**",
        "*",
        "_",
        "# ",
        "- ",
        "1. ",
        "> ",
        "| ",
        "|-|\n",
    ),
    *(
        "\n",
        "\n\n",
        " ",
        "&amp;",
        "&",
        "<",
        ">",
        '"',
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "word",
        "7",
        "字",
        "\\textbf{",
    ),
    *("<!--", "-->", "<|im_end|>", "\x00", "\ud800", "</s>"),
)
_SOUP = st.lists(st.sampled_from(_PIECES), max_size=60).map("".join)
_WORD = st.text("abcdefghijklmnopqrstuvwxyz0123456789äß字", min_size=1, max_size=8)
_NAMES = sorted(PARSERS)


@given(answer=_SOUP | st.text(max_size=200))
@example("<table><tr><td>")
@example("$$\n")
def test_no_parser_raises_and_text_is_what_its_blocks_say(answer: str) -> None:
    for name in _NAMES:
        found = read(name, answer)
        words = "".join(block.text for block in found.blocks if block.type is not BlockType.PICTURE)
        assert "".join(found.text.split()) == "".join(words.split())
        assert "\x00" not in found.text


@given(words=st.lists(_WORD, min_size=1, max_size=12))
def test_words_between_any_tags_are_kept_in_order(words: list[str]) -> None:
    tags = ("<p>", "<b>", "<td>", "</div>", "<unknown>", "<li>", "<br>", "</table>")
    answer = "".join(f" {word} {tags[n % len(tags)]}" for n, word in enumerate(words))
    text = read("chandra", answer).text.replace("<unknown>", " ").replace("- ", " ")
    assert text.split() == words


@given(rows=st.lists(st.lists(_WORD, min_size=1, max_size=5), min_size=1, max_size=6))
def test_a_table_comes_back_cell_by_cell(rows: list[list[str]]) -> None:
    cells = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    (block,) = read("glm-table", f"<table>{cells}</table>").blocks
    assert [list(row) for row in block.rows] == rows
    assert block.text == "\n".join("\t".join(row) for row in rows)


@given(lines=st.lists(_WORD, min_size=1, max_size=8))
def test_lines_of_words_come_back_line_by_line(lines: list[str]) -> None:
    # A line of figures and a point begins a list; letters in front of it do not.
    text = "\n".join(f"x{line}" for line in lines)
    assert read("markdown", text).text == text


@given(words=st.lists(_WORD, min_size=1, max_size=6))
def test_blocks_keep_the_order_of_the_answer(words: list[str]) -> None:
    found = read("chandra-2", page(*(("Text", f"<p>{word}</p>") for word in words)))
    assert [block.text for block in found.blocks] == words


_HOSTILE = (
    *(
        "<div>",
        "<table><tr><td>",
        "<b>",
        "<p>",
        "<math>a",
        '<td a="',
        "&",
        "<ul><li>",
        "<!--",
        "<",
        "[",
        "*a ",
    ),
    *("**", "`", "$a", "$$", "\\[", "> ", "- ", "|", "\\text{", "{", '{"a":', "</div>", "x\n", "\n\n", "-\n"),
    *("<tr><td colspan=100 rowspan=100>", "|a|\n|-|\n", "<div data-label=Caption>", "<sup><b>", "\\section{"),
)


@pytest.mark.parametrize("name", ["markdown", "chandra-2", "json"])
def test_deep_and_long_answers_take_no_more_time_than_their_length(name: Parser) -> None:
    for piece in _HOSTILE:
        started = time.process_time()
        read(name, piece * (16_000 // len(piece)) + "\n\nend")
        assert time.process_time() - started < 5, piece


@pytest.mark.parametrize("piece", ["<div>", "<table><tr><td>", "<div data-label=Text>", "<ul><li>", "<b><i>"])
def test_text_at_the_bottom_of_five_thousand_levels_is_kept(piece: str) -> None:
    assert "deep words" in read("chandra", piece * 5_000 + "deep words").text


def test_an_answer_longer_than_any_page_is_kept_as_text_and_noted() -> None:
    found = read("chandra", "<p>word " * (MOST_CHARS // 8 + 1))
    assert found.notes == (TOO_LONG,)
    assert len(found.blocks) == 1
