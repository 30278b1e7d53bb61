"""Text cut for search, the same for what is stored and what is asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.lexemes import MOST_POSITIONS, Query, fold, parse, to_tsvectors, tokens
from models.snippet import snippet_of


def words(text: str) -> list[str]:
    return [token.text for token in tokens(text)]


@pytest.mark.parametrize(
    ("word", "folded"),
    [
        ("Café", "cafe"),
        ("cafe\u0301", "cafe"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("ﬁnal", "final"),
        ("Ｆｕｌｌ", "full"),
        ("Ἀθῆναι", "αθηναι"),
        ("Ёлка", "елка"),
        ("हिन्दी", "हिन्दी"),
        ("𝑥²", "x2"),
    ],
)
def test_case_accents_and_width_make_no_difference(word: str, folded: str) -> None:
    assert fold(word) == folded


def test_words_end_at_punctuation_and_marks_stay_in_them() -> None:
    assert words("O'Neil's A-12, v3.14 (हिन्दी)") == ["o", "neil", "s", "a", "12", "v3", "14", "हिन्दी"]


def test_every_cjk_character_is_a_token_of_its_own_and_the_zero_of_dates_is_one() -> None:
    assert words("第3章 二〇二六年") == ["第", "3", "章", "二", "〇", "二", "六", "年"]
    assert words("カナ ﾊﾝ 한국") == ["カ", "ナ", "ハ", "ン", "한", "국"]


def test_tokens_know_where_they_stand() -> None:
    text = "Ein Café, 全文"
    assert [text[token.start : token.end] for token in tokens(text)] == ["Ein", "Café", "全", "文"]


def test_cjk_becomes_bigrams_with_the_last_character_alone() -> None:
    assert to_tsvectors("全文検索") == ("", "'全文':1 '文検':2 '検索':3 '索':4")


def test_both_vectors_count_positions_in_the_same_tokens() -> None:
    assert to_tsvectors("read 全文 twice, read") == ("'read':1,5 'twice':4", "'全文':2 '文':3")


def test_quotes_and_backslashes_cannot_leave_a_literal() -> None:
    term = parse("x").terms[0]
    assert term.tsqueries() == ("('x')", None)
    assert to_tsvectors("it's \\'); DROP") == ("'it':1 's':2 'drop':3", "")


def test_a_text_beyond_the_limits_of_a_tsvector_is_cut_not_refused() -> None:
    vector, _ = to_tsvectors("word " * 20_000)
    assert vector.count(",") == 254
    vector, _ = to_tsvectors(" ".join(f"w{number}" for number in range(20_000)))
    assert vector.endswith(f":{MOST_POSITIONS}")
    vector, _ = to_tsvectors("x" * 10_000)
    assert len(vector) < 300


def terms(query: Query) -> list[list[str]]:
    return [["".join(text for text, _ in term.tokens) for term in group] for group in query.groups]


def test_a_question_is_words_phrases_alternatives_and_exclusions() -> None:
    query = parse('Fees "annual report" -draft -"old one" red or blue')
    assert terms(query) == [["fees"], ["annualreport"], ["red", "blue"]]
    assert [term.tokens for term in query.excluded] == [
        (("draft", False),),
        (("old", False), ("one", False)),
    ]


def test_a_hyphen_or_a_change_of_script_inside_a_word_makes_a_phrase() -> None:
    assert parse("A-12").terms[0].tsqueries() == ("('a' <-> '12')", None)
    assert parse("第3章").terms[0].tsqueries() == ("('3')", "('第':*) & ('章':*)")


def test_one_cjk_character_and_a_starred_word_are_asked_for_as_beginnings() -> None:
    assert parse("文").terms[0].tsqueries() == (None, "('文':*)")
    assert parse("docu*").terms[0].tsqueries() == ("('docu':*)", None)


@pytest.mark.parametrize("query", ["", '"', '""', "-", "--", "or", "*", "-*", "!&|():<->", "\\", "' '"])
def test_no_question_is_an_error(query: str) -> None:
    assert parse(query).excluded == ()
    assert terms(parse(query)) in ([], [["or"]])


@given(st.text())
def test_whatever_is_stored_is_found_again_by_itself(text: str) -> None:
    text = text.replace('"', " ")
    for term in parse(f'"{text}"').terms:
        assert term.spans(list(tokens(text)))


def test_terms_are_found_across_line_breaks_and_overlaps_count_once() -> None:
    found = list(tokens("全文\n検索, aa aa aa"))
    assert parse("文検").terms[0].spans(found) == [(1, 4)]
    assert parse('"aa aa"').terms[0].spans(found) == [(7, 12)]


def test_a_snippet_shows_where_the_terms_stand() -> None:
    text = "filler " * 100 + "the Annual\nReport of 2026 " + "filler " * 100
    snippet, highlights = snippet_of(text, parse('"annual report" 2026').terms)
    assert len(snippet) <= 240
    assert [snippet[start:end] for start, end in highlights] == ["Annual Report", "2026"]
    assert not snippet.startswith("iller")


def test_a_snippet_ends_with_a_whole_word() -> None:
    snippet, _ = snippet_of("start " + "wordwords " * 60, parse("start").terms)
    assert len(snippet) > 200
    assert set(snippet.split()) == {"start", "wordwords"}


def test_terms_that_overlap_are_one_highlight() -> None:
    assert snippet_of("北京大学城", parse("京大 大学城").terms)[1] == ((1, 5),)
    assert snippet_of("one two three", parse('"two three" "one two"').terms)[1] == ((0, 13),)


def test_a_snippet_of_a_passage_without_the_terms_is_its_beginning() -> None:
    assert snippet_of("Short.", parse("absent").terms) == ("Short.", ())


@given(st.text(max_size=600), st.text(min_size=1, max_size=5))
def test_highlights_lie_inside_the_snippet_in_order(text: str, query: str) -> None:
    snippet, highlights = snippet_of(text, parse(query).terms)
    assert len(snippet) <= 240
    edges = [edge for span in highlights for edge in span]
    assert edges == sorted(edges)
    assert all(0 <= start < end <= len(snippet) for start, end in highlights)
