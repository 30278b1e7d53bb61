"""Search: by words, by meaning, and both rankings merged. Only what the shown editions hold."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import TSQUERY

from db import tables
from db.engine import has_vectors
from db.names import name_of
from models.lexemes import Query, Term, parse, searchable, tokens
from models.search import Hit, QueryVector
from models.snippet import snippet_of

c, d = tables.chunk, tables.document

_RRF_K = 60
"""From the paper that named reciprocal rank fusion; rankings of 50 to 1,000 hardly notice another value."""
_LEAST_SIMILARITY = 0.3
"""Below it a passage is about something else: near only because nothing nearer is there."""
_MARGIN_WEIGHT = 0.2
"""Headers and footers repeat on every page and seldom are the answer."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A chunk's places in the rankings."""

    text_rank: int | None = None
    vector_rank: int | None = None
    similarity: float | None = None

    @property
    def score(self) -> float:
        return sum(1 / (_RRF_K + rank) for rank in (self.text_rank, self.vector_rank) if rank is not None)

    @property
    def order(self) -> tuple[float, bool]:
        """Sorts passages, best first: of equal scores what was asked for stands before what is like it."""
        return -self.score, self.text_rank is None


def search(
    connection: sa.Connection, query: str, vector: QueryVector | None = None, limit: int = 10
) -> tuple[Hit, ...]:
    """The best `limit` passages for a question, the best first; `models.lexemes.parse` says how to ask.

    Words must all be found, or where no passage has all of them, any. With `vector`, and where the database
    has vectors, passages of near meaning too: each ranking adds 1 / (60 + rank) to a passage's score. Of two
    with the same score the one with the words comes first.
    """
    asked = parse(query)
    depth = max(50, 5 * limit)
    by_text = _by_text(connection, asked, depth)
    by_vector = _by_vector(connection, asked, vector, depth)
    found = {
        chunk_id: _Found(by_text.get(chunk_id), *by_vector.get(chunk_id, (None, None)))
        for chunk_id in by_text.keys() | by_vector.keys()
    }
    best = sorted(found, key=lambda chunk_id: (*found[chunk_id].order, chunk_id))[:limit]
    rows = _rows(connection, best)
    return tuple(_hit(rows[chunk_id], asked, found[chunk_id]) for chunk_id in best)


def _by_text(connection: sa.Connection, asked: Query, depth: int) -> dict[int, int]:
    """Ranks from 1 by chunk id."""
    if not asked.groups:
        return {}
    for combine in (and_, or_):
        ids = _ranked(connection, asked, depth, combine)
        if ids:
            return {chunk_id: rank for rank, chunk_id in enumerate(ids, start=1)}
    return {}


def _ranked(connection: sa.Connection, asked: Query, depth: int, combine: Any) -> list[int]:
    matches = [reduce(or_, (_matches(term) for term in group)) for group in asked.groups]
    rank = reduce(lambda one, other: one + other, (_rank(term) for term in asked.terms))
    weight = sa.case((c.c.kind == "margin", _MARGIN_WEIGHT), else_=1.0)
    query = (
        _shown(sa.select(c.c.id, c.c.headings, c.c.text), asked)
        .where(reduce(combine, matches))
        .order_by((rank * weight).desc(), c.c.id)
        .limit(depth)
    )
    rows = connection.execute(query).all()
    if not any(term.is_mixed for term in asked.terms):
        return [row.id for row in rows]
    return [row.id for row in rows if _stands(asked, searchable(row.headings, row.text), combine)]


def _stands(asked: Query, text: str, combine: Any) -> bool:
    """Whether terms of mixed scripts really stand in the text, which the index cannot tell."""
    found = list(tokens(text))
    groups = [any(term.spans(found) for term in group) for group in asked.groups]
    return all(groups) if combine is and_ else any(groups)


def _by_vector(
    connection: sa.Connection, asked: Query, vector: QueryVector | None, depth: int
) -> dict[int, tuple[int, float]]:
    """Ranks from 1 and similarities by chunk id."""
    if vector is None or not has_vectors(connection):
        return {}
    v = tables.chunk_vector
    distance = v.c.embedding.cosine_distance(list(vector.values))
    query = (
        _shown(sa.select(c.c.id, (1 - distance).label("similarity")), asked)
        .join(v, v.c.chunk_id == c.c.id)
        .where(v.c.model == vector.model, distance <= 1 - _LEAST_SIMILARITY)
        .order_by(distance, c.c.id)
        .limit(depth)
    )
    rows = connection.execute(query)
    return {row.id: (rank, row.similarity) for rank, row in enumerate(rows, start=1)}


def _shown(query: sa.Select[*tuple[Any, ...]], asked: Query) -> sa.Select[*tuple[Any, ...]]:
    """Chunks of editions that are shown, without what the question excludes."""
    shown = query.join_from(c, d, d.c.edition_id == c.c.edition_id)
    return shown.where(*(~_matches(term) for term in asked.excluded))


def _matches(term: Term) -> sa.ColumnElement[bool]:
    words, bigrams = _tsqueries(term)
    return reduce(and_, (column.bool_op("@@")(query) for column, query in (*words, *bigrams)))


def _rank(term: Term) -> sa.ColumnElement[float]:
    words, bigrams = _tsqueries(term)
    # 1: a long passage has more chances to hold a word by accident.
    ranks = (sa.func.ts_rank_cd(column, query, 1, type_=sa.Double) for column, query in (*words, *bigrams))
    return reduce(lambda one, other: one + other, ranks)


def _tsqueries(term: Term) -> tuple[list[Any], list[Any]]:
    words, bigrams = term.tsqueries()
    return (
        [] if words is None else [(c.c.fts, sa.cast(words, TSQUERY))],
        [] if bigrams is None else [(c.c.fts_cjk, sa.cast(bigrams, TSQUERY))],
    )


def _rows(connection: sa.Connection, ids: Sequence[int]) -> Mapping[int, sa.Row[Any]]:
    columns: Iterable[Any] = (c.c.kind, c.c.text, c.c.headings, c.c.pages, c.c.boxes, d.c.sha256, d.c.title)
    query = sa.select(c.c.id, d.c.id.label("document_id"), name_of(d.c.id).label("source"), *columns)
    shown = query.join_from(c, d, d.c.edition_id == c.c.edition_id).where(c.c.id.in_(ids))
    return {row.id: row for row in connection.execute(shown)}


def _hit(row: sa.Row[Any], asked: Query, found: _Found) -> Hit:
    snippet, highlights = snippet_of(row.text, asked.terms)
    return Hit(
        chunk_id=row.id,
        document_id=row.document_id,
        sha256=row.sha256,
        title=row.title,
        source=row.source,
        kind=row.kind,
        pages=tuple(row.pages),
        boxes=row.boxes,
        headings=tuple(row.headings),
        snippet=snippet,
        highlights=highlights,
        score=found.score,
        text_rank=found.text_rank,
        vector_rank=found.vector_rank,
        similarity=found.similarity,
    )
