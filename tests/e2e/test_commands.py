"""Every command against the real thing: embedded Postgres, real engine, real files."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import factories
from tests.e2e.shell import Shell

pytestmark = pytest.mark.slow

DOCUMENT_KEYS = {"id", "sha256", "media_type", "size", "status", "page_count", "code", "message", "sources"}
PAGE_KEYS = {"page_no", "width_pt", "height_pt", "verdict", "code", "message", "text", "blocks", "findings"}


@pytest.fixture(scope="module")
def scans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two documents that can be read and a file that cannot."""
    folder = tmp_path_factory.mktemp("scans")
    pages = ("The main hydraulic pump\nstands behind the wall", "", "Trim tabs")
    factories.write(folder / "manual.pdf", factories.pdf(*pages, title="Pump manual"))
    factories.write(folder / "scan.png", factories.picture_bytes(factories.picture("Invoice 4711")))
    factories.write(folder / "letter.pdf", b"this is no PDF, only called one")
    return folder


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A shell with a fresh home, whose Postgres is stopped at the end."""
    shell = Shell(tmp_path_factory.mktemp("home"))
    yield shell
    shell.run("down")


@pytest.fixture(scope="module")
def first(shell: Shell, scans: Path) -> Any:
    """What the first ingest said."""
    return shell.json("ingest", scans, code=3)


@pytest.fixture(scope="module")
def base(shell: Shell, first: Any) -> Shell:
    """A shell over a knowledge base that holds the documents."""
    return shell


def named(report: Any, name: str) -> Any:
    return next(one for one in report["documents"] if one["name"].endswith(name))


def test_ingest_sums_up_documents_pages_and_verdicts(first: Any) -> None:
    assert first["exit_code"] == 3
    assert first["pages_read"] == 3
    assert first["run"]["outcome"] == "partial"
    assert first["problems"] == []
    assert named(first, "manual.pdf")["verdicts"] == {"good": 2, "blank": 1}
    assert named(first, "scan.png")["status"] == "complete"


def test_a_file_that_is_no_document_is_refused_with_code_and_sentence(first: Any) -> None:
    letter = named(first, "letter.pdf")
    assert (letter["status"], letter["code"]) == ("rejected", "unsupported-type")
    assert letter["message"].endswith(".")


def test_a_second_ingest_reads_nothing(base: Shell, scans: Path) -> None:
    again = base.json("ingest", scans, code=3)
    assert again["pages_read"] == 0
    assert {one["seen_as"] for one in again["documents"]} == {"known", "rejected"}
    assert all(one["seconds"] == 0 for one in again["documents"])


def test_ingest_of_what_is_whole_ends_with_0_and_says_what_to_type_next(base: Shell, scans: Path) -> None:
    done = base.run("ingest", scans / "manual.pdf")
    assert done.returncode == 0
    assert "1 document: 1 complete. 0 pages read" in done.stdout
    assert "pagemill search" in done.stdout
    assert done.stderr == ""


def test_status_lists_documents(base: Shell, scans: Path) -> None:
    documents = base.json("status")
    assert all(set(one) >= DOCUMENT_KEYS for one in documents)
    assert {source for one in documents for source in one["sources"]} == {
        str(path) for path in scans.iterdir()
    }
    assert "3 documents: 2 complete, 1 rejected" in base.run("status").stdout


@pytest.mark.parametrize("ref", ["id", "hash", "path", "name"])
def test_a_document_is_named_by_id_hash_path_or_file_name(
    base: Shell, first: Any, scans: Path, ref: str
) -> None:
    manual = named(first, "manual.pdf")
    path = scans / "manual.pdf"
    words = {"id": manual["id"], "hash": manual["sha256"][:6], "path": path, "name": path.name}
    assert base.json("status", words[ref])["document"]["id"] == manual["id"]


def test_status_of_a_document_has_each_page_without_its_text(base: Shell) -> None:
    report = base.json("status", "manual.pdf")
    assert report["profile"] == "ppocr"
    assert [page["verdict"] for page in report["pages"]] == ["good", "blank", "good"]
    assert all(
        set(page) == {"page_no", "verdict", "code", "message", "findings", "seconds"}
        for page in report["pages"]
    )


def test_show_has_pages_with_texts_and_boxes(base: Shell) -> None:
    report = base.json("show", "manual.pdf")
    assert set(report) == {"document", "profile", "pages", "pictures"}
    assert all(set(page) >= PAGE_KEYS for page in report["pages"])
    page = report["pages"][0]
    assert "hydraulic pump" in page["text"]
    x0, y0, x1, y1 = page["blocks"][0]["box"]
    assert 60 < x0 < x1 < 400
    assert 70 < y0 < y1 < 140


def test_show_page_prints_verdict_and_text(base: Shell) -> None:
    done = base.run("show", "manual.pdf", "--page", 3)
    assert "page 3 of 3, 595 × 842 pt: good" in done.stdout
    assert "Trim tabs" in done.stdout
    assert base.json("show", "manual.pdf", "--page", 2)["verdict"] == "blank"


def test_search_finds_by_words_and_says_where(base: Shell) -> None:
    answer = base.json("search", "hydraulic")
    assert (answer["query"], answer["mode"]) == ("hydraulic", "hybrid")
    hit = answer["hits"][0]
    assert hit["title"] == "Pump manual"
    assert hit["pages"][0] == 1
    (start, end), *_ = hit["highlights"]
    assert hit["snippet"][start:end] == "hydraulic"
    assert "‹hydraulic›" in base.run("search", "hydraulic").stdout


def test_search_by_words_alone_uses_no_vectors(base: Shell) -> None:
    answer = base.json("search", "invoice", "--mode", "text", "--limit", 1)
    assert answer["mode"] == "text"
    assert [hit["vector_rank"] for hit in answer["hits"]] == [None]


def test_search_without_a_hit_is_no_failure(base: Shell) -> None:
    assert base.json("search", "zeppelin", "--mode", "text")["hits"] == []
    assert "Nothing found." in base.run("search", "zeppelin", "--mode", "text").stdout


def test_timings_say_which_stage_limits(base: Shell) -> None:
    report = base.json("timings")
    rows = {row["key"]: row for row in report["rows"]}
    assert set(rows) == {"register", "split", "preprocess", "ocr", "validate", "load"} & set(rows)
    assert {"split", "preprocess", "ocr", "load"} <= set(rows)
    assert sum(row["share"] for row in rows.values()) == pytest.approx(1)
    assert report["limiting"] in rows
    assert f"{report['limiting']} limits the pipeline" in base.run("timings").stdout


@pytest.mark.parametrize("by", ["stage", "document", "run", "profile"])
def test_timings_can_be_summed_up_by(base: Shell, by: str) -> None:
    report = base.json("timings", "--by", by)
    assert report["by"] == by
    assert report["rows"]


def test_timings_of_a_document_say_where_its_time_went(base: Shell, first: Any) -> None:
    done = base.run("timings", "manual.pdf")
    assert f"The time of document {named(first, 'manual.pdf')['id']} went mostly into" in done.stdout


def test_export_in_every_format(base: Shell, tmp_path: Path) -> None:
    for kind in ("md", "html", "json", "txt"):
        done = base.run("export", "manual.pdf", "scan.png", "--format", kind, "--output", tmp_path)
        assert done.returncode == 0, done.stderr
        text = (tmp_path / f"manual.{kind}").read_text("utf-8")
        assert "hydraulic pump" in text
        assert "Invoice" in (tmp_path / f"scan.{kind}").read_text("utf-8")
    assert len((tmp_path / "manual.txt").read_text("utf-8").split("\f")) == 3
    assert len(json.loads((tmp_path / "manual.json").read_text("utf-8"))["pages"]) == 3


def test_export_to_standard_output_is_the_text_and_nothing_else(base: Shell) -> None:
    done = base.run("export", "scan.png", "--format", "txt")
    assert done.stdout.strip() == "Invoice 4711"
    assert done.stderr == ""


def test_export_does_not_overwrite(base: Shell, tmp_path: Path) -> None:
    path = factories.write(tmp_path / "out.md", b"mine")
    assert base.run("export", "scan.png", "--format", "md", "--output", path).returncode == 2
    assert path.read_bytes() == b"mine"
    assert base.run("export", "scan.png", "--format", "md", "--output", path, "--force").returncode == 0


def test_export_of_several_needs_a_folder(base: Shell) -> None:
    done = base.run("export", "scan.png", "manual.pdf", "--format", "md")
    assert done.returncode == 2
    assert "--output FOLDER" in done.stderr


def test_the_doctor_finds_all_well(base: Shell) -> None:
    lines = base.json("doctor")
    assert [line for line in lines if line["level"] == "fail"] == []
    assert {"Home", "Database", "OCR engine", "Prefect"} <= {line["name"] for line in lines}
    assert "hello" in next(line["found"] for line in lines if line["name"] == "OCR engine")


def test_migrating_twice_is_safe(base: Shell) -> None:
    revision = base.run("db", "migrate").stdout
    assert revision.startswith("The database is at revision ")
    assert base.run("db", "migrate").stdout == revision
