"""Finding passages by words of any script, by meaning, and by both."""

import pytest

from db.engine import Database
from db.search import search
from models.lexemes import tokens
from models.search import Hit, QueryVector
from models.work import ChunkVectors
from tests.db import steps
from tests.db.steps import chunk, ingest, intake, load, prepare, read, register, split


def hits(database: Database, query: str, vector: QueryVector | None = None, limit: int = 10) -> list[Hit]:
    return list(database.run(lambda conn: search(conn, query, vector, limit)))


def shown(found: list[Hit]) -> list[str]:
    return [hit.snippet for hit in found]


@pytest.fixture
def library(database: Database) -> Database:
    ingest(
        database,
        "/library/a.pdf",
        "a",
        "Die Straße nach Café Zürich",
        "全文検索エンジンは日本語の文書を探す。",
        "人工智能的发展历史,第3章 概述",
        "The annual report of 2026 names fees.",
        "A report that is not annual: fees rise, fees fall.",
        "한국어 문서에서 단어를 찾는다",
    )
    return database


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("cafe", "Die Straße nach Café Zürich"),
        ("STRASSE zurich", "Die Straße nach Café Zürich"),
        ("検索", "全文検索エンジンは日本語の文書を探す。"),
        ("エンジン 日本語", "全文検索エンジンは日本語の文書を探す。"),
        ("智能", "人工智能的发展历史,第3章 概述"),
        ("史", "人工智能的发展历史,第3章 概述"),
        ("第3章", "人工智能的发展历史,第3章 概述"),
        ("단어", "한국어 문서에서 단어를 찾는다"),
        ('"annual report"', "The annual report of 2026 names fees."),
        ("annual -2026", "A report that is not annual: fees rise, fees fall."),
        ("zuri*", "Die Straße nach Café Zürich"),
    ],
)
def test_each_of_these_finds_its_one_passage(library: Database, query: str, found: str) -> None:
    assert shown(hits(library, query)) == [found]


@pytest.mark.parametrize("query", ["能工", "第4章", '"report annual"', "", "'", "cafe -strasse", "xyzzy"])
def test_each_of_these_finds_nothing(library: Database, query: str) -> None:
    assert hits(library, query) == []


def test_the_passage_that_says_it_more_often_comes_first(library: Database) -> None:
    assert [hit.text_rank for hit in hits(library, "fees report")] == [1, 2]
    assert shown(hits(library, "fees"))[0].startswith("A report that is not")


def test_either_word_of_an_alternative_will_do(library: Database) -> None:
    assert len(hits(library, "cafe or 検索")) == 2


def test_where_no_passage_has_all_words_any_of_them_will_do(library: Database) -> None:
    found = shown(hits(library, "where is the Straße please"))
    assert "Die Straße nach Café Zürich" in found
    assert len(found) == 3


def test_a_hit_says_where_it_stands_and_what_was_found(library: Database) -> None:
    hit = hits(library, "annual -rise")[0]
    assert (hit.document_id, hit.source, hit.pages, hit.sha256) == (1, "/library/a.pdf", (1,), steps.sha("a"))
    assert [hit.snippet[start:end] for start, end in hit.highlights] == ["annual"]
    assert hit.score == pytest.approx(1 / 61)
    assert (hit.text_rank, hit.vector_rank) == (1, None)


def test_the_headings_above_a_passage_find_it(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 1)
    prepare(database)
    read(database)
    load(database, chunks=[chunk("Nothing but text.", headings=("Annual accounts", "第二章"))])
    assert shown(hits(database, "accounts")) == ["Nothing but text."]
    assert hits(database, "第二章")[0].headings == ("Annual accounts", "第二章")


def test_headers_and_footers_come_last(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 1)
    prepare(database)
    read(database)
    margin = chunk("secret", 0, kind="margin")
    load(database, chunks=[margin, chunk("one secret among very many other words of this text", 1)])
    assert [hit.kind for hit in hits(database, "secret")] == ["text", "margin"]


def with_vectors(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 1)
    prepare(database)
    read(database)
    chunks = [chunk("a cat", 0), chunk("a feline", 1), chunk("a car", 2)]
    vectors = (axis(0), tuple(0.8 * a + 0.6 * b for a, b in zip(axis(0), axis(1), strict=True)), axis(2))
    load(database, chunks=chunks, vectors=ChunkVectors("m", vectors))


def axis(number: int) -> tuple[float, ...]:
    return tuple(float(at == number) for at in range(512))


def test_near_meaning_is_found_without_the_word_and_far_meaning_is_not(database: Database) -> None:
    with_vectors(database)
    found = hits(database, "pussycat", QueryVector("m", axis(0)))
    assert shown(found) == ["a cat", "a feline"]
    assert found[1].similarity == pytest.approx(0.8, abs=1e-6)
    assert (found[1].text_rank, found[1].vector_rank, found[1].highlights) == (None, 2, ())


def test_what_both_rankings_find_comes_before_what_one_finds(database: Database) -> None:
    with_vectors(database)
    found = hits(database, "feline", QueryVector("m", axis(0)))
    assert shown(found) == ["a feline", "a cat"]
    assert found[0].score == pytest.approx(1 / 61 + 1 / 62)


def test_of_equal_scores_the_passage_with_the_words_comes_first(database: Database) -> None:
    with_vectors(database)
    found = hits(database, "car", QueryVector("m", axis(0)))
    assert shown(found) == ["a car", "a cat", "a feline"]
    assert found[0].score == found[1].score


def test_vectors_of_another_model_are_not_compared(database: Database) -> None:
    with_vectors(database)
    assert hits(database, "pussycat", QueryVector("other", axis(0))) == []


def test_no_more_than_asked_for_is_given(library: Database) -> None:
    assert len(hits(library, "fees or cafe or 検索", limit=2)) == 2


def test_bigrams_find_exactly_what_a_look_at_the_text_finds(database: Database) -> None:
    """Every two-character stretch of some texts, against Python's own `in`."""
    texts = ["日本国憲法前文日本国民は", "正当に選挙された国会", "国会における代表者を通じて", "日本の国会"]
    ingest(database, "/a.pdf", "a", *texts)
    pairs = {text[at : at + 2] for text in texts for at in range(len(text) - 1)}
    for pair in sorted(pairs):
        assert sorted(shown(hits(database, pair))) == sorted(text for text in texts if pair in text)
    assert all(token.is_cjk for token in tokens(texts[0]))
