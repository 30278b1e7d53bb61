"""Documents through the real drain into Postgres, read by a served model whose server misbehaves."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from db.engine import Database
from models.document import DocumentStatus
from models.vlm import LadderLimits
from tasks.work.doubles.vllm_server import (
    Answer,
    Asked,
    Hangs,
    Kills,
    Model,
    Refused,
    Said,
    ScriptedVllm,
)
from tests import factories
from tests.flows.yard import Yard
from tests.served import PROFILE, VLM, reading, until

pytestmark = pytest.mark.slow

WORDS = "Words that were read on this page"


@pytest.fixture
def yard(database: Database, tmp_path: Path) -> Yard:
    """An empty inbox whose documents a served model reads, without retries of what reads badly."""
    once = PROFILE.model_copy(update={"ladder_limits": LadderLimits(attempts=1)})
    return Yard(database, tmp_path / "home", tmp_path / "inbox", profile=once)


def ingest(yard: Yard, server: ScriptedVllm | str, wait_s: float = 30.0, **vlm: Any) -> None:
    """Read the inbox with a client of its own."""
    with reading(server, wait_s=wait_s, **vlm) as engine:
        yard.ingest(engine)


@contextmanager
def ingesting(yard: Yard, server: ScriptedVllm, **options: Any) -> Iterator[threading.Thread]:
    """The same in the background, at its end when the body has ended."""
    thread = threading.Thread(target=ingest, args=(yard, server), kwargs=options)
    thread.start()
    yield thread
    thread.join()


def book(yard: Yard, pages: int, name: str = "book.pdf") -> None:
    factories.write(yard.inbox / name, factories.pdf(*(f"Page {number}" for number in range(1, pages + 1))))


def test_documents_are_read_once_page_by_page_and_searchable(yard: Yard) -> None:
    book(yard, 3)
    factories.write(yard.inbox / "photo.jpg", factories.picture_bytes(factories.picture(), "JPEG"))
    with ScriptedVllm(Said("# Title\n\n" + WORDS), model=Model(pixels=VLM.pixels)) as it:
        ingest(yard, it)
        assert len(it.entries) == 4
    assert yard.document("book.pdf").status is DocumentStatus.COMPLETE
    kept = yard.rows("reading")[0]
    assert (kept.finish_reason, kept.server, kept.trial.rung) == ("stop", f"{it.url} vllm 0.32.0", "first")
    assert kept.tokens_in > 100
    assert kept.image_sha256 in {entry.asked.images[0] for entry in it.entries}
    assert all("read on this page" in row.text for row in yard.rows("chunk"))


def test_pages_wait_for_a_server_that_starts_late_and_no_try_is_spent(yard: Yard) -> None:
    book(yard, 5)
    with ScriptedVllm(Said(WORDS), down_s=2.0) as server:
        ingest(yard, server)
    assert yard.document("book.pdf").status is DocumentStatus.COMPLETE
    assert {(row.attempt, row.outcome) for row in yard.rows("stage_run", stage="ocr")} == {(1, "ok")}
    assert {row.crashes for row in yard.rows("claim")} == {0}


def test_a_server_killed_in_mid_batch_costs_only_what_was_in_flight(yard: Yard) -> None:
    book(yard, 60)

    def script(asked: Asked) -> Answer:
        return Said(f"{WORDS} {asked.images[0]}", seconds=0.05)

    with ScriptedVllm(script, slots=4) as server, ingesting(yard, server):
        until(lambda: len(server.entries) > 20)
        server.die(2.0)
    texts = [row.text for row in yard.rows("reading")]
    assert len(texts) == len(set(texts)) == 60
    assert yard.document("book.pdf").status is DocumentStatus.COMPLETE
    assert {(row.attempt, row.outcome) for row in yard.rows("stage_run", stage="ocr")} == {(1, "ok")}
    answered = sum(entry.outcome == "stop" for entry in server.entries)
    assert answered <= 60 + 8


def test_a_server_that_stays_away_is_told_as_unreachable_and_the_next_run_takes_the_pages_up(
    yard: Yard,
) -> None:
    book(yard, 2)
    with ScriptedVllm(Said(WORDS), down_s=3_600) as server:
        ingest(yard, server, wait_s=0.3)
        document = yard.document("book.pdf")
        assert (document.status, document.code) == (DocumentStatus.FAILED, "engine-unavailable")
        server.revive()
        ingest(yard, server)
    assert yard.document("book.pdf").status is DocumentStatus.COMPLETE


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Refused(400, "Failed to load image"), "ocr-rejected"),
        (Refused(413, "Request Entity Too Large"), "too-large"),
        (Hangs(), "ocr-timeout"),
        (Kills(0.2), "quarantined"),
        (Said(WORDS, finish="length"), "truncated"),
        (Said("THIS FAR " * 400, finish="repetition"), "repetition"),
        (Said("THIS FAR " * 400), "loop"),
        (Said(""), "empty-with-ink"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_one_bad_page_has_its_own_reason_and_the_others_are_read(
    yard: Yard, answer: Answer, code: str
) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO TWO", "THREE THREE THREE"))
    bad: list[str] = []

    def script(asked: Asked) -> Answer:
        # One page after the other: the first is the bad one, also when it is sent again and smaller.
        if not bad or asked.images[0] in bad or (code == "too-large" and asked.number == 2):
            bad.append(asked.images[0])
            return answer
        return Said(WORDS)

    with ScriptedVllm(script) as server:
        yard.settings = yard.settings.model_copy(update={"max_crashes": 2})
        # Time enough for pages that are read, on a busy machine as well.
        ingest(yard, server, in_flight=1, first_token_s=5.0, tokens_per_s=80_000.0)
    assert yard.document("a.pdf").status in {DocumentStatus.PARTIAL, DocumentStatus.NEEDS_REVIEW}
    told = [*yard.rows("finding"), *yard.rows("edition_page"), *yard.rows("claim")]
    assert code in {row.code for row in told}
    assert sum(WORDS in row.text and row.finish_reason == "stop" for row in yard.rows("reading")) == 2


def test_a_page_that_hangs_at_the_end_does_not_keep_the_others(yard: Yard) -> None:
    book(yard, 12)

    def script(asked: Asked) -> Answer:
        return Hangs() if asked.number == 12 else Said(WORDS)

    with ScriptedVllm(script) as server, reading(server) as engine:
        yard.ingest(engine, stop_when=lambda: len(yard.rows("reading")) == 11)
        assert [entry.asked.number for entry in server.entries if entry.outcome != "stop"] == [12]
    assert len(yard.rows("claim", stage="ocr", status="ready")) == 1


def test_a_run_that_is_stopped_closes_its_connections(yard: Yard) -> None:
    book(yard, 8)
    with ScriptedVllm(Said(WORDS, tokens=60_000, seconds=600), slots=2) as server:
        with reading(server, in_flight=2, first_token_s=60.0) as engine:
            yard.ingest(engine, stop_when=lambda: server.open == 2)
        until(lambda: server.open == 0)
        assert server.aborted == len(server.entries) == 2
    assert {row.status for row in yard.rows("claim", stage="ocr")} == {"ready"}


def test_open_requests_stay_within_the_slots_through_the_whole_drain(yard: Yard) -> None:
    book(yard, 40)
    with ScriptedVllm(Said(WORDS, seconds=0.05), slots=4) as server:
        ingest(yard, server, most_in_flight=6)
        assert server.most_open <= 6
        assert sum(entry.outcome == "stop" for entry in server.entries) == 40
