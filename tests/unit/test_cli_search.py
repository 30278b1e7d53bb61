"""Search results as people see them."""

import pytest
from rich.console import Console

from cli.choices import Mode
from cli.searching import Answer, check_question, highlighted, hit_name, place, print_hits
from models.errors import ConfigurationError
from models.search import Hit
from tests.unit import shown


def printed(*hits: Hit, terminal: bool = False) -> str:
    out = Console(
        width=80,
        force_terminal=terminal,
        markup=False,
        highlight=False,
        color_system="standard" if terminal else None,
    )
    with out.capture() as captured:
        print_hits(Answer("pump", Mode.HYBRID, hits), out)
    return captured.get()


def test_a_hit_says_document_page_and_box() -> None:
    assert place(shown.hit()) == "document 7, page 3, box 72, 96, 300, 121"


def test_a_hit_over_several_pages_says_from_and_to() -> None:
    assert place(shown.hit(pages=(3, 4, 5), boxes=())) == "document 7, pages 3-5"


def test_a_hit_is_called_by_title_and_file() -> None:
    assert hit_name(shown.hit(title="Pump manual ")) == "Pump manual (pumps.pdf)"
    assert hit_name(shown.hit()) == "pumps.pdf"
    assert hit_name(shown.hit(source="")) == "ab12cd34ab12"


def test_terms_are_marked_where_there_are_no_colours() -> None:
    hit = shown.hit("the main pump, a pump", (9, 13), (17, 21))
    assert highlighted(hit, marks=True).plain == "the main ‹pump›, a ‹pump›"
    assert highlighted(hit, marks=False).plain == hit.snippet


def test_terms_are_bold_in_a_terminal() -> None:
    text = printed(shown.hit("the main pump", (9, 13)), terminal=True)
    assert "the main \x1b[1;33mpump\x1b[0m" in text


def test_a_snippet_without_terms_is_shown_as_it_is() -> None:
    assert highlighted(shown.hit("near in meaning"), marks=True).plain == "near in meaning"


def test_hits_are_numbered_with_headings_and_snippet_under_them() -> None:
    text = printed(shown.hit("the main pump", (9, 13), headings=("Hydraulics", "Pumps")), shown.hit())
    assert text.splitlines() == [
        " 1. pumps.pdf  document 7, page 3, box 72, 96, 300, 121",
        "    Hydraulics › Pumps",
        "    the main ‹pump›",
        " 2. pumps.pdf  document 7, page 3, box 72, 96, 300, 121",
        "    the main pump",
    ]


def test_texts_with_brackets_are_not_markup() -> None:
    assert "[red]alert[/red]" in printed(shown.hit("[red]alert[/red]"))


def test_finding_nothing_is_said() -> None:
    assert printed() == "Nothing found.\n"


def test_a_long_passage_is_broken_between_words_in_a_terminal_and_not_at_all_elsewhere() -> None:
    long = shown.hit("pump " * 40)
    told = printed(long, terminal=True).splitlines()[1:]
    assert len(told) > 2
    assert all(
        line.startswith("    pump") and line.rstrip().endswith("pump") for line in told if line.strip()
    )
    assert len(printed(long).splitlines()) == 2


@pytest.mark.parametrize("query", ["", "  ", '"', "%_", "(.*)+$", "-draft", '-"old one" -x', "\x01", "…"])
def test_a_question_that_names_nothing_to_find_is_refused(query: str) -> None:
    with pytest.raises(ConfigurationError, match="nothing to look for"):
        check_question(query)


@pytest.mark.parametrize(
    "query", ["a", "7", "信", "مرحبا", "pump -draft", "it's; drop table page;--", "x" * 2000]
)
def test_a_question_with_a_word_is_asked(query: str) -> None:
    check_question(query)


def test_a_question_that_is_no_utf8_is_not_searched_for_in_part() -> None:
    with pytest.raises(UnicodeEncodeError):
        check_question("pump \udcff")


def test_a_page_pasted_as_a_question_is_refused_before_anything_is_opened() -> None:
    with pytest.raises(ConfigurationError, match="has 2,001 characters, at most 2,000 are searched for"):
        check_question("pump " * 400 + "x")
