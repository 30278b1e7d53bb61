"""What is known to go wrong with served models, from the answer to what a person finds."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from db.engine import Database
from db.search import search
from models.vlm import LadderLimits, Parser, Task
from tasks.work.doubles.vllm_server import Answer, Asked, Said, ScriptedVllm
from tests import factories
from tests.flows.yard import Yard
from tests.served import profile, reading

pytestmark = pytest.mark.slow


def yard_of(database: Database, folder: Path, parser: Parser) -> Yard:
    """A yard whose pages are read once, by a model that answers in this form."""
    tasks = {"text": Task(prompt="Text Recognition:", parser=parser, about="all text")}
    once = profile(tasks=tasks, box_scale=1_000).model_copy(
        update={"ladder_limits": LadderLimits(attempts=1)}
    )
    return Yard(database, folder / "home", folder / "inbox", profile=once)


def ingest(yard: Yard, script: Answer | Any, *pages: str) -> ScriptedVllm:
    """Read a document of these pages with a scripted server."""
    if pages:
        factories.write(yard.inbox / "a.pdf", factories.pdf(*pages))
    assert yard.profile.vlm is not None
    with (
        ScriptedVllm(script) as server,
        reading(server, tasks=yard.profile.vlm.tasks, box_scale=1_000) as engine,
    ):
        yard.ingest(engine)  # type: ignore[arg-type]
    return server


def hits(yard: Yard, words: str) -> list[tuple[int, ...]]:
    """Pages of each passage that is found."""
    return [hit.pages for hit in yard.database.run(lambda conn: search(conn, words))]


def div(label: str, words: str, top: int) -> str:
    return f'<div data-bbox="50 {top} 950 {top + 80}" data-label="{label}">{words}</div>'


@pytest.mark.parametrize("label", ["Page-Header", "Page-Footer", "Footnote"])
def test_what_stands_only_in_a_header_or_footer_is_found(
    database: Database, tmp_path: Path, label: str
) -> None:
    yard = yard_of(database, tmp_path, "chandra-2")
    body = div("Text", "<p>We thank you for your order of pumps.</p>", 300)
    ingest(yard, Said(div(label, "<p>Invoice RE-2024-0815</p>", 10) + body), "a letter")
    assert hits(yard, "0815") == [(1,)]


def test_a_described_signature_is_no_word_of_the_letter(database: Database, tmp_path: Path) -> None:
    yard = yard_of(database, tmp_path, "chandra-2")
    picture = div("Image", '<img alt="A scribbled signature in blue ink"/>', 700)
    ingest(yard, Said(div("Text", "<p>Yours sincerely, the harbour master</p>", 100) + picture), "a letter")
    assert hits(yard, "harbour master")
    assert not hits(yard, "scribbled")


def test_of_a_table_over_two_pages_no_row_is_lost_and_each_leads_to_its_page(
    database: Database, tmp_path: Path
) -> None:
    yard = yard_of(database, tmp_path, "chandra-2")

    def script(asked: Asked) -> Answer:
        (image,) = yard.rows("page_image", sha256=asked.images[0])
        return Said(table(range(30 * image.page_no - 29, 30 * image.page_no + 1)))

    ingest(yard, script, "first half", "second half")
    for number in (1, 30, 31, 60):
        (pages,) = hits(yard, f"part{number:03}")
        assert (1 if number <= 30 else 2) in pages
    rows = [row for one in yard.rows("reading") for block in one.blocks for row in block.rows]
    assert sorted(row[0] for row in rows if row[0] != "Part") == [
        f"part{number:03}" for number in range(1, 61)
    ]


def table(numbers: range) -> str:
    rows = "".join(f"<tr><td>part{n:03}</td><td>{n * 7}.50</td></tr>" for n in numbers)
    return div("Table", f"<table><tr><th>Part</th><th>Price</th></tr>{rows}</table>", 100)


def test_a_page_is_not_read_again_for_another_answer(database: Database, tmp_path: Path) -> None:
    yard = yard_of(database, tmp_path, "text")
    ingest(yard, Said("The pump stands behind the wall"), "a page")
    server = ingest(yard, Said("The pomp stands beside the well"))
    assert not server.entries
    assert hits(yard, "pump")
    assert not hits(yard, "pomp")


def test_a_page_knows_which_server_and_version_read_it(database: Database, tmp_path: Path) -> None:
    yard = yard_of(database, tmp_path, "text")
    server = ingest(yard, Said("Words that were read"), "a page")
    (row,) = yard.rows("reading")
    assert row.server.startswith(f"{server.url} vllm ")


@pytest.mark.parametrize(
    ("parser", "answer"), [("json", "no JSON at all"), ("chandra-2", "Sorry, I cannot read this.")]
)
def test_an_answer_that_is_not_of_its_form_is_bad_and_kept(
    database: Database, tmp_path: Path, parser: Parser, answer: str
) -> None:
    yard = yard_of(database, tmp_path, parser)
    ingest(yard, Said(answer), "a page")
    (row,) = yard.rows("reading")
    assert row.verdict == "bad"
    assert answer in (row.raw or row.text)
    assert {one.code for one in yard.rows("finding")} & {"layout-invalid", "unparsable", "chat-text"}


def test_nobody_is_asked_but_the_server_that_was_named(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://proxy.invalid:3128")
    asked: set[str] = set()
    connect = asyncio.base_events.BaseEventLoop.create_connection

    async def watched(loop: Any, factory: Any, host: str = "", *args: Any, **options: Any) -> Any:
        asked.add(host)
        return await connect(loop, factory, host, *args, **options)

    monkeypatch.setattr(asyncio.base_events.BaseEventLoop, "create_connection", watched)
    yard = yard_of(database, tmp_path, "text")
    server = ingest(yard, Said("Words that were read"), "a page")
    assert server.entries
    assert asked <= {"127.0.0.1"}
