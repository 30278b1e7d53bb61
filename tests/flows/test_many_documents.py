"""Three hundred documents at once: all complete, each page read once, in few batches."""

import pytest
import sqlalchemy as sa

from flows import lines
from tests import factories
from tests.flows.engines import LayerEngine
from tests.flows.yard import Yard

pytestmark = pytest.mark.slow

COUNT = 300


@pytest.fixture
def crowd(yard: Yard) -> Yard:
    """A yard whose inbox holds many one-page documents."""
    for number in range(COUNT):
        data = factories.pdf(f"Document {number} of many", width=300, height=200)
        factories.write(yard.inbox / f"{number % 10}" / f"{number}.pdf", data)
    return yard


def test_three_hundred_documents_are_read_once_each_in_few_batches(
    crowd: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies: list[tuple[str, int]] = []
    for name in ("split_batch", "preprocess_batch", "load_batch"):
        body = getattr(lines, name)

        def counted(mill: object, claims: list[object], name: str = name, body: object = body) -> None:
            bodies.append((name, len(claims)))
            body(mill, claims)  # type: ignore[operator]

        monkeypatch.setattr(lines, name, counted)
    engine = crowd.ingest(LayerEngine(slots=8), recipe=("long_edge_px=256",))
    assert {row.status for row in crowd.rows("document")} == {"complete"}
    assert len(engine.requests) == COUNT
    pages = [(row.document_id, row.page_no) for row in crowd.rows("reading")]
    assert sorted(pages) == [(number, 1) for number in range(1, COUNT + 1)]
    assert len(crowd.rows("edition")) == len(crowd.rows("chunk")) == COUNT
    # Every piece of work once, and never a body without work.
    assert sum(size for _, size in bodies) == 3 * COUNT
    assert min(size for _, size in bodies) >= 1
    assert sum(name == "split_batch" for name, _ in bodies) <= COUNT / 2
    assert len(crowd.rows("stage_run")) == 5 * COUNT
    again = crowd.ingest(LayerEngine(), recipe=("long_edge_px=256",))
    assert again.requests == []
    assert sum(size for _, size in bodies) == 3 * COUNT


def test_what_is_said_of_each_of_many_documents_is_its_own(crowd: Yard) -> None:
    crowd.ingest(LayerEngine(slots=8), recipe=("long_edge_px=256",))
    query = sa.text(
        "SELECT source.uri, reading.text FROM source JOIN reading USING (document_id) ORDER BY source.id"
    )
    rows = crowd.database.run(lambda conn: conn.execute(query).all())
    assert len(rows) == COUNT
    numbers = [(uri.rsplit("/", 1)[1].removesuffix(".pdf"), text) for uri, text in rows]
    assert all(text == f"Document {number} of many" for number, text in numbers)
