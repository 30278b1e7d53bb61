"""Markup made fit for a parser: what is no tag stays text, depth ends, faults are seen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.work.parsers.tags import tidied


def html(markup: str) -> str:
    return tidied(markup).html


@pytest.mark.parametrize(
    "markup",
    [
        "<p>a</p>",
        '<div data-bbox="1 2 3 4" data-label="Text">a</div>',
        "<table><tr><td colspan=2>a</td></tr></table>",
        "a<br/>b<hr>c",
        "plain text",
        "",
    ],
)
def test_sound_markup_is_left_as_it_is(markup: str) -> None:
    assert html(markup) == markup
    assert not tidied(markup).is_repaired


def test_names_of_tags_are_lowered() -> None:
    assert html("<P>a</P><Table></Table>") == "<p>a</p><table></table>"


@pytest.mark.parametrize(
    ("markup", "wanted"),
    [
        ("a < b", "a &lt; b"),
        ("a<b", "a&lt;b"),
        ("<file>", "&lt;file>"),
        ("</file>", "&lt;/file>"),
        ("<1>", "&lt;1>"),
        ("<>", "&lt;>"),
        ("<divider>", "&lt;divider>"),
        ("<p", "&lt;p"),
        ("<p>x <q", "<p>x &lt;q"),
        ('<img alt="a < b">', '<img alt="a &lt; b">'),
    ],
)
def test_what_is_no_tag_is_text(markup: str, wanted: str) -> None:
    assert html(markup) == wanted


@pytest.mark.parametrize(
    ("markup", "wanted"),
    [
        ("<math>a<b</math>", "<math>a&lt;b</math>"),
        ("<math>a <b> c</math>", "<math>a &lt;b> c</math>"),
        ("<math>a<p>b</math>", "<math>a&lt;p>b</math>"),
        ("<math>a<sup>2</sup></math>", "<math>a<sup>2</sup></math>"),
        ("<math>a<div>b</div>", "<math>a</math><div>b</div>"),
    ],
)
def test_a_formula_holds_no_tags_of_one_letter_and_ends_before_a_block(markup: str, wanted: str) -> None:
    assert html(markup) == wanted


@pytest.mark.parametrize(
    "markup",
    [
        "<div>a",
        "a</div>",
        "<table><tr><td>a<td>b</td></tr></table>",
        "<table><tr><td>a</table>",
        "<b><i>a</b></i>",
        "<math>a<div>b</div>",
    ],
)
def test_missing_and_crossed_tags_are_seen(markup: str) -> None:
    assert tidied(markup).is_repaired


@pytest.mark.parametrize(
    "markup", ["<p>a<p>b</p>", "<ul><li>a<li>b</ul>", "<p>a", "<br></br>x", "<b>a<!-- x --></b>"]
)
def test_what_html_lets_one_leave_out_is_no_fault(markup: str) -> None:
    assert not tidied(markup).is_repaired


def test_comments_go_and_what_only_looks_like_one_stays() -> None:
    assert html("a<!-- note -->b") == "ab"
    assert html("a <!-- b") == "a &lt;!-- b"


@pytest.mark.parametrize("tag", ["div", "table", "b", "ul", "blockquote"])
def test_tags_nested_too_deep_are_dropped_with_their_ends(tag: str) -> None:
    deep = f"<{tag} class='x'>" * 1_000 + "word" + f"</{tag}>" * 1_000
    found = html(deep)
    assert found.count(f"<{tag}") <= 200
    assert found.count(f"<{tag}") == found.count(f"</{tag}>")
    assert "word" in found
    assert found.count("class") == found.count(f"<{tag}")


def test_after_the_deep_place_tags_count_again() -> None:
    found = html("<div>" * 300 + "</div>" * 300 + "<p>after</p>")
    assert found.endswith("<p>after</p>")


@given(st.text("<>/ab=\"' divtablemh!-", max_size=80))
def test_nothing_but_tags_and_comments_is_taken_away(markup: str) -> None:
    words = "".join(char for char in markup if char.isalpha())
    kept = "".join(char for char in html(markup).replace("&lt;", "<") if char.isalpha())
    # An end tag that ends nothing goes, and so do comments: letters may be fewer, never others or more.
    assert len(kept) <= len(words) + len("math") * markup.count("<")
    if "<" not in markup:
        assert html(markup) == markup
