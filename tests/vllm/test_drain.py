"""Documents through the real drain into Postgres, read by a real vLLM."""

import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from db.engine import Database
from db.search import search
from models.document import DocumentStatus
from models.profile import Profile
from models.vlm import Sampling
from tasks.work.metrics import cer
from tests import factories, served
from tests.flows.yard import Yard
from tests.served import until
from tests.vllm.conftest import ROOT, TINY_OCR
from tests.vllm.profiles import CAN_READ, client, profile_of
from tests.vllm.real import PATIENCE_S, RealVllm
from tests.vllm.test_contract import Api

SAMPLES = ("fax-3-pages.tiff", "invoice-german.pdf", "shelf-price-tags.png", "blank-page.pdf")
PLAIN = Sampling(max_tokens=400)
LINES = ("The main pump is behind", "the boiler in room seven", "Call Harris before noon")

reads = pytest.mark.skipif(not CAN_READ, reason="there is no trained model beside the project")


def yard_of(database: Database, folder: Path, profile: Profile) -> Yard:
    yard = Yard(database, folder / "home", folder / "inbox", profile=profile)
    yard.settings = yard.settings.model_copy(update={"render_timeout_s": PATIENCE_S})
    return yard


def ingest(yard: Yard, server: RealVllm, *recipe: str) -> None:
    engine = client(server, yard.profile)
    try:
        yard.ingest(engine, recipe)  # type: ignore[arg-type]
    finally:
        engine.close()


def print_pdf(*pages: str) -> bytes:
    """Clean print, as large as the trained model reads it well."""
    return factories.pdf(*pages, width=300, height=220)


def test_samples_are_read_into_the_database(server: RealVllm, database: Database, tmp_path: Path) -> None:
    yard = yard_of(database, tmp_path, profile_of(server))
    for name in SAMPLES:
        shutil.copy(ROOT / "samples" / "documents" / name, yard.inbox)
    before = server.metric('vllm:request_success_total{engine="0",finished_reason="stop"')
    ingest(yard, server)
    kept = [row for row in yard.rows("reading") if row.source == "ocr"]
    assert len(kept) >= 5
    assert all(row.text.startswith("read as ") and row.finish_reason == "stop" for row in kept)
    assert all(row.server == f"{server.url} vllm 0.32.0" and row.tokens_in > 50 for row in kept)
    assert {row.status for row in yard.rows("claim")} == {"done"}
    after = server.metric('vllm:request_success_total{engine="0",finished_reason="stop"')
    assert after - before >= len(kept)


def test_a_server_killed_and_started_again_loses_and_doubles_no_page(
    glm: RealVllm, database: Database, tmp_path: Path
) -> None:
    yard = yard_of(database, tmp_path, profile_of(glm))
    numbers = range(1, 31)
    factories.write(yard.inbox / "book.pdf", factories.pdf(*(f"This is page {number}" for number in numbers)))
    thread = threading.Thread(target=ingest, args=(yard, glm))
    thread.start()
    until(lambda: len(yard.rows("reading")) >= 4, PATIENCE_S)
    glm.kill()
    glm.start()
    glm.wait()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert sorted(row.page_no for row in yard.rows("reading")) == list(numbers)
    assert {row.finish_reason for row in yard.rows("reading")} == {"stop"}
    assert {(row.attempt, row.outcome) for row in yard.rows("stage_run", stage="ocr")} == {(1, "ok")}


@reads
def test_clean_print_becomes_words_that_search_finds(
    glm: RealVllm, database: Database, tmp_path: Path
) -> None:
    yard = yard_of(database, tmp_path, profile_of(glm, PLAIN, logprobs=True))
    factories.write(yard.inbox / "memo.pdf", print_pdf("\n".join(LINES), "Invoice 4711\nTotal 93.50"))
    ingest(yard, glm)
    assert yard.document("memo.pdf").status in {DocumentStatus.COMPLETE, DocumentStatus.NEEDS_REVIEW}
    for words in ("main pump", "Harris", "4711"):
        hits = database.run(lambda conn, words=words: search(conn, words))
        assert hits, words
    assert min(row.confidence for row in yard.rows("reading")) > 0.9


@reads
def test_through_the_client_pages_are_read_as_well_as_by_direct_calls(glm: RealVllm, tmp_path: Path) -> None:
    samples = TINY_OCR / "samples"
    truth = [json.loads(line) for line in (samples / "truth.jsonl").read_text().splitlines()]
    pictures = [samples / one["image"] for one in truth]
    engine, api = client(glm, profile_of(glm, PLAIN)), Api(glm.url)
    try:
        sizes = [(one["width"], one["height"]) for one in truth]
        futures = [engine.submit(served.request_of(*page)) for page in zip(pictures, sizes, strict=True)]
        ours = [future.result(PATIENCE_S).text for future in futures]
    finally:
        engine.close()

    def direct(picture: Path) -> str:
        answer = api.ask(picture.read_bytes(), model="glm-ocr", max_tokens=400)
        return str(answer.json()["choices"][0]["message"]["content"])

    with ThreadPoolExecutor(4) as pool:
        theirs = list(pool.map(direct, pictures))
    texts = [one["text"] for one in truth]
    assert rate(texts, theirs) < 0.03
    assert abs(rate(texts, ours) - rate(texts, theirs)) <= 0.005


def rate(truths: list[str], texts: list[str]) -> float:
    """Character error rate over all pages together."""
    faults = sum(len(truth) * cer(truth, text) for truth, text in zip(truths, texts, strict=True))
    return faults / sum(map(len, truths))
